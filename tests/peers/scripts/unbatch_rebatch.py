# SPDX-License-Identifier: Apache-2.0
# Batches of other sizes, slices of batches, windows joined again.
import tensorflow as tf

ds = tf.data.Dataset.from_tensor_slices((tf.range(11), tf.reshape(tf.range(22), [11, 2])))
batches = ds.batch(4)
results = {
    "unbatch": [(a.numpy(), b.numpy()) for a, b in batches.unbatch()],
    "rebatch": [(a.numpy(), b.numpy()) for a, b in batches.rebatch(3)],
    "uneven": [a.numpy() for a, _ in batches.rebatch([2, 3], drop_remainder=False)],
    "drop": [a.numpy() for a, _ in ds.batch(4, drop_remainder=True)],
    "last": [a.numpy() for a, _ in batches.skip(2)],
    "single": ds.take(1).get_single_element()[1].numpy(),
}
