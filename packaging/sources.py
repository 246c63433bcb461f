# SPDX-License-Identifier: Apache-2.0
"""The C libraries that released packages contain: a table (sources.tsv), their archives, their licenses.

An archive is fetched once as a Debian source package, by name, and is used only if its SHA-256 is the table's. Where
apt-get is not available or its archive has moved on, put the files into the folder that STOKER_SOURCES names.
`how` is `linked` (static, inside of the program and the module) or `loaded` (a shared library next to the program,
which the program loads when a command needs it; users can replace it).
"""

import csv
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import tarfile
from typing import NamedTuple

HERE = pathlib.Path(__file__).resolve().parent


class Source(NamedTuple):
    name: str
    version: str
    file: str
    sha256: str
    license: str
    texts: str
    how: str
    debian: str
    homepage: str


def table() -> "list[Source]":
    with open(HERE / "sources.tsv", newline="") as f:
        return [Source(**row) for row in csv.DictReader(f, delimiter="\t")]


def digest(path: pathlib.Path) -> str:
    sha = hashlib.sha256()
    with open(path, "rb") as f:
        while block := f.read(1 << 20):
            sha.update(block)
    return sha.hexdigest()


def _apt_folder(at: pathlib.Path) -> "dict[str, str]":
    """The environment in which apt-get reads Debian's source lists, and leaves the machine's own lists alone."""
    for folder in ("lists/partial", "cache/archives/partial"):
        (at / folder).mkdir(parents=True, exist_ok=True)
    keys = "/usr/share/keyrings/debian-archive-keyring.gpg"
    lines = [f"deb-src [signed-by={keys}] http://deb.debian.org/debian {suite} main\n" for suite in ("sid", "testing")]
    (at / "sources.list").write_text("".join(lines))
    (at / "conf").write_text(
        f'Dir::Etc::sourcelist "{at}/sources.list";\nDir::Etc::sourceparts "-";\nDir::State::lists "{at}/lists";\n'
        f'Dir::Cache "{at}/cache";\nAPT::Sandbox::User "root";\n'
    )
    return {**os.environ, "APT_CONFIG": str(at / "conf")}


def _version_with(source: Source, env: "dict[str, str]") -> str:
    """The version of the Debian package that has this archive: a newer one may be there, or announced, as well."""
    said = subprocess.run(["apt-cache", "showsrc", source.debian], env=env, capture_output=True, text=True, check=False)
    for record in said.stdout.split("\n\n"):
        version = re.search(r"^Version: (\S+)$", record, re.M)
        if version and source.sha256 in record:
            return version[1]
    return ""


def _from_debian(missing: "list[Source]", into: pathlib.Path) -> None:
    if not shutil.which("apt-get"):
        return
    env = _apt_folder(into / "apt")
    subprocess.run(["apt-get", "update", "-qq"], env=env, check=False)
    for source in missing:  # a missing .dsc fails the command; the archive may have come anyway
        version = _version_with(source, env)
        words = ["apt-get", "source", "-qq", "--download-only", f"{source.debian}={version}" if version else source.debian]
        subprocess.run(words, env=env, cwd=into, check=False, stderr=subprocess.DEVNULL)


def fetch(into: pathlib.Path) -> None:
    """All archives of the table in `into`, verified. SystemExit: one is missing or is not the table's."""
    into.mkdir(parents=True, exist_ok=True)
    given = os.environ.get("STOKER_SOURCES")
    for source in table() if given else []:
        if (pathlib.Path(given) / source.file).is_file() and not (into / source.file).exists():
            shutil.copyfile(pathlib.Path(given) / source.file, into / source.file)
    missing = [s for s in table() if not (into / s.file).exists()]
    if missing:
        _from_debian(missing, into)
    for source in table():
        if not (into / source.file).is_file():
            raise SystemExit(
                f"release: {source.file} could not be fetched; put it into a folder and name that in STOKER_SOURCES"
            )
        found = digest(into / source.file)
        if found != source.sha256:
            raise SystemExit(f"release: {into / source.file} has SHA-256 {found}, sources.tsv says {source.sha256}")


def unpack(source: Source, archives: pathlib.Path, to: pathlib.Path) -> None:
    """The tree of a source in the new folder `to`, without the archive's first level."""
    with tarfile.open(archives / source.file) as tar:
        members = []
        for member in tar.getmembers():
            _, _, rest = member.name.partition("/")
            if rest and ".." not in rest.split("/") and (member.isfile() or member.isdir()):
                member.name = rest
                members.append(member)
        to.mkdir(parents=True)
        tar.extractall(to, members)


def third_party(trees: pathlib.Path) -> str:
    """The file THIRD_PARTY: each library's name, version, and license in full."""
    parts = ["Released packages of stoker contain these libraries.\n"]
    for source in table():
        if not (trees / source.name).is_dir():  # of a target that does without it
            continue
        how = "linked into the programs" if source.how == "linked" else "a shared library next to the program"
        parts.append(f"{'=' * 78}\n{source.name} {source.version} ({source.license}), {how}\n{source.homepage}\n{'=' * 78}\n")
        for text in source.texts.split():
            parts.append((trees / source.name / text).read_text(encoding="utf-8", errors="replace").rstrip() + "\n")
    return "\n".join(parts)
