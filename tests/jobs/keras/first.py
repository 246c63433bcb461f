# SPDX-License-Identifier: Apache-2.0
"""Leaves: model.fit profiled from its first batch on, as profile_batch=(1, 20) of many a tutorial does.

Truth: cold-start: the first step traces and builds the graph, and holds more than half of the time; the others are well
fed. It is a graph already.
"""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import keras
import numpy as np
import tensorflow as tf

from stopwatch import StopWatch

FIRST, LAST = 1, 20


def main():
    tf.config.threading.set_intra_op_parallelism_threads(1)
    keras.utils.set_random_seed(0)
    layers = keras.layers
    model = keras.Sequential([keras.Input((28, 28, 1))])
    for filters in (16, 32):
        model.add(layers.Conv2D(filters, 3, activation="relu"))
        model.add(layers.BatchNormalization())
    model.add(layers.GlobalMaxPooling2D())
    model.add(layers.Dense(5))
    model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True), jit_compile=False)
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((16 * 24, 28, 28, 1), np.float32), rng.integers(0, 5, 16 * 24)
    watch = StopWatch(FIRST, LAST)
    watch.fit(model, x, y, batch_size=16)
    watch.save()


if __name__ == "__main__":
    main()
