# SPDX-License-Identifier: Apache-2.0
"""The wheels of both distributions, from what a target's build left behind.

stoker: the package without its engine, the program next to it, the two libraries that the program loads, pages and
completion. It works with any Python 3, and so the platform alone is in its name. stoker-data: the engine, for one Python.
"""

import email.message
import pathlib
import re

import archives
import sources
import targets
from archives import Member

ROOT = pathlib.Path(__file__).resolve().parent.parent
PYTHONS = ["cp310", "cp311", "cp312", "cp313", "cp314"]  # what the wheels are for; `release` says which were built


def version() -> str:
    text = (ROOT / "include/stoker/version.h").read_text()
    return ".".join(re.findall(r"#define STOKER_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", text))


def metadata(pyproject: pathlib.Path, readme: pathlib.Path, needs: "list[str]") -> str:
    """METADATA, with the words of a pyproject.toml, and what has to be installed as well."""
    try:
        import tomllib
    except ImportError:  # Python 3.10
        import tomli as tomllib  # type: ignore[no-redef]
    project = tomllib.loads(pyproject.read_text())["project"]
    head = email.message.Message()
    head["Metadata-Version"] = "2.4"
    head["Name"] = project["name"]
    head["Version"] = version()
    head["Summary"] = project["description"]
    head["License-Expression"] = "Apache-2.0"
    head["Requires-Python"] = project["requires-python"]
    for file in ("LICENSE", "THIRD_PARTY"):
        head["License-File"] = file
    for need in needs:
        head["Requires-Dist"] = need
    if project["name"] == "stoker":
        head["Provides-Extra"] = "data"
    head["Description-Content-Type"] = "text/markdown"
    return head.as_string() + readme.read_text()


def _licenses(at: pathlib.Path) -> "dict[str, Member]":
    return {
        "licenses/LICENSE": Member((ROOT / "LICENSE").read_bytes()),
        "licenses/THIRD_PARTY": Member(sources.third_party(at / "trees").encode()),
    }


def _version_file() -> Member:
    text = (ROOT / "cmake/_version.py.in").read_text()
    return Member(text.replace("@PROJECT_VERSION@", version()).encode())


def program_files(target: targets.Target, at: pathlib.Path) -> "dict[str, Member]":
    """The program and the libraries that it loads, by name."""
    build, libs = at / "build", at / "deps/lib"
    files = {"stoker": build / "stoker"}
    if not target.is_macos:
        files["libstoker_capture.so"] = build / "libstoker_capture.so"
        for name in ("libmicrohttpd.so.12", "libnghttp2.so.14"):
            files[name] = libs / name
    for name, path in files.items():
        if not path.exists():
            raise SystemExit(f"release: {path} is missing: the build of {at.name} is not complete")
    return {name: Member(path.read_bytes(), name == "stoker") for name, path in files.items()}


def shared_files(share: pathlib.Path) -> "dict[str, Member]":
    """Man pages, completion and docs, where an installation has them below its prefix."""
    members = {}
    for path in sorted((share / "man").glob("*.1")):
        members[f"share/man/man1/{path.name}"] = Member(path.read_bytes())
    places = {"bash": "share/bash-completion/completions/stoker", "zsh": "share/zsh/site-functions/_stoker",
              "fish": "share/fish/vendor_completions.d/stoker.fish"}  # fmt: skip
    for shell, place in places.items():
        members[place] = Member((share / f"completion/stoker.{shell}").read_bytes())
    for path in sorted((ROOT / "docs").glob("*.md")):
        members[f"share/doc/stoker/{path.name}"] = Member(path.read_bytes())
    return members


def package_files() -> "dict[str, Member]":
    """The package stoker without its engine and the program."""
    members = archives.folder(ROOT / "src/py/stoker", "stoker", "*.py")
    members = {name: m for name, m in members.items() if not name.startswith("stoker/data/")}
    members["stoker/_version.py"] = _version_file()
    return members


def write_program(target: targets.Target, at: pathlib.Path, share: pathlib.Path, into: pathlib.Path) -> pathlib.Path:
    """The wheel of the distribution stoker."""
    members = package_files()
    members.update({f"stoker/bin/{name}": member for name, member in program_files(target, at).items()})
    data = f"stoker-{version()}.data/data"
    members.update({f"{data}/{name}": member for name, member in shared_files(share).items()})
    text = metadata(ROOT / "pyproject.toml", ROOT / "README.md", [f"stoker-data=={version()}; extra == 'data'"])
    info = {**_licenses(at), "entry_points.txt": Member(b"[console_scripts]\nstoker = stoker.__main__:main\n")}
    return archives.write_wheel(into, archives.Wheel("stoker", version(), "py3-none", target.tag, text), members, info)


def data_files(at: pathlib.Path, target: targets.Target, python: str) -> "dict[str, Member]":
    """The package stoker.data for a Python ("cp312"), without the stubs."""
    members = archives.folder(ROOT / "src/py/stoker/data", "stoker/data", "*.py")
    members["stoker/data/py.typed"] = Member((ROOT / "src/py/stoker/data/py.typed").read_bytes())
    members["stoker/data/_version.py"] = _version_file()
    for header in ("data", "err", "plugin"):  # what plug-ins are built with
        path = ROOT / f"include/stoker/{header}.h"
        members[f"stoker/data/include/stoker/{header}.h"] = Member(path.read_bytes())
    name = f"_engine.cpython-{python[2:]}-{target.suffix}.so"
    members[f"stoker/data/{name}"] = Member((at / "build/pythons" / python / name).read_bytes())
    return members


def write_data(target: targets.Target, at: pathlib.Path, python: str, stubs: pathlib.Path, into: pathlib.Path) -> pathlib.Path:
    """The wheel of the distribution stoker-data for a Python."""
    members = data_files(at, target, python)
    members.update(archives.folder(stubs, "stoker/data", "*.pyi"))
    here = ROOT / "packaging/stoker-data"
    text = metadata(here / "pyproject.toml", here / "README.md", [f"stoker=={version()}", "numpy>=1.23"])
    text = text.replace("Requires-Python: >=3.10", f"Requires-Python: ==3.{python[3:]}.*", 1)
    wheel = archives.Wheel("stoker_data", version(), f"{python}-{python}", target.tag, text)
    return archives.write_wheel(into, wheel, members, _licenses(at))
