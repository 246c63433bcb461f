# SPDX-License-Identifier: Apache-2.0
# Forecasts of the weather: windows over several columns, split into inputs and labels of chosen columns.
import numpy as np

import tensorflow as tf

n = 60
day = np.arange(n) * 2 * np.pi / 24
table = np.stack([np.sin(day) * 10, np.cos(day) * 3 + 5, np.arange(n) % 7], 1).astype("float32")
train, test = table[: int(n * 0.7)], table[int(n * 0.7) :]
mean, std = train.mean(0), train.std(0)
columns = {"temperature": 0, "wind": 1, "day": 2}


class Window:
    def __init__(self, width, label_width, shift, label_columns):
        self.total = width + shift
        self.inputs = slice(0, width)
        self.labels = slice(self.total - label_width, None)
        self.columns = label_columns

    def split(self, features):
        inputs = features[:, self.inputs, :]
        labels = features[:, self.labels, :]
        labels = tf.stack([labels[:, :, columns[name]] for name in self.columns], axis=-1)
        inputs.set_shape([None, self.inputs.stop, None])
        return inputs, labels

    def dataset(self, data, batch=8):
        data = (data - mean) / std
        starts = tf.data.Dataset.range(len(data) - self.total + 1)
        whole = starts.map(lambda i: tf.constant(data)[i : i + self.total])
        return whole.batch(batch).map(self.split)


wide, single = Window(6, 6, 1, ["temperature"]), Window(6, 1, 3, ["temperature", "wind"])
series = tf.data.Dataset.from_tensor_slices(test).window(5, shift=3, stride=2, drop_remainder=True)
results = {
    "wide": list(wide.dataset(train).as_numpy_iterator()),
    "single": list(single.dataset(test).as_numpy_iterator()),
    "shapes": [[list(a.shape), list(b.shape)] for a, b in wide.dataset(test)],
    "baseline": [float(tf.reduce_mean(tf.abs(a[:, -1:, :1] - b[..., :1]))) for a, b in single.dataset(train)],
    "windows": [w.numpy() for w in series.flat_map(lambda w: w.batch(5, drop_remainder=True))],
    "differences": list(
        tf.data.Dataset.from_tensor_slices(train).batch(2, drop_remainder=True).map(lambda x: x[1] - x[0]).as_numpy_iterator()
    ),
}
