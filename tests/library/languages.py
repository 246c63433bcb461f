# SPDX-License-Identifier: Apache-2.0
"""The programs of docs/library-go.md, -rust.md and -python.md, as they stand there, built against an installed library.

Each prints the verdict, a line for each finding, and what it got as JSON: all must be what the program's report says.
A language without its tools is left out, and named.
"""
import importlib.util
import os
import pathlib
import re
import shutil
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def _program(language, fence, work):
    text = (ROOT / f"docs/library-{language}.md").read_text()
    source = work / language / f"why.{ {'go': 'go', 'rust': 'rs', 'python': 'py'}[language] }"
    source.parent.mkdir()
    source.write_text(re.search(rf"```{fence}\n(.*?)```", text, re.S).group(1))
    return source


def _builds(prefix):
    """Language -> (its tool or None, the words that build `source` next to it, the words that run it)."""
    rust = ["rustc", "--edition", "2021", "-L", prefix / "lib", "-C", f"link-arg=-Wl,-rpath,{prefix}/lib", "why.rs"]
    has_cffi = importlib.util.find_spec("cffi") and importlib.util.find_spec("setuptools")
    return {
        "go": (shutil.which("go"), ["go", "build", "-o", "why", "why.go"], ["./why"]),
        "rust": (shutil.which("rustc"), rust, ["./why"]),
        "python": (has_cffi, [sys.executable, "why.py", "build", prefix], [sys.executable, "why.py"]),
    }


def answers(prefix, work, profile, report, must, check):
    """Builds and runs each program that can be built here; returns how many were."""
    env = {**os.environ, "PKG_CONFIG_PATH": str(prefix / "lib/pkgconfig"), "LD_LIBRARY_PATH": str(prefix / "lib"),
           "GOCACHE": str(work / "go-cache"), "GOFLAGS": "-mod=mod", "LC_ALL": "C"}  # fmt: skip
    built = 0
    for language, (tool, build, run) in _builds(prefix).items():
        if not tool:
            print(f"library: {language}: its tools are not installed: left out")
            continue
        source = _program(language, language, work)
        must(*build, cwd=source.parent, env=env)
        lines = must(*run, profile, cwd=source.parent, env=env).splitlines()
        check(lines[0] == f"verdict: {report['verdict']['kind']}", f"{language}: {lines}")
        ids = [line.split(": ")[0] for line in lines[1:-1]]
        check(ids == [f["id"] for f in report["findings"]] and ids, f"{language}: findings {ids}")
        size = re.fullmatch(r"json: (?:(\d+) bytes|stoker\.report/1)", lines[-1])
        check(size and (not size[1] or int(size[1]) > 1000), f"{language}: {lines[-1]}")
        built += 1
    return built
