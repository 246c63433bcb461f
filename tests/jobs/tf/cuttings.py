# SPDX-License-Identifier: Apache-2.0
"""Cuttings: a study of learning rates makes a new tf.function for each of them, every four steps. Step marks.

Truth: host-bound: the function is traced again each time, and that takes most of the time.
"""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import tensorflow as tf

from stopwatch import StopWatch

WARMUP, STEPS, EACH = 4, 16, 4


def make_train_step(weights, rate):
    @tf.function
    def train_step(shoots):
        with tf.GradientTape() as tape:
            grown = shoots
            for matrix in weights:
                grown = tf.nn.tanh(tf.linalg.matmul(grown, matrix))
            loss = tf.reduce_mean(tf.square(grown))
        for matrix, gradient in zip(weights, tape.gradient(loss, weights)):
            matrix.assign_sub(rate * gradient)
        return loss

    return train_step


def main():
    tf.config.threading.set_intra_op_parallelism_threads(1)
    weights = [tf.Variable(tf.random.stateless_normal((96, 96), (0, n)) / 10) for n in range(8)]
    shoots = tf.random.stateless_normal((256, 96), (1, 1))
    watch = StopWatch(WARMUP, STEPS, host_tracer_level=2)
    train_step = None
    for step in watch.steps():
        with tf.profiler.experimental.Trace("train", step_num=step, _r=1):
            if step % EACH == 0:
                train_step = make_train_step(weights, 0.1 / (step + 1))
            float(train_step(shoots))
    watch.save("tensorflow_cpu")


if __name__ == "__main__":
    main()
