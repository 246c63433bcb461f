# SPDX-License-Identifier: Apache-2.0
"""The memory budget is a hard cap: everything that stages hold counts, the process grows by no more, stages without
enough memory wait, and what can't fit is rejected with advice."""

import os
import re
import subprocess
import sys
import tempfile

import checks as c
import numpy as np
import stoker.data as sd

MIB = 1 << 20
SLACK = 20 * MIB  # threads, Python's objects, what malloc keeps of what was freed

RUN = """
import gc, sys, zlib
import numpy as np
import stoker.data as sd

def status(key):
    return int([l for l in open("/proc/self/status") if l.startswith(key)][0].split()[1]) * 1024

folder, budget, text = sys.argv[1], int(sys.argv[2]), sys.argv[3]
A = sd.AUTOTUNE
def records():
    return sd.TFRecordDataset(folder + "/records")
def files(name):
    return sd.Dataset.from_tensors(open(folder + "/" + name, "rb").read()).repeat(12)
list(sd.Dataset.range(10).map(lambda x: x + 1, 2).prefetch(2))
o = sd.Options()
o.autotune.ram_budget = budget
o.autotune.cpu_budget = 2
ds = eval(text).with_options(o)
gc.collect()
open("/proc/self/clear_refs", "w").write("5")
before, n, error = status("VmRSS"), 0, ""
try:
    for x in ds:
        n += 1
        del x
except sd.errors.ResourceExhaustedError as e:
    error = str(e)
print(n, ds.stats().memory["peak_bytes"], status("VmHWM") - before, error)
"""

# (pipeline, MiB, elements; None: refused with a message)
ROWS = [
    ("records().shuffle(200).map(lambda r: sd.strings.length(r))", 32, 400),
    ("records().shuffle(200).map(lambda r: sd.strings.length(r))", 16, None),
    ("sd.Dataset.range(1500000).filter(lambda x: x >= 0).shuffle(1000000).batch(1000)", 12, 1500),
    ("files('big.jpg').map(lambda b: sd.reduce_max(sd.io.decode_jpeg(b)), A)", 32, 12),
    ("files('steps.jpg').map(lambda b: sd.reduce_max(sd.io.decode_jpeg(b)), A)", 32, 12),
    ("files('big.png').map(lambda b: sd.image.resize(sd.io.decode_png(b), [64, 64]), A)", 32, 12),
    ("files('zeros.z').map(lambda b: sd.strings.length(sd.io.decode_compressed(b, 'ZLIB')), A)", 16, 12),
    ("files('zeros.z').map(lambda b: sd.io.decode_compressed(b, 'ZLIB'), A).prefetch(A)", 16, 12),
    ("records().window(50).flat_map(lambda w: w.batch(50)).map(lambda b: sd.size(b))", 32, 8),
    ("records().take(100).cache().repeat(2).map(lambda r: sd.strings.length(r))", 16, 200),
    ("records().snapshot(folder + '/snapshot').map(lambda r: sd.strings.length(r))", 16, 400),
    ("sd.Dataset.range(40).map(lambda i: np.full(250000, i, 'f4'), processes=2)", 16, 40),
]


def make_files(folder):
    import zlib

    rng = np.random.default_rng(0)
    with sd.TFRecordWriter(folder + "/records") as w:
        for _ in range(400):
            w.write(rng.integers(0, 64, 100000, dtype="uint8").tobytes())
    y, x = np.mgrid[0:1200, 0:1600]
    image = np.stack([x % 256, y % 256, (x + y) % 256], -1).astype("uint8")
    files = {
        "big.jpg": sd.io.encode_jpeg(image),
        "steps.jpg": sd.io.encode_jpeg(image, progressive=True),
        "big.png": sd.io.encode_png(image),
        "zeros.z": np.array(zlib.compress(bytes(3 * MIB)), object),
    }
    for name, data in files.items():
        with open(f"{folder}/{name}", "wb") as f:
            f.write(bytes(np.asarray(data).item()))


def test_budgets():
    if not os.path.exists("/proc/self/clear_refs") or "lib" in os.environ.get("LD_PRELOAD", ""):
        c.skip("a process's memory can't be measured here")
        return
    with tempfile.TemporaryDirectory() as folder:
        make_files(folder)
        for text, mib, want in ROWS:
            out = subprocess.run(
                [sys.executable, "-c", RUN, folder, str(mib * MIB), text],
                capture_output=True,
                text=True,
                timeout=120,
            )
            c.same(out.stderr, "", text)
            n, peak, growth, error = (out.stdout.rstrip("\n") + " ").split(" ", 3)
            c.true(int(peak) <= mib * MIB, f"{text}: {peak} bytes at the peak of {mib} MiB")
            c.true(int(peak) > mib * MIB // 40, f"{text}: {peak} bytes: what it holds counts")
            c.true(int(growth) < mib * MIB + SLACK, f"{text}: grew by {growth} bytes of {mib} MiB")
            if want is None:
                c.true(re.search(r"\d+ of .*\d+ .*ram_budget", error), f"{text}: {error}")
            else:
                c.same((int(n), error.strip()), (want, ""), text)


def limited(ds, mib):
    o = sd.Options()
    o.autotune.ram_budget = mib * MIB
    return ds.with_options(o)


def test_what_holds_the_memory():
    """The error names the stage that holds most of it, its line, how much that is, and what changes it."""
    def one(x):
        return sd.fill([131072], sd.cast(x, "float64"))  # 1 MiB

    numbers = sd.Dataset.range(200)
    for ds, words in (
        (numbers.map(one, 2).batch(100), ["held by batch, test_memory.py:", "a smaller batch_size"]),
        (numbers.map(one).shuffle(100), ["elements being made"]),
        (numbers.batch(1).map(lambda x: one(x[0])).prefetch(1).shuffle(100),
         ["held by shuffle, test_memory.py:", "a smaller buffer_size"]),
        (numbers.map(one, 2).prefetch(2).padded_batch(100), ["held by padded_batch, test_memory.py:", "bucket_by_sequence_length"]),
        (numbers.map(lambda x: sd.fill([8], x)).pack(1 << 20, bins=64), ["64 rows of 16777216 bytes", "fewer bins"]),
    ):  # fmt: skip
        e = c.raises(sd.errors.ResourceExhaustedError, lambda: list(limited(ds, 32)), *words)
        held = re.search(r"held by (shuffle|batch|padded_batch).*?: (\d+) bytes", str(e))
        c.true(not held or 8 < int(held[2]) / MIB < 32.1, f"{held and held[0]} of 32 MiB")


def test_cache_of_small_elements():
    """Blocks of a few numbers, in buffers made for many, are kept as what they are."""
    for cycle in (1, 4):
        ds = sd.Dataset.range(1500).interleave(
            lambda x: sd.Dataset.range(x, x + 2).map(lambda y: y * 3), cycle, num_parallel_calls=2
        )
        ds = limited(ds.cache(), 8)
        first = list(ds)
        used = ds.stats().memory["in_use_bytes"]
        c.same(len(first), 3000)
        c.true(3000 * 8 <= used < MIB // 4, f"{used} bytes in use for 24,000")
        c.same(list(ds), first)


def test_cache_of_strings():
    want = [b"%d" % i * (i % 50) for i in range(5000)]
    ds = limited(sd.Dataset.from_generator(lambda: iter(want), output_types=sd.string).cache(), 8)
    c.same(list(ds), want)
    c.same(list(ds), want)


def test_cache_too_large():
    """Elements that would take most of the budget aren't kept, but still come."""
    ds = limited(sd.Dataset.range(300).map(lambda x: sd.fill([12500], x)).cache(), 8)
    for _ in range(2):
        c.same([int(x[0]) for x in ds], list(range(300)))
    c.true(ds.stats().memory["in_use_bytes"] < 4 * MIB, "nothing is kept")


c.main(globals())
