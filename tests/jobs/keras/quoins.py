# SPDX-License-Identifier: Apache-2.0
"""Quoins: a small convolutional model by the functional API, float32, data in memory, a LearningRateScheduler and EarlyStopping.

Truth: compute-bound; healthy.
"""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import keras
import numpy as np
import tensorflow as tf

from stopwatch import StopWatch

FIRST, LAST, STEPS = 6, 15, 18


def main():
    tf.config.threading.set_intra_op_parallelism_threads(1)
    keras.utils.set_random_seed(0)
    layers = keras.layers
    images = keras.Input((48, 48, 3))
    h = layers.Conv2D(16, 3, activation="relu")(images)
    h = layers.MaxPooling2D()(layers.Conv2D(32, 3, activation="relu")(h))
    model = keras.Model(images, layers.Dense(5)(layers.GlobalAveragePooling2D()(h)))
    model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True), jit_compile=False)
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((16 * STEPS, 48, 48, 3), np.float32), rng.integers(0, 5, 16 * STEPS)
    callbacks = [keras.callbacks.LearningRateScheduler(lambda epoch: 1e-3), keras.callbacks.EarlyStopping("loss")]
    watch = StopWatch(FIRST, LAST)
    watch.fit(model, x, y, batch_size=16, callbacks=callbacks)
    watch.save()


if __name__ == "__main__":
    main()
