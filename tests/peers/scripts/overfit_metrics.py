# SPDX-License-Identifier: Apache-2.0
# Wide tables packed row by row, cut into training and validation, cached and repeated.
import tensorflow as tf

rows = tf.data.Dataset.from_tensor_slices(tf.reshape(tf.range(60, dtype=tf.float32), [20, 3]))


def packed(row):
    return row[1:], tf.cast(row[0] > 20.0, tf.int32)


both = rows.map(packed)
valid, train = both.take(6).cache(), both.skip(6).take(10).cache()
batches = train.batch(4).repeat(2)
results = {
    "valid": [(x.numpy(), y.numpy()) for x, y in valid],
    "batches": [(x.numpy(), y.numpy()) for x, y in batches],
    "steps": [int(batches.cardinality()), len(valid.batch(4))],
    "spec": [s.shape.as_list() for s in train.element_spec],
    "shuffled": sorted(float(x[0].numpy()) for x, _ in train.shuffle(100)),
}
