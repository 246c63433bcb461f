# SPDX-License-Identifier: Apache-2.0
"""Mistakes in functions of pipelines: the error is the first cause, and its text has the cause, the place
(file:line) and what to do.

Each case is a function that is wrong at the line marked with HERE, over the elements named next to it. Where the
trace failed and the Python run failed again, the second error must not hide the first.
"""

import inspect
import linecache

import numpy as np

import checks as c
import stoker.data as sd

IMAGES = sd.Dataset.from_tensor_slices(np.arange(2 * 6 * 5 * 3, dtype=np.uint8).reshape(2, 6, 5, 3))
INTS = sd.Dataset.range(3)
FLOATS = sd.Dataset.from_tensor_slices(np.ones((3, 4), np.float32))
TEXTS = sd.Dataset.from_tensor_slices(np.array(["a b", "c"], object))
PAIRS = sd.Dataset.from_tensor_slices((np.ones((3, 4), np.float32), np.arange(3)))
DICTS = sd.Dataset.from_tensor_slices({"image": np.ones((3, 4), np.float32), "label": np.arange(3)})
FILES = sd.Dataset.from_tensor_slices(np.array([b"not an image"], object))
INT = sd.io.FixedLenFeature([], sd.int64)
CASES = []


def case(ds, kind, *words):
    def keep(f):
        CASES.append((f, ds, kind, words))
        return f

    return keep


def run(f, ds):
    list(ds.map(f).take(3))


# Missing names: the error gives the name and the nearest one that there is.


@case(INTS, AttributeError, "random_unifrm", "did you mean sd.random.uniform?")
def misspelled(x):
    return sd.random_unifrm([2])  # HERE


@case(INTS, AttributeError, "parse_single_exampel", "did you mean sd.io.parse_single_example?")
def misspelled_in_io(x):
    return sd.io.parse_single_exampel(x)  # HERE


@case(IMAGES, AttributeError, "random_flip_left_rigth", "random_flip_left_right")
def misspelled_in_image(x):
    return sd.image.random_flip_left_rigth(x)  # HERE


@case(IMAGES, AttributeError, "extract_glimpse", "crop_and_resize")
def missing_with_a_way(x):
    return sd.image.extract_glimpse(x, [2, 2], [[0, 0]])  # HERE


@case(IMAGES, AttributeError, "ssim_multiscale", "evaluation")
def missing_in_image(x):
    return sd.image.ssim_multiscale(x, x, 255)  # HERE


@case(INTS, AttributeError, "keras", "Dataset.to_keras")
def keras_in_a_function(x):
    return sd.keras.layers.Dense(3)(x)  # HERE


@case(INTS, AttributeError, "raw_ops", "public name")
def raw_ops(x):
    return sd.raw_ops.AddV2(x=x, y=x)  # HERE


@case(INTS, AttributeError, "reduce_summ", "sd.reduce_sum")
def misspelled_reduction(x):
    return sd.reduce_summ(x)  # HERE


@case(TEXTS, AttributeError, "splitt", "sd.strings.split")
def misspelled_in_strings(x):
    return sd.strings.splitt(x)  # HERE


@case(INTS, AttributeError, "nothing_like_it", "py_function")
def unlike_any(x):
    return sd.nothing_like_it_qqq(x)  # HERE


@case(FLOATS, AttributeError, "no attribute 'set_shpae'")
def misspelled_method(x):
    x.set_shpae([4])  # HERE
    return x


@case(INTS, NameError, "undefined_name")
def undefined(x):
    return x + undefined_name  # HERE  # noqa: F821


@case(IMAGES, AttributeError, "missing_scale")
def missing_attribute_of_the_program(x):
    return sd.cast(x, sd.float32) * CASES.missing_scale  # HERE


# Shapes


@case(FLOATS, sd.errors.InvalidArgumentError, "(4,)", "(5,)")
def shapes_differ(x):
    return x + np.ones(5, np.float32)  # HERE


@case(FLOATS, sd.errors.InvalidArgumentError, "reshape")
def reshape_of_another_size(x):
    return sd.reshape(x, [3])  # HERE


@case(FLOATS, sd.errors.InvalidArgumentError, "index 4", "dimension 0")
def index_beyond(x):
    return x[4]  # HERE


@case(FLOATS, sd.errors.InvalidArgumentError, "concat")
def concat_of_ranks(x):
    return sd.concat([x, [x]], 0)  # HERE


@case(FLOATS, sd.errors.InvalidArgumentError, "stack")
def stack_of_shapes(x):
    return sd.stack([x, x[:2]])  # HERE


@case(FLOATS, sd.errors.InvalidArgumentError, "matmul")
def matmul_of_vectors(x):
    return sd.matmul(x, x)  # HERE


@case(FLOATS, sd.errors.InvalidArgumentError, "(5,)")
def set_shape_of_another(x):
    x.set_shape([5])  # HERE
    return x


@case(IMAGES, sd.errors.InvalidArgumentError, "random_crop", "(9, 9, 3)", "(6, 5, 3)")
def crop_too_large(x):
    return sd.image.random_crop(x, [9, 9, 3])  # HERE


@case(IMAGES, sd.errors.InvalidArgumentError, "crop")
def box_outside(x):
    return sd.image.crop_to_bounding_box(x, 0, 0, 60, 5)  # HERE


@case(FLOATS, Exception, "resize")
def resize_of_a_vector(x):
    return sd.image.resize(x, [2, 2])  # HERE


@case(FLOATS, sd.errors.InvalidArgumentError, "transpose")
def transpose_of_another_rank(x):
    return sd.transpose(x, [0, 1])  # HERE


@case(FLOATS, sd.errors.InvalidArgumentError, "split")
def uneven_split(x):
    return sd.split(x, 3)  # HERE


@case(FLOATS, sd.errors.InvalidArgumentError, "axis")
def axis_beyond(x):
    return sd.reduce_sum(x, axis=3)  # HERE


@case(FLOATS, sd.errors.InvalidArgumentError, "expand_dims")
def expanded_beyond(x):
    return sd.expand_dims(x, 5)  # HERE


@case(FLOATS, sd.errors.InvalidArgumentError, "squeeze")
def squeeze_of_a_long_one(x):
    return sd.squeeze(x, 0)  # HERE


@case(FLOATS, sd.errors.InvalidArgumentError, "ensure_shape")
def ensured(x):
    return sd.ensure_shape(x, [2, 2])  # HERE


@case(FLOATS, sd.errors.InvalidArgumentError, "pad")
def pad_of_another_rank(x):
    return sd.pad(x, [[0, 1], [0, 1]])  # HERE


@case(FLOATS, sd.errors.InvalidArgumentError, "(3,)", "(4,)")
def where_of_shapes(x):
    return sd.where(np.ones(3, bool), x, x)  # HERE


# Types


@case(INTS, TypeError, "int64", "float32", "sd.cast")
def mixed(x):
    return x + sd.cast(x, sd.float32)  # HERE


@case(INTS, TypeError, "Python float", "int64", "sd.cast")
def literal(x):
    return x * 0.5  # HERE


@case(FLOATS, TypeError, "float32", "float64", "sd.cast")
def double_beside_single(x):
    return x * np.ones(4)  # HERE


@case(INTS, TypeError, "'flaot32'")
def no_dtype(x):
    return sd.cast(x, "flaot32")  # HERE


@case(TEXTS, TypeError, "expected strings, got int64", "sd.as_string")
def text_and_number(x):
    return x + 1  # HERE


@case(INTS, TypeError, "bytes")
def number_as_text(x):
    return sd.strings.split(x)  # HERE


@case(INTS, TypeError, "bytes")
def number_as_file(x):
    return sd.io.read_file(x)  # HERE


@case(INTS, TypeError, "bool")
def number_as_condition(x):
    return sd.where(x, 1, 2)  # HERE


@case(INTS, TypeError, "cond", "same types")
def branches_of_types(x):
    return sd.cond(x > 1, lambda: 1, lambda: 1.5)  # HERE


@case(INTS, TypeError, "numbers and strings")
def mixed_list(x):
    return sd.constant([1, "a"])  # HERE


@case(INTS, sd.errors.InvalidArgumentError, "differ in length", "ragged")
def ragged_list(x):
    return sd.constant([[1], [2, 3]])  # HERE


@case(TEXTS, sd.errors.InvalidArgumentError, "int64, float32 or string", "uint8")
def feature_of_bytes(x):
    return sd.io.parse_single_example(x, {"a": sd.io.FixedLenFeature([], sd.uint8)})  # HERE


@case(TEXTS, TypeError, "FixedLenFeature", "expected")
def feature_that_is_none(x):
    return sd.io.parse_single_example(x, {"a": sd.int64})  # HERE


@case(FLOATS, TypeError, "uint8 or floats")
def image_op_of_a_float(x):
    return sd.image.equalize(sd.cast(x, sd.int32))  # HERE


# Arguments


@case(FLOATS, TypeError, "axes", "did you mean 'axis'?")
def unknown_argument(x):
    return sd.reduce_sum(x, axes=0)  # HERE


@case(IMAGES, TypeError, "missing 1 required positional argument: 'size'")
def missing_argument(x):
    return sd.image.resize(x)  # HERE


@case(IMAGES, sd.errors.InvalidArgumentError, "bilinear, nearest, bicubic")
def no_method(x):
    return sd.image.resize(x, [2, 2], "cubic")  # HERE


@case(FLOATS, sd.errors.InvalidArgumentError, "CONSTANT", "REFLECT")
def no_mode(x):
    return sd.pad(x, [[1, 1]], "EDGE")  # HERE


@case(FLOATS, sd.errors.InvalidArgumentError, "ASCENDING")
def no_direction(x):
    return sd.sort(x, direction="UP")  # HERE


@case(IMAGES, ValueError, "max_delta")
def delta_too_large(x):
    return sd.image.stateless_random_hue(x, 0.9, [1, 2])  # HERE


@case(TEXTS, sd.errors.InvalidArgumentError, "features must be a dict")
def features_that_are_none(x):
    return sd.io.parse_single_example(x, features=[INT])  # HERE


@case(INTS, TypeError, "maxval")
def integers_without_bound(x):
    return sd.random.uniform([2], dtype=sd.int32)  # HERE


# Structures of elements


@case(DICTS, KeyError, "labels")
def missing_key(e):
    return e["labels"]  # HERE


@case(PAIRS, TypeError, "too many", "2")  # HERE
def too_few_parameters(x):
    return x


@case(INTS, TypeError, "'y'", "1")  # HERE
def too_many_parameters(x, y):
    return x


@case(INTS, TypeError, "set", "numbers, bytes")  # HERE
def a_set(x):
    return {1, 2}


@case(DICTS, TypeError, "dict")
def dict_plus_number(e):
    return e + 1  # HERE


@case(PAIRS, ValueError, "unpack")
def unpacked_wrongly(x, y):
    a, b, z = (x, y)  # HERE
    return a, b, z


# Python that fails on elements: the line, and why it ran as Python.


@case(INTS, ValueError, "no such label", "it ran as Python", "truth")
def own_error_behind_a_branch(x):
    if x < 5:
        raise ValueError(f"no such label: {int(x)}")  # HERE
    return x


@case(TEXTS, ValueError, "invalid literal", "it ran as Python")
def text_to_number(x):
    return int(x.decode())  # HERE


@case(FLOATS, AttributeError, "no attribute 'foo'", "it ran as Python")
def numpy_without_it(x):
    return np.sqrt(x).foo  # HERE


@case(FLOATS, ZeroDivisionError, "division by zero")
def division(x):
    return x * (1 / 0)  # HERE


@case(FILES, sd.errors.InvalidArgumentError, "element 0")
def no_image(x):
    return sd.io.decode_jpeg(x)  # HERE


@case(FILES, Exception, "element 0")
def no_number(x):
    return sd.strings.to_number(x)  # HERE


@case(INTS, sd.errors.InvalidArgumentError, "element 2", "index")
def computed_index(x):
    return sd.gather([10, 20], x)  # HERE


def line_of(f):
    lines, first = inspect.getsourcelines(f)
    at = next(i for i, text in enumerate(lines) if "# HERE" in text)
    return first + at


def test_mistakes():
    c.true(len(CASES) >= 60, f"{len(CASES)} mistakes")
    for f, ds, kind, words in CASES:
        c.current = f.__name__
        e = c.raises(kind, lambda: run(f, ds), *words)
        place = f"test_causes.py:{line_of(f)}"
        c.true(e is None or place in str(e), f"{place}: {e}")


def test_first_cause():
    """The trace's error, not that of the Python run; which is shown as its context."""

    def two(x):
        y = sd.no_such_operation(x) if not hasattr(x, "astype") else x.get_nothing()
        return y

    def own(x):
        return CASES.nothing + x.shape.nothing

    def ends(x):
        if hasattr(x, "astype"):
            raise RuntimeError("second")
        return undefined_thing  # noqa: F821

    e = c.raises(AttributeError, lambda: INTS.map(own), "nothing")
    e = c.raises(NameError, lambda: INTS.map(ends), "undefined_thing", "run as Python", "RuntimeError: second")
    c.true(isinstance(e.__cause__, RuntimeError), "the second is its cause")
    c.raises(AttributeError, lambda: INTS.map(two), "no_such_operation")
    tb = e.__traceback__
    while tb.tb_next:
        tb = tb.tb_next
    c.true("undefined_thing" in linecache.getline(tb.tb_frame.f_code.co_filename, tb.tb_lineno), "its traceback ends at the line")
    c.raises(AttributeError, lambda: sd.Dataset.range(3).flat_map(lambda x: sd.data.Dataset.no_thing(x)), "no_thing", "test_causes.py")


c.main(globals())
