# SPDX-License-Identifier: Apache-2.0
"""`stoker why` on a Ray cluster: each profile is read by a task, next to where it lies.

    import stoker.ray
    report = stoker.ray.why(f"/data/run7/rank{i}.json.gz" for i in range(1024))

A task leaves the partial of its profile (docs/cluster.md), tens of kilobytes. These are joined in a
tree of tasks, and this process makes the report. It is the report of `stoker.why`, for any cluster.
stoker of the same version must be on every node: a partial of another one is refused.
"""

import importlib
import os
import subprocess
import tempfile
import warnings
from collections.abc import Iterable
from typing import Any, Union

from . import _remote
from ._program import NOT_A_PROFILE, PathLike, ProfileError, Report, program, why as why_here

FAN_IN = 32  # partials that a task joins


def _read(path: str) -> "tuple[bytes, str]":
    """The partial of one profile, or why it has no partial."""
    with tempfile.TemporaryDirectory(prefix="stoker-") as folder:
        out = os.path.join(folder, "one.part")
        try:
            with _remote.local(program(), (path,)) as paths:
                words = [program(), "partial", "--quiet", "--output", out, "--", *paths]
                done = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
        except (_remote.NotProfile, FileNotFoundError) as e:
            return b"", str(e)
        if done.returncode != 0:
            return b"", done.stderr.decode(errors="replace").strip() or f"{path}: stoker partial ended with {done.returncode}"
        with open(out, "rb") as f:
            return f.read(), ""


def _join(*read: "tuple[bytes, str]") -> "tuple[bytes, str]":
    """Partials joined end to end are a partial."""
    return b"".join(part for part, _ in read), "\n".join(wrong for _, wrong in read if wrong)


def _report(joined: "tuple[bytes, str]", options: "dict[str, Any]") -> Report:
    part, wrong = joined
    if not part:
        raise ProfileError(wrong or "no profiles were given", NOT_A_PROFILE)
    if wrong:
        warnings.warn(f"left out of the report:\n{wrong}", stacklevel=3)
    with tempfile.TemporaryDirectory(prefix="stoker-") as folder:
        path = os.path.join(folder, "job.part")
        with open(path, "wb") as f:
            f.write(part)
        return why_here(path, **options)


def why(paths: "Union[PathLike, Iterable[PathLike]]", **options: Any) -> Report:
    """The result of `stoker.why(*paths, **options)`, read on the cluster that Ray is connected to.

    paths: files, or URLs of a store (stoker.why); a folder is read by one task. A profile that
    can't be read is named in a warning, and left out.
    """
    try:
        ray = importlib.import_module("ray")
    except ImportError as e:
        raise ImportError("stoker.ray needs Ray: pip install stoker[ray]") from e
    given = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
    read, join = ray.remote(num_cpus=1)(_read), ray.remote(num_cpus=0)(_join)
    level = [read.remote(os.fspath(p)) for p in given]
    while len(level) > 1:
        level = [join.remote(*level[i : i + FAN_IN]) for i in range(0, len(level), FAN_IN)]
    return _report(ray.get(level[0]) if level else (b"", ""), options)
