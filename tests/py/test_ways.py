# SPDX-License-Identifier: Apache-2.0
"""What is known of functions that choose with a Python `if` or loop over a value: lengths, TensorArrays, and what the
errors say where a length isn't known. TensorFlow's AutoGraph gives the same shapes and elements."""

import importlib.util

import numpy as np

import checks as c
import stoker.data as sd

ROWS = [np.full((n, 2), n, np.float32) for n in (2, 3, 5)]


def rows():
    return sd.Dataset.from_generator(lambda: iter(ROWS), output_signature=sd.TensorSpec((None, 2), sd.float32))


def padded_to_three(x):
    if sd.shape(x)[0] > 3:
        return x[:3]
    return sd.pad(x, [[0, 3 - sd.shape(x)[0]], [0, 0]])


def test_lengths_after_if():
    ds = rows().map(padded_to_three)
    c.same(ds.element_spec.shape.as_list(), [None, 2], "the second length is the same on both ways")
    made = ds.map(lambda x: sd.reshape(x, [x.shape[1], -1]))
    c.true(made._function.is_native, made.explain())
    c.same([tuple(e.shape) for e in made], [(2, 3)] * 3)

    def swapped(x):
        if sd.reduce_sum(x) > 20:
            return sd.concat([x, x], 1)
        return x

    c.same(rows().map(swapped).element_spec.shape.as_list(), [None, None], "lengths that differ aren't known")
    c.same([tuple(e.shape) for e in rows().map(swapped)], [(2, 2), (3, 2), (5, 4)])

    def checked(x):
        if sd.reduce_sum(x) < 0:
            raise ValueError("negative")
        return sd.reshape(x, [-1, 2, 1])

    c.same(len(list(rows().map(checked))), 3, "a way that is an error, but that no element takes")

    def many(x):
        for i in range(9):
            if x[0, 0] > i:
                x = x + 1
        return x

    c.same([float(e[0, 0]) for e in rows().map(many)], [11.0, 12.0, 14.0], "more ways than are traced")


def test_lengths_after_loops():
    def repeated(x):
        for _ in sd.range(sd.shape(x)[0]):
            x = x + 1
        return x

    c.same(rows().map(repeated).element_spec.shape.as_list(), [None, 2])

    def grown(x):
        for _ in sd.range(sd.shape(x)[0]):
            x = sd.concat([x, x[:, :1]], 1)
        return x

    c.same(rows().map(grown).element_spec.shape.as_list(), [None, None], "each item makes it longer")
    c.same([tuple(e.shape) for e in rows().map(grown)], [(2, 4), (3, 5), (5, 7)])


def test_unknown_lengths():
    hidden = rows().map(lambda x: sd.py_function(lambda v: v, [x], sd.TensorSpec((None, None), sd.float32)))
    for f, shape in (
        (lambda x: sd.reshape(x, [x.shape[1], -1]), (2, 2)),
        (lambda x: sd.tile(x, [1, x.shape[0]]), (2, 4)),
        (lambda x: sd.zeros([x.shape[0], 1]), (2, 1)),
    ):
        ds = hidden.map(f)
        c.same(tuple(next(iter(ds)).shape), shape)
        c.true("a length isn't known while the function is traced" in ds._function.why, ds._function.why)
        c.true("sd.shape(x)[i]" in ds._function.why and "test_ways.py" in ds._function.why, ds._function.why)
    c.raises(ValueError, lambda: sd.zeros(sd.TensorShape([None, 2])), "dims [None, 2]", "set_shape")
    c.raises(sd.errors.OpError, lambda: list(rows().map(lambda x: sd.reshape(x, [-1, -1]))), "reshape")


def test_tensor_arrays_without_items():
    def squares(n):
        array = sd.TensorArray(sd.int32, 0, dynamic_size=True)
        for i in sd.range(n):
            array = array.write(array.size(), [i, i * i])
        return array.stack()

    want = [np.zeros((0, 2), np.int32), np.array([[0, 0]], np.int32), np.array([[0, 0], [1, 1]], np.int32)]
    c.same(list(sd.Dataset.range(3).map(squares)), want, "the first element writes nothing")

    def some(x):
        at = sd.TensorArray(sd.int32, 1, dynamic_size=True)
        values = sd.TensorArray(sd.float32, 1, dynamic_size=True)
        k = 0
        for i in sd.range(sd.shape(x)[0]):
            if sd.equal(x[i], 0):
                continue
            at, values = at.write(k, [i]), values.write(k, x[i])
            k += 1
        return sd.tensor_scatter_nd_update(sd.zeros(sd.shape(x)), at.stack(), values.stack())

    x = np.array([[0, 0, 0], [0, 5, 7]], np.float32)
    c.same(list(sd.Dataset.from_tensor_slices(x).map(some)), list(x), "an array of one item that nothing was written to")
    one = sd.Dataset.range(1)
    c.same(next(iter(one.map(lambda x: sd.TensorArray(sd.int32, 2, element_shape=(2,)).write(1, [1, 2]).concat()))), np.array([0, 0, 1, 2], np.int32))
    c.same(next(iter(one.map(lambda x: sd.TensorArray(sd.int32, 0, element_shape=(2,)).concat()))), np.zeros(0, np.int32))
    for take in (lambda a: a.stack(), lambda a: a.concat()):
        empty = lambda x, take=take: take(sd.TensorArray(sd.int32, 0, dynamic_size=True))  # noqa: E731
        c.raises(TypeError, lambda empty=empty: list(one.map(empty)), "nothing was written", "element_shape", "test_ways.py:")


def test_ranks_of_padded_batches():
    def of_length(n):
        return sd.py_function(lambda v: np.ones(int(v) + 1), [n], sd.float64)

    ds = sd.Dataset.range(3).map(of_length)
    want = [np.array([[1, 0], [1, 1]], np.float64), np.array([[1, 1, 1]], np.float64)]
    c.same(list(ds.padded_batch(2, padded_shapes=[None])), want)
    c.same([e.shape for e in ds.padded_batch(3, padded_shapes=[4])], [(3, 4)])
    two = sd.Dataset.zip((sd.Dataset.range(3), ds))
    c.same(list(two.padded_batch(3, padded_shapes=([], [None])))[0][0], np.arange(3))
    named = two.map(lambda a, b: {"a": a, "b": b}).padded_batch(3, padded_shapes={"a": [], "b": [None]})
    c.same(tuple(next(iter(named))["b"].shape), (3, 3))
    c.raises(sd.errors.InvalidArgumentError, lambda: ds.padded_batch(2), "the rank", "padded_shapes", "set_shape")
    c.raises(sd.errors.OpError, lambda: list(ds.padded_batch(2, padded_shapes=[None, None])), "shape")


def test_lists_of_numbers():
    def f(x):
        return sd.TensorArray(sd.float32, 1).write(0, [x, 1, sd.cast(x, sd.float32)]).stack()

    c.same(list(sd.Dataset.range(2).map(f))[1], np.array([[1, 1, 1]], np.float32), "numbers of several types, as TensorFlow packs them")
    text = sd.Dataset.from_tensors(b"a")
    c.raises(TypeError, lambda: text.map(lambda s: sd.TensorArray(sd.float32, 1).write(0, [s]).stack()), "float32")


def test_crops_of_a_seed():
    def crop(seed, **more):
        return sd.image.stateless_sample_distorted_bounding_box(
            [100, 80, 3], [[[0.0, 0.0, 1.0, 1.0]]], seed, area_range=(0.2, 0.5), **more
        )  # fmt: skip

    seeds = np.array([[1, 2], [3, 4], [1, 2]], np.int32)
    ds = sd.Dataset.from_tensor_slices(seeds).map(crop)
    c.true(ds._function.is_native, ds.explain())
    (begin, size, box), second, third = list(ds)
    c.same(third, (begin, size, box), "the same seed")
    c.true(not np.array_equal(box, second[2]), "another seed")
    c.same(crop(seeds[0]), (begin, size, box), "outside")
    c.true(0.2 * 8000 <= size[0] * size[1] <= 0.5 * 8000, f"its area: {size}")
    fixed = list(sd.Dataset.range(3).map(lambda x: crop([5, 6])[2]))
    c.same(fixed[1:], fixed[:2], "a fixed seed draws the same for every element")
    c.raises(sd.errors.OpError, lambda: crop([1, 2, 3]), "two numbers")
    c.raises(sd.errors.OpError, lambda: crop(["a", "b"]), "int64")


def test_shapes_of_values():
    def picked(x):
        boxes = sd.stack([x, x, x, x], axis=-1)
        at = sd.where(x > 1)
        c.same(sd.gather_nd(boxes, at).shape.as_list(), [None, 4])
        c.same(sd.gather_nd(boxes, at).get_shape().as_list(), [None, 4])
        c.same(sd.pad(boxes, [[0, sd.size(x)], [1, 1]]).shape.as_list(), [None, 6])
        c.same(sd.constant([1.0]).get_shape().as_list(), [1])
        return sd.gather_nd(boxes, at)

    ds = sd.Dataset.from_tensors(np.arange(4, dtype=np.float32)).map(lambda x: sd.boolean_mask(x, x > 0)).map(picked)
    c.same(next(iter(ds)), np.repeat([[2], [3]], 4, 1).astype(np.float32))
    for value, shape in ((np.zeros((2, 3)), [2, 3]), (np.int64(3), []), (b"text", [])):
        element = next(iter(sd.Dataset.from_tensors(value)))
        c.same(element.get_shape().as_list(), shape, "elements have their shape under that name too")


def test_names_of_other_packages():
    @sd.autograph.experimental.do_not_convert
    def f(x):
        sd.autograph.experimental.set_loop_options(parallel_iterations=4)
        sd.compat.v1.summary.scalar("x", x)
        return x + 1

    c.same(list(sd.Dataset.range(2).map(sd.autograph.experimental.do_not_convert()(f))), [np.int64(1), np.int64(2)])
    c.raises(AttributeError, lambda: sd.autograph.to_code, "explain()")
    c.raises(AttributeError, lambda: sd.compat.v1.summary.FileWriter, "summary.FileWriter")
    for name, package, hint in (("keras", "keras", "to_keras"), ("flags", "absl", "absl")):
        if importlib.util.find_spec(package) is None:
            c.raises(AttributeError, lambda name=name: getattr(sd, name), hint)
    if importlib.util.find_spec("absl") is not None:
        c.true(hasattr(sd.compat.v1.flags, "DEFINE_string") and hasattr(sd.flags, "FLAGS"), "absl's flags")


c.main(globals())
