# SPDX-License-Identifier: Apache-2.0
"""Datasets: nested ones, state carried along, groups, files, options, seeds, resuming."""

import gzip
import itertools
import os
import pickle
import subprocess
import sys
import tempfile
import time

import numpy as np

import checks as c
import stoker.data as sd


def ints(ds):
    return [int(v) for v in ds]


def test_nested():
    ds = sd.Dataset.range(4).flat_map(lambda x: sd.Dataset.range(x).map(lambda y: (x, y)))
    c.same([(int(a), int(b)) for a, b in ds], [(x, y) for x in range(4) for y in range(x)])
    c.true(ds._function.is_native, "values of the function around are captured natively")
    ds = sd.Dataset.range(2, 5).flat_map(
        lambda x: sd.Dataset.range(10).filter(lambda y: y % x == 0).batch(3)
    )
    c.same([list(map(int, b)) for b in ds][:3], [[0, 2, 4], [6, 8], [0, 3, 6]])
    three = sd.Dataset.range(3).flat_map(
        lambda a: sd.Dataset.range(2).flat_map(
            lambda b: sd.Dataset.range(2).map(lambda d: a * 100 + b * 10 + d)
        )
    )
    c.same(
        ints(three), [a * 100 + b * 10 + d for a in range(3) for b in range(2) for d in range(2)]
    )
    known = sd.Dataset.from_tensor_slices([7, 8])
    c.same(ints(sd.Dataset.range(2).flat_map(lambda x: known)), [7, 8, 7, 8])
    c.raises(TypeError, lambda: sd.Dataset.range(3).flat_map(lambda x: x), "Dataset")
    c.raises(
        TypeError,
        lambda: sd.Dataset.range(3).flat_map(
            lambda x: sd.Dataset.range(3) if x > 1 else sd.Dataset.range(1)
        ),
    )


def test_windows():
    w = sd.Dataset.range(7).window(3)
    c.same([ints(d) for d in w], [[0, 1, 2], [3, 4, 5], [6]])
    c.same(repr(w.element_spec), "DatasetSpec(TensorSpec(shape=(), dtype=int64))")
    both = sd.Dataset.zip((sd.Dataset.range(4), sd.Dataset.range(4, 8))).window(2)
    flat = both.flat_map(lambda a, b: sd.Dataset.zip((a.batch(2), b.batch(2))))
    c.same(list(flat), [(np.array([0, 1]), np.array([4, 5])), (np.array([2, 3]), np.array([6, 7]))])
    sums = (
        sd.Dataset.range(6).window(3, shift=1, drop_remainder=True).flat_map(lambda d: d.batch(3))
    )
    c.same(ints(sums.map(lambda v: sd.reduce_sum(v))), [3, 6, 9, 12])


def test_state():
    r = sd.Dataset.range(10)
    c.same(r.reduce(np.int64(0), lambda s, x: s + x), np.int64(45))
    c.same(r.reduce((0, 1.0), lambda s, x: (s[0] + 1, s[1] * 2)), (np.int32(10), np.float32(1024)))
    c.same(
        sd.Dataset.range(3).reduce(np.zeros(0, np.int64), lambda s, x: sd.concat([s, [x]], 0)),
        np.arange(3),
    )
    c.same(r.reduce(np.int64(1), lambda s, x: max(int(s), int(x))), np.int64(9))
    c.raises(TypeError, lambda: r.reduce(0, lambda s, x: s + x), "int")
    c.same(ints(r.scan(np.int64(0), lambda s, x: (s + x, s + x))), list(np.cumsum(range(10))))


def test_state_behind_errors():
    """Elements that failed are passed over again; what a stage passed over by itself is not."""

    failing = sd.Dataset.range(7).map(lambda x: sd.strings.to_number(sd.strings.join([sd.strings.as_string(x), "x"])))
    some = sd.Dataset.from_tensor_slices(["0", "x", "2", "y", "4"]).map(sd.strings.to_number)
    for ds in (
        failing,
        failing.skip(1),
        some.skip(2).take(2),
        sd.Dataset.zip((failing,)).skip(2),
        sd.Dataset.zip((failing.skip(3), sd.Dataset.range(9))),
        some.repeat(2).skip(6),
        some.shard(2, 1),
        some.concatenate(some.skip(1)).batch(2),
    ):
        whole = c.all_of(iter(ds))
        for given in range(len(whole) + 1):
            it = iter(ds)
            for _ in range(given):
                try:
                    next(it)
                except sd.errors.OpError:
                    pass
            c.same(c.all_of(ds.iterator(state=it.state())), whole[given:])


def test_groups():
    g = sd.Dataset.range(10).group_by_window(
        lambda x: x % 3, lambda k, w: w.batch(4), window_size=4
    )
    c.same(sorted(len(b) for b in g), [3, 3, 4])
    rows = [np.arange(n) for n in (1, 5, 2, 3, 1, 6, 2)]
    ds = sd.Dataset.range(7).map(lambda i: sd.range(sd.gather([1, 5, 2, 3, 1, 6, 2], i)))
    shapes = sorted(
        b.shape for b in ds.bucket_by_sequence_length(lambda v: sd.size(v), [3, 5], [2, 2, 2])
    )
    c.same(shapes, [(1, 3), (2, 2), (2, 2), (2, 6)])
    padded = ds.bucket_by_sequence_length(
        lambda v: sd.size(v), [3, 7], [2, 2, 2], pad_to_bucket_boundary=True
    )
    c.same(sorted({b.shape[1] for b in padded}), [2, 6])
    b = next(iter(ds.padded_batch(7, padding_values=-1)))
    c.true(b.shape == (7, 6) and (b[1] == [0, 1, 2, 3, 4, -1]).all(), "padded")
    c.raises(ValueError, lambda: list(ds.batch(7)), "padded_batch")
    c.raises(ValueError, lambda: ds.padded_batch(2, padded_shapes=([None], [None])))
    balanced = (
        sd.Dataset.range(4000)
        .map(lambda x: x % 10)
        .rejection_resample(lambda x: sd.cast(x == 0, "int64"), [0.5, 0.5], [0.9, 0.1], seed=1)
    )
    classes = [int(k) for k, _ in balanced]
    c.true(
        600 < len(classes) < 1000 and abs(np.mean(classes) - 0.5) < 0.08,
        f"{len(classes)} {np.mean(classes)}",
    )
    del rows


def test_mixing():
    a, b = sd.Dataset.range(5), sd.Dataset.range(10, 15)
    c.same(
        sorted(ints(sd.Dataset.sample_from_datasets([a, b], seed=1))),
        sorted([*range(5), *range(10, 15)]),
    )
    c.same(
        ints(sd.Dataset.choose_from_datasets([a, b], sd.Dataset.range(6).map(lambda i: i % 2))),
        [0, 10, 1, 11, 2, 12],
    )
    c.raises(
        TypeError,
        lambda: sd.Dataset.choose_from_datasets([a, b], sd.Dataset.from_tensor_slices([0, 1])),
    )
    c.raises(TypeError, lambda: a.concatenate(b.map(lambda x: (x, x))))


def test_shuffle_and_seeds():
    ds = sd.Dataset.range(100).shuffle(100, seed=3)
    it = ds.iterator()
    first = ints(it)
    c.true(sorted(first) == list(range(100)) and first != list(range(100)), "a permutation")
    o = sd.Options()
    o.seed = 5
    mapped = (
        sd.Dataset.range(50)
        .shuffle(10)
        .map(lambda x: (x, sd.random.uniform([])), num_parallel_calls=2)
        .with_options(o)
    )
    again = (
        sd.Dataset.range(50).shuffle(10).map(lambda x: (x, sd.random.uniform([]))).with_options(o)
    )
    one, two = list(mapped), list(again)
    c.true(
        all((x[0] == y[0]) and (x[1] == y[1]) for x, y in zip(one, two)), "threads change nothing"
    )
    it = mapped.batch(4).iterator()
    for _ in range(5):
        next(it)
    state, rest = it.state(), list(it)
    c.same(list(mapped.batch(4).iterator(state=state)), rest)
    c.raises(TypeError, lambda: mapped.with_options({"seed": 1}))
    c.raises(AttributeError, lambda: setattr(o, "sead", 1))


BUDGET = """
import sys
import stoker.data as sd

def status(key):
    return int([l for l in open("/proc/self/status") if l.startswith(key)][0].split()[1]) * 1024

paths, budget = sys.argv[2:], int(sys.argv[1])
list(sd.Dataset.range(10).map(lambda x: x + 1, 2).prefetch(2))
open("/proc/self/clear_refs", "w").write("5")
before = status("VmRSS")
o = sd.Options()
o.autotune.ram_budget = budget
ds = sd.TFRecordDataset(paths, num_parallel_reads=len(paths)).batch(8).prefetch(-1)
ds = ds.with_options(o)
n = sum(len(b) for b in ds)
print(n, ds.stats().memory["peak_bytes"], status("VmHWM") - before)
"""


def test_memory_budget():
    """What readers hold counts, too: the process grows by no more than was allowed."""
    if not os.path.exists("/proc/self/clear_refs"):
        return
    # Slack: Python's copies, and what malloc keeps for each thread, more where processors are many.
    # Without a budget the readers hold up to all of the 42 MB.
    budget, slack = 12 << 20, 24 << 20
    with tempfile.TemporaryDirectory() as folder:
        paths = [f"{folder}/{k}" for k in range(6)]
        for path in paths:
            with sd.TFRecordWriter(path) as w:
                for i in range(70):
                    w.write(bytes([i]) * 100000)
        out = subprocess.run(
            [sys.executable, "-c", BUDGET, str(budget), *paths], capture_output=True, timeout=250
        )
        c.same(out.stderr, b"")
        n, peak, growth = (int(w) for w in out.stdout.split())
        c.same(n, 420)
        c.true(budget // 4 < peak <= budget, f"{peak} bytes at the peak")
        if "libasan" not in os.environ.get("LD_PRELOAD", ""):  # which keeps what is freed
            c.true(growth < budget + slack, f"grew by {growth} bytes")


def test_a_bad_first_element():
    """A function that cannot be traced is tried on the first element that is one: whether the bad ones before it may be
    left out is known later."""
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/r"
        with sd.TFRecordWriter(path) as w:
            for i in range(5):
                w.write(b"%d" % i)
        whole = bytearray(open(path, "rb").read())
        size = len(whole) // 5
        for bad in (1, 5):
            damaged = bytearray(whole)
            for k in range(bad):
                damaged[k * size + 12] ^= 1
            open(path, "wb").write(damaged)
            ds = sd.TFRecordDataset(path)
            if bad == 5:
                c.raises(sd.errors.DataLossError, lambda: ds.map(lambda r: np.int64(int(bytes(r)) + 1)))
                continue
            ds = ds.map(lambda r: np.int64(int(bytes(r)) + 1))
            c.raises(sd.errors.DataLossError, lambda: list(ds))
            o = sd.Options()
            o.on_error = "skip"
            c.same([int(x) for x in ds.with_options(o)], [2, 3, 4, 5])


OPENED = {
    "text": (b"a line of text\n", lambda path, codec: sd.TextLineDataset(path, codec)),
    "csv": (b"1,2.5\n", lambda path, codec: sd.CsvDataset(path, [sd.int64, sd.float32], codec)),
    "fixed": (b"0123456789", lambda path, codec: sd.FixedLengthRecordDataset(path, 10, compression_type=codec)),
}


def test_open_files_count():
    """What an open file takes is in use of the budget, and given back with it; less is read at once
    where the budget is small."""
    with tempfile.TemporaryDirectory() as folder:
        for name, (row, make) in OPENED.items():
            for codec in ("", "GZIP"):
                path = f"{folder}/{name}{codec}"
                with gzip.open(path, "wb") if codec else open(path, "wb") as f:
                    f.write(row * 200_000)
                seen = {}
                for budget in (1 << 20, 256 << 20):
                    o = sd.Options()
                    o.autotune.ram_budget = budget
                    it = iter(make(path, codec).with_options(o))
                    next(it)
                    seen[budget] = it.memory()["in_use_bytes"]
                    c.same(sum(1 for _ in it), 199_999, f"{name} {codec}")
                    m = it.memory()
                    c.true(m["peak_bytes"] <= budget and m["in_use_bytes"] < 100_000, f"{name} {codec}: {m}")
                least = (192 << 10) + (64 << 10 if codec else 0)
                c.true(least < seen[1 << 20] < 700_000, f"{name} {codec}: {seen}")
                if name != "fixed":  # which reads what is asked for
                    c.true(seen[256 << 20] > seen[1 << 20] + 100_000, f"{name} {codec}: {seen}")
                o = sd.Options()
                o.autotune.ram_budget = 150_000
                c.raises(
                    sd.errors.ResourceExhaustedError,
                    lambda: next(iter(make(path, codec).with_options(o))),
                    "budget",
                )


def test_len():
    c.raises(TypeError, lambda: len(sd.Dataset.range(3).repeat()), "infinite")
    c.raises(TypeError, lambda: len(sd.Dataset.range(3).filter(lambda x: x > 1)), "unknown")
    c.same(sd.Dataset.range(3).repeat().cardinality(), sd.INFINITE_CARDINALITY)
    c.same(sd.Dataset.range(3).filter(lambda x: x > 1).cardinality(), sd.UNKNOWN_CARDINALITY)
    c.true(bool(sd.Dataset.range(0)), "a dataset is true")
    c.raises(ValueError, lambda: sd.Dataset.range(0).get_single_element(), "empty")
    c.raises(ValueError, lambda: sd.Dataset.range(2).get_single_element(), "more")


def files(folder):
    for k in range(3):
        with sd.TFRecordWriter(f"{folder}/{k}.tfr") as w:
            for i in range(3):
                w.write(sd.io.Example({"k": k, "v": np.arange(i), "s": f"{k}{i}"}))
    return [f"{folder}/{k}.tfr" for k in range(3)]


FEATURES = {
    "k": sd.io.FixedLenFeature([], sd.int64),
    "v": sd.io.VarLenFeature(sd.int64),
    "s": sd.io.FixedLenFeature([], sd.string),
}


def test_files():
    with tempfile.TemporaryDirectory() as folder:
        paths = files(folder)
        ds = sd.TFRecordDataset(paths)
        e = list(ds.map(lambda r: sd.io.parse_single_example(r, FEATURES)))[5]
        c.same((int(e["k"]), e["s"], list(e["v"].values)), (1, b"12", [0, 1]))
        b = next(iter(ds.batch(4).map(lambda r: sd.io.parse_example(r, FEATURES))))
        c.same(sd.sparse.to_dense(b["v"]), np.array([[0, 0], [0, 0], [0, 1], [0, 0]]))
        ragged = {"v": sd.io.RaggedFeature(sd.int64)}
        rows = ds.batch(4).map(lambda r: sd.io.parse_example(r, ragged)["v"].to_tensor(-1))
        c.same(next(iter(rows)), np.array([[-1, -1], [0, -1], [0, 1], [-1, -1]]))
        listed = sd.Dataset.list_files(folder + "/*.tfr", shuffle=False)
        c.same([os.path.basename(p) for p in listed], [b"0.tfr", b"1.tfr", b"2.tfr"])
        c.same(
            len(list(listed.interleave(sd.TFRecordDataset, cycle_length=3, num_parallel_calls=2))),
            9,
        )
        c.same(len(list(sd.TFRecordDataset(listed))), 9)
        for reads, order in ((1, "012345678"), (2, "031425678"), (3, "036147258")):
            one = list(ds)
            many = list(sd.TFRecordDataset(paths, num_parallel_reads=reads))
            c.same(many, [one[int(i)] for i in order])
        tuned = sd.TFRecordDataset(paths, num_parallel_reads=sd.AUTOTUNE)
        c.same(sorted(tuned), sorted(ds))
        o = sd.Options()
        o.autotune.initial_parallelism = 1
        o.autotune.enabled = False
        o.autotune.cpu_budget = 2
        mapped = tuned.map(lambda r: sd.strings.length(r), sd.AUTOTUNE).with_options(o)
        it = iter(mapped)
        next(it)
        at_work = [s["threads"] for s in mapped.stats() if s["kind"] in ("map", "interleave")]
        c.same(at_work, [1, 1])
        with open(folder + "/t.txt", "w") as f:
            f.write("one\ntwo\n")
        c.same(list(sd.TextLineDataset(folder + "/t.txt")), [b"one", b"two"])
        c.same(list(sd.FixedLengthRecordDataset(folder + "/t.txt", 4)), [b"one\n", b"two\n"])
        np.save(folder + "/a.npy", np.arange(6).reshape(3, 2))
        c.same(list(sd.NpyDataset(folder + "/a.npy"))[2], np.array([4, 5]))
        with open(paths[0], "r+b") as f:
            f.seek(20)
            f.write(b"\xff\xff")
        c.raises(sd.errors.DataLossError, lambda: list(sd.TFRecordDataset(paths)), "0.tfr")
        c.same(len(list(sd.TFRecordDataset(paths).ignore_errors())), 8)
        c.raises(
            sd.errors.NotFoundError, lambda: list(sd.TFRecordDataset(folder + "/none")), "none"
        )
        c.raises(sd.errors.NotFoundError, lambda: sd.Dataset.list_files(folder + "/*.none"))
        c.raises(ValueError, lambda: sd.TFRecordDataset(paths, compression_type="LZ4"))
        with sd.TFRecordWriter(folder + "/t.tfr", "GZIP") as w:
            t = sd.train
            w.write(
                t.Example(
                    t.Features({"k": t.Feature(int64_list=t.Int64List([4]))})
                ).SerializeToString()
            )
        r = next(iter(sd.data.TFRecordDataset(folder + "/t.tfr", "GZIP")))
        c.same(sd.io.parse_single_example(r, {"k": FEATURES["k"]})["k"], np.int64(4))


def test_saved():
    with tempfile.TemporaryDirectory() as folder:
        ds = sd.Dataset.range(50).map(lambda x: {"a": (x, sd.range(x % 3)), "b": sd.as_string(x)})
        c.same(ds.save(folder + "/d"), 50)
        back = sd.Dataset.load(folder + "/d")
        c.same(list(back), list(ds))
        c.same(len(back), 50)
        c.same(sorted(int(e["a"][0]) for e in back.shuffle(50, seed=1)), list(range(50)))
        plain = sd.IndexedDataset(folder + "/d/elements.stk")
        c.same(next(iter(plain.skip(4)))[0], np.int64(4))
        c.raises(sd.errors.NotFoundError, lambda: sd.Dataset.load(folder + "/none"))
        kept = sd.Dataset.range(5).cache(folder + "/cache")
        c.same([ints(kept), ints(kept)], [list(range(5))] * 2)
        snap = sd.Dataset.range(5).snapshot(folder + "/snap")
        c.same([ints(snap), ints(snap)], [list(range(5))] * 2)


def test_csv_and_tar():
    import tarfile

    with tempfile.TemporaryDirectory() as folder:
        with open(folder + "/a.csv", "w") as f:
            f.write('x,y,z\n1,2.5,"a,b"\n,3.5,c\n')
        ds = sd.CsvDataset(folder + "/a.csv", [[7], sd.float32, sd.string], header=True)
        c.same(
            list(ds), [(np.int32(1), np.float32(2.5), b"a,b"), (np.int32(7), np.float32(3.5), b"c")]
        )
        two = sd.CsvDataset(
            folder + "/a.csv", [sd.float32, sd.string], header=True, select_cols=[1, 2]
        )
        c.same(list(two)[1], (np.float32(3.5), b"c"))
        c.raises(
            ValueError,
            lambda: list(sd.CsvDataset(folder + "/a.csv", [sd.int32] * 3)),
            "a.csv: row 1",
        )
        c.raises(
            ValueError, lambda: list(sd.CsvDataset(folder + "/a.csv", [sd.int32] * 2)), "fields"
        )
        with tarfile.open(folder + "/s-0.tar", "w") as tar:
            for i in range(3):
                for suffix in ("jpg", "cls"):
                    with open(folder + "/m", "w") as f:
                        f.write(f"{suffix}{i}")
                    tar.add(folder + "/m", f"d/k{i}.{suffix}")
        ds = sd.TarDataset(folder + "/s-{0..0}.tar")
        c.same(list(ds)[2], {"__key__": b"d/k2", "cls": b"cls2", "jpg": b"jpg2"})
        c.raises(sd.errors.NotFoundError, lambda: list(sd.TarDataset(folder + "/n.tar", ["cls"])))
        c.raises(sd.errors.DataLossError, lambda: list(sd.TarDataset(folder + "/a.csv", ["cls"])))


def test_stats():
    ds = sd.Dataset.range(100).map(lambda x: x + 1).batch(10).prefetch(2)
    c.true("nothing" in repr(ds.stats()), "before")
    list(ds)
    s = ds.stats()
    c.true(s[0]["kind"] == "prefetch" and s[0]["elements"] == 10 and s.limiting, repr(s))
    c.true("map" in ds.explain() and "native" in ds.explain(), ds.explain())


def test_shard():
    c.same(ints(sd.Dataset.range(7).shard(3, 1)), [1, 4])
    os.environ.update(RANK="2", WORLD_SIZE="3")
    try:
        c.same(ints(sd.Dataset.range(7).shard()), [2, 5, 2])
    finally:
        del os.environ["RANK"], os.environ["WORLD_SIZE"]
    c.raises(ValueError, lambda: sd.Dataset.range(7).shard(3, 3))


def test_large_strings_shuffled():
    """Blocks of one string out of shuffle: what points into it keeps it alive beyond the stage."""
    rng = np.random.default_rng(0)
    texts = [rng.integers(0, 256, 20000, np.uint8).tobytes() for _ in range(300)]
    spec = {"x": sd.io.FixedLenFeature([], "string")}
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "large.tfrecord")
        with sd.TFRecordWriter(path) as w:
            for t in texts:
                w.write(sd.io.Example({"x": t}))
        ds = (
            sd.TFRecordDataset(path)
            .shuffle(64)
            .map(lambda r: sd.io.parse_single_example(r, spec)["x"], 2)
        )
        have = [t for b in ds.map(lambda x: x, 2).batch(16) for t in b]
    c.same(sorted(have) == sorted(texts), True, "what was written")


def test_datasets_of_other_elements():
    """Datasets whose elements are datasets are joined where those have the same components: of others one would be lost."""
    one = sd.Dataset.range(4).window(2)
    pairs = sd.Dataset.range(4).window(2).map(lambda d: sd.Dataset.zip((d, d)))
    floats = sd.Dataset.range(4).map(lambda i: sd.cast(i, "float32")).window(2)
    for other in (pairs, floats, one.window(2)):
        c.raises(sd.errors.InvalidArgumentError, lambda other=other: one.concatenate(other))
        c.raises(sd.errors.InvalidArgumentError, lambda other=other: sd.Dataset.sample_from_datasets([one, other]))
    wide = one.concatenate(sd.Dataset.range(2).map(lambda i: sd.fill([2], i)).window(2))
    c.same(repr(wide.element_spec), "DatasetSpec(TensorSpec(shape=None, dtype=int64))")
    c.same([v.tolist() for v in wide.flat_map(lambda d: d)], [0, 1, 2, 3, [0, 0], [1, 1]])


def test_halves_that_do_not_fit():
    """Half-precision arrays of other shapes are an error as others are; the process crashed."""
    spec = sd.TensorSpec((None,), "float16")
    pairs = sd.Dataset.from_generator(
        lambda: iter([(np.ones(2, np.float16), np.ones(3, np.float16))]), output_signature=(spec, spec)
    )
    c.raises(sd.errors.InvalidArgumentError, lambda: list(pairs.map(lambda a, b: a + b)))


def test_scalars_that_are_none():
    """If elements turn out not to be scalars where one is required, they fail; memory next to them was read."""
    spec = sd.TensorSpec(None, "int64")
    empty = sd.Dataset.from_generator(lambda: iter([np.zeros(0, np.int64)]), output_signature=spec)
    for f in (
        lambda v: sd.fill([3], v),
        lambda v: sd.range(0, v, 1),
        lambda v: sd.one_hot(1, 3, on_value=v, off_value=0),
        lambda v: sd.one_hot(1, 3, on_value=0, off_value=v),
        lambda v: sd.math.bincount([1, 2], minlength=v),
        lambda v: sd.pad(np.ones(2, np.int64), [[1, 1]], constant_values=v),
    ):
        c.raises(sd.errors.InvalidArgumentError, lambda f=f: list(empty.map(f)))
    none = sd.Dataset.from_generator(
        lambda: iter([np.zeros(0, np.float32)]), output_signature=sd.TensorSpec(None, "float32")
    )
    image = np.ones((2, 2, 3), np.float32)
    for f in (sd.image.adjust_contrast, sd.image.adjust_brightness, sd.image.adjust_saturation, sd.image.adjust_hue):
        c.raises(sd.errors.InvalidArgumentError, lambda f=f: list(none.map(lambda v: f(image, v))))
    files = sd.Dataset.from_generator(lambda: iter([np.zeros(0, "S1")]), output_signature=sd.TensorSpec(None, "string"))
    for f in (sd.io.decode_jpeg, sd.io.decode_image, sd.audio.decode_wav):
        c.raises(sd.errors.InvalidArgumentError, lambda f=f: list(files.map(f)))


def test_ranks_that_show_late():
    """An error that a known shape would have raised is raised with the element; a scalar's order came from other
    memory."""
    def of(value):
        return sd.Dataset.from_generator(lambda: iter([value]), output_signature=sd.TensorSpec(None, value.dtype))

    ones = np.ones(3)
    for value, f in (
        (np.array(5), sd.random.shuffle),
        (np.array(True), lambda m: sd.boolean_mask(ones, m)),
        (np.array([5]), lambda v: sd.fill([2], v)),
        (np.array([5]), lambda v: sd.range(0, v, 1)),
        (np.array([5]), lambda v: sd.one_hot(1, 3, on_value=v, off_value=0)),
    ):
        c.raises(sd.errors.InvalidArgumentError, lambda: list(of(value).map(f)))


def test_each_element_fails_for_itself():
    """What doesn't suit one element's shape is that element's error, regardless of later ones."""
    shapes = [(2,), (2, 3), (4,), (1, 2)]
    ds = sd.Dataset.from_generator(lambda: (np.ones(s) for s in shapes), output_signature=sd.TensorSpec(None, "float64"))
    for f in (lambda v: sd.reduce_sum(v, axis=1), lambda v: sd.expand_dims(v, 2), lambda v: sd.reverse(v, [1])):
        made = [e.shape for e in ds.map(f).ignore_errors()]
        c.same(len(made), 2)


def test_more_results_than_room():
    """An empty array may have more results along its empty axis than any memory holds."""
    x = np.zeros((0, 1 << 30, 1 << 30), np.float32)
    c.raises(sd.errors.InvalidArgumentError, lambda: sd.reduce_sum(x, axis=0))
    c.same(sd.reduce_sum(x, axis=1).shape, (0, 1 << 30))
    for sizes in ([-1, -1, 2], [-2, 8], [1 << 62, 1 << 62, 1 << 62, -1]):
        c.raises(sd.errors.InvalidArgumentError, lambda: sd.split(np.arange(6), sizes))


def test_window_of_small_blocks():
    """A window's elements are joined once, however few come at a time (12,000 took 13 s)."""
    n = 12000
    parts = sd.Dataset.range(n).flat_map(lambda i: sd.Dataset.from_tensors(sd.fill([64], i)))
    start = time.process_time()  # of all threads, and of nobody else on the machine
    (w,) = parts.window(n)
    c.same([int(e[0]) for e in w], list(range(n)))
    used = time.process_time() - start
    c.true(used < 3 or used < 3 * c.load(), f"one window took {used:.2f} s of processor time, at most 3")
    words = sd.Dataset.range(3000).flat_map(lambda i: sd.Dataset.from_tensors(sd.as_string(i)))
    got = [[v for v in w] for w in words.window(500, shift=200, stride=3)]
    c.same(got[3], [b"%d" % i for i in range(600, min(3000, 600 + 1500), 3)])
    c.same(len(got), 15)


def test_what_must_be_a_scalar():
    """A function whose result does not tell its rank may give what is no scalar: an error of that element."""
    def gen(values, dtype):
        return sd.Dataset.from_generator(lambda: iter(values), output_signature=sd.TensorSpec(None, dtype))

    def came(ds):
        out, it = [], iter(ds)
        while True:
            try:
                out.append(np.asarray(next(it)).tolist())
            except StopIteration:
                return out
            except sd.errors.InvalidArgumentError as e:
                out.append("scalar" in str(e))

    bools = [np.array([True, False]), np.array(True), np.zeros(0, bool), np.array(False)]
    c.same(came(gen(bools, sd.bool).filter(lambda b: b)), [True, True, True])
    c.same(came(gen(bools, sd.bool).map(lambda b: sd.cond(b, lambda: 1, lambda: 2))), [True, 1, True, 2])
    numbers = [np.zeros(0, np.int64), np.array(5), np.array([1, 2])]
    windows = gen(numbers, sd.int64).group_by_window(lambda x: x, lambda key, d: d.map(lambda x: key), window_size=1)
    c.same(came(windows), [True, 5, True])


def test_cache_of_slices_keeps_no_copy():
    data = np.arange(1 << 20, dtype=np.float32).reshape(-1, 64)
    ds = sd.Dataset.from_tensor_slices(data).cache().repeat(2).batch(128)
    it = iter(ds)
    first = [next(it) for _ in range(150)]
    state = it.state()
    rest = list(it)
    c.same(np.array_equal(np.concatenate(first + rest), np.concatenate([data, data])), True)
    c.same(np.array_equal(np.concatenate(list(ds.iterator(state=state))), np.concatenate(rest)), True)
    del first, rest
    for batch in ds:
        del batch
    c.same(ds.stats().memory["peak_bytes"] < data.nbytes, True, "no second list of the elements")


def test_every_pass_of_a_cache_is_the_first():
    """Whether an earlier pass was complete depends on who reads how far ahead; elements do not."""
    def drawn(n=6):
        ds = sd.Dataset.range(n).shuffle(n, seed=3).filter(lambda x: x >= 0)
        return ds.map(lambda x: x * 1000 + sd.random.uniform([], maxval=1000, dtype="int64", seed=4))

    twice = ints(drawn().repeat(2))
    c.true(twice[:6] != twice[6:], "without a cache each pass is another")
    with tempfile.TemporaryDirectory() as folder:
        names = iter(range(100))
        kept = [lambda: drawn().cache(), lambda: drawn().cache(f"{folder}/{next(names)}"),
                lambda: drawn().snapshot(f"{folder}/{next(names)}")]  # fmt: skip
        aheads = [lambda ds: ds, lambda ds: ds.prefetch(1), lambda ds: ds.prefetch(9)]
        for make, n, ahead in itertools.product(kept, (3, 6), aheads):
            ds = ahead(make()).take(n).repeat(4)
            came = ints(ds)
            c.same(came, came[:n] * 4)
            it = iter(ds)
            c.same([int(next(it)) for _ in range(n + 1)], came[: n + 1])
            empty = pickle.loads(pickle.dumps(ds))  # of a cache in memory nothing goes along
            c.same(ints(empty.iterator(state=it.state())), came[n + 1 :])
        for make in kept:
            left = make()
            first = [int(next(iter(left))) for _ in range(3)]
            c.same(first, ints(left)[:1] * 3)
    # More than the budget has room for is not kept, and comes again.
    options = sd.Options()
    options.autotune.ram_budget = 8 << 20
    large = drawn(300).map(lambda x: sd.fill([12500], x)).cache().repeat(2).map(lambda x: x[0])
    came = ints(large.with_options(options))
    c.same(came[300:], came[:300])


c.main(globals())
