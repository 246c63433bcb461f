# SPDX-License-Identifier: Apache-2.0
"""Folds: a custom loop around a tf.function, tf.data from memory, prefetched. Step marks.

Truth: compute-bound, nothing is wrong.
"""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np
import tensorflow as tf

from stopwatch import StopWatch

WARMUP, STEPS = 4, 20


def main():
    tf.config.threading.set_intra_op_parallelism_threads(1)
    sizes = (256, 1024, 512, 1)
    layers = [tf.Variable(tf.random.stateless_normal(s, (0, n)) / 16) for n, s in enumerate(zip(sizes, sizes[1:]))]

    @tf.function
    def train_step(chains, scores):
        with tf.GradientTape() as tape:
            x = chains
            for weights in layers:
                x = tf.nn.gelu(x @ weights)
            loss = tf.reduce_mean(tf.square(x - scores))
        for variable, gradient in zip(layers, tape.gradient(loss, layers)):
            variable.assign_sub(1e-4 * gradient)
        return loss

    rng = np.random.default_rng(0)
    chains, scores = rng.random((2048, 256), np.float32), rng.random((2048, 1), np.float32)
    batches = iter(tf.data.Dataset.from_tensor_slices((chains, scores)).repeat().batch(192).prefetch(2))
    watch = StopWatch(WARMUP, STEPS, host_tracer_level=2)
    for step in watch.steps():
        with tf.profiler.experimental.Trace("train", step_num=step, _r=1):
            x, y = next(batches)
            watch.fetched()
            float(train_step(x, y))
    watch.save("tensorflow_cpu")


if __name__ == "__main__":
    main()
