# SPDX-License-Identifier: Apache-2.0
# Keras' examples of augmentation by hand: cutout by a mask, mixup by a share of a beta distribution.
import tensorflow as tf

images = tf.reshape(tf.range(4 * 6 * 6 * 1, dtype=tf.float32), [4, 6, 6, 1]) / 144.0
labels = tf.one_hot([0, 1, 2, 1], 3)
ds = tf.data.Dataset.from_tensor_slices((images, labels))


def cutout(image, label):
    rows, columns = tf.meshgrid(tf.range(6), tf.range(6), indexing="ij")
    inside = tf.logical_and(tf.abs(rows - 2) < 2, tf.abs(columns - 3) < 2)
    return tf.where(inside[..., tf.newaxis], tf.zeros_like(image), image), label


def beta(size, a, b):
    x = tf.random.gamma(shape=[size], alpha=a)
    y = tf.random.gamma(shape=[size], alpha=b)
    return x / (x + y)


def mixed(one, two):
    (x1, y1), (x2, y2) = one, two
    share = beta(2, 0.4, 0.4)
    a, b = tf.reshape(share, [2, 1, 1, 1]), tf.reshape(share, [2, 1])
    return x1 * a + x2 * (1 - a), y1 * b + y2 * (1 - b)


both = tf.data.Dataset.zip((ds.batch(2), ds.batch(2)))
sums = [tf.reduce_sum(y, axis=1).numpy() for _, y in both.map(mixed)]
results = {
    "cutout": [x.numpy() for x, _ in ds.map(cutout)],
    "sums": sums,
    "same": [abs(x - y).max() < 1e-6 for (x, _), (y, _) in zip(both.map(mixed).as_numpy_iterator(), ds.batch(2).as_numpy_iterator())],
}
