# SPDX-License-Identifier: Apache-2.0
"""Batches that a map without threads makes in pieces, because results of known shape are large: the same elements,
errors, random numbers and resume positions as element by element and with threads."""

import os
import tempfile

import numpy as np

import checks as c
import stoker.data as sd

WIDE = 20000  # values: some elements at a time are evaluated


def wide(x):
    return {"x": sd.zeros([WIDE], "int64") + x, "n": x * 2}


def failing(every):
    """Elements that are a multiple of `every` have no number in them."""

    def f(x):
        text = sd.strings.join([sd.where(x % every == 0, "no", ""), sd.strings.as_string(x)])
        return wide(sd.strings.to_number(text, "int64"))

    return f


def taken(ds, options=None):
    """(x's first and last value and n, or the error's type) of each element."""
    it, got = iter(ds), []
    while True:
        try:
            e = next(it)
            x, n = np.atleast_2d(e["x"]), np.atleast_1d(e["n"])
            c.true(bool((x == x[:, :1]).all()), "one value in a row")
            c.true(e["x"].flags.writeable, "writable")
            got.append([x[:, 0].tolist(), n.tolist()])
        except StopIteration:
            return got
        except sd.errors.OpError as e:
            got.append(type(e).__name__)


def test_batches():
    for count, size in ((0, 8), (1, 8), (7, 8), (8, 8), (9, 8), (40, 8), (41, 13), (5, 1000)):
        for drop in (False, True):
            got = taken(sd.Dataset.range(count).map(wide).batch(size, drop_remainder=drop))
            want = [list(range(i, min(i + size, count))) for i in range(0, count, size)]
            want = [w for w in want if len(w) == size or not drop]
            c.same(got, [[w, [2 * v for v in w]] for w in want])


def test_short_inputs():
    """Inputs that give fewer elements than they are asked for, and several maps."""
    ds = sd.Dataset.range(60).filter(lambda x: x % 3 != 1)
    ds = ds.flat_map(lambda x: sd.Dataset.range(x, x + 2)).map(lambda x: x + 1).take(70)
    want = [v + 1 for x in range(60) if x % 3 != 1 for v in (x, x + 1)][:70]
    got = taken(ds.map(wide).batch(16))
    c.same([v for b in got for v in b[0]], want)
    c.same([len(b[0]) for b in got], [16] * 4 + [6])


def test_errors():
    for every in (2, 3, 5, 9, 17):
        base = sd.Dataset.range(1, 40).map(failing(every))
        several = sd.Dataset.range(1, 40).map(failing(every), 2)
        c.same(taken(base.batch(8)), taken(several.batch(8)))
        got = taken(base.ignore_errors().batch(8))
        left = [v for v in range(1, 40) if v % every]
        c.same([v for b in got for v in b[0]], left)
        c.same([len(b[0]) for b in got[:-1]], [8] * (len(got) - 1))
        # An element that fails below the map takes its batch along, as it does with threads.
        below = sd.Dataset.range(1, 40).map(lambda x, f=failing(every): f(x)["n"]).prefetch(2)
        c.same(taken(below.map(wide).batch(8)), taken(below.map(wide, 2).batch(8)))


def numbered(threads=None):
    """Datasets of random numbers, each in its first epoch."""
    options = sd.Options()
    options.seed = 7

    def f(x):
        return {"x": sd.zeros([WIDE], "int64") + x, "n": sd.random.uniform([3])}

    return sd.Dataset.range(50).map(f, threads).batch(8).with_options(options)


def test_without_order():
    """deterministic=False: a batch that waits for an element doesn't delay the others; elements
    that fail are left out; whole batches, and every element once."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [os.path.join(folder, str(i)) for i in range(12)]
        for i, path in enumerate(paths):
            if i != 1:
                with open(path, "w") as f:
                    f.write(str(i))
        os.mkfifo(paths[1])  # whose reader waits until somebody writes

        def number(path):
            return sd.strings.to_number(sd.io.read_file(path), "int64")

        ds = sd.Dataset.from_tensor_slices(np.array(paths, object))
        it = iter(ds.map(number, 2, deterministic=False).batch(4))
        got = [next(it).tolist() for _ in range(2)]
        c.same(got, [[4, 5, 6, 7], [8, 9, 10, 11]], "batches that need not wait")
        with open(paths[1], "w") as f:
            f.write("1")
        c.same([b.tolist() for b in it], [[0, 1, 2, 3]], "the one that waited")
    for every in (2, 3, 7, 100):
        ds = sd.Dataset.range(1, 200).map(failing(every), 3, deterministic=False).ignore_errors()
        got = [n for b in ds.batch(16) for n in b["n"].tolist()]
        c.same(sorted(got), [2 * i for i in range(1, 200) if i % every], f"every {every}")


def test_going_on():
    def read(it):
        return [(e["x"][:, 0].tolist(), e["n"].tolist()) for e in it]

    whole = read(numbered())
    c.same([v for b in whole for v in b[0]], list(range(50)))
    c.true(whole == read(numbered(2)), "random numbers are those of the element")
    for k in range(len(whole) + 1):
        ds = numbered()
        it = iter(ds)
        for _ in range(k):
            next(it)
        c.true(whole[k:] == read(ds.iterator(state=it.state())), f"from batch {k} on")
        c.true(whole[k:] == read(it), f"and there, {k}")
    rest = sd.Dataset.range(50).map(wide).skip(11).batch(8)
    c.same([v for b in taken(rest) for v in b[0]], list(range(11, 50)))


def test_kept_batches():
    """A consumer that keeps all, and one that writes into what it was given."""
    kept = [e["x"] for e in sd.Dataset.range(64).map(wide).batch(8)]
    for e in sd.Dataset.range(64).map(wide).batch(8):
        e["x"][:] = -1
    c.same([int(v) for x in kept for v in x[:, -1]], list(range(64)))


def test_small_budget():
    """A batch that is large beside the budget is made as it can be."""
    options = sd.Options()
    options.autotune.ram_budget = 8 << 20
    ds = sd.Dataset.range(20).map(wide).batch(20).with_options(options)
    c.same([v for b in taken(ds) for v in b[0]], list(range(20)))


def test_records():
    """Records with texts beside numbers, some damaged, against one element at a time."""
    spec = {
        "x": sd.io.FixedLenFeature([5000], "float32"),
        "s": sd.io.FixedLenFeature([], "string"),
        "y": sd.io.FixedLenFeature([], "int64", -5),
    }
    with tempfile.TemporaryDirectory() as d:
        path = os.path.join(d, "a.tfrecord")
        with sd.TFRecordWriter(path) as w:
            for i in range(100):
                features = {"x": np.full(5000, i, np.float32), "s": b"text %d" % i}
                if i % 3:
                    features["y"] = np.int64([i * 1000])
                w.write(sd.io.Example(features))
        with open(path, "r+b") as f:
            f.seek(20_100 * 40)
            f.write(b"\xff")
        ds = sd.TFRecordDataset(path).ignore_errors()
        ds = ds.map(lambda r: sd.io.parse_single_example(r, spec))
        each = [(e["x"].tolist()[::999], e["s"], int(e["y"])) for e in ds]
        rows = []
        for b in ds.batch(32):
            rows += [(x.tolist()[::999], s, int(y)) for x, s, y in zip(b["x"], b["s"], b["y"])]
        c.same(len(each), 99)
        c.same(rows, each)


c.main(globals())
