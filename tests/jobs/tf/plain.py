# SPDX-License-Identifier: Apache-2.0
"""Voices: a custom loop without step marks and without tf.data; each batch is made by numpy before the tf.function.

Truth: two thirds of each step are spent in next_clip, Python that TensorFlow's tracer does not record. The steps are
the repeating call of the function. What can be said is that something is there, and how to see it (a Trace around it).
"""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np
import tensorflow as tf

from stopwatch import StopWatch

WARMUP, STEPS = 4, 24


def next_clip(rng):
    wave = rng.standard_normal((32, 8192))
    return np.abs(np.fft.rfft(wave))[:, :1024].astype(np.float32)


def main():
    tf.config.threading.set_intra_op_parallelism_threads(1)
    first = tf.Variable(tf.random.stateless_normal((1024, 512), (0, 0)) / 32)
    second = tf.Variable(tf.random.stateless_normal((512, 1024), (0, 1)) / 32)

    @tf.function
    def train_step(clips):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(tf.nn.relu(clips @ first) @ second - clips))
        for variable, gradient in zip((first, second), tape.gradient(loss, (first, second))):
            variable.assign_sub(1e-6 * gradient)
        return loss

    rng = np.random.default_rng(0)
    watch = StopWatch(WARMUP, STEPS)
    for step in watch.steps():
        clips = next_clip(rng)
        watch.fetched()
        float(train_step(tf.convert_to_tensor(clips)))
    watch.save("tensorflow_cpu")


if __name__ == "__main__":
    main()
