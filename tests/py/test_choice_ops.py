#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""top_k, unique, bitcast, extract_patches, hash buckets, gather behind batch_dims, case and
switch_case, assertions, print: against NumPy, outside of functions and traced. TensorFlow's results of the
same: tests/peers/scripts/choices.py."""

import os
import tempfile

import numpy as np

import checks as c
import stoker.data as sd

D = sd.Dataset
RNG = np.random.default_rng(1)
INVALID = sd.errors.InvalidArgumentError


MEAN, DEVIATION = 0.401, 0.184


def traced(f, *values):
    """f's results for the values as elements of a dataset, natively; equal to those outside of one."""
    ds = D.from_tensors(values).map(f)
    c.true(ds._function.is_native, f"traced: {ds._function.why}")
    have, want = next(iter(ds)), f(*values)
    if isinstance(want, (tuple, list)):
        c.same([np.asarray(v) for v in have], [np.asarray(v) for v in want], "traced and eager")
    else:
        c.same(np.asarray(have), np.asarray(want), "traced and eager")
    return have


def test_top_k():
    for dtype in ("uint8", "int16", "int64", "float16", "float32", "float64"):
        x = RNG.integers(0, 50, (3, 4, 40)).astype(dtype)
        order = np.argsort(-x.astype(np.float64), axis=-1, kind="stable")
        for k in (0, 1, 5, 39, 40):
            values, at = traced(lambda v: tuple(sd.math.top_k(v, k)), x)
            c.same(at, order[..., :k].astype(np.int32), f"{dtype} {k}")
            c.same(values, np.take_along_axis(x, order[..., :k], -1))
    x = np.array([1.0, np.nan, 3.0, -np.inf, 3.0, np.nan], np.float32)
    c.same(sd.nn.top_k(x, 6).indices, np.array([2, 4, 0, 3, 1, 5], np.int32), "NaN is last")
    c.same(sd.nn.top_k(x).values, np.array([3.0], np.float32))
    c.same(sd.math.top_k(x, 2, index_type="int64").indices.dtype, np.dtype("int64"))
    of_each = D.range(1, 4).map(lambda k: sd.math.top_k(np.array([4, 9, 2, 9]), k).indices)
    c.same([v.tolist() for v in of_each], [[1], [1, 3], [1, 3, 0]], "k of each element")
    many = D.from_tensor_slices(RNG.integers(0, 9, (500, 30))).map(lambda v: sd.math.top_k(v, 4), 2)
    c.same(tuple(many.element_spec.values.shape), (4,))
    c.true(all((e.values == -np.sort(-x)[:4]).all() for e, x in zip(many, many._inputs[0])), "blocks")
    c.raises(INVALID, lambda: sd.math.top_k(np.arange(3), 4), "4 of rows")
    c.raises(INVALID, lambda: sd.math.top_k(np.arange(3), -1))
    c.raises(INVALID, lambda: sd.math.top_k(np.int32(3), 1))
    short = D.range(4).map(lambda n: sd.math.top_k(sd.range(n), 2).values)
    it = iter(short)
    c.raises(INVALID, lambda: next(it), "2 of rows", "(0,)")
    c.raises(INVALID, lambda: next(it))
    c.same(next(it), np.array([1, 0]))


def test_unique():
    for dtype in ("uint8", "int32", "int64", "float16", "float64"):
        v = RNG.integers(0, 30, 200).astype(dtype)
        y, first, idx, count = np.unique(v, True, True, True)
        order = np.argsort(first)
        have = traced(lambda x: tuple(sd.unique_with_counts(x, "int64")), v)
        c.same(have[0], y[order], dtype)
        c.same(have[1], np.argsort(order)[idx])
        c.same(have[2], count[order])
    words = np.array([b"b", b"", b"a", b"b", b""], object)
    y, idx = traced(lambda s: tuple(sd.unique(s)), words)
    c.same((list(y), idx.tolist(), idx.dtype), ([b"b", b"", b"a"], [0, 1, 2, 0, 1], np.dtype("int32")))
    zeros = sd.unique(np.array([0.0, -0.0, np.nan, np.nan], np.float32))
    c.same(zeros.idx, np.array([0, 0, 1, 2], np.int32), "one zero, and no NaN is another")
    c.same(sd.unique(np.zeros(0, np.int32)).y, np.zeros(0, np.int32))
    ds = D.range(300).map(lambda n: sd.unique_with_counts(sd.strings.as_string(sd.range(n) % 7)), 2)
    c.same(tuple(ds.element_spec.y.shape), (None,))
    for n, e in enumerate(ds):
        want = [b"%d" % i for i in range(min(n, 7))]
        ok = list(e.y) == want and e.count.sum() == n and (e.y[e.idx] == [b"%d" % (i % 7) for i in range(n)]).all()
        c.true(ok, f"{n}: {e}")
    c.raises(INVALID, lambda: sd.unique(np.zeros((2, 2))), "a vector")
    c.raises(INVALID, lambda: sd.unique(np.zeros(2), out_idx="float32"), "out_idx")


def test_bitcast():
    x = RNG.integers(0, 255, (2, 3, 8)).astype(np.uint8)
    for dtype in ("int8", "uint16", "float16", "int32", "float32", "int64", "float64"):
        want = x.view(dtype)
        want = want[..., 0] if want.shape[-1] == 1 else want
        if np.dtype(dtype).itemsize in (1, 8):
            have = traced(lambda v: sd.bitcast(v, dtype), x)
            c.true(have.tobytes() == want.tobytes() and have.shape == want.shape, dtype)
        n = np.dtype(dtype).itemsize
        part = x.reshape(-1, n) if n > 1 else x
        have = traced(lambda v: sd.bitcast(sd.bitcast(v, dtype), "uint8"), part)
        c.same(have, part, f"{dtype} and back")
    c.same(sd.bitcast(np.float32(1), "int32"), np.asarray(np.int32(0x3F800000))[()])
    c.same(D.range(3).map(lambda i: sd.bitcast(i, "uint8")).element_spec.shape == (8,), True)
    c.raises(INVALID, lambda: sd.bitcast(np.zeros((2, 3), np.uint8), "int32"), "(2, 3)")
    c.raises(INVALID, lambda: sd.bitcast(np.uint8(3), "int32"))
    c.raises(INVALID, lambda: sd.bitcast(np.zeros(4, bool), "int32"), "bool")
    c.raises(INVALID, lambda: sd.bitcast(np.array([b"abcd"], object), "int32"), "bytes")
    lengths = D.range(1, 5).map(lambda n: sd.bitcast(sd.zeros([n], "uint8"), "int32"))
    c.raises(INVALID, lambda: list(lengths), "(1,)")


def windows(x, size, stride, rate, padding):
    """extract_patches by NumPy."""
    (n, h, w, d), span = x.shape, [(s - 1) * r + 1 for s, r in zip(size, rate)]
    out, before = [], []
    for length, s, st in zip((h, w), span, stride):
        count = -(-length // st) if padding == "SAME" else (length - s) // st + 1
        out.append(count)
        before.append(max((count - 1) * st + s - length, 0) // 2 if padding == "SAME" else 0)
    made = np.zeros((n, out[0], out[1], size[0], size[1], d), x.dtype)
    for y, xx, i, j in np.ndindex(out[0], out[1], size[0], size[1]):
        a, b = y * stride[0] + i * rate[0] - before[0], xx * stride[1] + j * rate[1] - before[1]
        if 0 <= a < h and 0 <= b < w:
            made[:, y, xx, i, j] = x[:, a, b]
    return made.reshape(n, out[0], out[1], -1)


def test_extract_patches():
    for k in range(20):
        dtype = ["uint8", "float32", "int64", "bool"][k % 4]
        x = RNG.integers(0, 2 if dtype == "bool" else 99, (2, RNG.integers(5, 12), RNG.integers(5, 12), 3)).astype(dtype)
        size, stride, rate = RNG.integers(1, 4, 2), RNG.integers(1, 4, 2), RNG.integers(1, 3, 2)
        for padding in ("SAME", "VALID"):
            f = lambda v: sd.image.extract_patches(v, [1, *size, 1], [1, *stride, 1], [1, *rate, 1], padding)
            c.same(traced(f, x), windows(x, size, stride, rate, padding), f"{size} {stride} {rate} {padding}")
    x = np.zeros((1, 4, 4, 1), np.uint8)
    cut = lambda v, n: sd.image.extract_patches(v, [1, n, n, 1], [1, 1, 1, 1], [1, 1, 1, 1], "VALID")
    c.same(cut(x, 4).shape, (1, 1, 1, 16))
    c.raises(INVALID, lambda: cut(x, 6), "(1, 4, 4, 1)")
    c.raises(INVALID, lambda: cut(x[0], 2), "(4, 4, 1)")
    c.raises(INVALID, lambda: cut(x, 0), "at least 1")
    c.raises(INVALID, lambda: sd.image.extract_patches(x, [1, 2, 2, 2], [1] * 4, [1] * 4, "SAME"), "sizes")
    c.raises(INVALID, lambda: sd.image.extract_patches(x, [1] * 4, [1] * 4, [1] * 4, "same"), "padding")
    grown = D.range(3, 6).map(lambda n: cut(sd.ones([1, n, 4, 2]), 3))
    c.same(tuple(grown.element_spec.shape), (1, None, 2, 18))
    c.same([e.shape[1] for e in grown], [1, 2, 3], "heights that differ")


def test_hash_buckets():
    s = np.array([b"", b"a", b"stoker", b"12345678", b"a longer text, of more than one block"], object)
    n = 10**15  # numbers: what TensorFlow 2.21 gives
    plain = [806548029283899, 632905371535868, 125318303929988, 129128932463287, 424512322598813]
    strong = [169246107117435, 252350249958646, 662486631996518, 726819379278012, 509066237055836]
    c.same(traced(lambda v: sd.strings.to_hash_bucket(v, n), s), np.array(plain))
    c.same(traced(lambda v: sd.strings.to_hash_bucket_strong(v, n, [1, 2]), s), np.array(strong))
    c.raises(INVALID, lambda: sd.strings.to_hash_bucket_strong(s, 9, [1]), "key")
    c.raises(INVALID, lambda: sd.strings.to_hash_bucket(s, 0), "num_buckets")


def test_gather_behind_batch_dims():
    x = RNG.integers(0, 99, (2, 3, 4, 5))
    for batch, axis, shape in ((1, 2, (2, 6)), (1, 3, (2, 2, 3)), (2, 3, (2, 3, 2)), (1, 3, (2,))):
        at = RNG.integers(0, 4, shape)
        have = traced(lambda v, i: sd.gather(v, i, axis=axis, batch_dims=batch), x, at)
        want = np.empty(x.shape[:axis] + shape[batch:] + x.shape[axis + 1 :], x.dtype)
        for place in np.ndindex(*shape[:batch]):
            want[place] = np.take(x[place], at[place], axis - batch)
        c.same(have, want, f"{batch} {axis} {shape}")
    c.raises(INVALID, lambda: sd.gather(x, np.zeros((2, 3), int), axis=1, batch_dims=2), "batch_dims")
    c.raises(INVALID, lambda: sd.gather(x, np.full((2, 1), 5), axis=3, batch_dims=1))


def test_case():
    f = lambda i: sd.case(
        [(i < 2, lambda: i * 10), (i < 4, lambda: i + 100)], default=lambda: sd.constant(-1, "int64")
    )
    ds = D.range(6).map(f)
    c.true(ds._function.is_native, "native")
    c.same(list(ds), [0, 10, 102, 103, -1, -1])
    c.same([int(f(np.int64(i))) for i in range(6)], [0, 10, 102, 103, -1, -1])
    none = lambda i: sd.case([(i < 1, lambda: i), (i > 2, lambda: -i)])
    it = iter(D.range(4).map(none))
    c.same(next(it), np.int64(0))
    c.raises(INVALID, lambda: next(it), "no condition is true", "element 1")
    c.raises(INVALID, lambda: next(it))
    c.same(next(it), np.int64(-3))
    c.raises(INVALID, lambda: none(np.int64(1)), "no condition")
    both = D.range(4).map(lambda i: sd.case({i < 3: lambda: i, i > 1: lambda: -i}, exclusive=True))
    c.same([v for v in both.ignore_errors()], [0, 1, -3])
    c.raises(INVALID, lambda: list(both), "more than one")
    c.raises(INVALID, lambda: sd.case([]))
    c.raises(TypeError, lambda: sd.case([(True, 3)]))


def test_quarter_turns_of_the_element():
    x = np.arange(24).reshape(4, 3, 2)
    turned = sd.Dataset.range(-2, 7).map(lambda k: sd.image.rot90(x, sd.cast(k, "int32")))
    c.same(tuple(turned.element_spec.shape), (None, None, 2))
    for k, e in zip(range(-2, 7), turned, strict=True):
        c.same(np.array_equal(e, np.rot90(x, k)), True, f"k = {k}")
    c.same(np.array_equal(sd.image.rot90(x), np.rot90(x)), True, "k = 1 unless given")


def test_switch_case():
    ds = D.range(-1, 5).map(lambda i: sd.switch_case(i, [lambda: i, lambda: i * 10, lambda: i * 100]))
    c.true(ds._function.is_native, "native")
    c.same(list(ds), [-100, 0, 10, 200, 300, 400])
    ds = D.range(4).map(lambda i: sd.switch_case(i, {2: lambda: i, 0: lambda: -i}, lambda: i + 50))
    c.same(list(ds), [0, 51, 2, 53])
    c.same(sd.switch_case(1, [lambda: "a", lambda: "b"]), "b")
    c.raises(INVALID, lambda: sd.switch_case(0, []))
    c.raises(INVALID, lambda: sd.switch_case(0, [(1, int), (1, int)]), "two")
    c.raises(TypeError, lambda: sd.switch_case(0, [3]))


def test_assertions():
    """They stay although nothing uses what they give, and cost their element only."""

    def f(i):
        sd.debugging.assert_less(i, 3, message="too large")
        return i

    ds = D.range(6).map(f).map(lambda i: i * 2)
    c.true(ds._function.is_native, "native")
    c.same(list(ds.ignore_errors()), [0, 2, 4])
    c.raises(INVALID, lambda: list(ds), "too large", "element 3")
    c.same(list(D.range(3).map(lambda i: (sd.Assert(sd.stack([i < 9, True]), ["x"]), i)[1])), [0, 1, 2])
    kept = D.range(6).map(lambda i: (sd.debugging.assert_positive(i - 2), i)[1]).filter(lambda i: i > 4)
    c.raises(INVALID, lambda: list(kept), "assertion failed")
    sd.debugging.assert_equal(np.arange(3), np.arange(3))
    sd.debugging.assert_non_negative(0)
    c.raises(INVALID, lambda: sd.debugging.assert_equal(np.arange(3), [0, 1, 5], "unequal"), "unequal")
    c.raises(INVALID, lambda: sd.debugging.assert_non_positive(1))
    c.raises(INVALID, lambda: sd.debugging.assert_greater_equal(1, 2))
    c.raises(TypeError, lambda: sd.debugging.assert_equal(np.int32(1), np.int64(1)))
    c.raises(INVALID, lambda: sd.Assert(False, ["why"]), "why")


def test_sample_distorted_bounding_box():
    """Crops within what was asked for, in which an object is seen; alike in their distribution."""
    boxes = np.array([[[0.1, 0.2, 0.6, 0.9], [0.5, 0.5, 0.55, 0.52]]], np.float32)
    more = dict(aspect_ratio_range=[0.75, 1.33], area_range=(0.05, 0.8), min_object_covered=0.4)

    def crop(_):
        return sd.image.sample_distorted_bounding_box(np.array([300, 400, 3]), boxes, **more)

    ds = D.range(3000).map(crop, 2)
    c.true(ds._function.is_native, "native")
    areas = []
    for begin, size, box in ds:
        (y, x, _), (h, w, rest) = begin, size
        ok = 0 <= y and 0 <= x and y + h <= 300 and x + w <= 400 and (begin[2], rest) == (0, -1)
        whole = (h, w) == (300, 400)
        ok = ok and (whole or 0.05 <= h * w / 120000 <= 0.8 and 0.73 < w / h < 1.36)
        edges = np.array([y / 300, x / 400, (y + h) / 300, (x + w) / 400], np.float32)
        seen = []
        for a in boxes[0]:
            t, l, b, r = (a * [300, 400, 300, 400]).astype(int)
            both = max(min(b, y + h) - max(t, y), 0) * max(min(r, x + w) - max(l, x), 0)
            seen.append(both / ((b - t) * (r - l)))
        ok = ok and np.array_equal(box, edges.reshape(1, 1, 4)) and max(seen) >= 0.4
        areas.append(h * w / 120000)
        if not ok:
            c.fail(f"{begin} {size} {box} {seen}")
    # Of TensorFlow 2.21, for the same arguments: a mean of MEAN and a deviation of DEVIATION.
    c.true(abs(np.mean(areas) - MEAN) < 0.02 and abs(np.std(areas) - DEVIATION) < 0.02, f"{np.mean(areas)} {np.std(areas)}")
    again = lambda s: [e[0].tolist() for e in D.range(9).map(lambda _: sd.image.sample_distorted_bounding_box(
        [30, 40, 3], np.zeros((1, 0, 4), np.float32), s, use_image_if_no_bounding_boxes=True))]
    c.true(again(3) == again(3) != again(4), "its seed")
    f = sd.image.sample_distorted_bounding_box
    c.same(f([9, 9, 3], boxes, area_range=(1, 1), aspect_ratio_range=(0.1, 0.2))[1].tolist(), [9, 9, -1])
    c.raises(INVALID, lambda: f([9, 9, 3], np.zeros((1, 0, 4), np.float32)), "no boxes")
    c.raises(INVALID, lambda: f([9, 9, 3], boxes[..., ::-1]), "a box is")
    c.raises(INVALID, lambda: f([9, 9], boxes), "height, width, channels")
    c.raises(INVALID, lambda: f([9, 9, 3], boxes[..., :3]), "(..., 4)")
    c.raises(INVALID, lambda: f([9, 9, 3], boxes, area_range=(0.5, 0.1)), "area_range")
    c.raises(INVALID, lambda: f([9, 9, 3], boxes, max_attempts=-1), "max_attempts")


def test_print():
    """What TensorFlow prints; in a traced function for each element."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "out")

        def printed(*values, **more):
            sd.print(*values, output_stream="file://" + path, **more)
            with open(path) as f:
                text = f.read()
            os.remove(path)
            return text

        c.same(printed("x", 3, 4.5, True, None), "x 3 4.5 True None\n")
        c.same(printed(np.arange(10), np.arange(4).reshape(2, 2)), "[0 1 2 ... 7 8 9] [[0 1]\n [2 3]]\n")
        c.same(printed(np.arange(10), summarize=-1, end=""), "[0 1 2 3 4 5 6 7 8 9]")
        c.same(printed(np.arange(8).reshape(2, 2, 2)), "[[[0 1]\n  [2 3]]\n\n [[4 5]\n  [6 7]]]\n")
        c.same(printed({"a": np.int64(3), "b": (np.arange(2), "t")}), "{'a': 3, 'b': ([0 1], 't')}\n")
        floats = np.array([0.1, 1, 1e10, 1e-7, np.pi, np.nan, -0.0], np.float32)
        c.same(printed(floats, summarize=9), "[0.1 1 1e+10 1e-07 3.14159274 nan -0]\n")
        c.same(printed(np.float64(1) / 3, b"s", np.array([b"a"], object), sep="|"), '0.33333333333333331|"s"|["a"]\n')

        def f(x):
            sd.print("x:", x, [x, x * 2], output_stream="file://" + path)
            return x + 1

        c.same(list(D.range(3).map(f).map(lambda x: x * 2)), [2, 4, 6])
        with open(path) as out:
            c.same(out.read(), "x: 0 [0, 0]\nx: 1 [1, 2]\nx: 2 [2, 4]\n")
    c.raises(INVALID, lambda: sd.print(1, output_stream="nowhere"), "output_stream")


c.main(globals())
