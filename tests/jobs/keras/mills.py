# SPDX-License-Identifier: Apache-2.0
"""Mills: train_on_batch in a loop of the job's own, batches made by numpy; TensorFlow's profiler, no step marks.

Truth: more than half of each step is spent in grind, Python that TensorFlow's tracer does not record. What can be said is
that something is there, and how to see it (a Trace around it).
"""

import os
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import keras
import numpy as np
import tensorflow as tf

import truth

WARMUP, STEPS = 4, 16


def grind(rng):
    corn = rng.standard_normal((64, 15000))
    corn.sort(axis=1)
    return corn[:, ::60].astype(np.float32)


def main():
    tf.config.threading.set_intra_op_parallelism_threads(1)
    keras.utils.set_random_seed(0)
    layers = keras.layers
    model = keras.Sequential([keras.Input((250,)), layers.Dense(768, "relu"), layers.Dense(768), layers.Dense(250)])
    model.compile("adam", "mse", jit_compile=False)
    rng, rows = np.random.default_rng(0), []
    for step in range(WARMUP + STEPS):
        if step == WARMUP:
            tf.profiler.experimental.start("log")
        start = time.perf_counter()
        flour = grind(rng)
        there = time.perf_counter()
        model.train_on_batch(flour, flour)
        rows.append((start, there, time.perf_counter()))
    tf.profiler.experimental.stop()
    truth.save(rows, WARMUP, STEPS, ("tensorflow_cpu", "keras"))


if __name__ == "__main__":
    main()
