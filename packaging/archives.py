# SPDX-License-Identifier: Apache-2.0
"""Archives whose bytes depend on nothing but their members: wheels, source archives, tarballs.

Members are sorted, have one time (SOURCE_DATE_EPOCH), two kinds of permissions, and no owner. A wheel is a zip file with
METADATA, WHEEL and RECORD (PyPA's "binary distribution format").
"""

import base64
import gzip
import hashlib
import io
import os
import pathlib
import tarfile
import time
import zipfile
import zlib
from typing import NamedTuple


class Member(NamedTuple):
    data: bytes
    is_program: bool = False
    link: str = ""  # a symbolic link to this instead, in tarballs


Members = "dict[str, Member]"


def epoch() -> int:
    """The time of every member: of the last commit, which `./dev release` sets."""
    return int(os.environ.get("SOURCE_DATE_EPOCH", "315532800"))


def folder(at: pathlib.Path, below: str = "", pattern: str = "*") -> "dict[str, Member]":
    """The files below a folder, under their names there; links are not followed."""
    found = {}
    for path in sorted(at.rglob(pattern)):
        if path.is_file() and not path.is_symlink() and "__pycache__" not in path.parts:
            name = f"{below}/{path.relative_to(at)}" if below else str(path.relative_to(at))
            found[name] = Member(path.read_bytes(), bool(path.stat().st_mode & 0o100))
    return found


def write_zip(path: pathlib.Path, members: "dict[str, Member]") -> None:
    when = time.gmtime(max(epoch(), 315532800))[:6]  # a zip file begins in 1980
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, member in members.items():
            info = zipfile.ZipInfo(name, when)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.create_system = 3
            info.external_attr = (0o100755 if member.is_program else 0o100644) << 16
            archive.writestr(info, member.data)


def tar_bytes(members: "dict[str, Member]", style: int = tarfile.PAX_FORMAT) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=style) as archive:
        for name in sorted(members):
            member = members[name]
            info = tarfile.TarInfo(name)
            info.size, info.mtime = len(member.data), epoch()
            info.mode = 0o755 if member.is_program or name.endswith("/") else 0o644
            if name.endswith("/"):
                info.type = tarfile.DIRTYPE
            elif member.link:
                info.type, info.linkname, info.mode = tarfile.SYMTYPE, member.link, 0o777
            archive.addfile(info, io.BytesIO(member.data))
    return out.getvalue()


def write_tar_gz(path: pathlib.Path, members: "dict[str, Member]") -> None:
    with open(path, "wb") as f, gzip.GzipFile("", "wb", 9, f, mtime=0) as packed:
        packed.write(tar_bytes(members))


def _record_row(name: str, data: bytes) -> str:
    sha = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    return f"{name},sha256={sha},{len(data)}\n"


class Wheel(NamedTuple):
    name: str  # of the distribution, as in file names
    version: str
    python: str  # "py3-none", "cp312-cp312"
    platform: str  # "manylinux_2_17_x86_64.manylinux2014_x86_64"
    metadata: str

    @property
    def file(self) -> str:
        return f"{self.name}-{self.version}-{self.python}-{self.platform}.whl"


def _wheel_text(wheel: Wheel) -> str:
    """The file WHEEL: each platform is a tag."""
    tags = "".join(f"Tag: {wheel.python}-{platform}\n" for platform in wheel.platform.split("."))
    return f"Wheel-Version: 1.0\nGenerator: stoker ({wheel.version})\nRoot-Is-Purelib: false\n{tags}"


def write_wheel(into: pathlib.Path, wheel: Wheel, members: "dict[str, Member]", info: "dict[str, Member]") -> pathlib.Path:
    """members: below site-packages, or NAME.data; info: further files of the folder dist-info."""
    dist = f"{wheel.name}-{wheel.version}.dist-info"
    every = {name: members[name] for name in sorted(members)}
    texts = {"METADATA": Member(wheel.metadata.encode()), "WHEEL": Member(_wheel_text(wheel).encode()), **info}
    every.update({f"{dist}/{name}": texts[name] for name in sorted(texts)})
    rows = "".join(_record_row(name, member.data) for name, member in every.items()) + f"{dist}/RECORD,,\n"
    every[f"{dist}/RECORD"] = Member(rows.encode())
    write_zip(into / wheel.file, every)
    return into / wheel.file


def says_zlib() -> str:
    """The compressor's version: another one may give other bytes for the same members."""
    return zlib.ZLIB_RUNTIME_VERSION
