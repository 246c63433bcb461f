# SPDX-License-Identifier: Apache-2.0
# Word vectors: words with their neighbors, frequent words left out, negatives beside each pair.
import numpy as np

import tensorflow as tf

sentences = ["the wide road shimmered in the hot sun", "the road was hot", "in the sun the wide sea"]
lines = tf.data.Dataset.from_tensor_slices(sentences)
tokens = lines.map(lambda s: tf.strings.split(tf.strings.lower(s)))
vocabulary = sorted({w for line in tokens.as_numpy_iterator() for w in line})
index = tf.lookup.StaticHashTable(
    tf.lookup.KeyValueTensorInitializer(vocabulary, np.arange(1, len(vocabulary) + 1)), 0
)
sequences = tokens.map(index.lookup)
frequency = np.zeros(len(vocabulary) + 1, np.int64)
for s in sequences.as_numpy_iterator():
    frequency += np.bincount(s, minlength=len(frequency))
rare = sequences.map(lambda s: tf.boolean_mask(s, tf.gather(frequency, s) < 3))
SPAN = 2


def pairs(sequence):
    n = tf.size(sequence)
    at = tf.range(n)
    distance = at[:, tf.newaxis] - at[tf.newaxis, :]
    near = tf.logical_and(tf.abs(distance) <= SPAN, distance != 0)
    places = tf.where(near)
    return tf.data.Dataset.from_tensor_slices(
        (tf.gather(sequence, places[:, 0]), tf.gather(sequence, places[:, 1]))
    )


def with_negatives(target, context):
    others = tf.range(1, len(vocabulary) + 1, dtype=tf.int64)
    others = tf.boolean_mask(others, tf.logical_and(others != context, others != target))[:4]
    candidates = tf.concat([[context], others], 0)
    label = tf.constant([1, 0, 0, 0, 0], dtype=tf.int64)
    return (target, candidates), label


skips = sequences.flat_map(pairs)
middles = sequences.flat_map(
    lambda s: tf.data.Dataset.from_tensor_slices(s).window(5, shift=1, drop_remainder=True).flat_map(lambda w: w.batch(5))
)
results = {
    "vocabulary": vocabulary,
    "frequency": frequency,
    "rare": list(rare.as_numpy_iterator()),
    "pairs": list(skips.as_numpy_iterator()),
    "batches": list(skips.map(with_negatives).batch(16, drop_remainder=True).as_numpy_iterator()),
    "bags": list(middles.map(lambda w: (tf.concat([w[:2], w[3:]], 0), w[2])).as_numpy_iterator()),
    "unique": sorted(int(a) * 100 + int(b) for a, b in skips.map(lambda a, b: tf.stack([a, b])).unique().map(lambda p: (p[0], p[1]))),
}
