# SPDX-License-Identifier: Apache-2.0
"""Traffic: a custom loop passes its learning rate, a Python number that decays, to a tf.function.

Truth: host-bound by tracing: train_step is traced anew in each step, for its argument rate. The cure is a tensor; it is
a graph already, and running it eagerly or under XLA would make it slower.
"""

import os
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np
import tensorflow as tf

import truth

WARMUP, STEPS = 3, 16


def make_variables():
    sizes = (128, 256, 128, 1)
    init = tf.initializers.GlorotUniform(seed=0)
    return [(tf.Variable(init((m, n))), tf.Variable(tf.zeros(n))) for m, n in zip(sizes, sizes[1:])]


def main():
    tf.config.threading.set_intra_op_parallelism_threads(1)
    layers = make_variables()
    variables = [v for layer in layers for v in layer]

    @tf.function
    def train_step(counts, speeds, rate):
        with tf.GradientTape() as tape:
            x = counts
            for weights, bias in layers:
                x = tf.nn.elu(x @ weights + bias)
            loss = tf.reduce_mean(tf.square(x - speeds))
        for variable, gradient in zip(variables, tape.gradient(loss, variables)):
            variable.assign_sub(rate * gradient)
        return loss

    rng = np.random.default_rng(0)
    counts, speeds = rng.random((2048, 128), np.float32), rng.random((2048, 1), np.float32)
    batches = iter(tf.data.Dataset.from_tensor_slices((counts, speeds)).repeat().batch(256).prefetch(2))
    rows, rate = [], 0.1
    options = tf.profiler.experimental.ProfilerOptions(host_tracer_level=2)
    for step in range(WARMUP + STEPS):
        if step == WARMUP:
            tf.profiler.experimental.start("log", options)
        start = time.perf_counter()
        with tf.profiler.experimental.Trace("train", step_num=step, _r=1):
            x, y = next(batches)
            fetched = time.perf_counter()
            float(train_step(x, y, rate))
        rate *= 0.99
        rows.append((start, fetched, time.perf_counter()))
    tf.profiler.experimental.stop()
    truth.save(rows, WARMUP, STEPS, ["tensorflow_cpu"])


if __name__ == "__main__":
    main()
