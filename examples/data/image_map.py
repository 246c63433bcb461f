# SPDX-License-Identifier: Apache-2.0
"""Images in memory, augmented by a map: in Python for each image, then by native operations.

A function that uses NumPy or Python's own loops runs in the interpreter, one image at a time. With `sd` operations
instead, it is traced and runs as native code on all cores.
"""

import functools

import numpy as np
import stoker.data as sd

import timing

BATCH = 64


@functools.lru_cache
def images(is_small):
    n = 256 if is_small else 16384
    rng = np.random.default_rng(0)
    return rng.integers(0, 256, (n, 32, 32, 3), np.uint8), rng.integers(0, 10, n)


def train(ds):
    n = 0
    for batch, _ in timing.steps(ds):
        timing.device_step(0.001)
        n += len(batch)
    return n


def augment_in_python(image):
    """One image, in NumPy code, step by step."""
    if np.random.random() < 0.5:
        image = image[:, ::-1]
    image = image.astype(np.float32) / 255
    image = (image - image.mean()) * np.random.uniform(0.8, 1.2) + image.mean()
    return np.clip((image - 0.45) / 0.22, -3, 3).astype(np.float32)


def before(is_small):
    """stoker.data, map of a NumPy function"""
    ds = sd.Dataset.from_tensor_slices(images(is_small))
    ds = ds.map(
        lambda x, y: (
            sd.ensure_shape(sd.numpy_function(augment_in_python, [x], "float32"), [32, 32, 3]),
            y,
        )
    )
    return train(ds.batch(BATCH))


def after(is_small):
    """stoker.data, map of native operations, prefetch"""

    def augment(x, y):
        x = sd.cast(sd.image.random_flip_left_right(x), "float32") / 255.0
        x = sd.image.random_contrast(x, 0.8, 1.2)
        return sd.clip_by_value((x - 0.45) / 0.22, -3.0, 3.0), y

    ds = sd.Dataset.from_tensor_slices(images(is_small)).map(augment, sd.AUTOTUNE)
    return train(ds.batch(BATCH).prefetch(sd.AUTOTUNE))


def tf_before(is_small):
    """TensorFlow, tf.numpy_function"""
    import tensorflow as tf

    ds = tf.data.Dataset.from_tensor_slices(images(is_small))
    ds = ds.map(
        lambda x, y: (
            tf.ensure_shape(tf.numpy_function(augment_in_python, [x], tf.float32), [32, 32, 3]),
            y,
        )
    )
    return train(ds.batch(BATCH))


def tf_after(is_small):
    """TensorFlow, map of its operations, prefetch"""
    import tensorflow as tf

    def augment(x, y):
        x = tf.cast(tf.image.random_flip_left_right(x), tf.float32) / 255.0
        x = tf.image.random_contrast(x, 0.8, 1.2)
        return tf.clip_by_value((x - 0.45) / 0.22, -3.0, 3.0), y

    ds = tf.data.Dataset.from_tensor_slices(images(is_small)).map(augment, tf.data.AUTOTUNE)
    return train(ds.batch(BATCH).prefetch(tf.data.AUTOTUNE))


if __name__ == "__main__":
    timing.main(
        __doc__.split("\n")[0], [before, after, tf_before, tf_after], "images", prepare=images
    )
