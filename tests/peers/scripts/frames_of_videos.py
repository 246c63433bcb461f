# SPDX-License-Identifier: Apache-2.0
# Features of videos: sequence examples in several files, read alternately, quantized bytes back to floats, padded.
import os

import numpy as np

import tensorflow as tf

rng = np.random.default_rng(2)


def bytes_list(values):
    return tf.train.Feature(bytes_list=tf.train.BytesList(value=values))


def ints(values):
    return tf.train.Feature(int64_list=tf.train.Int64List(value=values))


files = []
for k in range(3):
    files.append(os.path.join(FOLDER, f"train{k:02}.tfrecord"))  # noqa: F821
    with tf.io.TFRecordWriter(files[-1]) as writer:
        for v in range(2 + k):
            rgb = [rng.integers(0, 256, 6, np.uint8).tobytes() for _ in range(1 + (v + k) % 3)]
            example = tf.train.SequenceExample(
                context=tf.train.Features(feature={"id": bytes_list([f"v{k}{v}".encode()]), "labels": ints([v, k + 3])}),
                feature_lists=tf.train.FeatureLists(
                    feature_list={"rgb": tf.train.FeatureList(feature=[bytes_list([r]) for r in rgb])}
                ),
            )
            writer.write(example.SerializeToString())


def parse(record):
    context, features = tf.io.parse_single_sequence_example(
        record,
        context_features={"id": tf.io.FixedLenFeature([], tf.string), "labels": tf.io.VarLenFeature(tf.int64)},
        sequence_features={"rgb": tf.io.FixedLenSequenceFeature([], dtype=tf.string)},
    )
    rgb = tf.cast(tf.io.decode_raw(features["rgb"], tf.uint8), tf.float32)
    rgb = rgb * ((2.0 - -2.0) / 255.0) + (4.0 / 512.0 - 2.0)
    rgb = tf.reshape(rgb, [-1, 6])
    labels = tf.reduce_max(tf.one_hot(tf.sparse.to_dense(context["labels"]), 6), axis=0)
    return context["id"], rgb, labels, tf.shape(rgb)[0]


ds = tf.data.Dataset.from_tensor_slices(files).interleave(
    tf.data.TFRecordDataset, cycle_length=2, block_length=1, num_parallel_calls=2, deterministic=True
)
parsed = ds.map(parse)
batches = parsed.padded_batch(4, padded_shapes=([], [None, 6], [6], []))


def pooled(name, rgb, labels, n):
    mask = tf.sequence_mask(n, tf.shape(rgb)[1], dtype=tf.float32)[..., tf.newaxis]
    return name, tf.reduce_sum(rgb * mask, 1) / tf.cast(n, tf.float32)[:, tf.newaxis]


results = {
    "parsed": list(parsed.as_numpy_iterator()),
    "batches": list(batches.as_numpy_iterator()),
    "pooled": list(batches.map(pooled).as_numpy_iterator()),
    "shards": [[n.decode() for n, *_ in parsed.shard(2, i).as_numpy_iterator()] for i in range(2)],
    "long": [int(n) for *_, n in parsed.filter(lambda *e: e[3] > 1)],
}
