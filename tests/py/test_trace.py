# SPDX-License-Identifier: Apache-2.0
"""Tracing: what becomes native, what runs as Python, dtype rules, captured values, Python's errors."""

import random
import traceback

import numpy as np

import checks as c
import stoker.data as sd


def native(ds):
    return ds._function.is_native


def test_operators():
    x = np.array([3, -4, 5], np.int32)
    y = np.array([2, 3, -2], np.int32)
    ds = sd.Dataset.from_tensors((x, y))
    cases = {
        "add": lambda a, b: a + b,
        "sub": lambda a, b: a - b,
        "mul": lambda a, b: a * b,
        "floordiv": lambda a, b: a // b,
        "mod": lambda a, b: a % b,
        "truediv": lambda a, b: a / b,
        "lt": lambda a, b: a < b,
        "ge": lambda a, b: a >= b,
        "eq": lambda a, b: a == b,
        "ne": lambda a, b: a != b,
        "and": lambda a, b: a & b,
        "xor": lambda a, b: a ^ b,
        "neg": lambda a, b: -a,
        "abs": lambda a, b: abs(a),
        "reflected": lambda a, b: 7 - a,
        "chained": lambda a, b: (a * 2 + b) * (a - 1),
        "logic": lambda a, b: (a > 0) & ~(b > 0),
    }
    for name, f in cases.items():
        mapped = ds.map(f)
        c.true(native(mapped), name)
        c.same(next(iter(mapped)), np.asarray(f(x, y)), name)
    c.same(next(iter(ds.map(lambda a, b: a**2))), x**2)


def test_index():
    x = np.arange(60).reshape(3, 4, 5)
    ds = sd.Dataset.from_tensors(x)
    for name, f in {
        "int": lambda v: v[1],
        "negative": lambda v: v[-1, 2],
        "slice": lambda v: v[1:3, ::2],
        "back": lambda v: v[::-1, ..., 1:],
        "new": lambda v: v[:, None, 0],
        "ellipsis": lambda v: v[..., -1],
        "beyond": lambda v: v[1:100],
    }.items():
        c.same(next(iter(ds.map(f))), f(x), name)
    c.same(next(iter(ds.map(lambda v: v[[2, 0]]))), x[[2, 0]])
    c.same(next(iter(ds.map(lambda v: v[v > 30]))), x[x > 30])
    pair = sd.Dataset.from_tensor_slices((np.arange(3), np.arange(12).reshape(3, 4)))
    c.same(list(pair.map(lambda i, v: v[i])), [np.int64(0), np.int64(5), np.int64(10)])
    c.same(
        list(pair.map(lambda i, v: v[i:])),
        [np.array([0, 1, 2, 3]), np.array([5, 6, 7]), np.array([10, 11])],
    )


def test_dtypes():
    one = {
        d: sd.Dataset.from_tensors(np.array(7, d))
        for d in ("int64", "int32", "uint8", "float32", "float64")
    }
    spec = lambda ds: ds.element_spec.dtype.name
    c.same(spec(one["int64"].map(lambda x: x * 2)), "int64")
    c.same(spec(one["float32"].map(lambda x: x * 2)), "float32")
    c.same(spec(one["int64"].map(lambda x: x / 2)), "float64")
    c.same(spec(one["int32"].map(lambda x: x / 2)), "float64")
    c.same(spec(one["uint8"].map(lambda x: x / 2)), "float32")
    c.same(spec(one["int64"].map(lambda x: 3)), "int32")
    c.same(spec(one["int64"].map(lambda x: 3.0)), "float32")
    c.same(spec(one["float32"].map(lambda x: x + np.float32(2))), "float32")
    for f in (
        lambda x: x * 1.5,
        lambda x: x + np.float64(1),
        lambda x: x + sd.cast(x, "float32"),
        lambda x: x + np.ones(3, np.int32),
        lambda x: sd.stack([x, 1.5]),
    ):
        c.raises(TypeError, lambda: one["int64"].map(f))
    c.raises(TypeError, lambda: one["float32"].map(lambda x: x + np.zeros(2)), "float32", "float64")
    c.same(
        one["uint8"].map(lambda x: sd.cast(x, "float32") / 255).get_single_element(),
        np.float32(7 / 255),
    )


def test_called_once():
    calls = []
    ds = sd.Dataset.range(10).map(lambda x: (calls.append(1), x + 1)[1])
    list(ds), list(ds)
    c.same(len(calls), 1)


def test_python():
    ds = sd.Dataset.range(4).map(lambda x: np.sqrt(x).astype("f8") if x > 1 else np.float64(0))
    c.true(not native(ds), "data-dependent Python is not traced")
    c.same([float(v) for v in ds], [0, 0, 2**0.5, 3**0.5])
    c.true(
        "test_trace.py" in ds.explain() and "truth" in ds.explain(),
        "explain names the line: " + ds.explain(),
    )
    ds = sd.Dataset.from_tensor_slices([b"a b", b"c"]).map(lambda s: s.decode().split()[0])
    c.same(list(ds), [b"a", b"c"])
    ds = sd.Dataset.range(3).map(lambda x: {"n": int(x), "l": [float(x)] * int(x)})
    c.same(list(ds)[2], {"n": np.int32(2), "l": np.array([2, 2], np.float32)})
    c.same(tuple(ds.element_spec["l"].shape), (None,))
    c.same(sd.Dataset.range(0).map(lambda x: np.array([int(x)])).element_spec.dtype.name, "int64")


def test_py_function():
    def f(x):
        return x.numpy() * 2

    ds = sd.Dataset.range(3).map(lambda x: sd.py_function(f, [x], sd.int64) + 1)
    c.same(list(ds), [np.int64(1), np.int64(3), np.int64(5)])
    ds = sd.Dataset.range(3).map(
        lambda x: sd.numpy_function(lambda a: (a, str(a)), [x], (sd.int64, sd.string))
    )
    c.same([tuple(e) for e in ds][2], (np.int64(2), b"2"))
    ds = sd.Dataset.from_tensor_slices([b"x", b"yy"]).map(
        lambda s: sd.py_function(lambda t: len(t.numpy()), [s], sd.int32)
    )
    c.same(list(ds), [np.int32(1), np.int32(2)])


def test_exceptions():
    def f(x):
        if int(x) == 2:
            raise KeyError("two")
        return x

    it = iter(sd.Dataset.range(4).map(f))
    c.same([next(it), next(it)], [np.int64(0), np.int64(1)])
    e = c.raises(KeyError, lambda: next(it), "two")
    c.true(
        isinstance(e, sd.errors.OpError) and type(e.__cause__) is KeyError,
        "both classes, and the original",
    )
    text = "".join(traceback.format_exception(type(e), e, e.__traceback__))
    c.true('raise KeyError("two")' in text, "the original's traceback")
    c.same(next(it), np.int64(3))
    for kind, as_kind in (
        (ValueError, sd.errors.InvalidArgumentError),
        (StopIteration, sd.errors.OutOfRangeError),
    ):

        def g(x, kind=kind):
            int(x)
            if x == 1:
                raise kind("no")
            return x

        c.raises(as_kind, lambda: list(sd.Dataset.range(3).map(g)), "no")
    c.same(
        list(sd.Dataset.range(4).map(f).ignore_errors()), [np.int64(0), np.int64(1), np.int64(3)]
    )
    for policy, want in (("skip", [0, 1, 3]), (("replace", np.int64(-1)), [0, 1, -1, 3])):
        o = sd.Options()
        o.on_error = policy
        c.same([int(v) for v in sd.Dataset.range(4).map(f).with_options(o)], want)


def test_generators():
    def g(n):
        for i in range(n):
            yield i, np.full(i, i, np.int64)

    sig = (sd.TensorSpec((), "int32"), sd.TensorSpec((None,), "int64"))
    ds = sd.Dataset.from_generator(g, output_signature=sig, args=(3,))
    c.same(list(ds)[2], (np.int32(2), np.array([2, 2])))
    c.same(len(list(ds)), 3)
    c.same(
        list(sd.Dataset.from_generator(lambda: [1, 2], output_types=sd.int32)),
        [np.int32(1), np.int32(2)],
    )
    bad = sd.Dataset.from_generator(
        lambda: iter([[1], [2, 3]]), output_signature=sd.TensorSpec((1,), "int64")
    )
    it = iter(bad)
    c.same(next(it), np.array([1]))
    c.raises(ValueError, lambda: next(it), "(2,)")
    closed = []

    def h():
        try:
            while True:
                yield 1
        finally:
            closed.append(1)

    it = iter(sd.Dataset.from_generator(h, output_signature=sd.TensorSpec((), "int32")))
    next(it)
    del it
    c.same(closed, [1])


def test_notes():
    ds = sd.Dataset.range(3).map(lambda x: x + random.randint(0, 5))
    c.true("used random" in ds.explain(), ds.explain())
    ds = sd.Dataset.range(3).map(lambda x: x + np.random.randint(5))
    c.true("numpy.random" in ds.explain(), ds.explain())


def test_captured():
    table = np.arange(5) * 10
    ds = sd.Dataset.range(5).map(lambda i: sd.gather(table, i))
    c.same([int(v) for v in ds], [0, 10, 20, 30, 40])
    c.true(native(ds), "a captured array is a constant")
    held = []
    sd.Dataset.range(3).map(lambda i: held.append(i) or i)
    c.raises(TypeError, lambda: held[0] + 1, "outside")


def test_cond():
    ds = sd.Dataset.range(6).map(lambda x: sd.cond(x % 2 == 0, lambda: x * 10, lambda: -x))
    c.same([int(v) for v in ds], [0, -1, 20, -3, 40, -5])
    c.true(native(ds), "cond is native")
    ds = sd.Dataset.range(4).map(lambda x: sd.cond(x > 0, lambda: 12 // x, lambda: x))
    c.same([int(v) for v in ds], [0, 12, 6, 4])
    c.raises(
        TypeError, lambda: sd.Dataset.range(4).map(lambda x: sd.cond(x > 0, lambda: 1.5, lambda: 1))
    )


def test_structures():
    ds = sd.Dataset.range(3).map(lambda x: {"b": x, "a": (x * 2, [x, x + 1])})
    c.same(list(ds)[1], {"b": np.int64(1), "a": (np.int64(2), np.array([1, 2]))})
    c.same([int(v) for v in ds.map(lambda d: d["b"] + d["a"][0])], [0, 3, 6])
    two = sd.Dataset.zip((sd.Dataset.range(3), sd.Dataset.range(5)))
    c.same([int(v) for v in two.map(lambda a, b: a * b)], [0, 1, 4])
    c.raises(TypeError, lambda: two.map(lambda a: a).map(lambda: 1) and list(two.map(lambda a: a)))


def test_computed_dimensions_keep_the_rank():
    r = sd.Dataset.range(1, 4)
    for f, shape in (
        (lambda x: sd.random.uniform((x,)), (None,)),
        (lambda x: sd.random.uniform((x, 2)), (None, 2)),
        (lambda x: sd.random.uniform([x], maxval=sd.cast(x, "float32")), (None,)),
        (lambda x: sd.random.normal(sd.stack([x, 2])), (None, None)),
        (lambda x: sd.random.truncated_normal(sd.shape(sd.range(x))), (None,)),
        (lambda x: sd.fill((x, 2), 1), (None, 2)),
    ):
        ds = r.map(f)
        c.same(tuple(ds.element_spec.shape), shape)
        c.same([np.ndim(v) for v in ds], [len(shape)] * 3)


c.main(globals())
