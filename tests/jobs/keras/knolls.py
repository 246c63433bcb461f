# SPDX-License-Identifier: Apache-2.0
"""Knolls: a small convolutional network by the functional interface, with two outputs; images cached and prefetched.

Truth: compute-bound; healthy.
"""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import keras
import numpy as np
import tensorflow as tf

from stopwatch import StopWatch

FIRST, LAST, STEPS = 5, 12, 14


def main():
    tf.config.threading.set_intra_op_parallelism_threads(1)
    keras.utils.set_random_seed(0)
    layers = keras.layers
    images = keras.Input((32, 32, 3))
    h = images
    for width in (16, 32):
        h = layers.Conv2D(width, 3, padding="same")(h)
        h = layers.BatchNormalization()(h)
        h = layers.ReLU()(h)
        h = layers.MaxPooling2D()(h)
    h = layers.Flatten()(h)
    model = keras.Model(images, {"kind": layers.Dense(5, name="kind")(h), "age": layers.Dense(1, name="age")(h)})
    kinds = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile("adam", {"kind": kinds, "age": "mse"}, jit_compile=False)
    rng = np.random.default_rng(0)
    x = rng.standard_normal((32 * STEPS, 32, 32, 3), np.float32)
    y = {"kind": rng.integers(0, 5, 32 * STEPS), "age": rng.standard_normal((32 * STEPS, 1), np.float32)}
    data = tf.data.Dataset.from_tensor_slices((x, y)).batch(32).cache().prefetch(2)
    for _ in data:
        pass
    watch = StopWatch(FIRST, LAST)
    watch.fit(model, data)
    watch.save()


if __name__ == "__main__":
    main()
