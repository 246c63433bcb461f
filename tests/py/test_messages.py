# SPDX-License-Identifier: Apache-2.0
"""Typical mistakes: which error is raised, and that its text says what is wrong, where, and what to do.

Each case is a program that is wrong in one place. Words that a user needs are looked for, not whole
sentences; "HERE" stands for the line of this file where the stage or the function stands.
"""

import inspect
import os
import tempfile

import numpy as np

import checks as c
import stoker.data as sd

E = sd.errors
CASES = []


def case(kind, *words):
    """A mistake: a function that raises `kind`, with each of the words in its text."""

    def keep(f):
        CASES.append((f, kind, words))
        return f

    return keep


def slices(*arrays):
    return sd.Dataset.from_tensor_slices(arrays[0] if len(arrays) == 1 else arrays)


def strings(*values):
    return sd.Dataset.from_tensor_slices(np.array(values, object))


def labels(**features):
    return lambda r: sd.io.parse_single_example(r, features)


def generated(values, shape, dtype="int64"):
    return sd.Dataset.from_generator(
        lambda: iter(values), output_signature=sd.TensorSpec(shape, dtype)
    )


INT = sd.io.FixedLenFeature([], sd.int64)


# Types and shapes


@case(TypeError, "Python float", "int64", "sd.cast")
def literal_of_another_type():
    sd.Dataset.range(3).map(lambda x: x * 1.5)


@case(E.InvalidArgumentError, "add", "(4,)", "(5,)", "HERE")
def shapes_differ():
    slices(np.ones((3, 4)), np.ones((3, 5))).map(lambda a, b: a + b)


@case(E.InvalidArgumentError, "(2,)", "(3,)", "padded_batch", "batch, ", "HERE")
def unequal_elements_in_a_batch():
    list(generated([np.ones(n) for n in (2, 2, 3)], [None], "float64").batch(3))


@case(E.InvalidArgumentError, "index 7", "dimension 0", "4", "HERE")
def index_beyond_the_end():
    slices(np.ones((3, 4))).map(lambda x: x[7])


@case(E.InvalidArgumentError, "index 5", "dimension 0", "HERE, element 1")
def computed_index_beyond_the_end():
    list(slices(np.arange(6).reshape(2, 3)).map(lambda x: x[x[2]]))


@case(E.InvalidArgumentError, "random_crop", "(8, 8, 3)", "(4, 4, 3)")
def crop_larger_than_the_image():
    slices(np.ones((2, 4, 4, 3))).map(lambda x: sd.image.random_crop(x, [8, 8, 3]))


@case(TypeError, "'floaty'", "float32")
def no_such_dtype():
    sd.Dataset.range(3).map(lambda x: sd.cast(x, "floaty"))


@case(TypeError, "shape", "'abc'", "integers")
def no_shape():
    sd.TensorSpec("abc", sd.int64)


@case(TypeError, "numbers and strings")
def mixed_list():
    sd.io.Example({"a": [1, b"x"]}).SerializeToString()


@case(TypeError, "set", "numbers, bytes")
def function_returns_a_set():
    sd.Dataset.range(3).map(lambda x: {1, 2})


@case(TypeError, "map lambda", "too many", "2", "TensorSpec")
def function_of_too_few_arguments():
    slices(np.ones(3), np.ones(3)).map(lambda x: x)


@case(TypeError, "'y'", "1", "TensorSpec")
def function_of_too_many_arguments():
    sd.Dataset.range(3).map(lambda x, y: x)


@case(E.InvalidArgumentError, "gave a value of shape (2, 2)", "first element", "HERE", "element 2")
def function_returns_other_shapes():
    def f(x):
        n = int(x)
        return np.ones(n) if n < 2 else np.ones((n, n))

    list(sd.Dataset.range(3).map(f))


@case(E.InvalidArgumentError, "but must be one of bilinear, nearest, bicubic", "HERE")
def no_such_method():
    images = slices(np.ones((2, 4, 4, 3), np.float32))
    images.map(lambda x: sd.image.resize(x, [2, 2], method="bicubik"))


@case(E.InvalidArgumentError, "batches", "scalar")
def rebatch_of_no_batches():
    sd.Dataset.range(3).rebatch(2)


# Files


@case(E.NotFoundError, "nope.tfrecord", "tfrecord, ", "HERE")
def no_such_file():
    list(sd.TFRecordDataset("nope.tfrecord"))


@case(E.DataLossError, "plain.txt", "record 0 at byte 0", "is it a TFRecord file?", "HERE")
def no_tfrecord():
    list(sd.TFRecordDataset("plain.txt"))


@case(E.DataLossError, "gz.tfrecord", "is its compression GZIP?")
def compression_forgotten():
    list(sd.TFRecordDataset("gz.tfrecord"))


@case(E.DataLossError, "ok.tfrecord", "is the file compressed?")
def compression_that_is_none():
    list(sd.TFRecordDataset("ok.tfrecord", "GZIP"))


@case(E.InvalidArgumentError, "feature lable", "the record has image, label", "HERE, element 0")
def no_such_feature():
    list(sd.TFRecordDataset("ok.tfrecord").map(labels(lable=INT)))


@case(E.InvalidArgumentError, "record 1, feature image", "could not be found", "element 1")
def feature_missing_in_a_batch():
    data = [sd.io.Example({"image": b"x"}), sd.io.Example({"label": 1})]
    batch = strings(*[bytes(e) for e in data] * 2).batch(2).skip(0)
    want = {"image": sd.io.FixedLenFeature([], sd.string)}
    it = iter(batch.map(lambda r: sd.io.parse_example(r, want)))
    try:
        next(it)
    except E.InvalidArgumentError:
        next(it)


@case(TypeError, "feature label", "FixedLenFeature", "'int64'")
def feature_without_a_kind():
    list(sd.TFRecordDataset("ok.tfrecord").map(labels(label="int64")))


@case(E.InvalidArgumentError, "rows.csv", "row 1", "'x'", "int64", "header=True", "HERE")
def header_forgotten():
    list(sd.experimental.CsvDataset("rows.csv", [sd.int64, sd.int64]))


@case(E.InvalidArgumentError, "rows.csv", "row 3", "byte 8", "3 fields, expected 2")
def row_of_too_many_fields():
    list(sd.experimental.CsvDataset("rows.csv", [sd.int64, sd.int64], header=True))


@case(E.NotFoundError, "no/such", "No such file")
def write_into_no_folder():
    sd.TFRecordWriter("no/such/file")


@case(E.ResourceExhaustedError, "/dev/full", "No space left")
def disk_full():
    with sd.TFRecordWriter("/dev/full") as w:
        for _ in range(1000):
            w.write(bytes(1000))


@case(ValueError, "closed")
def writer_closed():
    w = sd.TFRecordWriter("w.tfrecord")
    w.close()
    w.write(b"x")


@case(TypeError, "bytes", "Example", "dict")
def write_a_dict():
    with sd.TFRecordWriter("w.tfrecord") as w:
        w.write({"a": 1})


@case(E.NotFoundError, "*.tfrecord", "list_files")
def pattern_as_a_name():
    list(sd.TFRecordDataset("*.tfrecord"))


@case(TypeError, "names", "generator")
def names_from_a_generator():
    sd.TFRecordDataset(f for f in ["ok.tfrecord"])


@case(TypeError, "a dataset", "list")
def concatenate_a_list():
    sd.Dataset.range(3).concatenate([1, 2])


@case(TypeError, "can't make an array from Table")
def slices_of_an_object():
    class Table:
        pass

    sd.Dataset.from_tensor_slices(Table())


@case(TypeError, "TFRecordDataset() got an unexpected keyword argument 'shards'")
def records_of_an_argument_that_is_not_there():
    sd.TFRecordDataset("ok.tfrecord", shards=2)


@case(E.InvalidArgumentError, "differ in length", "ragged.constant")
def slices_of_lists_of_unequal_length():
    sd.Dataset.from_tensor_slices([[1], [2, 3]])


@case(TypeError, "unequal lengths", "ragged.constant")
def slices_of_arrays_of_unequal_length():
    rows = np.empty(2, object)
    rows[:] = [np.arange(2), np.arange(3)]
    sd.Dataset.from_tensor_slices({"tokens": rows})


@case(E.InvalidArgumentError, "size is two integers", "HERE")
def resize_to_one_number():
    images = slices(np.ones((2, 4, 4, 3), np.float32))
    images.map(lambda x: sd.image.resize(x, 4))


# Generators and Python functions


@case(E.InvalidArgumentError, "keys ['label', 'pixels']", "['image', 'label']", "element 0")
def generator_gives_other_keys():
    spec = {"image": sd.TensorSpec([], sd.int64), "label": sd.TensorSpec([], sd.int64)}
    elements = [{"pixels": 1, "label": 2}]
    list(sd.Dataset.from_generator(lambda: iter(elements), output_signature=spec))


@case(E.UnknownError, "RuntimeError: connection lost", "generator, ", "HERE", "element 1")
def generator_raises():
    def g():
        yield 1
        raise RuntimeError("connection lost")

    list(sd.Dataset.from_generator(g, output_signature=sd.TensorSpec([], sd.int64)))


@case(E.InvalidArgumentError, "the generator gave 2.5", "int64", "element 1")
def generator_gives_another_type():
    list(generated([1, 2.5], []))


@case(E.InvalidArgumentError, "the generator gave a value of shape (4,)", "(3,)", "element 1")
def generator_gives_another_shape():
    list(generated([np.ones(3), np.ones(4)], [3], "float64"))


@case(KeyError, "no such class", "map f", "element 2")
def function_raises():
    def f(x):
        if x == 2:
            raise KeyError("no such class")
        return x

    list(sd.Dataset.range(3).map(f))


def test_cases():
    """Runs each in a folder with a few files."""
    with tempfile.TemporaryDirectory() as d:
        before = os.getcwd()
        os.chdir(d)
        try:
            for name, kind in (("ok", ""), ("gz", "GZIP")):
                with sd.TFRecordWriter(f"{name}.tfrecord", options=kind) as w:
                    for i in range(10):
                        w.write(sd.io.Example({"image": b"none", "label": i}))
            with open("plain.txt", "w") as f:
                f.write("hello\nworld, this is no record\n")
            with open("rows.csv", "w") as f:
                f.write("x,y\n1,2\n3,4,5\n")
            for f, kind, words in CASES:
                e = c.raises(kind, f, *[w for w in words if "HERE" not in w])
                for word in words if e else ():
                    c.true("HERE" not in word or has_place(str(e), word, f), f"{f.__name__}: {e}")
        finally:
            os.chdir(before)


def has_place(text, word, f):
    """Is the word there, with a line of f, or of a helper of this file, for HERE?"""
    source, first = inspect.getsourcelines(f)
    lines = set(range(first, first + len(source))) | set(helper_lines())
    name = os.path.basename(__file__)
    return any(word.replace("HERE", f"{name}:{k}") in text for k in lines)


def helper_lines():
    for helper in (labels, generated):
        source, first = inspect.getsourcelines(helper)
        yield from range(first, first + len(source))


def test_reasons_for_python():
    """explain() says what could not be traced, where, and what to write instead."""

    def branch(x):
        if x > 1:
            return x
        return -x

    for f, words in (
        (branch, ("needs the truth value", "sd.cond")),
        (lambda x: int(x), ("needs the number", "sd.cast")),
        (lambda x: np.sin(x), ("function of NumPy",)),
        (lambda x: np.random.normal(x), ("needs the array",)),
    ):
        text = sd.Dataset.range(3).map(f).explain()
        c.true("test_messages.py:" in text, text)
        for word in words:
            c.true(word in text, f"'{word}' is not in: {text}")


def public_callables():
    """(name, function) of all that scripts call by name."""
    groups = {"": sd, "experimental.": sd.experimental, "Dataset.": sd.Dataset, "io.": sd.io, "random.": sd.random}
    groups.update({f"{g}.": getattr(sd, g) for g in ("math", "strings", "image", "nn", "linalg", "bitwise", "sparse")})
    groups["train."] = sd.train
    for prefix, group in groups.items():
        for name in sorted(vars(group)):
            f = inspect.getattr_static(group, name)
            f = f.__func__ if isinstance(f, (staticmethod, classmethod)) else f
            if not name.startswith("_") and callable(f) and "stoker" in str(getattr(f, "__module__", "")):
                yield prefix + name, f


def test_unknown_arguments():
    """Unknown arguments never pass silently, and the error names the nearest one."""
    features = ("io.Example", "io.SequenceExample")  # their arguments are the features
    seen = 0
    for name, f in public_callables():
        if name not in features:
            c.raises(TypeError, lambda: f(no_such_argument=1))
            seen += 1
    c.true(seen > 300, f"only {seen} functions")
    ds, image = sd.Dataset.range(4), np.zeros((4, 4, 3), np.float32)
    for f, words in (
        (lambda: ds.batch(2, drop_remaider=1), "'drop_remaider'; did you mean 'drop_remainder'?"),
        (lambda: ds.map(lambda x: x, num_parallel_call=2), "did you mean 'num_parallel_calls'?"),
        (lambda: sd.image.resize(image, [2, 2], antialas=True), "'antialas'; did you mean 'antialias'?"),
        (lambda: sd.reduce_sum([1.0], keepdim=True), "did you mean 'keepdims'?"),
        (lambda: sd.TFRecordDataset("x", num_paralel_reads=2), "did you mean 'num_parallel_reads'?"),
        (lambda: sd.io.TFRecordOptions(compresion_type="GZIP"), "did you mean 'compression_type'?"),
        (lambda: sd.experimental.snapshot("p", compresion="GZIP"), "did you mean 'compression'?"),
        (lambda: sd.random.uniform([2], minvall=2), "did you mean 'minval'?"),
        (lambda: ds.batch(2, wholly_else=1), "unexpected keyword argument 'wholly_else'"),
    ):
        c.raises(TypeError, f, words)
    c.raises(AttributeError, lambda: setattr(sd.Options(), "determinstic", True), "did you mean deterministic?")


def test_arguments_of_the_engine():
    """What Python passes on is checked again by the engine's rows."""
    from stoker.data import _engine

    x = [np.zeros((2, 3), np.float32)]
    for op, args, words in (
        ("reduce_sum", {"axes": 1}, "no argument 'axes'; did you mean 'axis'?"),
        ("resize", {"antialas": 1}, "did you mean 'antialias'?"),
        ("cast", {}, "dtype is missing"),
        ("cast", {"dtype": "x"}, "dtype has the wrong type"),
        ("abs", {"unknown": 1}, "abs: no argument 'unknown'"),
        ("cast", {"dtype": 99}, "cast: dtype is 99, which is not a type"),
        ("argmax", {"output_type": 0}, "argmax: output_type is 'bool' but must be one of int32, int64"),
        ("argmin", {"output_type": -1}, "argmin: output_type is -1, which is not a type"),
        ("top_k", {"k": 1, "index_type": 99}, "index_type is 99, which is not a type"),
        ("encode_jpeg", {"density_unit": "mm"}, "density_unit is 'mm' but must be one of in, cm"),
        ("decode_compressed", {"compression_type": "ZIP"}, "must be empty, GZIP, ZLIB"),
    ):
        c.raises(E.InvalidArgumentError, lambda: _engine.op_call(op, x, args, 0), words)
    c.raises(
        E.InvalidArgumentError,
        lambda: _engine.Dataset("batch", [sd.Dataset.range(3)._engine], {"batch_size": 2, "drop_remaider": 1}, None),
        "batch: no argument 'drop_remaider'; did you mean 'drop_remainder'?",
    )


def test_arguments_of_rewrites():
    """What a rewrite notes in a plan is no argument: not given, not computed, not suggested."""
    from stoker.data import _engine

    source = sd.Dataset.range(3)._engine
    fn = sd.Dataset.range(3).map(lambda x: x + 1)._args["fn"]
    for stages in (("ints", [1 << 40, -1]), ("ints", [0]), 3, "x"):
        c.raises(
            E.InvalidArgumentError,
            lambda: _engine.Dataset("map", [source], {"fn": fn, "stages": stages}, None),
            "map: no argument 'stages'",
        )
    for given, words in (
        ({"kind": "range", "n_in": 0, "stop": 3, "hops": 1 << 40}, "make_dataset: no argument 'hops'"),
        ({"kind": "map", "n_in": 0, "fn": fn, "stages": ("ints", [1 << 40, -1])}, "map: no argument 'stages'"),
    ):
        c.raises(E.InvalidArgumentError, lambda: _engine.op_call("make_dataset", [], given, 0), words)
    e = c.raises(
        E.InvalidArgumentError,
        lambda: _engine.Dataset("map", [source], {"fn": fn, "stage": ("ints", [0, -1])}, None),
        "map: no argument 'stage'",
    )
    c.true("did you mean" not in str(e), "it is not suggested")


def test_signatures():
    """What an operation's signature refuses: numbers of values, types, shapes; and what it gives."""
    from stoker.data import _engine

    number, text, image = np.zeros((2, 2), np.int32), np.array([b"a", b"bc"], object), np.zeros((2, 2, 3), np.uint8)
    weights = np.ones(3, np.float32)
    for op, values, words in (
        ("identity", [], "identity: takes 1 value, got 0"), ("identity", [text, text], "identity: takes 1 value, got 2"),
        ("add", [number], "add: takes 2 values, got 1"), ("tile", [number] * 3, "tile: takes 1 to 2 values, got 3"),
        ("string_length", [number], "string_length: takes strings, not int32"),
        ("string_to_number", [number], "string_to_number: takes strings, not int32"),
        ("assert_true", [number], "assert_true: takes bools, not int32"),
        ("read_file", [text], "read_file: takes one value, not shape (2,)"),
        ("decode_wav", [text], "decode_wav: takes one value, not shape (2,)"),
        ("image_equalize", [image[0]], "image_equalize: takes an image, or a stack of them, not shape (2, 3)"),
        ("image_equalize", [number], "image_equalize: takes uint8, not int32"),
        ("image_blur", [image.astype(np.float32), weights, number.astype(np.float32)], "image_blur: takes a vector, not shape (2, 2)"),
    ):
        e = c.raises(E.InvalidArgumentError, lambda: _engine.op_call(op, values, {}, 0), "")
        c.true(words in str(e), f"{op}: {e}")
    fn = sd.Dataset.from_tensors((text, image)).map(
        lambda t, i: (sd.strings.length(t), sd.strings.to_number(t, "float64"), sd.identity(t), sd.ops.image_equalize(i))).element_spec
    c.same([s.dtype.name for s in fn], ["int32", "float64", "bytes", "uint8"])
    c.same([tuple(s.shape) for s in fn], [(2,), (2,), (2,), (2, 2, 3)])


c.main(globals())
