# SPDX-License-Identifier: Apache-2.0
# Time series: windows of features and the values after them, by batch, by window, by zip.
import tensorflow as tf

series = tf.data.Dataset.range(30)
batches = series.batch(6, drop_remainder=True)
pairs = batches.map(lambda b: (b[:-1], b[1:]))
ahead = series.batch(7, drop_remainder=True).map(lambda b: (b[:-2], b[-2:]))


def windows(size, shift, stride):
    w = series.window(size, shift=shift, stride=stride)
    return w.flat_map(lambda s: s.batch(size, drop_remainder=True))


features = series.batch(5, drop_remainder=True)
labels = series.batch(5).skip(1).map(lambda l: l[:3])
results = {
    "dense": [(a.numpy(), b.numpy()) for a, b in pairs],
    "ahead": [(a.numpy(), b.numpy()) for a, b in ahead],
    "windows": [w.numpy() for w in windows(5, 4, 3)],
    "zipped": [(a.numpy(), b.numpy()) for a, b in tf.data.Dataset.zip((features, labels))],
    "nested": [[x.numpy() for x in w] for w in series.window(4, shift=9)],
}
