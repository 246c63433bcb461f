# SPDX-License-Identifier: Apache-2.0
# Loops inside of a map: map_fn over rows, scan, while_loop, folds.
import tensorflow as tf

x = tf.reshape(tf.range(24, dtype=tf.float32), [2, 4, 3])
ds = tf.data.Dataset.from_tensor_slices(x)


def power_of_two(n):
    return tf.while_loop(lambda p: p < n, lambda p: [p * 2], [tf.constant(1, tf.int64)])[0]


results = {
    "rows": [e.numpy() for e in ds.map(lambda m: tf.map_fn(lambda r: r / tf.reduce_max(r), m))],
    "sums": [e.numpy() for e in ds.map(lambda m: tf.scan(lambda a, r: a + r, m))],
    "fold": [e.numpy() for e in ds.map(lambda m: tf.foldl(lambda a, r: a * 0.5 + r, m))],
    "powers": [e.numpy() for e in tf.data.Dataset.range(1, 12).map(power_of_two)],
}
