# SPDX-License-Identifier: Apache-2.0
"""The program `stoker` for Python: finds it, and returns its answers as data.

The program comes with the package (bin/stoker), so both have the same version; otherwise the one on PATH is used. Each
answer is the program's --json output; `stoker schema` prints its contract.
"""

import json
import os
import shutil
import subprocess
from typing import Any, Optional, Union

PathLike = Union[str, "os.PathLike[str]"]
NOT_A_PROFILE = 3  # exit code
CANNOT_TELL = 4  # exit code: an answer, not an error


class ProfileError(ValueError):
    """The program's error message, with its exit code in `exit_code` (2 usage, 3 not a
    profile, 5 a limit)."""

    def __init__(self, message: str, exit_code: int) -> None:
        super().__init__(message)
        self.exit_code = exit_code


def program() -> str:
    """The program's path. FileNotFoundError: it isn't installed."""
    inside = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "stoker")
    found = inside if os.access(inside, os.X_OK) else shutil.which("stoker")
    if not found:
        raise FileNotFoundError("the program stoker is neither in this package nor on PATH: reinstall stoker with pip")
    return found


class Report(dict):  # type: ignore[type-arg]
    """A document of `stoker ... --json`. print() shows the program's text report; a notebook shows the verdict, the
    median step as a ribbon, its parts as bars, and the text."""

    def __init__(self, document: "dict[str, Any]", text: str) -> None:
        super().__init__(document)
        self.text = text  # as on a terminal with 80 columns

    def __repr__(self) -> str:
        return self.text

    __str__ = __repr__

    def _repr_html_(self) -> str:
        from . import _notebook  # imports this module

        return _notebook.page(self)


def _asked(words: "list[str]") -> str:
    alone = {**os.environ, "STOKER_MPI": "off"}  # the caller may be an MPI rank, but the program isn't one
    done = subprocess.run([program(), *words], stdin=subprocess.DEVNULL, capture_output=True, check=False, env=alone)
    if done.returncode not in (0, 1, CANNOT_TELL) or not done.stdout:
        said = done.stderr.decode(errors="replace").strip()
        raise ProfileError(said or f"stoker {words[0]} ended with {done.returncode}", done.returncode)
    return done.stdout.decode(errors="replace")


def _answer(command: "list[str]", paths: "tuple[PathLike, ...]", options: "dict[str, Any]") -> Report:
    words = []
    for name, value in options.items():
        option = "--" + name.replace("_", "-")
        if value is True:
            words.append(option)
        elif value is not None and value is not False:
            words += [option, str(value)]
    words = [*command, *words, "--", *(os.fspath(p) for p in paths)]
    return Report(json.loads(_asked([words[0], "--json", *words[1:]])), _asked([words[0], "--no-color", *words[1:]]))


def why(*profiles: PathLike, steps: Optional[str] = None, rank: Optional[int] = None, **options: Any) -> Report:
    """The result of `stoker why PROFILE... --json`: a dict by the report's contract, and its text.

    profiles: files or directories, as for the command; several are the ranks of one run. With
    fsspec also URLs of an object, a pattern or a folder in a store ("s3://bucket/run/*.json.gz"),
    which are streamed.
    steps: "A:B"; other options by their command-line names (`limit=50`, `redact=True`).
    ProfileError: not a profile, or a wrong option. "Cannot tell" is an answer: see
    report["verdict"]["kind"].

        report = stoker.why("trace.json.gz")
        report["verdict"]["sentence"], [f["id"] for f in report["findings"]]
    """
    from . import _remote  # 6 ms, which jobs that only load data shouldn't pay

    try:
        with _remote.local(program(), profiles) as paths:
            return _answer(["why"], paths, {"steps": steps, "rank": rank, **options})
    except _remote.NotProfile as e:
        raise ProfileError(str(e), NOT_A_PROFILE) from e


def stats(analysis: str, *profiles: PathLike, **options: Any) -> Report:
    """A table of `stoker stats ANALYSIS PROFILE...` ("kernels", "input", ...); otherwise like `why`."""
    return _answer(["stats", analysis], profiles, options)


def whatif(*profiles: PathLike, fix: Optional[str] = None, **options: Any) -> Report:
    """Estimates for fixes: `stoker whatif PROFILE... [--fix ID,...]`; otherwise like `why`."""
    return _answer(["whatif"], profiles, {"fix": fix, **options})
