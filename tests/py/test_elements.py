# SPDX-License-Identifier: Apache-2.0
"""Elements: structures, dtypes, ownership of memory, the life of iterators."""

import collections
import gc
import os
import subprocess
import sys

import numpy as np

import checks as c
import stoker.data as sd


def test_long_strings():
    """Their memory is used again, but never while somebody has one."""
    rng = np.random.default_rng(3)
    texts = [rng.bytes(int(n)) for n in rng.integers(3000, 40000, 300)]
    data = np.array(texts, object)
    kept, hashes = [], []
    for epoch in range(3):
        for i, b in enumerate(sd.Dataset.from_tensor_slices(data).batch(7)):
            for k, t in enumerate(b):
                c.true(t == texts[7 * i + k] and len(t) == len(texts[7 * i + k]), "as it was")
            if i % 3 == epoch:
                kept.append((i, b))
                hashes.append([hash(t) for t in b])
    for (i, b), h in zip(kept, hashes):
        c.true(list(b) == texts[7 * i : 7 * i + 7], "kept ones stay")
        c.same([hash(bytes(bytearray(t))) for t in b], h)
    one = next(iter(sd.Dataset.from_tensors(texts[0])))
    view = memoryview(one)
    del one
    for _ in sd.Dataset.from_tensor_slices(data):
        pass
    c.true(bytes(view) == texts[0], "views count")


def test_structures():
    point = collections.namedtuple("point", "x y")
    ds = sd.Dataset.from_tensor_slices(
        {"b": np.arange(4.0).reshape(2, 2), "a": ([b"x", b"yy"], [1, 2])}
    )
    c.same(list(ds)[1], {"b": np.array([2.0, 3.0]), "a": (b"yy", np.int32(2))})
    c.same(
        ds.element_spec,
        {
            "b": sd.TensorSpec((2,), "float64"),
            "a": (sd.TensorSpec((), "bytes"), sd.TensorSpec((), "int32")),
        },
    )
    p = next(iter(sd.Dataset.from_tensors(point(np.int8(1), None))))
    c.true(type(p) is point and p.x == 1 and p.y is None, "a named tuple with None")
    c.same(list(sd.Dataset.from_tensors((1, {}))), [(np.int32(1), {})])
    c.same(list(sd.Dataset.from_tensors([[1.0, 2.0]])), [np.array([[1, 2]], np.float32)])


def test_dtypes():
    for name in (
        "bool",
        "uint8",
        "int8",
        "uint16",
        "int16",
        "uint32",
        "int32",
        "uint64",
        "int64",
        "float16",
        "float32",
        "float64",
    ):
        a = np.array([0, 1, 1], dtype=name)
        c.same(list(sd.Dataset.from_tensors(a)), [a], name)
        c.same(list(sd.Dataset.from_tensor_slices(a)), list(a), name)
    c.same(next(iter(sd.Dataset.from_tensors(np.arange(3, dtype=">i4")))), np.arange(3, dtype="i4"))
    c.same(
        next(iter(sd.Dataset.from_tensors(np.arange(6).reshape(2, 3).T))),
        np.arange(6).reshape(2, 3).T,
    )
    c.same(
        next(iter(sd.Dataset.from_tensors(np.array(["é", "b"])))),
        np.array(["é".encode(), b"b"], object),
    )
    c.same(next(iter(sd.Dataset.from_tensors(np.zeros((0, 3), "f4")))), np.zeros((0, 3), "f4"))
    c.raises(TypeError, lambda: sd.Dataset.from_tensors(np.array([1j])))
    c.raises(TypeError, lambda: sd.Dataset.from_tensors(object()))


def test_memory():
    a = np.arange(1000, dtype=np.int64)
    view = next(iter(sd.Dataset.from_tensors(a)))
    c.true(np.shares_memory(a, view), "from_tensors copies nothing")
    c.true(not view.flags.writeable, "views of the user's memory are read-only")
    before = sys.getrefcount(a)
    ds = sd.Dataset.from_tensor_slices(a)
    c.true(sys.getrefcount(a) > before, "the array is held")
    batch = next(iter(sd.Dataset.range(100).batch(50)))
    batch += 1
    c.true(batch[0] == 1 and batch.flags.writeable, "batches are writable")
    for ds in (
        sd.Dataset.from_tensor_slices(a).batch(10),
        sd.Dataset.from_tensor_slices(a).cache().batch(10),
    ):
        mine = next(iter(ds.prefetch(2)))
        mine += 1
        c.true(
            not np.shares_memory(a, mine) and a[0] == 0 and next(iter(ds))[0] == 0,
            "batches are owned",
        )
    ds = view = None
    gc.collect()
    c.true(sys.getrefcount(a) <= before, "the array is released")
    batches = [b for b in sd.Dataset.range(10000).batch(100)]
    c.true(
        all((b == np.arange(100) + 100 * i).all() for i, b in enumerate(batches)),
        "kept batches are not overwritten",
    )


def test_iterator_dies_first():
    it = iter(sd.Dataset.range(1000).batch(100))
    a = next(it)
    del it
    gc.collect()
    c.same(a, np.arange(100))


def test_state():
    ds = sd.Dataset.range(100).batch(7)
    it = ds.iterator()
    for _ in range(4):
        next(it)
    state = it.state()
    rest = list(it)
    c.true(isinstance(state, bytes) and len(state) < 1024, "a state is short")
    c.same(list(ds.iterator(state=state)), rest)
    c.raises(sd.errors.InvalidArgumentError, lambda: ds.iterator(state=b"nonsense"))


def test_cardinality():
    c.same(len(sd.Dataset.range(10)), 10)
    c.same(sd.Dataset.range(10).batch(3).cardinality(), 4)
    c.same(sd.Dataset.range(10).batch(3, drop_remainder=True).cardinality(), 3)


def test_errors():
    c.raises(ValueError, lambda: sd.Dataset.range(10).batch(0), "batch_size")
    c.raises(TypeError, lambda: sd.Dataset.range(10).batch(2.5), "batch_size")
    c.raises(ValueError, lambda: sd.Dataset.range(0, 10, 0))
    c.raises(ValueError, lambda: sd.Dataset.from_tensor_slices(3))
    c.raises(ValueError, lambda: sd.Dataset.from_tensor_slices(([1, 2], [1, 2, 3])))
    c.raises(TypeError, lambda: sd.Dataset.range(3).map(7))
    c.raises(sd.errors.OutOfRangeError, lambda: iter(sd.Dataset.range(0)).get_next())


def run(text):
    return subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=60)


def test_exit():
    r = run(
        "import stoker.data as sd\nit = iter(sd.Dataset.range(10**9).batch(10))\na = next(it)\nprint(a[3])"
    )
    c.same((r.returncode, r.stdout, r.stderr), (0, "3\n", ""))


def test_fork():
    it = iter(sd.Dataset.range(10).batch(3))
    next(it)
    r, w = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            next(it)
            os.write(w, b"no error")
        except RuntimeError as e:
            fresh = next(iter(sd.Dataset.range(3).batch(3)))
            os.write(w, b"fork" if "fork" in str(e) and fresh[2] == 2 else str(e).encode())
        finally:
            os._exit(0)
    os.waitpid(pid, 0)
    c.same(os.read(r, 100), b"fork")
    c.same(next(it), np.array([3, 4, 5]))


c.main(globals())
