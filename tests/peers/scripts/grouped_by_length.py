# SPDX-License-Identifier: Apache-2.0
# Batches of sentences of like length, and by key, with what reduces each group.
import tensorflow as tf

lengths = [3, 1, 7, 2, 5, 8, 2, 4, 6, 1]
ds = tf.data.Dataset.from_tensor_slices(lengths).map(lambda n: tf.range(n) + n)
buckets = ds.bucket_by_sequence_length(lambda x: tf.size(x), [3, 6], [3, 2, 2])
keyed = ds.group_by_window(lambda x: tf.cast(tf.size(x) % 2, tf.int64), lambda k, w: w.padded_batch(3), 3)
sums = tf.data.Dataset.from_tensor_slices(lengths).scan(0, lambda s, x: (s + x, s + x))
results = {
    "buckets": [b.numpy() for b in buckets],
    "keyed": [b.numpy() for b in keyed],
    "sums": [s.numpy() for s in sums],
    "until": [s.numpy() for s in sums.take_while(lambda s: s < 20)],
    "unique": [u.numpy() for u in tf.data.Dataset.from_tensor_slices(lengths).unique()],
}
