# SPDX-License-Identifier: Apache-2.0
# Examples with features of all kinds written to a file, read back and parsed one by one and in batches.
import os

import tensorflow as tf

path = os.path.join(FOLDER, "all.tfrecord")  # noqa: F821
with tf.io.TFRecordWriter(path) as w:
    for i in range(5):
        feature = {
            "id": tf.train.Feature(int64_list=tf.train.Int64List(value=[i])),
            "scores": tf.train.Feature(float_list=tf.train.FloatList(value=[i / 2, i / 3])),
            "tags": tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"t%d" % k for k in range(i % 3)])),
        }
        w.write(tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString())
spec = {
    "id": tf.io.FixedLenFeature([], tf.int64),
    "scores": tf.io.FixedLenFeature([2], tf.float32),
    "tags": tf.io.VarLenFeature(tf.string),
    "absent": tf.io.FixedLenFeature([], tf.int64, default_value=-7),
}
raw = tf.data.TFRecordDataset(path)
one = raw.map(lambda r: tf.io.parse_single_example(r, spec))
many = raw.batch(2).map(lambda r: tf.io.parse_example(r, spec))
first = tf.train.Example()
first.ParseFromString(next(iter(raw)).numpy())
results = {
    "one": [(e["id"].numpy(), e["scores"].numpy(), tf.sparse.to_dense(e["tags"]).numpy(), e["absent"].numpy()) for e in one],
    "many": [tf.sparse.to_dense(e["tags"], default_value="").numpy() for e in many],
    "proto": [int(first.features.feature["id"].int64_list.value[0])],
    "count": raw.reduce(tf.constant(0, tf.int64), lambda n, _: n + 1).numpy(),
}
