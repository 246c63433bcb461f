# SPDX-License-Identifier: Apache-2.0
# Masked language modelling: tokens drawn to be masked by a threshold, targets where they were.
import tensorflow as tf

tokens = tf.data.Dataset.from_tensor_slices([[5, 8, 9, 3, 0, 0], [7, 7, 2, 9, 4, 1]])
draws = tf.data.Dataset.from_tensor_slices([[0.1, 0.9, 0.05, 0.5, 0.0, 0.0], [0.2, 0.12, 0.3, 0.14, 0.9, 0.8]])


def mask(ids, u):
    may = tf.logical_and(ids > 0, u < 0.15)
    labels = tf.where(may, ids, -1 * tf.ones_like(ids))
    weights = tf.where(labels == -1, 0, 1)
    inputs = tf.where(may, tf.fill(tf.shape(ids), 99), ids)
    inputs = tf.where(tf.logical_and(may, u < 0.06), ids, inputs)
    return inputs, labels, weights, tf.concat([ids[:2], [0], ids[3:]], axis=0)


ds = tf.data.Dataset.zip((tokens, draws)).map(mask)
results = {
    "rows": [tuple(v.numpy() for v in row) for row in ds],
    "batch": [tuple(v.numpy() for v in row) for row in ds.batch(2)],
    "places": [tf.where(r[1] >= 0).numpy() for r in ds],
}
