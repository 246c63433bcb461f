# SPDX-License-Identifier: Apache-2.0
"""Builds other commits, for benchmarks that compare two trees in one run.

A commit is unpacked and built once, under build/trees/HASH, with a release's compiler and options. Only the program is
built. The working tree counts as a separate commit: its build/release is brought up to date and used.
"""
import os
import pathlib
import shutil
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
TREES = ROOT / "build" / "trees"
KEPT = 3  # built trees; older ones are removed


def git(*words):
    return subprocess.run(["git", "-C", ROOT, *words], capture_output=True, text=True, check=True).stdout.strip()


def commit_of(name):
    """The full hash of a commit; None if it isn't in this repository (a shallow clone, a rebase)."""
    found = subprocess.run(["git", "-C", ROOT, "rev-parse", "--verify", "-q", f"{name}^{{commit}}"],
                           capture_output=True, text=True, check=False)
    return found.stdout.strip() or None


def make(folder, source, options=()):
    """Configures and builds the program; its output is kept in folder/build.log."""
    folder.mkdir(parents=True, exist_ok=True)
    jobs = str(len(os.sched_getaffinity(0)))
    steps = [["cmake", "-S", source, "-B", folder, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", *options],
             ["cmake", "--build", folder, "-j", jobs, "--target", "stoker_cli"]]
    with open(folder / "build.log", "w") as log:
        for step in steps:
            if subprocess.run(step, stdout=log, stderr=log, check=False).returncode:
                raise SystemExit(f"cannot build {source}; the log is {folder / 'build.log'}")
    return folder / "stoker"


def forget_old():
    trees = sorted(TREES.iterdir(), key=lambda p: p.stat().st_mtime, reverse=True)
    for tree in trees[KEPT:]:
        shutil.rmtree(tree)


def program(name):
    """The path of a commit's program, or of the working tree's for "."; builds it if needed."""
    if name == ".":  # configured by ./dev build; not again, since a test may be running from there
        folder = ROOT / "build" / "release"
        steps = [["cmake", "--preset", "release"]] if not (folder / "build.ninja").exists() else []
        for step in [*steps, ["cmake", "--build", folder, "--target", "stoker_cli"]]:
            subprocess.run(step, cwd=ROOT, stdout=subprocess.DEVNULL, check=True)
        return folder / "stoker"
    commit = commit_of(name)
    if not commit:
        raise SystemExit(f"there is no commit {name} here")
    tree = TREES / commit
    if not (tree / "done").exists():
        source = tree / "source"
        shutil.rmtree(tree, ignore_errors=True)
        source.mkdir(parents=True)
        packed = subprocess.Popen(["git", "-C", ROOT, "archive", commit], stdout=subprocess.PIPE)
        subprocess.run(["tar", "-x", "-C", source], stdin=packed.stdout, check=True)
        packed.wait()
        make(tree / "build", source, ["-DSTOKER_TESTS=OFF"])
        (tree / "done").touch()
        forget_old()
    return tree / "build" / "stoker"
