# SPDX-License-Identifier: Apache-2.0
# Language models: 128 tokens masked, shifted, packed; translation pairs grouped by length.
import numpy as np
import tensorflow as tf

rng = np.random.default_rng(9)
ids = rng.integers(4, 8000, (256, 128)).astype(np.int32)
stream = rng.integers(4, 8000, 65536).astype(np.int32)
lengths = rng.integers(3, 40, 256)
tokens = tf.data.Dataset.from_tensor_slices(ids)
flat = tf.data.Dataset.from_tensor_slices(stream)


def mask(x):
    may = tf.logical_and(x > 3, tf.random.uniform(tf.shape(x)) < 0.15)
    labels = tf.where(may, x, -tf.ones_like(x))
    return tf.where(may, tf.fill(tf.shape(x), 3), x), labels, tf.where(labels == -1, 0, 1)


def shift(x):
    return x[:-1], x[1:]


def sentence(n):
    return tf.range(n) + n


grouped = tf.data.Dataset.from_tensor_slices(lengths).map(sentence)
results = {
    "masked": list(tokens.map(mask).batch(32).as_numpy_iterator()),
    "shifted": list(flat.batch(101, drop_remainder=True).map(shift).batch(64).as_numpy_iterator()),
    "padded": list(grouped.padded_batch(32).as_numpy_iterator()),
    "buckets": list(grouped.bucket_by_sequence_length(tf.size, [10, 20, 30], [16] * 4).as_numpy_iterator()),
    "keyed": list(grouped.group_by_window(lambda x: tf.cast(tf.size(x) % 2, tf.int64), lambda k, w: w.padded_batch(8), 8).as_numpy_iterator()),
    "sampled": list(tf.data.Dataset.sample_from_datasets([tokens, tokens.skip(5)], [0.3, 0.7]).batch(32).as_numpy_iterator()),
    "interleaved": list(tf.data.Dataset.range(8).interleave(lambda i: tf.data.Dataset.range(i, i + 200), cycle_length=4).batch(64).as_numpy_iterator()),
}
