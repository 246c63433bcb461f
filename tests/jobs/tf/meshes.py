# SPDX-License-Identifier: Apache-2.0
"""Meshes: a tf.function gets meshes of ever other numbers of points, from tf.data, and is traced for each shape.

Truth: host-bound by tracing: advance is retraced nearly every step, for the shape of points. The cure is a
signature with an open dimension (or reduce_retracing).
"""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np
import tensorflow as tf

from stopwatch import StopWatch

WARMUP, STEPS = 3, 16


def meshes():
    rng = np.random.default_rng(0)
    for n in range(WARMUP + STEPS):
        yield rng.random((500 + 7 * n, 3), np.float32)


def main():
    tf.config.threading.set_intra_op_parallelism_threads(1)
    sizes = (3, 64, 64, 64, 3)
    layers = [tf.Variable(tf.random.stateless_normal(s, (0, n))) for n, s in enumerate(zip(sizes, sizes[1:]))]

    @tf.function
    def advance(points):
        with tf.GradientTape() as tape:
            x = points
            for weights in layers:
                x = tf.tanh(x @ weights)
            loss = tf.reduce_mean(tf.square(x - points))
        for variable, gradient in zip(layers, tape.gradient(loss, layers)):
            variable.assign_sub(1e-3 * gradient)
        return loss

    stored = [tf.constant(mesh) for mesh in meshes()]
    watch = StopWatch(WARMUP, STEPS, host_tracer_level=2)
    for step in watch.steps():
        with tf.profiler.experimental.Trace("train", step_num=step, _r=1):
            float(advance(stored[step]))
    watch.save("tensorflow_cpu")


if __name__ == "__main__":
    main()
