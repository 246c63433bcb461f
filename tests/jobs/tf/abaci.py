# SPDX-License-Identifier: Apache-2.0
"""Abaci: gradients of four micro-batches are added up in variables, by one tf.function, and applied by another; data in memory,
in a cached, shuffled, prefetched pipeline. Step marks.

Truth: compute-bound; healthy.
"""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np
import tensorflow as tf

from stopwatch import StopWatch

WARMUP, STEPS, MICRO = 3, 8, 4


def main():
    tf.config.threading.set_intra_op_parallelism_threads(1)
    rng = np.random.default_rng(0)
    data = tf.data.Dataset.from_tensor_slices(rng.standard_normal((512, 512), np.float32))
    batches = iter(data.cache().shuffle(512).repeat().batch(64).prefetch(4))
    weights = [tf.Variable(tf.random.stateless_normal((512, 512), (0, n)) / 22) for n in range(3)]
    sums = [tf.Variable(tf.zeros_like(w), trainable=False) for w in weights]

    @tf.function
    def accumulate(x):
        with tf.GradientTape() as tape:
            h = x
            for w in weights:
                h = tf.nn.relu(h @ w)
            loss = tf.reduce_mean(tf.square(h - x))
        for s, g in zip(sums, tape.gradient(loss, weights)):
            s.assign_add(g / MICRO)
        return loss

    @tf.function
    def apply():
        for w, s in zip(weights, sums):
            w.assign_sub(1e-2 * s)
            s.assign(tf.zeros_like(s))

    watch = StopWatch(WARMUP, STEPS)
    for step in watch.steps():
        with tf.profiler.experimental.Trace("train", step_num=step, _r=1):
            for _ in range(MICRO):
                with watch.waiting():
                    x = next(batches)
                accumulate(x)
            apply()
    watch.save("tensorflow_cpu")


if __name__ == "__main__":
    main()
