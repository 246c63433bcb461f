# SPDX-License-Identifier: Apache-2.0
"""A static dataset that fits in memory: prepared once, kept where it is used, read again in each epoch.

"before" prepares each row in each epoch; "after" prepares once and keeps the batches on the GPU, or in CPU memory
without a GPU: the same code runs.
"""

import functools
import warnings

import numpy as np
import stoker.data as sd

import timing

EPOCHS, BATCH = 5, 128


@functools.lru_cache
def raw(is_small):
    n = 512 if is_small else 20_000
    rng = np.random.default_rng(0)
    return rng.integers(0, 256, (n, 28 * 28), np.uint8), rng.integers(0, 10, n)


def prepare(x, y):
    x = sd.cast(x, "float32") / 255.0
    x = (x - sd.reduce_mean(x)) / sd.sqrt(sd.reduce_mean(sd.square(x)) + 1e-6)
    return sd.tanh(x), sd.one_hot(y, 10)


def go_through(epochs):
    return sum(len(x) for epoch in epochs for x, _ in timing.steps(epoch))


def before(is_small):
    """stoker.data, prepared again in each of 5 epochs"""
    ds = sd.Dataset.from_tensor_slices(raw(is_small)).map(prepare)
    ds = ds.shuffle(4096).batch(BATCH)
    return go_through(ds for _ in range(EPOCHS))


def after(is_small):
    """stoker.data, prepared once and kept, on the device if there is one"""
    ds = sd.Dataset.from_tensor_slices(raw(is_small)).map(prepare, sd.AUTOTUNE).shuffle(4096)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # without a GPU: batches stay in CPU memory
        kept = ds.batch(BATCH).to_device("cuda:0", keep=True)
    return go_through(kept for _ in range(EPOCHS))


def in_cache(is_small):
    """stoker.data, cache(): the same in the pipeline, in CPU memory"""
    ds = sd.Dataset.from_tensor_slices(raw(is_small)).map(prepare, sd.AUTOTUNE).batch(BATCH).cache()
    return go_through(ds for _ in range(EPOCHS))


def tf_prepare(x, y):
    import tensorflow as tf

    x = tf.cast(x, tf.float32) / 255.0
    x = (x - tf.reduce_mean(x)) / tf.sqrt(tf.reduce_mean(tf.square(x)) + 1e-6)
    return tf.tanh(x), tf.one_hot(y, 10)


def tf_before(is_small):
    """TensorFlow, prepared again in each of 5 epochs"""
    import tensorflow as tf

    ds = tf.data.Dataset.from_tensor_slices(raw(is_small)).map(tf_prepare)
    ds = ds.shuffle(4096).batch(BATCH)
    return go_through(ds for _ in range(EPOCHS))


def tf_after(is_small):
    """TensorFlow, cache after the first epoch"""
    import tensorflow as tf

    ds = tf.data.Dataset.from_tensor_slices(raw(is_small)).map(tf_prepare, tf.data.AUTOTUNE)
    ds = ds.batch(BATCH).cache().prefetch(tf.data.AUTOTUNE)
    return go_through(ds for _ in range(EPOCHS))


if __name__ == "__main__":
    timing.main(
        __doc__.split("\n")[0],
        [before, in_cache, after, tf_before, tf_after],
        "rows",
        prepare=raw,
    )
