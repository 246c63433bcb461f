# SPDX-License-Identifier: Apache-2.0
"""Profiles in object stores for `stoker.why`: "s3://bucket/run/*.json.gz", through fsspec.

Each object is streamed into a separate `stoker partial` (docs/cluster.md), several at once, so neither memory nor disk
ever holds a whole object. Only the partials, kilobytes each, are kept in a private temporary folder until the report is
made.
"""

import concurrent.futures
import contextlib
import importlib
import os
import re
import subprocess
import tempfile
from collections.abc import Iterator
from typing import Any, Optional

PIECE = 4 << 20  # bytes at a time
AT_ONCE = 8
SCHEME = re.compile(r"[a-z][a-z0-9+.-]*://|[a-z][a-z0-9+.-]*::")


class NotProfile(ValueError):
    """The output of `stoker partial` about objects."""


def is_remote(path: Any) -> bool:
    return isinstance(path, str) and SCHEME.match(path) is not None


def _objects(url: str) -> "list[tuple[Any, str, str]]":
    """(file system, path, name in the report) for a URL of an object, a pattern, or a folder."""
    try:
        fsspec = importlib.import_module("fsspec")
    except ImportError as e:
        raise ImportError(f"{url}: reading from a store needs fsspec and its package for the store: pip install fsspec s3fs") from e
    fs, path = fsspec.core.url_to_fs(url)
    if any(c in path for c in "*?["):
        found = fs.glob(path)
    elif fs.isdir(path):
        found = [p for p in fs.find(path) if not p.endswith("/")]
    else:
        found = [path]
    if not found:
        raise FileNotFoundError(f"{url}: no object has this name")
    return [(fs, p, fs.unstrip_protocol(p)) for p in sorted(found)]


def _stream(program: str, found: "tuple[Any, str, str]", out: str) -> Optional[str]:
    """Writes the partial of one object; returns what went wrong, or None."""
    fs, path, name = found
    words = [program, "partial", "--quiet", "--stdin-name", name, "--output", out, "-"]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as p:
        assert p.stdin and p.stderr
        try:
            with fs.open(path, "rb") as source, contextlib.suppress(BrokenPipeError):  # it reports why it stopped
                while piece := source.read(PIECE):
                    p.stdin.write(piece)
        except Exception:
            p.kill()
            raise
        with contextlib.suppress(BrokenPipeError):
            p.stdin.close()
        said = p.stderr.read().decode(errors="replace").strip()
    return None if p.returncode == 0 else f"{name}: {said or f'stoker partial ended with {p.returncode}'}"


@contextlib.contextmanager
def local(program: str, paths: "tuple[Any, ...]") -> "Iterator[tuple[Any, ...]]":
    """The same paths, with partials instead of those in a store. NotProfile: an object isn't a profile."""
    if not any(is_remote(p) for p in paths):
        yield paths
        return
    with tempfile.TemporaryDirectory(prefix="stoker-") as folder, concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        found = [o for p in paths if is_remote(p) for o in _objects(p)]
        outs = [os.path.join(folder, f"{i}.part") for i in range(len(found))]
        wrong = [w for w in pool.map(lambda o, out: _stream(program, o, out), found, outs) if w]
        if wrong:
            raise NotProfile("\n".join(wrong))
        yield (*(p for p in paths if not is_remote(p)), *outs)
