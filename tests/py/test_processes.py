# SPDX-License-Identifier: Apache-2.0
"""map(processes=N): results, errors and deaths of worker processes."""

import gc
import os
import subprocess
import sys
import time

import numpy as np

import checks as c
import stoker.data as sd


def test_results():
    big = np.arange(300000, dtype=np.float32)

    def f(i):
        return {
            "sum": big[: int(i)].sum(),
            "part": big[: int(i)],
            "name": f"{i}",
            "pid": os.getpid(),
        }

    ds = sd.Dataset.range(0, 300000, 30000).map(f, processes=2)
    out = list(ds)
    c.same([len(e["part"]) for e in out], list(range(0, 300000, 30000)))
    c.same(out[3]["part"], big[:90000])
    c.same([e["name"] for e in out][:2], [b"0", b"30000"])
    pids = {int(e["pid"]) for e in out}
    c.true(os.getpid() not in pids, "other processes did it")
    c.same(list(ds)[2]["sum"], out[2]["sum"])
    c.true("processes" in ds.explain(), ds.explain())


def test_parallel():
    def f(i):
        time.sleep(0.05)
        return i

    ds = sd.Dataset.range(16).map(f, processes=4)
    start = time.monotonic()
    c.same([int(v) for v in ds], list(range(16)))
    c.true(
        time.monotonic() - start < 0.8,
        f"took {time.monotonic() - start:.2f} s, one after the other 0.8",
    )


def test_errors():
    def f(i):
        if i == 2:
            raise KeyError("two")
        return i * 2

    it = iter(sd.Dataset.range(4).map(f, processes=2))
    c.same([int(next(it)), int(next(it))], [0, 2])
    e = c.raises(KeyError, lambda: next(it), "two")
    c.true('raise KeyError("two")' in str(e.__cause__.__cause__), "the worker's traceback")
    c.same(int(next(it)), 6)

    def g(i):
        if i == 1:
            os._exit(3)
        return i

    it = iter(sd.Dataset.range(4).map(g, processes=2))
    next(it)
    c.raises(sd.errors.UnknownError, lambda: next(it), "died")
    c.same([int(v) for v in it], [2, 3])
    c.raises(ValueError, lambda: sd.Dataset.range(3).map(g, processes=-1))


def test_end():
    ds = sd.Dataset.range(4).map(lambda i: np.int64(os.getpid()), processes=2)
    pids = {int(p) for p in ds}
    del ds
    gc.collect()
    deadline = time.monotonic() + 5
    while any(
        os.path.exists(f"/proc/{p}/cmdline") and open(f"/proc/{p}/cmdline").read() for p in pids
    ):
        if time.monotonic() > deadline:
            break
        time.sleep(0.01)
    c.true(time.monotonic() < deadline, "workers end with the dataset")
    text = "import stoker.data as sd\nfor v in sd.Dataset.range(9).map(lambda i: i, processes=2): pass\nprint(v)"
    r = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=60)
    c.same((r.stdout, r.stderr, r.returncode), ("8\n", "", 0))


c.main(globals())
