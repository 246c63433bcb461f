# SPDX-License-Identifier: Apache-2.0
# Segmentation: images with their masks, both resized and mirrored alike, and weights of pixels by class.
import numpy as np

import tensorflow as tf

rng = np.random.default_rng(5)
data = {
    "image": rng.integers(0, 256, (6, 24, 20, 3), np.uint8),
    "segmentation_mask": rng.integers(1, 4, (6, 24, 20, 1), np.uint8),
}


def load(d):
    image = tf.image.resize(d["image"], (16, 16))
    mask = tf.image.resize(d["segmentation_mask"], (16, 16), method=tf.image.ResizeMethod.NEAREST_NEIGHBOR)
    image = tf.cast(image, tf.float32) / 255.0
    mask -= 1
    return image, mask


def mirrored(image, mask):
    return tf.image.flip_left_right(image), tf.image.flip_left_right(mask)


def weighted(image, label):
    weights = tf.constant([2.0, 2.0, 1.0])
    weights = weights / tf.reduce_sum(weights)
    return image, label, tf.gather(weights, indices=tf.cast(label, tf.int32))


train = tf.data.Dataset.from_tensor_slices(data).map(load, num_parallel_calls=tf.data.AUTOTUNE)
both = train.concatenate(train.map(mirrored)).cache().batch(4).repeat(2).prefetch(buffer_size=tf.data.AUTOTUNE)
results = {
    "spec": [list(s.shape) for s in train.element_spec],
    "plain": list(both.take(4).as_numpy_iterator()),
    "weighted": list(train.batch(3).map(weighted).as_numpy_iterator()),
    "classes": [int(tf.reduce_max(m)) for _, m in train.unbatch().batch(24)],
    "boundary": [bool(tf.reduce_any(m != tf.roll(m, shift=1, axis=0))) for _, m in train],
}
