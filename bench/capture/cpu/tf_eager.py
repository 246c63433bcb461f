# SPDX-License-Identifier: Apache-2.0
"""A training step of many small eager operations. Truth: host-bound. Fix: tf.function."""

import os

from watch import Watch

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np
import tensorflow as tf

RINGS = 24


def main():
    watch = Watch(80)
    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.random.set_seed(0)
    weights = [tf.Variable(tf.random.normal((48, 48), stddev=0.1)) for _ in range(RINGS)]
    biases = [tf.Variable(tf.zeros(48)) for _ in range(RINGS)]

    def train_step(x, y):
        with tf.GradientTape() as tape:
            h = x
            for w, b in zip(weights, biases):
                h = h + 0.1 * tf.tanh(tf.nn.bias_add(h @ w, b))
            loss = tf.reduce_mean(tf.square(h - y))
        variables = weights + biases
        for variable, gradient in zip(variables, tape.gradient(loss, variables)):
            variable.assign_sub(0.01 * gradient)
        return loss

    step = tf.function(train_step) if watch.fixed else train_step
    rng = np.random.default_rng(0)
    x = rng.standard_normal((16 * 100, 48), np.float32)
    data = tf.data.Dataset.from_tensor_slices((x, np.roll(x, 1, 1))).batch(16).prefetch(2)
    watch.begins()
    for x, y in watch.input(data):
        watch.fetched()
        loss = step(x, y)
        if watch.ended(loss.numpy()):
            break
    watch.save()


if __name__ == "__main__":
    main()
