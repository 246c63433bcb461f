# SPDX-License-Identifier: Apache-2.0
# Python generators of growing sequences and of dicts, batched with padding.
import numpy as np
import tensorflow as tf


def series():
    for i in range(6):
        yield i, np.arange(i % 4, dtype=np.float32)


def rows(n):
    for i in range(n):
        yield {"name": f"row {i}", "values": [i, i * i]}


ds = tf.data.Dataset.from_generator(
    series, output_signature=(tf.TensorSpec([], tf.int32), tf.TensorSpec([None], tf.float32))
)
dicts = tf.data.Dataset.from_generator(
    rows, args=[3], output_signature={"name": tf.TensorSpec([], tf.string), "values": tf.TensorSpec([2], tf.int64)}
)
results = {
    "padded": [(a.numpy(), b.numpy()) for a, b in ds.padded_batch(3)],
    "filled": [b.numpy() for _, b in ds.padded_batch(2, ([], [5]), (0, -1.0))],
    "dicts": [(e["name"].numpy(), e["values"].numpy()) for e in dicts],
    "twice": len([0 for _ in ds.repeat(2)]),
}
