# SPDX-License-Identifier: Apache-2.0
# Forecasting: windows of a series with fourteen columns, by window and by slices of batches.
import numpy as np
import tensorflow as tf

rng = np.random.default_rng(6)
table = rng.normal(size=(4096, 14)).astype(np.float32)
rows = tf.data.Dataset.from_tensor_slices(table)
series = tf.data.Dataset.from_tensor_slices(table[:, 0])


def parts(window):
    return window[:24, :], window[24:, 1]


def windows(ds, size, shift):
    return ds.window(size, shift=shift, drop_remainder=True).flat_map(lambda w: w.batch(size))


results = {
    "windows": list(windows(rows, 27, 1).map(parts).batch(32).as_numpy_iterator()),
    "hours": list(windows(rows, 27, 6).map(parts).batch(32).as_numpy_iterator()),
    "series": list(windows(series, 21, 1).map(lambda w: (w[:-1], w[-1])).batch(32).as_numpy_iterator()),
    "batches": list(rows.batch(27, drop_remainder=True).map(parts).as_numpy_iterator()),
    "shuffled": list(windows(series, 21, 1).shuffle(1000).map(lambda w: (w[:-1], w[-1:])).batch(32).as_numpy_iterator()),
}
