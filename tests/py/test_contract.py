# SPDX-License-Identifier: Apache-2.0
"""What the module promises, promise by promise: errors, memory, randomness, dtypes, plans."""

import gc
import gzip
import os
import random
import subprocess
import sys
import tempfile
import time

import numpy as np

import checks as c
import stoker.data as sd

E = sd.errors
FOLDER = tempfile.TemporaryDirectory(prefix="contract-")


def file(name, data=None):
    path = os.path.join(FOLDER.name, name)
    if data is not None:
        with open(path, "wb") as f:
            f.write(data)
    return path


def records(name, n=6, options=None):
    with sd.TFRecordWriter(file(name), options=options) as w:
        for i in range(n):
            w.write(b"record %d" % i)
    return file(name)


def test_error_names_file_offset_stage():
    path = records("bad.tfrecord")
    data = bytearray(open(path, "rb").read())
    at = len(data) // 6 * 2 + 14  # in the third record's data
    data[at] ^= 1
    file("bad.tfrecord", bytes(data))
    e = c.raises(E.DataLossError, lambda: list(sd.TFRecordDataset(path)), "bad.tfrecord")
    offset = len(data) // 6 * 2
    c.true(str(offset) in str(e), f"the offset {offset}: {e}")
    out = c.all_of(iter(sd.TFRecordDataset(path)))
    want = [b"record 0", b"record 1", E.DataLossError] + [b"record %d" % i for i in (3, 4, 5)]
    c.same(out, want, "those before it first, then those after it")
    ds = sd.TFRecordDataset(path).map(lambda r: r)
    e = c.raises(E.DataLossError, lambda: list(ds), "bad.tfrecord")
    bad = sd.Dataset.range(5).map(lambda x: sd.ensure_shape(sd.range(sd.cast(x, "int32")), [2]))
    e = c.raises(E.InvalidArgumentError, lambda: list(bad), "map", "element 0")
    c.raises(E.NotFoundError, lambda: list(sd.TFRecordDataset(file("absent"))), "absent")
    c.raises(E.NotFoundError, lambda: list(sd.TextLineDataset(file("absent.txt"))), "absent.txt")
    zipped = records("zipped", options="GZIP")
    c.raises(E.DataLossError, lambda: list(sd.TFRecordDataset(zipped)))
    c.raises(E.DataLossError, lambda: list(sd.TFRecordDataset(records("flat"), "GZIP")))
    cut = gzip.compress(gzip.decompress(open(zipped, "rb").read()))[:-12]
    c.raises(E.DataLossError, lambda: list(sd.TFRecordDataset(file("cut", cut), "GZIP")))


def test_error_policies():
    def f(x):
        return sd.ensure_shape(sd.range(sd.cast(x, "int32") % 3), [2])

    ds = sd.Dataset.range(6).map(f)
    good = np.array([0, 1], np.int32)
    skipped = ds.ignore_errors()
    c.same(list(skipped), [good] * 2)
    c.same((skipped.stats().errors > 0, sum(s["errors"] for s in skipped.stats())), (True, 4))
    for policy, want in (("skip", [good] * 2), (("replace", b"-"), [b"-", b"-", good] * 2)):
        o = sd.Options()
        o.on_error = policy
        c.same(list(ds.with_options(o)), want)
    o = sd.Options()
    o.on_error = ("replace", None)
    replaced = ds.with_options(o)
    list(replaced)
    c.same(replaced.stats().replaced, 4)
    o.on_error = "explode"
    c.raises(E.InvalidArgumentError, lambda: list(ds.with_options(o)), "explode")
    stop = c.all_of(iter(ds))
    c.same(stop, [E.InvalidArgumentError, E.InvalidArgumentError, good] * 2)


def test_when_errors_come():
    ds = sd.Dataset.range(4)
    for bad in (
        lambda: ds.batch(0),
        lambda: ds.take(2).shard(2, 2),
        lambda: ds.window(0),
        lambda: ds.shuffle(0),
        lambda: ds.map(lambda x: x, num_parallel_calls=0),
        lambda: ds.interleave(lambda x: sd.Dataset.range(x), cycle_length=0),
        lambda: sd.Dataset.range(1, 2, 0),
    ):
        e = c.raises(E.InvalidArgumentError, bad)
        c.true(isinstance(e, ValueError), "is a ValueError, too")
    for bad in (
        lambda: ds.batch("2"),
        lambda: ds.map(3),
        lambda: ds.filter(lambda x: x),
        lambda: ds.concatenate(sd.Dataset.range(2).map(lambda x: sd.cast(x, "float32"))),
        lambda: ds.flat_map(lambda x: x),
        lambda: sd.Dataset.zip((ds, 3)),
        lambda: ds.with_options(3),
    ):
        c.raises(TypeError, bad)
    unequal = sd.Dataset.range(1, 4).map(lambda x: sd.range(x)).batch(2)
    c.raises(E.InvalidArgumentError, lambda: list(unequal), "padded_batch", "1", "2")


# Ownership


def test_arrays_are_the_receivers():
    ds = sd.Dataset.range(4000).map(lambda x: sd.fill([64], x)).batch(50).prefetch(2)
    kept = [b for b in ds]
    gc.collect()
    c.true(all((b == np.arange(i * 50, i * 50 + 50)[:, None]).all() for i, b in enumerate(kept)), "")
    c.true(all(b.flags.writeable for b in kept), "batches are writable")
    kept[0][:] = -1
    c.true((kept[1] >= 0).all(), "and apart")
    x = np.arange(12.0).reshape(4, 3)
    view = next(iter(sd.Dataset.from_tensor_slices(x)))
    c.true(not view.flags.writeable and view.base is not None, "a view of the user's memory")
    c.true(np.shares_memory(view, x), "not copied")
    cached = sd.Dataset.range(8).batch(4).cache()
    list(cached)
    first, again = next(iter(cached)), next(iter(cached))
    c.true(not first.flags.writeable and np.shares_memory(first, again), "a cache gives views")


def test_keeping_beyond_the_cap():
    """Who keeps everything gets everything: beyond the cap as copies, counted."""
    o = sd.Options()
    o.autotune.ram_budget = 4 << 20
    ds = sd.Dataset.range(64).map(lambda x: sd.fill([40000], x)).batch(1).prefetch(2)
    ds = ds.with_options(o)
    kept = list(ds)  # 20 MB
    c.true(all(b[0, 7] == i and b[0, -1] == i for i, b in enumerate(kept)), "values")
    m = ds.stats().memory
    c.true(m["copied"] > 0, f"copies are counted: {m}")
    c.true(m["peak_bytes"] <= m["cap_bytes"] == 4 << 20, f"the cap holds: {m}")
    c.true("copied" in repr(ds.stats()), "and shown")


# Randomness


def test_same_seed_any_threads():
    def pipeline(n, **more):
        ds = sd.Dataset.range(200).shuffle(50, seed=9)
        ds = ds.map(lambda x: (x, sd.random.uniform([2])), num_parallel_calls=n, **more)
        o = sd.Options()
        o.seed = 11
        return list(ds.batch(20).prefetch(2).with_options(o))

    one = pipeline(None)
    for n in (1, 2, 5, sd.AUTOTUNE):
        c.same(pipeline(n), one, f"{n} calls")
    c.true(len({float(v) for _, u in one for v in u[:, 0]}) == 200, "each element its own")


def test_set_seed():
    def values():
        ds = sd.Dataset.range(50).shuffle(50).map(lambda x: sd.random.normal([]) + sd.cast(x, "float32"))
        return list(ds)

    sd.random.set_seed(3)
    a = values()
    sd.random.set_seed(3)
    b = values()
    sd.random.set_seed(4)
    other = values()
    sd.random.set_seed(None)
    c.same(a, b)
    c.true(a != other and values() != values(), "other seeds, and none, differ")


def test_epochs():
    again = sd.Dataset.range(30).shuffle(30, seed=1)
    a, b = list(again), list(again)
    c.true(a != b and sorted(a) == sorted(b), "reshuffled in each pass")
    c.same(list(sd.Dataset.range(30).shuffle(30, seed=1)), a, "from the seed")
    repeated = list(sd.Dataset.range(30).shuffle(30, seed=1).repeat(2))
    c.true(repeated[:30] != repeated[30:], "and in each repeat")
    once = sd.Dataset.range(30).shuffle(30, seed=1, reshuffle_each_iteration=False)
    c.same(list(once), list(once))
    c.same(list(once.repeat(2))[:30], list(once.repeat(2))[30:])


def test_parts_of_one_shuffle():
    """take and skip of a shuffle that keeps its order have nothing in common."""
    def parts(ds, n):
        a = list(ds.take(n).map(lambda x: x, num_parallel_calls=2))
        b = list(ds.skip(n).batch(3).unbatch().prefetch(1))
        return sorted(a + b)

    for seed in (None, 7):
        ds = sd.Dataset.range(40).shuffle(40, seed=seed, reshuffle_each_iteration=False)
        c.same(parts(ds, 10), list(range(40)), f"seed {seed}")
        small = sd.Dataset.range(40).shuffle(8, seed=seed, reshuffle_each_iteration=False)
        c.same(parts(small, 10), list(range(40)), f"a small buffer, seed {seed}")
    o = sd.Options()
    o.seed = 5
    ds = sd.Dataset.range(40).shuffle(40, reshuffle_each_iteration=False).with_options(o)
    c.same(parts(ds, 10), list(range(40)))
    it = ds.iterator()
    [next(it) for _ in range(5)]
    c.same(list(ds.iterator(state=it.state())), list(it))
    sd.random.set_seed(1)
    a = list(sd.Dataset.range(40).shuffle(40, reshuffle_each_iteration=False))
    b = list(sd.Dataset.range(40).shuffle(40, reshuffle_each_iteration=False))
    sd.random.set_seed(1)
    c.same(list(sd.Dataset.range(40).shuffle(40, reshuffle_each_iteration=False)), a)
    c.true(a != b, "two shuffles are two orders")
    sd.random.set_seed(None)


# Dtypes


def test_dtype_rules():
    def dtype(f, *values):
        ds = sd.Dataset.from_tensors(values if len(values) > 1 else values[0]).map(f)
        return ds.element_spec.dtype.name

    i64, i32, f32, f64, u8 = (np.array(3, d) for d in ("i8", "i4", "f4", "f8", "u1"))
    c.same(sd.Dataset.from_tensors(3).element_spec.dtype.name, "int32")
    c.same(sd.Dataset.from_tensors(3.0).element_spec.dtype.name, "float32")
    c.same(sd.Dataset.from_tensors(f64).element_spec.dtype.name, "float64")
    c.same(sd.Dataset.from_tensors([1, 2]).element_spec.dtype.name, "int32")
    c.same(dtype(lambda x: x * 2, i64), "int64")
    c.same(dtype(lambda x: 2 * x, f32), "float32")
    c.same(dtype(lambda x: x * 1.5, f64), "float64")
    for bad, values in (
        (lambda x: x * 1.5, (i64,)),
        (lambda x: x + np.float64(1), (f32,)),
        (lambda x, y: x + y, (f32, f64)),
        (lambda x, y: x + y, (i32, i64)),
        (lambda x, y: x < y, (u8, i32)),
    ):
        c.raises(TypeError, lambda: dtype(bad, *values))
    c.same([dtype(lambda x: x / 2, v) for v in (i32, i64, u8)], ["float64", "float64", "float32"])
    neg = sd.Dataset.from_tensors(np.int32(-7))
    c.same(list(neg.map(lambda x: (x // 2, x % 3))), [(np.int32(-4), np.int32(2))])
    c.same(list(neg.map(lambda x: sd.cast(x, "float32") // 2.0)), [np.float32(-4)])
    c.same(next(iter(sd.Dataset.from_tensors("text"))), b"text")
    c.same(next(iter(sd.Dataset.from_tensors(["a", "b"]))).dtype, np.dtype(object))
    outside = sd.cast(np.array([1.5]), "int32")
    c.true(isinstance(outside, np.ndarray) and outside.dtype == np.int32, "NumPy outside a map")


# Elements


def test_cardinality():
    r = sd.Dataset.range(10)
    rows = (
        (r, 10), (r.batch(3), 4), (r.batch(3, drop_remainder=True), 3), (r.repeat(), -1),
        (r.repeat(3), 30), (r.take(4), 4), (r.take(-1), 10), (r.skip(20), 0), (r.filter(lambda x: x > 1), -2),
        (r.shard(3, 0), 4), (r.window(3), 4), (r.concatenate(r), 20), (sd.Dataset.zip((r, r.take(2))), 2),
        (r.shuffle(3).prefetch(1).cache(), 10), (r.flat_map(lambda x: sd.Dataset.range(x)), -2),
        (r.batch(3).unbatch(), None), (r.repeat().take(5), 5), (r.map(lambda x: x), 10),
        (sd.TFRecordDataset(records("card")), -2), (r.padded_batch(4), 3), (r.enumerate(), 10),
    )  # fmt: skip
    for i, (ds, want) in enumerate(rows):
        if want is not None:
            c.same(ds.cardinality(), want, f"row {i}")
        if want is not None and want >= 0:
            c.same((len(ds), sum(1 for _ in ds)), (want, want), f"row {i}")
        elif want is not None:
            c.raises(TypeError, lambda: len(ds))
    c.same((sd.INFINITE_CARDINALITY, sd.UNKNOWN_CARDINALITY), (-1, -2))


def test_element_spec():
    r = sd.Dataset.range(10)
    spec = sd.TensorSpec
    c.same(r.batch(3).element_spec, spec((None,), "int64"))
    c.same(r.batch(3, drop_remainder=True).element_spec, spec((3,), "int64"))
    w = r.window(3).element_spec
    c.true(isinstance(w, sd.DatasetSpec) and w.element_spec == spec((), "int64"), "a window's")
    c.same(r.map(lambda x: {"a": (x, sd.one_hot(x, 4)), "b": None}).element_spec,
           {"a": (spec((), "int64"), spec((4,), "float32")), "b": None})
    c.same(sd.TFRecordDataset(records("spec")).element_spec, spec((), "bytes"))
    c.same(r.map(lambda x: sd.range(x)).element_spec, spec((None,), "int64"))
    c.same(r.get_single_element if False else r.take(1).get_single_element(), np.int64(0))
    c.same([list(w) for w in r.take(4).window(3)], [[0, 1, 2], [3]])


# Plans


def test_explain_warns():
    """random, numpy.random and the clock in a traced function: once, not for each element."""
    r = sd.Dataset.range(3)
    for f, word in (
        (lambda x: x + random.randrange(5), "random"),
        (lambda x: x + int(np.random.randint(5)), "numpy.random"),
        (lambda x: x + int(time.time()) * 0, "used time"),
        (lambda x: x + int(time.monotonic()) * 0, "used time"),
    ):
        text = r.map(f).explain()
        c.true("note:" in text and word in text, f"{word}: {text}")
    c.true("note:" not in r.map(lambda x: x + 1).explain(), "no warning where there is no reason")
    calls = []
    list(r.map(lambda x: (calls.append(1), x)[1]))
    c.same(len(calls), 1, "side effects happen once, at tracing")


def test_explain_names_lines():
    def slow(x):
        if x > 1:  # the reason
            return x
        return x * 2

    line = slow.__code__.co_firstlineno + 1
    ds = sd.Dataset.range(3).map(slow)
    c.true(f"test_contract.py:{line}" in ds.explain() and "Python" in ds.explain(), ds.explain())
    c.same(list(ds), [np.int64(v) for v in (0, 2, 2)])
    forced = sd.Dataset.range(3).map(lambda x: sd.py_function(lambda v: v + 1, [x], "int64"))
    text = forced.explain()
    c.true("note: lambda at test_contract.py:" in text and "as Python for each element" in text, text)
    native = sd.Dataset.range(3).map(lambda x: x + 1)
    c.true("native" in native.explain(), native.explain())


def in_process(x):
    return np.int64(os.getpid())


def test_processes():
    """Python maps in worker processes, in order, started before the engine's threads."""
    ds = sd.Dataset.range(40).map(in_process, processes=2)
    pids = {int(p) for p in ds}
    c.true(os.getpid() not in pids and 1 <= len(pids) <= 2, f"other processes: {pids}")
    squares = sd.Dataset.range(100).map(lambda x: np.square(x), processes=2).batch(10)
    c.same(np.concatenate(list(squares)), np.arange(100) ** 2)
    c.true("2" in ds.explain() and "process" in ds.explain(), ds.explain())


# Parsing and writing


def test_parsing():
    e = bytes(sd.io.Example({"v": [1, 2, 3], "s": b"x", "f": 1.5}))
    got = sd.io.parse_single_example(e, {"v": sd.io.VarLenFeature("int64")})["v"]
    c.same((got.indices.tolist(), got.values.tolist(), list(got.dense_shape)), ([[0], [1], [2]], [1, 2, 3], [3]))
    c.same(sd.sparse.to_dense(got), np.array([1, 2, 3]))
    ragged = {"v": sd.io.RaggedFeature("int64")}
    c.same(sd.io.parse_single_example(e, ragged)["v"], np.array([1, 2, 3]))
    two = sd.io.parse_example([e, bytes(sd.io.Example({"v": [9]}))], ragged)["v"]
    c.same(two.to_tensor(-1), np.array([[1, 2, 3], [9, -1, -1]]))
    c.raises(E.InvalidArgumentError,
             lambda: sd.io.parse_single_example(e, {"w": sd.io.FixedLenFeature([], "int64")}), "w")
    example = sd.train.Example.FromString(e)
    c.same(list(example.features.feature["v"].int64_list.value), [1, 2, 3])
    c.same(list(example.features.feature["s"].bytes_list.value), [b"x"])
    c.same(list(example.features.feature["f"].float_list.value), [1.5])
    c.same(example.SerializeToString(), e)
    for cut in (1, 5, len(e) - 1):
        c.raises(E.DataLossError, lambda: sd.train.Example.FromString(e[:cut]))


def test_writing():
    e = sd.io.Example({"x": [1.0, 2.0], "y": 3, "raw": b"\0\1"})
    c.same(bytes(e), e.SerializeToString())
    path = file("w")
    with sd.TFRecordWriter(path, options="GZIP") as w:
        w.write(e)
        w.write(bytes(e))
        c.raises(TypeError, lambda: w.write(3))
    c.same(list(sd.TFRecordDataset(path, compression_type="GZIP")), [bytes(e)] * 2)
    sd.io.write_file(file("deep/er/file"), b"abc")
    c.same(sd.io.read_file(file("deep/er/file")), b"abc")


def test_unique():
    c.same(list(sd.Dataset.from_tensor_slices([3, 1, 3, 1, 2]).unique()), [np.int32(v) for v in (3, 1, 2)])
    words = sd.Dataset.from_tensor_slices([b"a", b"b", b"a"]).unique()
    c.same((list(words), list(words)), ([b"a", b"b"],) * 2)
    c.raises(TypeError, lambda: sd.Dataset.from_tensors(1.5).unique())


def test_exit_with_everything_alive():
    text = (
        "import numpy as np, stoker.data as sd\n"
        "ds = sd.Dataset.range(10**9).map(lambda x: np.add(x, 1)).batch(10).prefetch(4)\n"
        "it = iter(ds); a = next(it); b = next(it)\n"
        "print(a[0], b[0])\n"
    )
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=60)
    c.same((done.stdout, done.returncode), ("1 11\n", 0), done.stderr[-300:])


c.main(globals())
