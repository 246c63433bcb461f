# SPDX-License-Identifier: Apache-2.0
"""Offsets, sizes and counts at the ends of int64, as they come from data and as arguments: each is rejected with a
reason or works. Under UndefinedBehaviorSanitizer (presets.asan) no sum, product or sign overflows."""

import time

import numpy as np

import checks as c
import stoker.data as sd

LEAST, MOST = -(2**63), 2**63 - 1
COUNTS = [0, -1, 1, 2, 2**31 - 1, 2**31, -(2**31), 2**32, 2**62, MOST, LEAST, 2**40]
TABLE = np.arange(12, dtype=np.float32).reshape(3, 4)
IMAGE = np.arange(48, dtype=np.uint8).reshape(4, 4, 3)


def given(f, *numbers):
    """f of integers that only the elements know: its value, or None where the element is an error."""
    return given_with(None, lambda _, *v: f(*v), *numbers)


def given_with(value, f, *numbers):
    elements = (np.zeros(1) if value is None else value, np.array(numbers, np.int64))
    ds = sd.Dataset.from_tensors(elements).map(lambda t, v: f(t, *(v[i] for i in range(len(numbers)))))
    c.true("host_call" not in ds.explain(), "a function of the engine's operations alone")
    try:
        return next(ds.as_numpy_iterator())
    except sd.errors.InvalidArgumentError as e:
        c.true(len(str(e)) > 20, str(e))
        return None


def test_slices_of_data():
    ends = (LEAST, LEAST + 1, -4, -1, 0, 1, 3, 4, MOST - 1, MOST)
    for begin in ends:
        for size in ends:
            have = given(lambda b, n: sd.slice(TABLE, [b, 0], [n, 1]), begin, size)
            fits = 0 <= begin <= 3 and (size == -1 or 0 <= size <= 3 - begin)
            want = TABLE[begin : None if size < 0 else begin + size, :1] if fits else None
            c.same(have, want, f"slice from {begin}, {size} values")
            for step in (1, 2, -1, LEAST, MOST):
                have = given_with(TABLE, lambda t, a, b: t[a:b:step], begin, size)
                c.same(have, TABLE[begin:size:step], f"[{begin}:{size}:{step}]")
    for step in ends:
        have = given_with(TABLE, lambda t, s: t[::s], step)
        c.same(have, TABLE[::step] if step else None, f"[::{step}]")


def test_boxes_of_data():
    ends = (LEAST, -1, 0, 1, 3, 2**32, 2**62, MOST - 1, MOST)
    for at in ends:
        for size in ends:
            box = given(lambda y, h: sd.image.crop_to_bounding_box(IMAGE, y, 0, h, 1), at, size)
            fits = at >= 0 and size > 0 and at + size <= 4
            c.same(box, IMAGE[at : at + size, :1] if fits else None, f"a crop from {at}, {size} rows")
            box = given(lambda x, w: sd.image.crop_to_bounding_box(IMAGE, 0, x, 1, w), at, size)
            c.same(box, IMAGE[:1, at : at + size] if fits else None, f"a crop from {at}, {size} columns")
    for at in ends:
        padded = given(lambda y: sd.image.pad_to_bounding_box(IMAGE, y, 0, 8, 8), at)
        want = np.pad(IMAGE, ((at, 4 - at), (0, 4), (0, 0))) if 0 <= at <= 4 else None
        c.same(padded, want, f"padded from {at}")
    for size in (LEAST, -1, 0, 2**32 + 8, MOST):
        for f in (lambda n: sd.image.resize(IMAGE, sd.stack([n, n])), lambda n: sd.image.resize_with_crop_or_pad(IMAGE, n, 1)):
            c.same(given(f, size), None, f"an image of {size} rows")


def test_ranges_of_data():
    for start, limit, delta in ((LEAST, LEAST + 3, 1), (MOST - 3, MOST, 1), (2**62, 2**62 + 5, 2), (MOST, LEAST, LEAST),
                                (3, 0, -1), (0, 5, MOST), (MOST, MOST - 3, -2), (5, 5, 1)):
        want = np.array(range(start, limit, delta), np.int64)
        c.same(given(lambda a, b, d: sd.range(a, b, d), start, limit, delta), want, f"{start} to {limit} by {delta}")
    for start, limit, delta in ((0, 5, 0), (LEAST, MOST, 1), (0, 2**41, 1)):
        c.same(given(lambda a, b, d: sd.range(a, b, d), start, limit, delta), None, f"{start} to {limit} by {delta}")


def test_as_many_dimensions_as_there_may_be():
    """One more, where it shows with the elements, is an error of the element."""

    def of_rank(n, f):
        ds = sd.Dataset.from_tensors(np.ones(n, np.int64)).map(lambda shape: f(sd.fill(shape[: sd.size(shape)], np.int64(0))))
        try:
            return next(ds.as_numpy_iterator()).ndim
        except (sd.errors.OpError, ValueError):
            return None

    for n in (1, 7, 8):
        c.same(of_rank(n, lambda v: sd.one_hot(v, 1)), n + 1 if n < 8 else None, f"one_hot of {n} dimensions")
        c.same(of_rank(n, lambda v: sd.stack([v, v])), n + 1 if n < 8 else None, f"stack of {n} dimensions")
        c.same(of_rank(n, lambda v: sd.gather([1, 2], v)), n, f"gather by {n} dimensions")
        twice = of_rank(n, lambda v: sd.gather(v, sd.zeros([1, 1], "int64")))
        c.same(twice, n + 1 if n < 8 else None, f"gather of {n} dimensions")
        raw = of_rank(n, lambda v: sd.io.decode_raw(sd.as_string(v), "uint8"))
        c.same(raw, n + 1 if n < 8 else None, f"decode_raw of {n} dimensions")


def test_gather_behind_shared_dimensions():
    places = np.array([[0, 1], [1, 0], [3, 3]])
    for batch in (-2, -1, 0, 1, 2, 3, -3, LEAST, MOST, 2**31, -(2**31)):
        for axis in (None, 1):
            try:
                have = np.asarray(sd.gather(TABLE, places, axis=axis, batch_dims=batch))
                c.true(-2 <= batch < 2, f"gather with batch_dims {batch}")
                if batch in (1, -1):
                    c.same(have, np.take_along_axis(TABLE, places, 1))
            except (sd.errors.OpError, ValueError, IndexError):
                c.true(batch not in (-1, 1), f"gather with batch_dims {batch}, axis {axis}")


def test_empty_shapes():
    """Dimensions beside one of 0 are bounded, too: what multiplies them stays in range."""
    for shape in ([0, 2**40, 2**40], [2**62, 0], [2**40, 2**40, 0], [0, MOST]):
        c.raises((ValueError, sd.errors.OpError), lambda: sd.fill(shape, 1))
        c.raises((ValueError, sd.errors.OpError), lambda: sd.reshape(np.zeros(0, np.float32), shape))
    c.same(np.asarray(sd.fill([2**60, 0], 1)).shape, (2**60, 0))
    wide = sd.Dataset.from_tensors(np.array([2**60, 0])).repeat(4).map(lambda s: sd.fill(s, 1))
    c.raises(sd.errors.OpError, lambda: list(wide.batch(2)))
    c.same(len(list(wide)), 4)
    c.raises((ValueError, sd.errors.OpError), lambda: sd.add(np.zeros((2**61, 0), np.uint8), 1))


def test_many_lines_of_nothing():
    """An operation doesn't loop over the rows of an array without values."""
    start = time.monotonic()
    for shape in ((2**40, 0), (0, 2**40), (2**29, 0, 2**29)):
        v = np.zeros(shape, np.float32)
        for axis in range(len(shape)):
            c.same(np.asarray(sd.concat([v, v], axis)).size, 0)
            c.same([np.asarray(part).size for part in sd.split(v, [0, -1], axis)], [0, 0])
            c.same(np.asarray(sd.sort(v, axis=axis)).shape, shape)
            c.same(np.asarray(sd.cumsum(v, axis=axis)).shape, shape)
            c.same(np.asarray(sd.gather(v, np.zeros(0, int), axis=axis)).size, 0)
        c.same(np.asarray(sd.stack([v, v], 1)).size, 0)
    v = np.zeros((2**30, 0, 2**30), np.float32)
    c.same(np.asarray(sd.matmul(v, v, transpose_b=True)).shape, (2**30, 0, 0))
    c.raises(sd.errors.InvalidArgumentError, lambda: sd.gather(np.zeros((2**40, 3, 0)), [5], axis=1))
    c.quick(start, 20, "over nothing")


def numbers(n=10):
    return sd.Dataset.range(n)


DATASETS = {
    "batch": lambda n: numbers().batch(n),
    "batches of batches": lambda n: numbers().batch(2).batch(n),
    "padded_batch": lambda n: numbers().map(lambda x: sd.fill([x % 3], x)).padded_batch(2, padded_shapes=[n]),
    "window": lambda n: numbers().window(n).flat_map(lambda w: w),
    "window's shift": lambda n: numbers().window(2, shift=n).flat_map(lambda w: w),
    "window's stride": lambda n: numbers().window(3, stride=n).flat_map(lambda w: w),
    "all of a window": lambda n: numbers().window(n, n, n).flat_map(lambda w: w),
    "shuffle": lambda n: numbers().shuffle(n),
    "prefetch": lambda n: numbers().prefetch(n),
    "take": lambda n: numbers().take(n),
    "skip": lambda n: numbers(MOST).skip(n),
    "skip batches": lambda n: numbers(MOST).batch(7).skip(n).map(lambda x: x + 1),
    "repeat": lambda n: numbers().repeat(n).skip(n),
    "shard": lambda n: numbers(MOST).shard(n, n - 1),
    "enumerate": lambda n: numbers().enumerate(n),
    "range": lambda n: sd.Dataset.range(-5, n, 3),
    "range's step": lambda n: sd.Dataset.range(LEAST, MOST, n),
    "interleave": lambda n: numbers().interleave(lambda x: sd.Dataset.range(3), cycle_length=n),
    "interleave's blocks": lambda n: numbers().interleave(lambda x: sd.Dataset.range(3), cycle_length=2, block_length=n),
    "interleave's calls": lambda n: numbers().interleave(lambda x: sd.Dataset.range(3), num_parallel_calls=n),
    "map": lambda n: numbers().map(lambda x: x + n, num_parallel_calls=n),
    "bucket": lambda n: numbers().bucket_by_sequence_length(lambda x: x, [n], [2, 2]),
    "bucket's length": lambda n: numbers().bucket_by_sequence_length(lambda x: n, [3], [2, 2]),
    "group": lambda n: numbers().group_by_window(lambda x: x % 2, lambda k, w: w.batch(3), window_size=n),
    "group's key": lambda n: numbers().group_by_window(lambda x: x * 0 + n, lambda k, w: w.batch(3), window_size=2),
    "rebatch": lambda n: numbers().batch(3).rebatch(n),
    "ragged_batch": lambda n: numbers().map(lambda x: sd.fill([x], 1)).ragged_batch(n),
    "pick": lambda n: numbers().pick([n, 0]),
    "choose": lambda n: sd.Dataset.choose_from_datasets([numbers(), numbers()], sd.Dataset.from_tensors(np.int64(n))),
    "counter": lambda n: sd.Dataset.counter(n, n),
    "fixed records": lambda n: sd.FixedLengthRecordDataset(__file__, 10, header_bytes=n, footer_bytes=n),
    "record bytes": lambda n: sd.FixedLengthRecordDataset(__file__, n),
}
REFUSALS = (sd.errors.OpError, ValueError, OverflowError, IndexError)


def test_counts_of_datasets():
    for name, made in DATASETS.items():
        for n in COUNTS:
            try:
                ds = made(n)
                c.true(sum(1 for _ in ds.take(5)) <= 5 and ds.cardinality() is not None, f"{name} of {n}")
            except REFUSALS as e:
                c.true(len(str(e)) > 10, f"{name} of {n}: {e}")


c.main(globals())
