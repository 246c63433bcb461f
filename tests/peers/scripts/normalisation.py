# SPDX-License-Identifier: Apache-2.0
# Feature statistics of a dataset by reduce, then scaled, binned and clipped.
import tensorflow as tf

rows = tf.data.Dataset.from_tensor_slices([[1.0, 50.0], [2.0, 20.0], [4.0, 90.0], [9.0, 10.0]])
first = next(iter(rows))
least, most = rows.reduce((first, first), lambda s, x: (tf.minimum(s[0], x), tf.maximum(s[1], x)))
low, high = least.numpy(), most.numpy()
scaled = rows.map(lambda x: (x - low) / (high - low))
results = {
    "ends": [low, high],
    "scaled": [x.numpy() for x in scaled],
    "clipped": [x.numpy() for x in rows.map(lambda x: tf.clip_by_value(x, 2.0, 60.0))],
    "bins": [x.numpy() for x in rows.map(lambda x: tf.searchsorted([2.0, 20.0, 60.0], x))],
    "logs": [x.numpy() for x in rows.map(lambda x: tf.math.log1p(x))],
    "soft": [x.numpy() for x in rows.map(lambda x: tf.nn.log_softmax(x / 10.0))],
}
