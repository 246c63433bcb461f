# SPDX-License-Identifier: Apache-2.0
"""A tf.function whose learning rate is a Python number that falls with each step. Truth: host-bound, by retracing. Fix:
the rate as a tensor."""

import os

from watch import Watch

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np
import tensorflow as tf


def main():
    watch = Watch(60)
    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.random.set_seed(0)
    weights = [tf.Variable(tf.random.normal((256, 256), stddev=0.05)) for _ in range(4)]

    @tf.function
    def train_step(x, y, rate):
        with tf.GradientTape() as tape:
            h = x
            for w in weights:
                h = tf.nn.relu(h @ w)
            loss = tf.reduce_mean(tf.square(h - y))
        for variable, gradient in zip(weights, tape.gradient(loss, weights)):
            variable.assign_sub(rate * gradient)
        return loss

    rng = np.random.default_rng(0)
    x = rng.standard_normal((64 * 100, 256), np.float32)
    data = tf.data.Dataset.from_tensor_slices((x, np.abs(x))).batch(64).prefetch(2)
    watch.begins()
    for step, (x, y) in enumerate(watch.input(data)):
        watch.fetched()
        rate = 0.1 * 0.99**step
        loss = train_step(x, y, tf.constant(rate) if watch.fixed else rate)
        if watch.ended(loss.numpy()):
            break
    watch.save()


if __name__ == "__main__":
    main()
