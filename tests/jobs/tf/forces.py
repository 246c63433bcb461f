# SPDX-License-Identifier: Apache-2.0
"""Molecules: a custom loop in eager mode, without tf.function: some hundred small operations a step.

Truth: host-bound: the operations are short, calling them one by one is what takes the time; graph_median_us is the
median of the same step as a tf.function, run after the profile. The cure is tf.function.
"""

import os
import statistics
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np
import tensorflow as tf

from stopwatch import StopWatch

WARMUP, STEPS = 5, 12


def main():
    tf.config.threading.set_intra_op_parallelism_threads(1)
    init = tf.initializers.GlorotUniform(seed=0)
    layers = [(tf.Variable(init((32, 32))), tf.Variable(tf.zeros(32))) for _ in range(8)]
    variables = [v for layer in layers for v in layer]
    momenta = [tf.Variable(tf.zeros_like(v)) for v in variables]

    def train_step(atoms, forces):
        with tf.GradientTape() as tape:
            x = atoms
            for weights, bias in layers:
                x = x + tf.tanh(tf.matmul(x, weights) + bias)
            loss = tf.reduce_mean(tf.square(x - forces))
        for variable, momentum, gradient in zip(variables, momenta, tape.gradient(loss, variables)):
            momentum.assign(0.9 * momentum + gradient)
            variable.assign_sub(0.01 * momentum)
        return loss

    rng = np.random.default_rng(0)
    atoms, forces = tf.constant(rng.random((16, 32), np.float32)), tf.constant(rng.random((16, 32), np.float32))
    batches = iter(tf.data.Dataset.from_tensors((atoms, forces)).repeat().prefetch(2))
    watch = StopWatch(WARMUP, STEPS, host_tracer_level=2)
    for step in watch.steps():
        with tf.profiler.experimental.Trace("train", step_num=step, _r=1):
            x, y = next(batches)
            watch.fetched()
            float(train_step(x, y))
    graph, each = tf.function(train_step), []
    for _ in range(40):
        start = time.perf_counter()
        float(graph(*next(batches)))
        each.append(time.perf_counter() - start)
    watch.seconds["graph_median"] = [statistics.median(each)]
    watch.save("tensorflow_cpu")


if __name__ == "__main__":
    main()
