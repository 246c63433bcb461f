# SPDX-License-Identifier: Apache-2.0
"""from_tf: a tf.data pipeline is taken over completely, or rejected with the reason. Stand-ins with TensorFlow's
attributes take its place; where STOKER_TF_PYTHON names a Python with TensorFlow, its own pipelines do."""

import functools
import os
import subprocess
import sys
import tempfile
import types

import numpy as np

import checks as c
import stoker.data as sd


class T:
    """A tensor."""

    def __init__(self, v):
        self.v = np.asarray(v)

    def numpy(self):
        return self.v[()] if self.v.dtype != object or self.v.ndim else self.v.item()


class Shape:
    def __init__(self, dims):
        self.dims, self.rank = dims, None if dims is None else len(dims)

    def as_list(self):
        return list(self.dims)


class TensorSpec:
    def __init__(self, shape, dtype):
        self.shape, self.dtype = Shape(shape), types.SimpleNamespace(name=dtype)


class Node:
    """A stage: attributes by name."""

    _variant_tensor = None

    def __init__(self, element_spec, **attributes):
        self.element_spec = element_spec
        vars(self).update(attributes)

    def options(self):
        return types.SimpleNamespace(deterministic=False)


def stage(kind, element_spec, *below, **attributes):
    made = type(f"_{kind}", (Node,), {})(element_spec, **attributes)
    if below:
        made._input_dataset = below[0]
    return made


INT = TensorSpec((), "int64")


def numbers(n):
    of = {"_start": T(0), "_stop": T(n), "_step": T(1), "_output_type": types.SimpleNamespace(name="int64")}
    return stage("RangeDataset", INT, **of)


def wrapped(f):
    return types.SimpleNamespace(_func=f)


def mapped(f, below, spec=INT, **more):
    return stage("MapDataset", spec, below, _map_func=wrapped(f), **more)


def fake_tensorflow():
    """A module of that name, whose functions must not be called: they are exchanged by name."""

    def refuse(*_, **__):
        raise AssertionError("TensorFlow's own function was called")

    tf = types.ModuleType("tensorflow")
    tf.math = types.ModuleType("tensorflow._api.v2.math")
    tf.square = tf.cast = tf.math.square = refuse
    imported = lambda x: refuse()  # noqa: E731
    imported._tf_api_names = ("math.square", "square")
    return tf, imported


tf, square = fake_tensorflow()
sys.modules.setdefault("tensorflow", tf)
FACTOR = type("EagerTensor", (T,), {"__module__": "tensorflow.python.framework.ops", "dtype": None})(np.int64(3))
FACTOR.shape = Shape(())
TABLE = {"by": [FACTOR, 1]}


def helper(x):
    return tf.cast(square(x), "int64")


def scaled(x, more=FACTOR):
    return helper(x) * TABLE["by"][0] + more


def test_stages_with_their_arguments():
    ds = stage("ShardDataset", INT, numbers(40), _num_shards=T(2), _index=T(1))
    ds = stage("SkipDataset", INT, ds, _count=T(1))
    ds = stage("TakeDataset", INT, ds, _count=T(10))
    ds = stage("FilterDataset", INT, ds, _predicate=wrapped(lambda x: x % 3 == 0))
    ds = stage("RepeatDataset", INT, ds, _count=T(2))
    batches = TensorSpec((None,), "int64")
    ds = stage("BatchDataset", batches, ds, _batch_size=T(4), _drop_remainder=T(False))
    ds = stage("PrefetchDataset", batches, ds, _buffer_size=T(-1))
    want = list(range(1, 40, 2))[1:11]
    want = [x for x in want if x % 3 == 0] * 2
    c.same([int(x) for b in sd.from_tf(ds) for x in b], want)


def test_functions_use_this_module():
    made = sd.from_tf(mapped(scaled, numbers(5), _num_parallel_calls=T(-1), _deterministic="true"))
    c.same([int(x) for x in made], [3 * x * x + 3 for x in range(5)])
    c.same("Python for each element" in made.explain(), False)
    c.same(scaled.__globals__["tf"] is tf and TABLE["by"][0] is FACTOR, True, "the program's own names stay")
    part = functools.partial(scaled, more=7)
    c.same([int(x) for x in sd.from_tf(mapped(part, numbers(3)))], [7, 10, 19])


def test_functions_that_call_themselves():
    def down(x, n=3):
        return x if n == 0 else down(tf.square(x), n - 1)

    c.same([int(x) for x in sd.from_tf(mapped(down, numbers(3)))], [0, 1, 256])


def test_slices_and_files():
    rows = {"a": np.arange(4, dtype=np.float32), "b": np.arange(8).reshape(4, 2)}
    spec = {"a": TensorSpec((), "float32"), "b": TensorSpec((2,), "int64")}
    ds = stage("TensorSliceDataset", spec, _tensors=[T(rows["a"]), T(rows["b"])], _structure=spec)
    got = list(sd.from_tf(ds))
    c.same([float(e["a"]) for e in got], [0, 1, 2, 3])
    c.same(got[3]["b"].tolist(), [6, 7])
    text = TensorSpec((), "string")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "r.tfrecord")
        with sd.TFRecordWriter(path) as w:
            w.write(b"one")
            w.write(b"two")
        names = stage("TensorSliceDataset", text, _tensors=[T(np.array([path.encode()], object))], _structure=text)
        of = dict(_filenames=names, _compression_type=None, _buffer_size=None, _num_parallel_reads=None)
        read = stage("TFRecordDatasetV2", text, **of)
        c.same(list(sd.from_tf(read)), [b"one", b"two"])


def test_options_come_along():
    c.same(sd.from_tf(numbers(3)).options().deterministic, False)


def test_refusals_say_why():
    def branch(x):
        return x if x > 2 else -x

    cases = [
        (stage("SqlDataset", INT, numbers(3)), "SqlDataset has no known equivalent"),
        (mapped(branch, numbers(3)), "needs the truth value"),
        (mapped(lambda x: x * 2, numbers(3), TensorSpec((), "float32")), "would give different elements"),
        (stage("BatchDataset", INT, numbers(3)), "BatchDataset"),  # attributes of another version
        ([1, 2], "expected a tf.data.Dataset, not list"),
    ]
    for ds, text in cases:
        c.raises(sd.errors.InvalidArgumentError, lambda ds=ds: sd.from_tf(ds), text)


REAL = """
import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import tensorflow as tf
import stoker.data as sd
from tensorflow.image import resize
D, auto, factor = tf.data.Dataset, tf.data.AUTOTUNE, tf.constant(2.0)
features = {"x": tf.io.FixedLenFeature([2], tf.float32), "y": tf.io.FixedLenFeature([], tf.int64)}
with sd.TFRecordWriter(PATH) as w:
    for i in range(10):
        w.write(sd.io.Example({"x": [float(i), 1.0], "y": i}))

def parse(r):
    found = tf.io.parse_single_example(r, features)
    return found["x"] * factor, found["y"]

@tf.function
def double(x):
    return x * 2

def is_third(x):
    return x % 3 == 0

added = tf.Variable(3, dtype=tf.int64)
pipelines = {
    "records": tf.data.TFRecordDataset([PATH]).map(parse, auto).batch(4).prefetch(auto),
    "interleave": D.from_tensor_slices([PATH, PATH]).interleave(tf.data.TFRecordDataset, 2, 3).map(parse).batch(4, True),
    "numbers": D.range(3, 99, 2).filter(is_third).map(lambda x: (x, tf.one_hot(x % 4, 4))).cache().repeat(2),
    "dicts": D.from_tensor_slices({"a": np.arange(9, dtype="f4"), "b": ["x"] * 9}).map(lambda d: {**d, "c": d["a"] * 2}),
    "numbered": D.zip((D.range(5), D.from_tensors(tf.constant([1.0, 2.0])).repeat())).enumerate(2),
    "windows": D.range(10).window(3, drop_remainder=True).flat_map(lambda w: w.batch(3)),
    "padded": D.range(1, 8).map(lambda x: tf.range(x)).padded_batch(3, padding_values=tf.constant(-1, tf.int64)),
    "variable": D.range(5).map(lambda x: double(x) + added).batch(2, num_parallel_calls=2),
    "image": D.from_tensors(np.random.rand(9, 9, 3).astype("f4")).map(lambda i: resize(i, [4, 4])),
    "text": tf.data.TextLineDataset([__file__]).take(2).concatenate(D.from_tensors("x")).map(tf.strings.upper),
}
for name, theirs in pipelines.items():
    ours = sd.from_tf(theirs)
    assert "Python for each element" not in ours.explain(), name
    pairs = list(zip(ours, theirs.as_numpy_iterator(), strict=True))
    assert pairs, name
    for mine, other in pairs:
        for a, b in zip(tf.nest.flatten(mine), tf.nest.flatten(other), strict=True):
            if isinstance(b, bytes):
                assert a == b, name
            else:
                np.testing.assert_allclose(a, b, rtol=1e-5, err_msg=name)
shuffled = sd.from_tf(D.range(20).shuffle(20, seed=4))
assert sorted(map(int, shuffled)) == list(range(20))
refused = D.from_tensor_slices(tf.sparse.eye(3))
try:
    sd.from_tf(refused)
except sd.errors.InvalidArgumentError as e:
    assert "SparseTensorSliceDataset" in str(e) or "TensorSliceDataset" in str(e), e
else:
    raise AssertionError("it was taken over")
print("all taken over")
"""


def test_real_pipelines():
    python = os.environ.get("STOKER_TF_PYTHON")
    if not python:
        print("  without TensorFlow's own pipelines: STOKER_TF_PYTHON names no Python")
        return
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "program.py")
        with open(program, "w") as f:
            f.write(f"PATH = {os.path.join(folder, 'r.tfrecord')!r}\n" + REAL)
        run = subprocess.run([python, program], capture_output=True, text=True, timeout=300)
        c.same("all taken over" in run.stdout, True, run.stderr[-2000:])


c.main(globals())
