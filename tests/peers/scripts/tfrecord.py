import os

import numpy as np
import tensorflow as tf


def _bytes_feature(value):
    return tf.train.Feature(bytes_list=tf.train.BytesList(value=[value]))


def _float_feature(value):
    return tf.train.Feature(float_list=tf.train.FloatList(value=[value]))


def _int64_feature(value):
    return tf.train.Feature(int64_list=tf.train.Int64List(value=[value]))


def serialize_example(feature0, feature1, feature2, feature3):
    feature = {
        "feature0": _int64_feature(feature0),
        "feature1": _int64_feature(feature1),
        "feature2": _bytes_feature(feature2),
        "feature3": _float_feature(feature3),
    }
    example_proto = tf.train.Example(features=tf.train.Features(feature=feature))
    return example_proto.SerializeToString()


n = 50
rng = np.random.default_rng(2)
strings = [b"cat", b"dog", b"chicken", b"horse", b"goat"]
path = os.path.join(FOLDER, "test.tfrecord")
with tf.io.TFRecordWriter(path) as writer:
    for i in range(n):
        k = int(rng.integers(0, 5))
        writer.write(serialize_example(int(rng.random() < 0.5), k, strings[k], float(rng.random())))
zipped = os.path.join(FOLDER, "test.gz")
with tf.io.TFRecordWriter(zipped, options=tf.io.TFRecordOptions(compression_type="GZIP")) as writer:
    for record in tf.data.TFRecordDataset(path).as_numpy_iterator():
        writer.write(record)

feature_description = {
    "feature0": tf.io.FixedLenFeature([], tf.int64, default_value=0),
    "feature1": tf.io.FixedLenFeature([], tf.int64, default_value=0),
    "feature2": tf.io.FixedLenFeature([], tf.string, default_value=""),
    "feature3": tf.io.FixedLenFeature([], tf.float32, default_value=0.0),
    "absent": tf.io.FixedLenFeature([2], tf.int64, default_value=[7, 8]),
}


def _parse_function(example_proto):
    return tf.io.parse_single_example(example_proto, feature_description)


parsed = tf.data.TFRecordDataset([path]).map(_parse_function)
batched = (
    tf.data.TFRecordDataset([path, zipped][:1], num_parallel_reads=tf.data.AUTOTUNE)
    .batch(16)
    .map(lambda r: tf.io.parse_example(r, feature_description), num_parallel_calls=tf.data.AUTOTUNE)
)
example = tf.train.Example()
example.ParseFromString(next(tf.data.TFRecordDataset(zipped, "GZIP").as_numpy_iterator()))
results = {
    "parsed": list(parsed.as_numpy_iterator()),
    "batched": list(batched.as_numpy_iterator()),
    "gzip": len(list(tf.data.TFRecordDataset(zipped, compression_type="GZIP").as_numpy_iterator())),
    "example": list(example.features.feature["feature2"].bytes_list.value),
}
