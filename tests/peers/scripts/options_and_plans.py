# SPDX-License-Identifier: Apache-2.0
# The guide to performance: interleave, parallel map, cache, prefetch, vectorized maps, all in order.
import tensorflow as tf

ds = tf.data.Dataset.range(12)
options = tf.data.Options()
options.deterministic = True
options.autotune.enabled = True


def slow(x):
    return x * 3


woven = tf.data.Dataset.range(3).interleave(
    lambda i: tf.data.Dataset.range(4).map(lambda j: i * 10 + j), cycle_length=3, block_length=2,
    num_parallel_calls=tf.data.AUTOTUNE)
results = {
    "map": [x.numpy() for x in ds.map(slow, num_parallel_calls=tf.data.AUTOTUNE).prefetch(tf.data.AUTOTUNE)],
    "woven": [x.numpy() for x in woven],
    "vector": [x.numpy() for x in ds.batch(5).map(slow, num_parallel_calls=2).cache().prefetch(2)],
    "repeat": [x.numpy() for x in ds.take(3).cache().repeat(3)],
    "options": [x.numpy() for x in ds.with_options(options).skip(9)],
    "size": [int(ds.batch(5).cardinality()), int(ds.repeat().cardinality()), int(ds.filter(lambda x: x > 1).cardinality())],
}
