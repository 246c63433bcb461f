# SPDX-License-Identifier: Apache-2.0
# Arithmetic of tensors in maps: masks, gathers, one-hot, cumulated sums, sorting.
import tensorflow as tf

ds = tf.data.Dataset.from_tensor_slices([[3, 0, 5, 1], [9, 9, 0, 2], [0, 0, 7, 4]])
results = {
    "mask": [tf.boolean_mask(x, x > 0).numpy() for x in ds],
    "lengths": [v.numpy() for v in ds.map(lambda x: tf.sequence_mask(x, 10, dtype=tf.int32))],
    "top": [[p.numpy() for p in v] for v in ds.map(lambda x: tuple(tf.math.top_k(x, 2)))],
    "sorted": [v.numpy() for v in ds.map(lambda x: tf.sort(x, direction="DESCENDING"))],
    "order": [v.numpy() for v in ds.map(lambda x: tf.gather(x, tf.argsort(x)))],
    "cumsum": [v.numpy() for v in ds.map(lambda x: tf.cumsum(x, exclusive=True))],
    "counts": [v.numpy() for v in ds.map(lambda x: tf.math.bincount(x, minlength=10, maxlength=10))],
    "norm": [v.numpy() for v in ds.map(lambda x: tf.math.l2_normalize(tf.cast(x, tf.float32)))],
    "mean": [v.numpy() for v in ds.batch(3).map(lambda x: tf.reduce_logsumexp(tf.cast(x, tf.float32), axis=0))],
    "where": [v.numpy() for v in ds.map(lambda x: tf.where(x > 2))],
}
