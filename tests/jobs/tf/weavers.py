# SPDX-License-Identifier: Apache-2.0
"""Weavers: eight optimizer steps in one tf.function (for in tf.range) over an iterator of a cached pipeline; a mark a call.

Truth: compute-bound; healthy.
"""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np
import tensorflow as tf

from stopwatch import StopWatch

WARMUP, STEPS, INNER = 2, 8, 8


def main():
    tf.config.threading.set_intra_op_parallelism_threads(1)
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((64 * 40, 256), np.float32)
    data = tf.data.Dataset.from_tensor_slices(rows).batch(64).cache().repeat().prefetch(4)
    weights = [tf.Variable(tf.random.stateless_normal((256, 256), (0, n)) / 16) for n in range(4)]

    @tf.function
    def train_steps(batches):
        loss = 0.0
        for _ in tf.range(INNER):
            x = next(batches)
            with tf.GradientTape() as tape:
                h = x
                for w in weights:
                    h = tf.nn.relu(h @ w)
                loss = tf.reduce_mean(tf.square(h - x))
            for w, g in zip(weights, tape.gradient(loss, weights)):
                w.assign_sub(1e-3 * g)
        return loss

    batches = iter(data)
    watch = StopWatch(WARMUP, STEPS)
    for step in watch.steps():
        with tf.profiler.experimental.Trace("train", step_num=step, _r=1):
            float(train_steps(batches))
    watch.save("tensorflow_cpu")


if __name__ == "__main__":
    main()
