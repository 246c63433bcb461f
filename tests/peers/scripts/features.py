import os

import tensorflow as tf

path = os.path.join(FOLDER, "features.tfrecord")


def ints(values):
    return tf.train.Feature(int64_list=tf.train.Int64List(value=values))


def floats(values):
    return tf.train.Feature(float_list=tf.train.FloatList(value=values))


with tf.io.TFRecordWriter(path) as w:
    for i in range(6):
        feature = {"ids": ints(list(range(i % 4))), "x": floats([i, i * 2.0]), "label": ints([i % 3])}
        w.write(
            tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString()
        )
spec = {
    "ids": tf.io.VarLenFeature(tf.int64),
    "x": tf.io.FixedLenFeature([2], tf.float32),
    "label": tf.io.FixedLenFeature([], tf.int64),
}


def dense(e):
    ids = tf.sparse.to_dense(e["ids"], default_value=-1)
    return {"ids": ids, "x": e["x"]}, tf.one_hot(e["label"], 3)


def crossed(e):
    x = (e["x"] - tf.reduce_mean(e["x"])) / (tf.math.reduce_std(e["x"]) + 1e-3)
    big = tf.where(x > 0.0, tf.math.log1p(tf.abs(x)), tf.zeros_like(x))
    return tf.stack([x, big, tf.math.sigmoid(x)], axis=-1), tf.cast(e["label"] > 0, tf.int32)


one_by_one = tf.data.TFRecordDataset(path).map(lambda r: tf.io.parse_single_example(r, spec))
batched = tf.data.TFRecordDataset(path).batch(4).map(lambda r: tf.io.parse_example(r, spec))
fixed = {"y": tf.io.FixedLenSequenceFeature([], tf.int64, allow_missing=True)}
sequences = tf.data.TFRecordDataset(path).map(
    lambda r: tf.io.parse_single_example(r, {"ids": fixed["y"]})["ids"]
)
results = {
    "one": list(one_by_one.map(dense).padded_batch(3).as_numpy_iterator()),
    "batched": list(batched.map(dense).as_numpy_iterator()),
    "crossed": list(one_by_one.map(crossed).batch(6).as_numpy_iterator()),
    "sequences": list(sequences.as_numpy_iterator()),
    "raw": list(
        tf.data.Dataset.from_tensors(b"\x01\x00\x02\x00")
        .map(lambda b: tf.io.decode_raw(b, tf.uint16))
        .as_numpy_iterator()
    ),
}
