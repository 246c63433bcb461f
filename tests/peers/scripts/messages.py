# SPDX-License-Identifier: Apache-2.0
"""Examples made, written, parsed, and read again as messages."""

import os
import numpy as np
import tensorflow as tf

def _bytes_feature(value):
    if isinstance(value, type(tf.constant(0))) and hasattr(value, "numpy"):
        value = value.numpy()
    return tf.train.Feature(bytes_list=tf.train.BytesList(value=[value]))
def _float_feature(value):
    return tf.train.Feature(float_list=tf.train.FloatList(value=[value]))
def _int64_feature(value):
    return tf.train.Feature(int64_list=tf.train.Int64List(value=[value]))
feature = _float_feature(np.exp(1))
ser = feature.SerializeToString()
n = 20
f0 = np.arange(n) % 2 == 0
f1 = np.arange(n) % 5
strings = np.array([b"cat", b"dog", b"chicken", b"horse", b"goat"])
f2 = strings[f1]
f3 = np.linspace(-1, 1, n)
def serialize_example(a, b, c, d):
    feature = {"feature0": _int64_feature(a), "feature1": _int64_feature(b), "feature2": _bytes_feature(c), "feature3": _float_feature(d)}
    return tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString()
ds = tf.data.Dataset.from_tensor_slices((f0, f1, f2, f3))
def tf_serialize_example(a, b, c, d):
    s = tf.py_function(lambda a, b, c, d: serialize_example(int(a), int(b), c.numpy(), float(d)), (a, b, c, d), tf.string)
    return tf.reshape(s, ())
serialized = ds.map(tf_serialize_example)
path = os.path.join(FOLDER, "test.tfrecord")
with tf.io.TFRecordWriter(path) as writer:
    for s in serialized.as_numpy_iterator():
        writer.write(s)
raw = tf.data.TFRecordDataset([path])
desc = {"feature0": tf.io.FixedLenFeature([], tf.int64, default_value=0), "feature1": tf.io.FixedLenFeature([], tf.int64, default_value=0), "feature2": tf.io.FixedLenFeature([], tf.string, default_value=""), "feature3": tf.io.FixedLenFeature([], tf.float32, default_value=0.0)}
parsed = raw.map(lambda p: tf.io.parse_single_example(p, desc))
back = {}
for r in raw.take(1).as_numpy_iterator():
    example = tf.train.Example()
    example.ParseFromString(r)
    for key, feature in example.features.feature.items():
        kind = feature.WhichOneof("kind")
        back[key] = np.array(getattr(feature, kind).value)
back = {k: back[k] for k in sorted(back)}
gz = os.path.join(FOLDER, "x.gz")
with tf.io.TFRecordWriter(gz, tf.io.TFRecordOptions(compression_type="GZIP")) as w:
    for i in range(5):
        w.write(tf.train.Example(features=tf.train.Features(feature={"v": tf.train.Feature(float_list=tf.train.FloatList(value=np.ones(i)))})).SerializeToString())
var = tf.data.TFRecordDataset(gz, compression_type="GZIP").batch(5).map(lambda b: tf.sparse.to_dense(tf.io.parse_example(b, {"v": tf.io.VarLenFeature(tf.float32)})["v"]))
results = {"ser": ser, "parsed": list(parsed.take(3).as_numpy_iterator()), "back": back, "var": list(var.as_numpy_iterator()), "keys": list(parsed.element_spec)}
