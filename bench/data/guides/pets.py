# SPDX-License-Identifier: Apache-2.0
# Segmentation and mixing at their guides' sizes: image and mask together, mixup, cutout, patches.
import numpy as np
import tensorflow as tf

rng = np.random.default_rng(8)
pictures = np.repeat(np.repeat(rng.integers(0, 256, (8, 16, 16, 3), np.uint8), 16, 1), 16, 2)
masks = np.repeat(np.repeat(rng.integers(1, 4, (8, 16, 16, 1), np.uint8), 16, 1), 16, 2)
ds = tf.data.Dataset.from_tensor_slices({"image": pictures, "mask": masks})


def load(point):
    image = tf.image.resize(point["image"], (128, 128))
    mask = tf.image.resize(point["mask"], (128, 128), method=tf.image.ResizeMethod.NEAREST_NEIGHBOR)
    return tf.cast(image, tf.float32) / 255.0, mask - 1


def both(image, mask):
    turn = tf.random.uniform(()) > 0.5
    image = tf.where(turn, tf.image.flip_left_right(image), image)
    return image, tf.where(turn, tf.image.flip_left_right(mask), mask)


def cutout(image, mask):
    rows, columns = tf.meshgrid(tf.range(128), tf.range(128), indexing="ij")
    inside = tf.logical_and(tf.abs(rows - 40) < 16, tf.abs(columns - 50) < 16)
    return tf.where(inside[..., tf.newaxis], tf.zeros_like(image), image), mask


def mixed(one, two):
    share = tf.random.uniform([16, 1, 1, 1])
    return one[0] * share + two[0] * (1 - share)


def patches(image, mask):
    return tf.image.extract_patches(image[tf.newaxis], [1, 16, 16, 1], [1, 16, 16, 1], [1, 1, 1, 1], "VALID")[0]


loaded = ds.map(load)
batches = loaded.batch(16, drop_remainder=True)
results = {
    "loaded": list(loaded.batch(16).as_numpy_iterator()),
    "both": list(loaded.map(both).batch(16).as_numpy_iterator()),
    "cutout": list(loaded.map(cutout).batch(16).as_numpy_iterator()),
    "mixed": list(tf.data.Dataset.zip((batches, batches)).map(mixed).as_numpy_iterator()),
    "patches": list(loaded.map(patches).batch(16).as_numpy_iterator()),
}
