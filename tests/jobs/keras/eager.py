# SPDX-License-Identifier: Apache-2.0
"""Bridges: a model that was compiled with run_eagerly=True to look for a mistake, and left so. Data in memory.

Truth: host-bound: hundreds of small operations are called one by one. graph is the same step as a graph.
"""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import keras
import numpy as np
import tensorflow as tf

from stopwatch import StopWatch, median_step_s

FIRST, LAST, STEPS = 4, 7, 9


def main():
    tf.config.threading.set_intra_op_parallelism_threads(1)
    keras.utils.set_random_seed(0)
    layers = keras.layers
    model = keras.Sequential([keras.Input((32,)), *[layers.Dense(32, "relu") for _ in range(4)], layers.Dense(1)])
    model.compile("adam", "mse", run_eagerly=True)
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((32 * STEPS, 32), np.float32), rng.standard_normal((32 * STEPS, 1), np.float32)
    watch = StopWatch(FIRST, LAST)
    watch.fit(model, x, y, batch_size=32)
    model.compile("adam", "mse", jit_compile=False)
    watch.seconds["graph"] = [median_step_s(model, (x[:32], y[:32]))]
    watch.save()


if __name__ == "__main__":
    main()
