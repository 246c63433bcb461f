# SPDX-License-Identifier: Apache-2.0
"""Shared by the tests of Arrow sources: an interpreter with pyarrow (STOKER_ARROW_PYTHON names one, if
python3 has none), and a table of all layouts with its files."""

import os
import sys

import numpy as np

import checks as c

try:
    import pyarrow as pa
except ImportError:
    other = os.environ.pop("STOKER_ARROW_PYTHON", None)
    if other:
        os.execv(other, [other, *sys.argv])
    pa = None


def have():
    """Is pyarrow there? Otherwise the test is skipped, and says so."""
    if pa is None:
        c.skip("pyarrow is not installed; STOKER_ARROW_PYTHON can name an interpreter that has it")
    return pa is not None


def table(n):
    """Rows whose values tell their number, in all layouts."""
    return pa.table(
        {
            "id": np.arange(n),
            "x": np.arange(n, dtype=np.float32) / 2,
            "s": [f"row {i}" for i in range(n)],
            "l": [list(range(i % 4)) for i in range(n)],
            "ll": [[[k] * (k % 3) for k in range(i % 4)] for i in range(n)],
            "f": pa.array([[i, i + 1] for i in range(n)], pa.list_(pa.int32(), 2)),
            "st": [{"a": i, "b": {"c": str(i)}} for i in range(n)],
            "ls": [[{"p": k, "q": str(k)} for k in range(i % 3)] for i in range(n)],
            "d": pa.array([["a", "bb", "ccc"][i % 3] for i in range(n)]).dictionary_encode(),
            "b": [i % 2 == 0 for i in range(n)],
            "fb": pa.array([b"%04d" % i for i in range(n)], pa.binary(4)),
            "ts": pa.array(np.arange(n).astype("datetime64[ms]")),
            "big": pa.array([f"{i}" for i in range(n)], pa.large_string()),
            "h": pa.array(np.arange(n).astype(np.float16)),
            "u": pa.array((np.arange(n) % 256).astype(np.uint8)),
        }
    )


def wrong(e):
    """What of a row is not as the table has it; None: it all is."""
    i = int(e["id"])
    splits = np.asarray(e["ll"].row_splits).tolist()
    have = {
        "x": float(e["x"]),
        "s": bytes(e["s"]),
        "l": e["l"].tolist(),
        "ll": (np.asarray(e["ll"].flat_values).tolist(), np.diff(splits).tolist()),
        "f": e["f"].tolist(),
        "st": (int(e["st"]["a"]), bytes(e["st"]["b"]["c"])),
        "ls": (e["ls"]["p"].tolist(), [bytes(v) for v in e["ls"]["q"].tolist()]),
        "d": bytes(e["d"]),
        "b": bool(e["b"]),
        "fb": bytes(e["fb"]),
        "ts": int(e["ts"]),
        "big": bytes(e["big"]),
        "h": float(e["h"]),
        "u": int(e["u"]),
    }
    text = b"%d" % i
    want = {
        "x": i / 2,
        "s": b"row %d" % i,
        "l": list(range(i % 4)),
        "ll": ([k for k in range(i % 4) for _ in range(k % 3)], [k % 3 for k in range(i % 4)]),
        "f": [i, i + 1],
        "st": (i, text),
        "ls": (list(range(i % 3)), [b"%d" % k for k in range(i % 3)]),
        "d": [b"a", b"bb", b"ccc"][i % 3],
        "b": i % 2 == 0,
        "fb": b"%04d" % i,
        "ts": i,
        "big": text,
        "h": float(np.float16(i)),
        "u": i % 256,
    }
    return next((f"row {i}, {k}: {have[k]!r}, want {want[k]!r}" for k in want if have[k] != want[k]), None)


def write(folder, name, t, rows):
    """The table as name.parquet, name.arrow (a file) and name.arrows (a stream), in units of some rows."""
    import pyarrow.parquet as pq

    paths = [os.path.join(folder, name + end) for end in (".parquet", ".arrow", ".arrows")]
    pq.write_table(t, paths[0], row_group_size=rows)
    for path, new in zip(paths[1:], (pa.ipc.new_file, pa.ipc.new_stream)):
        with pa.OSFile(path, "wb") as f, new(f, t.schema) as w:
            w.write_table(t, max_chunksize=rows)
    return paths


def ids(ds):
    """The rows' numbers, errors as their classes."""
    return ids_of(iter(ds))


def ids_of(it):
    return [e if isinstance(e, type) else int(e["id"]) for e in c.all_of(it)]
