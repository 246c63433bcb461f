# SPDX-License-Identifier: Apache-2.0
"""Loops over values, tables, variables, random values of a seed: in pipelines, outside, and (where it
is installed) beside TensorFlow."""

import importlib.util
import os
import tempfile

import numpy as np

import checks as c
import stoker.data as sd

X = np.arange(12, dtype=np.float32).reshape(4, 3)
N = np.arange(6)


def in_map(arguments, f):
    """f of the arguments inside of a pipeline, where it must be native."""
    ds = sd.Dataset.from_tensors(arguments).map(f)
    c.true(ds._function.is_native, f"native: {ds._function.why}")
    return next(iter(ds))


def both(arguments, f, want, what):
    c.same(in_map(arguments, f), want, f"{what} in a pipeline")
    spread = arguments if isinstance(arguments, tuple) else (arguments,)
    c.same(f(*spread), want, f"{what} outside")


def test_map_fn():
    both(X, lambda x: sd.map_fn(lambda r: r * 2 + r[0], x), X * 2 + X[:, :1], "rows")
    both(X, lambda x: sd.map_fn(lambda r: sd.reduce_sum(r), x), X.sum(1), "scalars")
    both((X, N[:4]), lambda x, y: sd.map_fn(lambda e: (e[0] + 1, e[1] * 2), (x, y)), (X + 1, N[:4] * 2), "pairs")
    both((X, np.float32(3)), lambda x, k: sd.vectorized_map(lambda r: r * k, x), X * 3, "captures")
    ds = sd.Dataset.range(1, 4).map(lambda n: sd.map_fn(lambda i: i * i, sd.range(n)))
    c.same([e.tolist() for e in ds], [[0], [0, 1], [0, 1, 4]])
    c.raises(ValueError, lambda: sd.map_fn(lambda x: x, np.float32(1)), "scalar")
    c.raises(ValueError, lambda: sd.map_fn(lambda x: x, np.zeros(0)), "no slices")


def test_scan_and_folds():
    add = lambda a, b: a + b
    both(N, lambda x: sd.scan(add, x), np.cumsum(N), "scan")
    both(N, lambda x: sd.scan(add, x, np.int64(10)), np.cumsum(N) + 10, "scan from 10")
    both(N, lambda x: sd.scan(add, x, reverse=True), np.cumsum(N[::-1])[::-1].copy(), "scan backwards")
    both(N, lambda x: sd.foldl(add, x), np.int64(15), "foldl")
    want = np.int64(sum(int(v) << k for k, v in enumerate(N)))
    both(N, lambda x: sd.foldr(lambda a, b: 2 * a + b, x, np.int64(0)), want, "foldr")


def test_while_loop():
    def summed(n):
        return sd.while_loop(lambda i, s: i < n, lambda i, s: (i + 1, s + i), (np.int64(0), np.int64(0)))

    both(np.int64(10), summed, (np.int64(10), np.int64(45)), "while")
    both(np.int64(0), summed, (np.int64(0), np.int64(0)), "never")
    got = in_map(np.int64(50), lambda n: sd.while_loop(lambda i: i < n, lambda i: [i * 2], [np.int64(1)]))
    c.same(got, (np.int64(64),))
    capped = lambda n: sd.while_loop(
        lambda i: i < n, lambda i: (i + 1,), (np.int64(1),), maximum_iterations=5
    )
    both(np.int64(100), capped, (np.int64(6),), "maximum_iterations")
    # What the body does where the condition no longer holds is not done: no error of it comes.
    safe = lambda x: sd.while_loop(
        lambda i, s: i < 4, lambda i, s: (i + 1, s + sd.gather(x, i)), (np.int32(0), np.float32(0))
    )
    both(X[:, 0], safe, (np.int32(4), np.float32(18)), "at the end")
    collatz = lambda n: sd.while_loop(
        lambda v, k: v > 1,
        lambda v, k: (sd.where(v % 2 == 0, v // 2, 3 * v + 1), k + 1),
        (n, np.int64(0)),
    )[1]
    c.same([int(v) for v in sd.Dataset.range(1, 8).map(collatz)], [0, 1, 7, 2, 5, 8, 16])
    c.raises(TypeError, lambda: in_map(np.int64(3), lambda n: sd.while_loop(lambda i: i < n, lambda i: (i, i), (n,))), "body")


def test_tables():
    table = sd.lookup.StaticHashTable(
        sd.lookup.KeyValueTensorInitializer(["a", "b", "c"], [10, 20, 30]), -1
    )
    words = np.array([[b"a", b"x"], [b"c", b""]], object)
    both(words, lambda w: table.lookup(w), np.array([[10, -1], [30, -1]], np.int32), "lookup")
    both(words, lambda w: table[w], np.array([[10, -1], [30, -1]], np.int32), "index")
    c.same((table.size(), table.key_dtype, table.value_dtype), (np.int64(3), np.dtype("S"), np.dtype("i4")))
    numbers = sd.lookup.StaticHashTable(
        sd.lookup.KeyValueTensorInitializer(np.array([7, 2**40, -1]), ["x", "y", "z"]), "?"
    )
    both(np.array([2**40, 0, -1]), lambda k: numbers.lookup(k), np.array([b"y", b"?", b"z"], object), "numbers")
    many = np.random.default_rng(0).permutation(5000)
    big = sd.lookup.StaticHashTable(sd.lookup.KeyValueTensorInitializer(many, many * 2), np.int64(-5))
    asked = np.arange(-10, 5010)
    both(asked, lambda k: big.lookup(k), np.where((asked >= 0) & (asked < 5000), asked * 2, -5), "5000 keys")
    c.raises(TypeError, lambda: table.lookup(np.array([1, 2])), "keys of this table")
    c.raises(ValueError, lambda: sd.lookup.KeyValueTensorInitializer([1, 2], [1]), "one length")
    c.raises(ValueError, lambda: sd.lookup.KeyValueTensorInitializer([1.5], [1]), "whole numbers")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "words.txt")
        with open(path, "w") as f:
            f.write("red\tr\ngreen\tg\nblue\tb\n")
        index = sd.lookup.TextFileIndex
        lines = sd.lookup.TextFileInitializer(path, "string", 0, "int64", index.LINE_NUMBER)
        both(np.array([b"blue", b"pink"], object),
             lambda w: sd.lookup.StaticHashTable(lines, -1).lookup(w), np.array([2, -1]), "a file")
        letters = sd.lookup.TextFileInitializer(path, "string", 0, "string", 1)
        c.same(sd.lookup.StaticHashTable(letters, "").lookup(["green"]), np.array([b"g"], object))
        vocabulary = sd.lookup.StaticVocabularyTable(lines, 2)
        got = in_map(np.array([b"red", b"pink", b"teal", b"blue"], object), vocabulary.lookup)
        c.same(got, vocabulary.lookup(["red", "pink", "teal", "blue"]))
        c.true(got[0] == 0 and got[3] == 2 and all(3 <= v < 5 for v in got[1:3]), f"{got}")
        c.raises(sd.errors.NotFoundError, lambda: sd.lookup.TextFileInitializer(path + "x", "string", 0, "int64", -1))
    grown = sd.lookup.experimental.MutableHashTable("string", "int64", -1)
    grown.insert(["a", "b"], [1, 2])
    grown.insert(["b"], [3])
    c.same(grown.lookup(["a", "b", "c"]), np.array([1, 3, -1]))
    before = sd.Dataset.from_tensors(["a", "c"]).map(grown.lookup)
    grown.insert(["c"], [9])
    c.same((next(iter(before)), grown.lookup(["c"])), (np.array([1, -1]), np.array([9])))
    grown.remove(["a"])
    c.same((grown.lookup(["a"]), grown.size()), (np.array([-1]), np.int64(2)))


def test_variables():
    v = sd.Variable([1.0, 2.0], name="scale")
    c.same(in_map(np.float32(3), lambda x: (x * v, v - x)), (np.float32([3, 6]), np.float32([-2, -1])))
    ds = sd.Dataset.from_tensors(np.float32(1)).map(lambda x: x * v)
    v.assign_add([1, 1])
    c.same((next(iter(ds)), v.numpy()), (np.float32([1, 2]), np.float32([2, 3])))
    c.same(((v * 2).numpy(), (1 - v).numpy(), v.shape, v.dtype), (np.float32([4, 6]), np.float32([-1, -2]), (2,), np.dtype("f4")))
    c.raises(ValueError, lambda: v.assign([1, 2, 3]), "scale", "shape")
    count = sd.Variable(0, dtype="int64")
    for x in sd.Dataset.range(5):
        count.assign_add(x)
    c.same(count.numpy(), np.int64(10))


def test_gamma_and_beta():
    draw = lambda f, n=20000: np.array(list(sd.Dataset.range(n, output_type="int64").map(f)))
    for alpha in (0.3, 1.0, 4.5):
        v = draw(lambda i: sd.random.gamma([], alpha, seed=5))
        c.true(abs(v.mean() - alpha) < 0.1 * max(alpha, 0.5) and abs(v.var() - alpha) < 0.15 * max(alpha, 0.5), f"gamma {alpha}: {v.mean()} {v.var()}")
        c.true(v.dtype == np.float32 and v.min() > 0, "positive float32")
    b = draw(lambda i: sd.random.beta([], 2.0, 3.0, seed=5))
    c.true(abs(b.mean() - 0.4) < 0.01 and abs(b.var() - 0.04) < 0.005 and 0 < b.min() < b.max() < 1, f"beta {b.mean()}")
    c.same(sd.random.gamma([2, 3], [1.0, 2.0]).shape, (2, 3, 2))
    c.same(draw(lambda i: sd.random.gamma([], 2.0, seed=5), 5), draw(lambda i: sd.random.gamma([], 2.0, seed=5), 5))
    rate = draw(lambda i: sd.random.gamma([], 2.0, 4.0, seed=1))
    c.true(abs(rate.mean() - 0.5) < 0.02, "rate")
    c.raises(ValueError, lambda: sd.ops.random_gamma(np.int32(1), shape=[2]), "float")
    for kind in ("float32", "float64"):
        c.same(np.asarray(sd.ops.random_gamma(np.array([np.inf], kind), shape=[1])), np.array([[np.inf]], kind))


def test_bounds_of_uniform():
    """Bounds that are values of the function stay native."""
    low, high = np.float32(5), np.float32(6)
    v = in_map((low, high), lambda a, b: sd.random.uniform([1000], a, b))
    c.true(v.min() >= 5 and v.max() < 6 and v.std() > 0.2, "floats")
    i = in_map((np.int32(5), np.int32(9)), lambda a, b: sd.random.uniform([1000], a, b, dtype="int32"))
    c.same((i.dtype, sorted(set(i.tolist()))), (np.dtype("i4"), [5, 6, 7, 8]))
    per = sd.random.uniform([100, 2], [0.0, 10.0], [1.0, 11.0])
    c.true((per[:, 0] < 1).all() and (per[:, 1] >= 10).all(), "arrays")
    n = in_map(np.float32(100), lambda m: sd.random.normal([1000], m, 2.0))
    c.true(abs(n.mean() - 100) < 0.5 and abs(n.std() - 2) < 0.3, "normal")


def test_stateless():
    seed = (3, 4)
    same = lambda f: c.same(in_map(np.array(seed), f), f(np.array(seed)), "one seed, one result")
    same(lambda s: sd.random.stateless_uniform([5], s))
    same(lambda s: sd.random.stateless_normal([5], s, 10.0, 2.0))
    same(lambda s: sd.random.stateless_truncated_normal([5], s))
    same(lambda s: sd.random.stateless_uniform([5], s, 0, 10, "int32"))
    same(lambda s: sd.random.stateless_shuffle(np.arange(9), s))
    same(lambda s: sd.random.experimental.stateless_split(s, 3))
    same(lambda s: sd.random.experimental.stateless_fold_in(s, 3))
    u = sd.random.stateless_uniform([100000], seed)
    z = sd.random.stateless_normal([100000], seed)
    t = sd.random.stateless_truncated_normal([100000], seed)
    c.true(abs(u.mean() - 0.5) < 0.01 and 0 <= u.min() and u.max() < 1, "even")
    c.true(abs(z.mean()) < 0.02 and abs(z.std() - 1) < 0.02, "normal")
    c.true(np.abs(t).max() <= 2 and abs(t.std() - 0.88) < 0.02, "truncated")
    i = sd.random.stateless_uniform([10000], seed, -3, 4, "int64")
    c.same(sorted(set(i.tolist())), list(range(-3, 4)))
    c.same(sorted(sd.random.stateless_shuffle(np.arange(50), seed).tolist()), list(range(50)))
    seeds = sd.random.split(seed, 50)
    c.same((seeds.shape, len({tuple(s) for s in seeds.tolist()})), ((50, 2), 50))
    c.true((sd.random.fold_in(seed, 1) != sd.random.fold_in(seed, 2)).any(), "numbers folded in")
    drawn = sd.random.stateless_categorical(np.log([[0.2, 0.8]]), 10000, seed)
    c.true(abs(drawn.mean() - 0.8) < 0.02, "categorical")
    drawn = sd.random.categorical(np.log([[0.2, 0.8]]), 10000)
    c.true(drawn.dtype == np.int64 and abs(drawn.mean() - 0.8) < 0.02, "categorical")


def test_generator():
    def three(g):
        return [float(g.uniform([])), float(g.normal([])), float(g.uniform([]))]

    a, b = sd.random.Generator.from_seed(5), sd.random.Generator.from_seed(5)
    c.same(three(a), three(b))
    go_on = sd.random.Generator.from_state(a.state)
    c.same(three(a), three(go_on))
    c.true(len(set(three(a))) == 3, "others each time")
    ds = sd.Dataset.range(50).map(lambda i: a.uniform([]))
    c.true(len({float(v) for v in ds}) == 50, "each element its own")
    c.same([s.uniform([]).shape for s in a.split(3)], [(), (), ()])
    c.same((a.make_seeds(4).shape, a.make_seeds(4).dtype), ((2, 4), np.dtype("i8")))
    sd.random.set_global_generator(sd.random.Generator.from_seed(9))
    first = float(sd.random.get_global_generator().uniform([]))
    sd.random.set_global_generator(sd.random.Generator.from_seed(9))
    c.same(float(sd.random.get_global_generator().uniform([])), first)


def test_beside_tensorflow():
    """Loops and tables give what TensorFlow's give."""
    if not importlib.util.find_spec("tensorflow"):
        c.skip("tensorflow is not installed")
        return
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    import tensorflow as tf

    def of(m):
        init = m.lookup.KeyValueTensorInitializer(m.constant(["a", "b"]), m.constant([5, 6], m.int64))
        table = m.lookup.StaticHashTable(init, -1)
        vocabulary = m.lookup.StaticVocabularyTable(init, 3)
        x, words = m.constant(X), m.constant([b"a", b"zz", b"b", b"q"])
        return [
            m.map_fn(lambda r: r * 2 + r[0], x),
            m.scan(lambda a, b: a + b, x),
            m.scan(lambda a, b: a * 2 + b, x, m.zeros([3])),
            m.foldl(lambda a, b: a + b, x),
            m.foldr(lambda a, b: a * 2 + b, x),
            m.while_loop(lambda i, s: i < 5, lambda i, s: (i + 1, s + m.cast(i, m.float32)), (0, 0.0))[1],
            table.lookup(words),
            vocabulary.lookup(words),
            vocabulary.size(),
        ]

    for k, (ours, theirs) in enumerate(zip(of(sd), of(tf))):
        c.same(np.asarray(ours), theirs.numpy(), f"number {k}")


c.main(globals())
