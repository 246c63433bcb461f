# SPDX-License-Identifier: Apache-2.0
# Normalization whose mean and deviation are found first, kept in variables, then used in a map.
import tensorflow as tf

data = tf.data.Dataset.from_tensor_slices([[1.0, 10.0], [2.0, 20.0], [3.0, 60.0], [6.0, 30.0]])
count, total, squares = tf.Variable(0.0), tf.Variable([0.0, 0.0]), tf.Variable([0.0, 0.0])
for row in data:
    count.assign_add(1.0)
    total.assign_add(row)
    squares.assign_add(row * row)
mean = tf.Variable(total / count)
deviation = tf.Variable(tf.sqrt(squares / count - mean * mean))
results = {
    "mean": mean.numpy(),
    "deviation": deviation.numpy(),
    "rows": [r.numpy() for r in data.map(lambda r: (r - mean) / deviation)],
    "batches": [b.numpy() for b in data.batch(2).map(lambda b: (b - mean) / deviation)],
}
