# SPDX-License-Identifier: Apache-2.0
"""Streets: a tf.function gets a table of 8 MB that becomes a new tensor in every step (tf.constant of an array).

Truth: host-bound, in making the constant, about half of the step; the cure is to keep the tensor. Step marks, tf.data.
"""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np
import tensorflow as tf

from stopwatch import StopWatch

WARMUP, STEPS = 4, 10


def main():
    tf.config.threading.set_intra_op_parallelism_threads(1)
    rng = np.random.default_rng(0)
    distances = rng.random((2000, 1000))  # of float64: the constant is converted, too
    weights = tf.Variable(tf.random.stateless_normal((1000, 128), (0, 0)))

    @tf.function
    def train_step(streets, table):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(tf.gather(table, streets) @ weights))
        weights.assign_sub(1e-3 * tape.gradient(loss, weights))
        return loss

    streets = tf.data.Dataset.from_tensor_slices(rng.integers(0, 2000, 4096)).repeat().batch(512).prefetch(2)
    batches = iter(streets)
    watch = StopWatch(WARMUP, STEPS, host_tracer_level=2)
    for step in watch.steps():
        with tf.profiler.experimental.Trace("train", step_num=step, _r=1):
            batch = next(batches)
            watch.fetched()
            with watch.timed("constant"):
                table = tf.constant(distances, tf.float32)
            float(train_step(batch, table))
    watch.save("tensorflow_cpu")


if __name__ == "__main__":
    main()
