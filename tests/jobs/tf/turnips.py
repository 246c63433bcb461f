# SPDX-License-Identifier: Apache-2.0
"""Turnips: the loop augments its images one by one with tf.image, eagerly, and stacks them, before a compiled step. Step marks.

Truth: operations that run one by one, before the step: to be a tf.data map, or a tf.function. Input or host, as one likes.
"""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np
import tensorflow as tf

from stopwatch import StopWatch

WARMUP, STEPS = 3, 8


def augment(image):
    image = tf.image.flip_left_right(image)
    image = tf.image.adjust_brightness(image, 0.1)
    image = tf.image.adjust_contrast(image, 1.2)
    return tf.image.resize(image, (32, 32))


def main():
    tf.config.threading.set_intra_op_parallelism_threads(1)
    rng = np.random.default_rng(0)
    images = [tf.constant(rng.random((48, 48, 3), np.float32)) for _ in range(16)]
    w = tf.Variable(tf.random.stateless_normal((32 * 32 * 3, 32), (0, 1)) / 50)

    @tf.function
    def train_step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(tf.tanh(tf.reshape(x, (16, -1)) @ w)))
        w.assign_sub(1e-3 * tape.gradient(loss, w))
        return loss

    watch = StopWatch(WARMUP, STEPS)
    for step in watch.steps():
        with tf.profiler.experimental.Trace("train", step_num=step, _r=1):
            x = tf.stack([augment(image) for image in images])
            float(train_step(x))
    watch.save("tensorflow_cpu")


if __name__ == "__main__":
    main()
