# SPDX-License-Identifier: Apache-2.0
"""Debian packages of a target's build, written as the format has them: ar, two tar archives, and control files.

    stoker               the program, its capture library, pages and completion
    python3-stoker       `import stoker`: why(), callbacks, notebooks; no code of the machine
    python3-stoker-data  `import stoker.data`: the engine for each Python that was built for
    libstoker0           the C library, with shlibs and symbols; libstoker-dev is what compiling needs

They install on Debian and Ubuntu of any age that has the C library and a Python that was built for, since the C libraries
are inside, as in the wheels: an override for lintian says so. Limits: libmicrohttpd and nghttp2 are the system's.
"""

import email.utils
import gzip
import hashlib
import lzma
import os
import pathlib
import re
import subprocess
import tarfile
import textwrap
import time
from typing import NamedTuple

import archives
import sources
import targets
import wheels
from archives import Member

ROOT = pathlib.Path(__file__).resolve().parent.parent
LIBRARY = "libstoker0"  # named by its SONAME, as Debian's policy has it
SITE = "usr/lib/python3/dist-packages"
CPUS = {"x86_64": "amd64", "aarch64": "arm64"}
SCRIPTS = {
    "postinst": "#!/bin/sh\nset -e\nif command -v py3compile >/dev/null 2>&1; then py3compile -p {name}; fi\n",
    "prerm": "#!/bin/sh\nset -e\nif command -v py3clean >/dev/null 2>&1; then py3clean -p {name}; fi\n",
}


class Package(NamedTuple):
    """A package without its files; fields of the control file are in the order of Debian's policy."""

    name: str
    section: str
    depends: str
    summary: str
    text: str
    embeds: str = ""  # the file with C libraries inside
    fields: "dict[str, str]" = {}
    is_python: bool = False


def _packages(version: str) -> "dict[str, Package]":
    same = f"(= {version})"
    late = "libmicrohttpd12t64 | libmicrohttpd12, libnghttp2-14"
    python = "python3 (>= 3.10), python3 (<< 3.15)"
    every = [
        Package("stoker", "devel", f"libc6 (>= 2.17), {late}", "why a training job's GPU waits, and what to do about it",
                "It reads profiles of PyTorch, TensorFlow, JAX and Nsight Systems, gives every nanosecond of a step one"
                " cause, names the change that shortens the step, and estimates by how much.", "usr/lib/stoker/stoker"),
        Package("python3-stoker", "python", f"stoker {same}, python3 (>= 3.10)", "stoker for Python programs and notebooks",
                "stoker.why() reads a profile. Callbacks of Lightning, Keras, Transformers and Accelerate print the"
                " report of a training run at its end.", is_python=True),
        Package("python3-stoker-data", "python", f"libc6 (>= 2.17), python3-stoker {same}, {python}, python3-numpy (>= 1:1.23)",
                "input pipelines for training, in native code",
                "stoker.data reads, decodes, shuffles and batches training data on all cores, with the interface of"
                " TensorFlow's tf.data and arrays of NumPy, PyTorch, TensorFlow, Keras or JAX.", f"{SITE}/stoker/data/_engine.*",
                is_python=True),
        Package(LIBRARY, "libs", "libc6 (>= 2.17)", "why a training job's GPU waits - C library",
                "Reports, tables, estimates and queries of training profiles, and the engine of stoker.data, for programs"
                " in any language that calls C.", "usr/lib/*/libstoker.so.*", {"Multi-Arch": "same"}),
        Package("libstoker-dev", "libdevel", f"{LIBRARY} {same}", "why a training job's GPU waits - development files",
                "Headers of libstoker, and its files for pkg-config and CMake.", fields={"Multi-Arch": "same"}),
    ]  # fmt: skip
    return {package.name: package for package in every}


def maintainer() -> str:
    """Who publishes: Debian's own variables name them."""
    return f"{os.environ.get('DEBFULLNAME', 'stoker maintainers')} <{os.environ.get('DEBEMAIL', 'maintainers@example.org')}>"


def _gz(text: "str | bytes") -> Member:
    return Member(gzip.compress(text.encode() if isinstance(text, str) else text, 9, mtime=0))


def _program(target: targets.Target, at: pathlib.Path, share: pathlib.Path) -> "dict[str, Member]":
    """The program is next to its capture library; /usr/bin has a link to it."""
    files = wheels.program_files(target, at)
    members = {f"usr/lib/stoker/{name}": files[name] for name in ("stoker", "libstoker_capture.so")}
    members["usr/bin/stoker"] = Member(b"", link="../lib/stoker/stoker")
    for name, member in wheels.shared_files(share).items():
        name = name.replace("share/zsh/site-functions", "share/zsh/vendor-completions")
        if name.startswith("share/man/"):
            members[f"usr/{name}.gz"] = _gz(member.data)
        else:
            members[f"usr/{name}"] = member
    return members


def _python(folder: pathlib.Path, members: "dict[str, Member]") -> "dict[str, Member]":
    """A distribution's files, as a wheel has them, and its METADATA: importlib.metadata and pip see it."""
    text = wheels.metadata(folder / "pyproject.toml", folder / "README.md", [])
    distribution = "stoker_data" if folder.name == "stoker-data" else "stoker"
    name = f"{distribution}-{wheels.version()}.dist-info/METADATA"
    members = {**members, name: Member(re.sub(r"License-File: .*\n", "", text).encode())}
    return {f"{SITE}/{path}": member._replace(is_program=False) for path, member in members.items()}


def _installed(at: pathlib.Path, component: str) -> "dict[str, Member]":
    """What CMake installs of a component, links included."""
    stage = at / "deb" / component
    words = ["cmake", "--install", at / "build", "--component", component, "--prefix", stage / "usr"]
    subprocess.run([str(w) for w in words], check=True, stdout=subprocess.DEVNULL)
    members = archives.folder(stage)
    for path in sorted(stage.rglob("*")):
        if path.is_symlink():
            members[str(path.relative_to(stage))] = Member(b"", link=os.readlink(path))
    return {name: member._replace(is_program=False) for name, member in members.items()}


def exported(library: pathlib.Path) -> "dict[str, str]":
    """Function -> its version, of a shared library for any processor."""
    said = subprocess.run(["readelf", "-W", "--dyn-syms", str(library)], capture_output=True, text=True, check=True).stdout
    return dict(re.findall(r" FUNC +GLOBAL +DEFAULT +\d+ (stoker_\w+)@@(\w+)", said))


def _symbols(at: pathlib.Path) -> str:
    """packaging/libstoker0.symbols, if the library has these functions and no others."""
    text = (ROOT / f"packaging/{LIBRARY}.symbols").read_text()
    listed = set(re.findall(r"^ (stoker_\w+)@", text, re.M))
    library = next(path for path in (at / "build").glob("libstoker.so.*") if not path.is_symlink())
    differs = listed ^ set(exported(library))
    if differs:
        raise SystemExit(f"release: packaging/{LIBRARY}.symbols and {library.name} differ in {', '.join(sorted(differs))}")
    return text


def _copyright(at: pathlib.Path) -> str:
    """Debian's machine-readable form: the licenses' texts are in THIRD_PARTY next to it."""
    head = "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\nUpstream-Name: stoker\n"
    own = f"\nFiles: *\nCopyright: {time.gmtime(archives.epoch()).tm_year} the authors of stoker\nLicense: Apache-2.0\n"
    text = "\nLicense: Apache-2.0\n On Debian systems the full text is in /usr/share/common-licenses/Apache-2.0.\n"
    inside = "\nComment: the programs and libraries contain these; THIRD_PARTY.gz has their licenses and authors.\n"
    inside += "".join(f" {s.name} {s.version}: {s.license}\n" for s in sources.table() if s.how == "linked")
    return head + inside.lstrip("\n") + own + text


def _documents(package: Package, at: pathlib.Path, version: str) -> "dict[str, Member]":
    """What every package has below usr/share."""
    docs = f"usr/share/doc/{package.name}"
    when = email.utils.formatdate(archives.epoch())
    log = f"stoker ({version}) unstable; urgency=medium\n\n  * Release {version}; CHANGELOG of the sources has what changed.\n"
    members = {
        f"{docs}/copyright": Member(_copyright(at).encode()),
        f"{docs}/changelog.gz": _gz(f"{log}\n -- {maintainer()}  {when.replace('-0000', '+0000')}\n"),
    }
    if package.embeds:
        members[f"{docs}/THIRD_PARTY.gz"] = _gz(sources.third_party(at / "trees"))
        lines = "# One package for every release of Debian and Ubuntu: these C libraries differ between them.\n"
        lines += f"{package.name}: embedded-library * [{package.embeds}]\n"
        if "numpy" in package.depends:
            lines += f"# It finds out at run time which of NumPy's two ABIs there is.\n{package.name}: missing-dependency-on-numpy-abi\n"
        members[f"usr/share/lintian/overrides/{package.name}"] = Member(lines.encode())
    return members


def _control(package: Package, cpu: str, version: str, members: "dict[str, Member]") -> str:
    size = sum((len(m.data) + 1023) // 1024 for m in members.values())
    source = {} if package.name == "stoker" else {"Source": "stoker"}
    fields = {"Package": package.name, **source, "Version": version, "Architecture": cpu, "Maintainer": maintainer(),
              "Installed-Size": str(size), "Depends": package.depends, "Section": package.section, "Priority": "optional",
              **package.fields, "Description": package.summary}  # fmt: skip
    body = "".join(f" {line}\n" for line in textwrap.wrap(package.text, 78))
    return "".join(f"{name}: {value}\n" for name, value in fields.items()) + body


def _tar(members: "dict[str, Member]") -> bytes:
    """With every folder, compressed. dpkg reads no PAX headers."""
    every = {f"./{name}": member for name, member in members.items()}
    for name in list(every):
        for parent in list(pathlib.PurePosixPath(name).parents)[:-1]:
            every[f"./{parent}/"] = Member(b"")
    every["./"] = Member(b"")
    return lzma.compress(archives.tar_bytes(every, tarfile.GNU_FORMAT), preset=6)


def _ar(parts: "dict[str, bytes]") -> bytes:
    out = b"!<arch>\n"
    for name, data in parts.items():
        out += f"{name:<16}{archives.epoch():<12}{0:<6}{0:<6}{100644:<8}{len(data):<10}`\n".encode() + data + b"\n" * (len(data) % 2)
    return out


def _write(package: Package, target: targets.Target, at: pathlib.Path, members: "dict[str, Member]", into: pathlib.Path) -> None:
    version = wheels.version()
    cpu = "all" if package.name == "python3-stoker" else CPUS[target.cpu]
    members = {**members, **_documents(package, at, version)}
    control = {"control": Member(_control(package, cpu, version, members).encode())}
    sums = "".join(f"{hashlib.md5(m.data).hexdigest()}  {name}\n" for name, m in sorted(members.items()) if not m.link)
    control["md5sums"] = Member(sums.encode())
    for script in SCRIPTS if package.is_python else ():
        control[script] = Member(SCRIPTS[script].format(name=package.name).encode(), True)
    if package.name == LIBRARY:
        control["shlibs"] = Member(f"libstoker 0 {LIBRARY} (>= {version})\n".encode())
        control["symbols"] = Member(_symbols(at).encode())
        control["triggers"] = Member(b"activate-noawait ldconfig\n")
    parts = {"debian-binary": b"2.0\n", "control.tar.xz": _tar(control), "data.tar.xz": _tar(members)}
    (into / f"{package.name}_{version}_{cpu}.deb").write_bytes(_ar(parts))


def write(target: targets.Target, at: pathlib.Path, share: pathlib.Path, stubs: "pathlib.Path | None",
          found: "dict[str, str]", into: pathlib.Path) -> None:  # fmt: skip
    """All packages for a target with glibc; the engine's only if a Python was built for."""
    packages = _packages(wheels.version())
    files = {"stoker": _program(target, at, share), LIBRARY: _installed(at, "library"), "libstoker-dev": _installed(at, "development")}
    files["python3-stoker"] = _python(ROOT, wheels.package_files())
    if stubs:
        engine = archives.folder(stubs, "stoker/data", "*.pyi")
        for tag in found:
            engine.update(wheels.data_files(at, target, tag))
        files["python3-stoker-data"] = _python(ROOT / "packaging/stoker-data", engine)
    for name, members in files.items():
        _write(packages[name], target, at, members, into)
