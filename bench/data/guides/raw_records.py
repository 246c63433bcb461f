# SPDX-License-Identifier: Apache-2.0
# Records with images as raw bytes, tensors and lists of floats.
import os

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(4)
path = os.path.join(FOLDER, "raw.tfrecord")  # noqa: F821
with tf.io.TFRecordWriter(path) as writer:
    for i in range(32):
        image = rng.integers(0, 256, (180, 180, 3), np.uint8)
        feature = {
            "image": tf.train.Feature(bytes_list=tf.train.BytesList(value=[image.tobytes()])),
            "label": tf.train.Feature(int64_list=tf.train.Int64List(value=[i])),
        }
        features = tf.train.Features(feature=feature)
        writer.write(tf.train.Example(features=features).SerializeToString())
rows = os.path.join(FOLDER, "rows.tfrecord")  # noqa: F821
with tf.io.TFRecordWriter(rows) as writer:
    for i in range(256):
        feature = {
            "x": tf.train.Feature(float_list=tf.train.FloatList(value=rng.normal(size=512).tolist())),
            "words": tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"some", b"words"])),
            "label": tf.train.Feature(int64_list=tf.train.Int64List(value=[i])),
        }
        features = tf.train.Features(feature=feature)
        writer.write(tf.train.Example(features=features).SerializeToString())

IMAGE = {"image": tf.io.FixedLenFeature([], tf.string), "label": tf.io.FixedLenFeature([], tf.int64)}
ROW = {
    "x": tf.io.FixedLenFeature([512], tf.float32),
    "words": tf.io.VarLenFeature(tf.string),
    "label": tf.io.FixedLenFeature([], tf.int64),
}


def image_of(record):
    e = tf.io.parse_single_example(record, IMAGE)
    return tf.reshape(tf.io.decode_raw(e["image"], tf.uint8), [180, 180, 3]), e["label"]


def scaled(record):
    image, label = image_of(record)
    return tf.cast(image, tf.float32) / 255.0, label


def row(record):
    e = tf.io.parse_single_example(record, ROW)
    return e["x"], tf.sparse.to_dense(e["words"]), e["label"]


def rows_of(records):
    e = tf.io.parse_example(records, ROW)
    return e["x"], e["label"]


results = {
    "records": list(tf.data.TFRecordDataset(path).as_numpy_iterator()),
    "images": list(tf.data.TFRecordDataset(path).map(image_of).batch(32).as_numpy_iterator()),
    "scaled": list(tf.data.TFRecordDataset(path).map(scaled).batch(32).as_numpy_iterator()),
    "rows": list(tf.data.TFRecordDataset(rows).map(row).batch(32).as_numpy_iterator()),
    "of_batches": list(tf.data.TFRecordDataset(rows).batch(64).map(rows_of).as_numpy_iterator()),
}
