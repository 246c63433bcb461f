# SPDX-License-Identifier: Apache-2.0
"""Traffic: a custom loop passes its learning rate, a Python number that decays, to a tf.function.

Truth: host-bound by tracing: train_step is retraced in each step, for its argument rate. The cure is a tensor; it is
a graph already, and running it eagerly or under XLA would make it slower.
"""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np
import tensorflow as tf

from stopwatch import StopWatch

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
    rate = 0.1
    watch = StopWatch(WARMUP, STEPS, host_tracer_level=2)
    for step in watch.steps():
        with tf.profiler.experimental.Trace("train", step_num=step, _r=1):
            x, y = next(batches)
            watch.fetched()
            float(train_step(x, y, rate))
        rate *= 0.99
    watch.save("tensorflow_cpu")


if __name__ == "__main__":
    main()
