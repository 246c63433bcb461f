# SPDX-License-Identifier: Apache-2.0
"""Functions that draw from Python's randomness, read a clock or count: they run as Python for each element, with
a warning at the line; values in functions that run as Python behave like those in a trace."""

import datetime
import functools
import itertools
import random
import time
import warnings

import numpy as np

import checks as c
import stoker.data as sd

FLOATS = sd.Dataset.from_tensor_slices(np.zeros(40, np.float32))
MODULE_RNG = np.random.default_rng(3)
calls = 0


def warned(f, ds=FLOATS):
    """(the dataset, its warnings)."""
    with warnings.catch_warnings(record=True) as w:
        warnings.simplefilter("always")
        out = ds.map(f)
    return out, [x for x in w if issubclass(x.category, sd.errors.TracingWarning)]


class Sampler:
    def __init__(self):
        self.rng, self.calls = np.random.RandomState(1), 0

    def draw(self, x):
        return x + np.float32(self.rng.uniform())  # HERE

    def number(self, x):
        self.calls += 1
        return x + self.calls  # HERE


def helper():
    return random.gauss(0, 1)


def from_helper(x):
    y = x * 2.0
    return y + helper()


def sampled(x):
    return x + np.random.rand()


def test_every_element_draws():
    rng, own, sampler = np.random.default_rng(1), random.Random(3), Sampler()
    shared = {"rng": np.random.default_rng(5)}
    cases = {
        "random.random": lambda x: x + random.random(),
        "randint": lambda x: x + float(random.randint(0, 10**6)),
        "numpy": lambda x: x + np.random.uniform(0, 1),
        "normal": lambda x: x + np.float32(np.random.normal()),
        "generator": lambda x: x + np.float32(rng.random()),
        "of a module": lambda x: x + np.float32(MODULE_RNG.random()),
        "in a dict": lambda x: x + np.float32(shared["rng"].random()),
        "Random": lambda x: x + own.random(),
        "method": sampler.draw,
        "partial": functools.partial(lambda r, x: x + np.float32(r.random()), rng),
        "unseeded": lambda x: x + np.float32(np.random.default_rng().random()),
        "helper": from_helper,
        "named": sampled,
    }
    for name, f in cases.items():
        ds, w = warned(f)
        c.same(len(w), 1, f"{name}: one warning")
        c.true(w and w[0].filename == __file__ and "sd.random" in str(w[0].message), f"{name}: {w and w[0]}")
        first, second = list(ds), list(ds)
        c.true(len(set(map(float, first))) > 30, f"{name}: a value for each element")
        c.true(first != second, f"{name}: and for each epoch")
        c.same(ds.element_spec, sd.TensorSpec((), "float32"), name)
        c.true("Python for each element" in ds.explain() and "used" in ds.explain(), ds.explain())
    line = helper.__code__.co_firstlineno + 1
    c.same(warned(from_helper)[1][0].lineno, line, "the line that draws")
    c.same(warned(sampled)[1][0].lineno, sampled.__code__.co_firstlineno + 1, "the line that draws")


def test_seeded_draws_are_the_programs():
    """The draws are those of a loop over the elements."""
    random.seed(5)
    want = [random.random() for _ in range(5)]
    ds, _ = warned(lambda x: x + random.random(), FLOATS.take(5))
    random.seed(5)
    got = list(ds)
    c.true(np.allclose(got, want), f"{got}, {want}")


def test_rejected_if_wanted():
    with warnings.catch_warnings():
        warnings.simplefilter("error", sd.errors.TracingWarning)
        e = c.raises(sd.errors.TracingWarning, lambda: FLOATS.map(sampled), "numpy.random", "sd.random.uniform")
        c.true(e is not None and "test_impure.py" in str(e), e)
        FLOATS.map(lambda x: x + sd.random.uniform([]))  # nothing to reject


def test_clocks_and_counters():
    global calls
    count, steps, sampler = itertools.count(), [0], Sampler()

    def numbered(x):
        global calls
        calls += 1
        return x + calls

    def stepped(x):
        steps[0] += 1
        return x + float(steps[0])

    for name, f in {
        "global": numbered, "list": stepped, "count": lambda x: x + float(next(count)), "attribute": sampler.number,
        "clock": lambda x: x + (time.perf_counter_ns() % 1000003), "now": lambda x: x + datetime.datetime.now().microsecond,
    }.items():  # fmt: skip
        ds, w = warned(f)
        c.true(len(w) == 1 and len({float(v) for v in ds}) > 20, f"{name}: {[str(x.message) for x in w]}")
    for name, f in {
        "a list of calls": lambda x: (steps.append(1), x + 1)[1],
        "time that is not used": lambda x: (time.time(), x + 1)[1],
        "seeded in the function": lambda x: x + np.float32(np.random.default_rng(3).random()),
        "a captured array": lambda x: x + np.float32(calls),
    }.items():
        ds, w = warned(f)
        c.true(not w and ds._function.is_native, f"{name}: native")


def test_once_where_it_must_be_traced():
    with warnings.catch_warnings(record=True):
        ds = sd.Dataset.range(3).flat_map(lambda x: sd.Dataset.range(random.randint(2, 5)))
    c.true("used random" in ds.explain(), ds.explain())


def checks_of_a_trace(x):
    """What both a symbolic value and an element in Python answer."""
    x.set_shape(x.shape)
    return [
        x.get_shape().as_list(), x.shape.rank, x.shape.ndims, x.dtype == sd.float32, x.dtype.is_floating, x.dtype.is_integer,
        x.dtype.as_numpy_dtype is np.float32, x.dtype.max == np.finfo(np.float32).max, x.rank, x.shape.is_fully_defined(),
        sd.reshape(x, [-1]).dtype == sd.float32, sd.reshape(x, [-1]).shape.rank, sd.cast(x, sd.uint8).dtype.max, isinstance(x, sd.Tensor),
    ]  # fmt: skip


def test_elements_answer_as_in_a_trace():
    seen = []

    def traced(x):
        seen.append(checks_of_a_trace(x))
        return x

    def as_python(x):
        if sd.reduce_sum(x) > 1e9:
            return x
        seen.append(checks_of_a_trace(x))
        return x

    for value in (np.ones((2, 3), np.float32), np.float32(1)):
        seen.clear()
        list(sd.Dataset.from_tensors(value).map(traced))
        list(sd.Dataset.from_tensors(value).map(as_python))
        c.true(len(seen) >= 2 and all(s == seen[0] for s in seen), seen)


def test_strings_in_python():
    def f(b):
        if b == b"skip":
            return b, 0
        ok = [sd.reshape(b, []).dtype == sd.string, b.dtype == sd.string, not (b.dtype != sd.string), b.shape.rank == 0,
              sd.strings.lower(b).dtype == sd.string, b.get_shape().as_list() == [], sd.strings.split(b).dtype == sd.string,
              sd.strings.split(b)[0].dtype == sd.string, sd.constant(["a"]).dtype == sd.string, isinstance(b, bytes)]  # fmt: skip
        return sd.strings.lower(b), sum(ok)

    out = list(sd.Dataset.from_tensor_slices(["A b", "skip"]).map(f))
    c.same(out, [(b"a b", np.int32(10)), (b"skip", np.int32(0))])


def test_arithmetic_in_python():
    def f(x, y):
        if x[0] > 254:
            return x, y, y
        x.set_shape([2])
        c.raises(ValueError, lambda: x.set_shape([3]), "(2,)")
        return x / 255, y / 2, 1 / y

    a, b, d = next(iter(sd.Dataset.from_tensors((np.array([51, 255], np.uint8), np.int8(3))).map(f)))
    c.same((a, b, d), (np.array([0.2, 1], np.float32), np.float32(1.5), np.float32(1 / 3)))
    g = lambda x: np.sqrt(x) + np.full(2, x[0]) + x.astype("f4") if x[0] > 0 else x
    c.same(next(iter(sd.Dataset.from_tensors(np.array([4.0, 9.0], np.float32)).map(g))), np.array([10, 16], np.float32))


def test_py_function():
    def inner(x, s):
        return float(x.numpy().sum()) * x.shape.rank * (s.dtype == sd.string) * x.dtype.is_floating

    ds = FLOATS.batch(4).take(1).map(lambda x: sd.py_function(inner, [x + 1, sd.constant("a")], sd.float32))
    c.same(next(iter(ds)), np.float32(4))


def test_dtypes():
    c.true(isinstance(sd.float32, np.dtype) and np.dtype(sd.float32) == np.float32 and sd.float32 == np.float32, "NumPy takes it")
    c.true(np.zeros(2, sd.int64).dtype == sd.int64 and hash(sd.int8) == hash(np.dtype("int8")), "arrays")
    c.same((sd.uint8.max, sd.uint8.min, sd.int16.min, sd.bool.max, sd.float32.limits, sd.uint8.limits), (255, 0, -32768, True, (0, 1), (0, 255)))
    c.same((sd.float32.size, sd.string.size, sd.string.is_floating, sd.int32.is_integer, sd.uint8.is_unsigned, sd.bool.is_bool), (4, 1, False, True, True, True))
    c.same((sd.string.as_numpy_dtype, sd.int32.as_numpy_dtype, sd.float32.base_dtype == sd.float32), (np.object_, np.int32, True))
    c.true(sd.as_dtype("float32") is sd.float32 and sd.dtypes.as_dtype(float) == sd.float32, "as_dtype")
    c.true(sd.float32 != sd.float64 and sd.float32 in {np.dtype("float32"): 1}, "compares")


c.main(globals())
