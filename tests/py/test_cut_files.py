# SPDX-License-Identifier: Apache-2.0
"""Mapped .npy files that are truncated at any moment: before the first element, between elements, and while the
caller holds what was returned. Each in a separate process, which must end by itself: an error, or zeros in earlier
results, and never SIGBUS."""

import os
import subprocess
import sys
import tempfile

import numpy as np

import checks as c
import stoker.data as sd

ROWS, BYTES = 100_000, 32
MOMENTS = {
    "before a dataset": "cut(); print(len(made()))",
    "before the first element": "ds = made(); cut(); print(len(list(ds)))",
    "before an explanation": "ds = made(); cut(); ds.explain(); print(ds.cardinality(), ds)",
    "between batches": "it = iter(made()); next(it); cut(); print(len(list(it)))",
    "behind the iterator": "kept = list(made()); cut(); print(sum(float(np.sum(k)) for k in kept))",
    "behind the dataset": "kept = list(made()); gc.collect(); cut(); print(sum(float(np.sum(k)) for k in kept))",
    "before it is saved": "ds = made(); cut(); ds.save(sys.argv[1] + '.saved')",
}
STAGES = ("ds.batch(1000)", "ds", "ds.map(lambda x: x + 1).batch(1000)", "ds.shuffle(1000).batch(1000)",
          "ds.batch(1000).prefetch(2)", "ds.cache().batch(1000)", "ds.repeat(2).batch(1000)")
PROGRAM = """
import gc, os, sys
import numpy as np
import stoker.data as sd
def made():
    ds = sd.NpyDataset(sys.argv[1])
    return ({stages}).take(50)
def cut():
    os.truncate(sys.argv[1], 200)
try:
    {moment}
except sd.errors.OpError as e:
    print("told:", e)
"""


def run(path, stages, moment):
    text = PROGRAM.format(stages=stages, moment=moment)
    return subprocess.run([sys.executable, "-c", text, path], capture_output=True, text=True, timeout=120)


def test_every_moment():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "a.npy")
        for name, moment in MOMENTS.items():
            for stages in STAGES if name in ("before the first element", "between batches") else STAGES[:2]:
                np.save(path, np.ones((ROWS, BYTES // 4), np.float32))
                r = run(path, stages, moment)
                c.same((r.returncode, r.stderr[-300:]), (0, ""), f"{name}, {stages}")
                if name == "before the first element" and "batch" in stages:
                    c.true("cut short" in r.stdout, f"{name}, {stages}: {r.stdout[:200]}")


def test_order_that_is_copied():
    """Arrays that the engine cannot take as they lie are read, and no mapping is left."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "a.npy")
        for array in (np.asfortranarray(np.arange(12.0).reshape(3, 4)), np.arange(12).reshape(3, 4).astype(">i8")):
            np.save(path, array)
            ds = sd.NpyDataset(path)
            os.truncate(path, 130)
            c.same([e.tolist() for e in ds.as_numpy_iterator()], array.tolist())
            c.raises(sd.errors.InvalidArgumentError, lambda: sd.NpyDataset(path), "a.npy")


def test_many_maps():
    """As many files as a process may map are guarded, the last of them as well."""
    with tempfile.TemporaryDirectory() as folder:
        names = [os.path.join(folder, f"{k}.npy") for k in range(4200)]
        np.save(names[0], np.ones((4, 4096), np.float32))
        for name in names[1:]:
            os.link(names[0], name)
        text = """if True:
            import os, sys
            import stoker.data as sd
            names = [os.path.join(sys.argv[1], f"{k}.npy") for k in range(4200)]
            parts = [sd.NpyDataset(n) for n in names]
            os.truncate(names[0], 200)
            try:
                print(len(list(parts[-1].batch(4).repeat(2))))
            except sd.errors.DataLossError as e:
                print("told:", e)
        """
        r = subprocess.run([sys.executable, "-c", text, folder], capture_output=True, text=True, timeout=120)
        c.same((r.returncode, r.stderr[-300:]), (0, ""))
        c.true("told: " in r.stdout, r.stdout)


c.main(globals())
