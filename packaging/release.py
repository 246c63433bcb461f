#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds everything that a release publishes, reproducibly: `./dev release [OPTIONS]`.

    --targets LIST   x86_64-gnu, x86_64-musl, aarch64-gnu, aarch64-musl (all four), aarch64-macos
    --pythons LIST   interpreters with headers and NumPy, one for each wheel of stoker-data (those of PATH)
    --out DIR        where everything is written (build/dist)
    --jobs N         compilers at once (the processors)
    --keep           keep what an earlier run of the same folder built

Results, in DIR/artifacts: wheels, Debian packages, source archives, a tarball for each target, SHA256SUMS, the SBOM
(CycloneDX), and the provenance (SLSA). docs/release.md says how to check and to publish them. What can't be built here is listed at the end.
"""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys

import archives
import debs
import deps
import sources
import statements
import targets
import wheels

ROOT = pathlib.Path(__file__).resolve().parent.parent
ASK = "import sys, sysconfig, os, numpy; assert os.path.exists(sysconfig.get_path('include') + '/Python.h'); \
assert not sysconfig.get_config_var('Py_GIL_DISABLED'); print('cp%d%d' % sys.version_info[:2])"


def pythons(words: "list[str]") -> "dict[str, str]":
    """"cp312" -> an interpreter, for each that has its headers and NumPy."""
    found = {}
    for word in words or [f"python3.{minor}" for minor in range(10, 15)]:
        done = subprocess.run([word, "-c", ASK], capture_output=True, text=True, check=False) if shutil.which(word) else None
        if done and done.returncode == 0 and done.stdout.strip() in wheels.PYTHONS:
            found.setdefault(done.stdout.strip(), shutil.which(word))
        elif words:
            raise SystemExit(f"release: {word} can't be built for: it needs its headers, NumPy, and version 3.10 to 3.14")
    return dict(sorted(found.items()))


def run(words: "list[object]", log: pathlib.Path, env: "dict[str, str]", what: str) -> None:
    with open(log, "ab") as out:
        done = subprocess.run([str(w) for w in words], env=env, stdout=out, stderr=out, check=False)
    if done.returncode != 0:
        sys.stderr.write("".join(log.read_text(errors="replace").splitlines(True)[-30:]))
        raise SystemExit(f"release: {what} failed; the log is {log}")


def compile_target(target: targets.Target, at: pathlib.Path, found: "dict[str, str]", jobs: int) -> None:
    """The program, the capture library, the C library, and the engine for each Python, in `at`/build."""
    tools, build, log = at / "tools", at / "build", at / "build.log"
    targets.write_tools(target, tools, [(build, "build"), (at / "deps", "deps"), (ROOT, "stoker")])
    env = targets.environment(tools)
    flags = [f"-DCMAKE_{kind}_LINKER_FLAGS=-s" for kind in ("EXE", "SHARED", "MODULE")]
    found = {} if target.is_macos else found
    options = ["-DCMAKE_BUILD_TYPE=Release", "-DSTOKER_LEAN=ON", "-DSTOKER_TESTS=OFF", "-DCMAKE_INSTALL_RPATH=$ORIGIN",
               "-DCMAKE_BUILD_WITH_INSTALL_RPATH=ON", f"-DSTOKER_PYTHONS={';'.join(found.values())}",
               f"-DSTOKER_PYTHON_PLATFORM={target.suffix}"]  # fmt: skip
    if target.is_macos:
        options.append("-DSTOKER_DATA=OFF")
    elif not target.is_musl:  # where Debian has libraries of several processors
        options.append(f"-DCMAKE_INSTALL_LIBDIR=lib/{target.triple}")
    where = ["-G", "Ninja", "-S", ROOT, "-B", build, f"-DCMAKE_TOOLCHAIN_FILE={tools}/toolchain.cmake"]
    run(["cmake", *where, *options, *flags], log, env, f"configuring {target.name}")
    wanted = ["stoker_cli"]
    if not target.is_macos:
        wanted += ["stoker_capture", "stoker_shared", *(f"stoker_py_{tag}" for tag in found)]
    print(f"release: {target.name}: compiling", flush=True)
    run(["cmake", "--build", build, "-j", jobs, "--target", *wanted], log, env, f"compiling {target.name}")


def write_pages(native: pathlib.Path, out: pathlib.Path) -> pathlib.Path:
    """Man pages and completion, which the program prints of itself."""
    share = out / "share"
    run([ROOT / "tools/pages", share, native / "build/stoker"], out / "pages.log", dict(os.environ), "writing the man pages")
    return share


def write_stubs(target: targets.Target, at: pathlib.Path, found: "dict[str, str]", out: pathlib.Path) -> pathlib.Path:
    """The type stubs, which are taken from the module as it is imported: the same for every Python."""
    tag, python = list(found.items())[-1]
    site, stubs = out / "site", out / "stubs"
    members = {**archives.folder(ROOT / "src/py/stoker", "stoker", "*.py"), **wheels.data_files(at, target, tag)}
    members["stoker/_version.py"] = members["stoker/data/_version.py"]
    for name, member in members.items():
        (site / name).parent.mkdir(parents=True, exist_ok=True)
        (site / name).write_bytes(member.data)
    stubs.mkdir(exist_ok=True)
    env = {**os.environ, "PYTHONPATH": str(site), "PYTHONDONTWRITEBYTECODE": "1"}
    run([python, ROOT / "tools/py-stubs", stubs], out / "stubs.log", env, "writing the type stubs")
    return stubs


def write_tarball(target: targets.Target, at: pathlib.Path, share: pathlib.Path, into: pathlib.Path) -> None:
    """The program without Python, the C library and its headers: unpack it anywhere."""
    top = f"stoker-{wheels.version()}-{target.triple}"
    members = {f"bin/{name}": member for name, member in wheels.program_files(target, at).items()}
    for path in sorted((at / "build").glob("libstoker.so.*")):
        if not path.is_symlink():
            soname = ".".join(path.name.split(".")[:3])
            members[f"lib/{soname}"] = archives.Member(path.read_bytes(), True)
    if not target.is_macos:
        members.update(archives.folder(ROOT / "include/stoker", "include/stoker", "*.h"))
    members.update(wheels.shared_files(share))
    members["LICENSE"] = archives.Member((ROOT / "LICENSE").read_bytes())
    members["THIRD_PARTY"] = archives.Member(sources.third_party(at / "trees").encode())
    archives.write_tar_gz(into / f"{top}.tar.gz", {f"{top}/{name}": m for name, m in members.items()})


def git(*words: str) -> str:
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True).stdout


def write_sources(into: pathlib.Path) -> None:
    """The source archives of both distributions: what pip compiles; stoker-data's has its own pyproject.toml on top."""
    tests = ("tests/", "bench/", "lab/", "examples/", ".")
    tracked = [ROOT / name for name in git("ls-files", "-z").split("\0") if name and not name.startswith(tests)]
    members = {}
    for path in tracked:
        if path.is_file() and not path.is_symlink():
            data = path.read_bytes()
            members[str(path.relative_to(ROOT))] = archives.Member(data, os.access(path, os.X_OK))
    data_project = (ROOT / "packaging/stoker-data/pyproject.toml").read_text()
    data_project = data_project.replace('cmake.source-dir = "../.."\n', "").replace('"../../include', '"include')
    project = {"stoker": members["pyproject.toml"].data.decode(), "stoker_data": data_project}
    for name, text in project.items():
        readme = members["packaging/stoker-data/README.md" if name == "stoker_data" else "README.md"]
        here = {**members, "pyproject.toml": archives.Member(text.encode()), "README.md": readme}
        folder = ROOT / ("packaging/stoker-data" if name == "stoker_data" else ".")
        here["PKG-INFO"] = archives.Member(wheels.metadata(folder / "pyproject.toml", folder / "README.md", []).encode())
        top = f"{name}-{wheels.version()}"
        archives.write_tar_gz(into / f"{top}.tar.gz", {f"{top}/{n}": m for n, m in here.items()})


def write_recipes(into: pathlib.Path) -> None:
    """packaging/recipes for this version: Homebrew's and conda's name the source archive and its checksum."""
    version = wheels.version()
    home = os.environ.get("STOKER_HOMEPAGE", "https://github.com/OWNER/stoker")
    words = {"VERSION": version, "HOMEPAGE": home, "ARCHIVES": f"{home}/releases/download/v{version}",
             "SHA256": sources.digest(into / f"stoker-{version}.tar.gz")}  # fmt: skip
    for recipe in sorted((ROOT / "packaging/recipes").iterdir()):
        text = recipe.read_text()
        for word, value in words.items():
            text = text.replace(f"@{word}@", value)
        (into / recipe.name).write_text(text)


def missing(chosen: "list[targets.Target]", found: "dict[str, str]") -> "list[str]":
    """What this run could not build, each with the command that does."""
    lines = []
    for target in targets.TARGETS:
        if target not in chosen:
            lines.append(f"{target.name}: ./dev release --targets {target.name}")
    for tag in wheels.PYTHONS:
        if tag not in found:
            name = f"python3.{tag[3:]}"
            lines.append(f"stoker-data for {tag}: install {name} with its headers and NumPy, then ./dev release --pythons {name}")
    lines.append("stoker-data for cp314t (free-threaded): docs/release.md says what is missing")
    return lines


def arguments() -> argparse.Namespace:
    p = argparse.ArgumentParser(prog="./dev release", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--targets", default=",".join(t.name for t in targets.TARGETS if not t.is_macos), help=argparse.SUPPRESS)
    p.add_argument("--pythons", default="", help=argparse.SUPPRESS)
    p.add_argument("--out", type=pathlib.Path, default=ROOT / "build/dist", help=argparse.SUPPRESS)
    p.add_argument("--jobs", type=int, default=os.cpu_count() or 2, help=argparse.SUPPRESS)
    p.add_argument("--keep", action="store_true", help=argparse.SUPPRESS)
    return p.parse_args()


def main() -> int:
    args = arguments()
    chosen = [targets.by_name(name) for name in args.targets.split(",")]
    found = pythons([word for word in args.pythons.split(",") if word])
    out = args.out.resolve()
    artifacts = out / "artifacts"
    if artifacts.exists() or (out / "work").exists():
        if not args.keep:
            raise SystemExit(f"release: {out} has an earlier release; remove it, name another folder by --out, or add --keep")
        shutil.rmtree(artifacts, ignore_errors=True)
    artifacts.mkdir(parents=True)
    os.environ["SOURCE_DATE_EPOCH"] = git("log", "-1", "--format=%ct").strip()
    native = next((t for t in chosen if t.is_native), None)
    if not native:
        raise SystemExit("release: this machine's own target has to be among them: it prints the man pages and the stubs")
    sources.fetch(out / "sources")
    for target in chosen:
        deps.build(target, out / "sources", out / "work" / target.name, args.jobs)
        compile_target(target, out / "work" / target.name, found, args.jobs)
    share = write_pages(out / "work" / native.name, out / "work")
    stubs = write_stubs(native, out / "work" / native.name, found, out / "work") if found else None
    for target in chosen:
        at = out / "work" / target.name
        write_tarball(target, at, share, artifacts)
        if target.is_macos:
            continue
        wheels.write_program(target, at, share, artifacts)
        if not target.is_musl:
            debs.write(target, at, share, stubs, found, artifacts)
        for tag in found:
            wheels.write_data(target, at, tag, stubs, artifacts)
    write_sources(artifacts)
    write_recipes(artifacts)
    statements.write(artifacts, [t.name for t in chosen], found)
    print(f"release: {len(list(artifacts.iterdir()))} files in {artifacts}")
    for line in missing(chosen, found):
        print(f"release: not built: {line}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
