# SPDX-License-Identifier: Apache-2.0
"""Tickets: a custom loop begins a pass over a dataset whose large shuffle buffer is filled first. Step marks.

Truth: one-off: the first step waits while the buffer fills, and holds more than half of the time; the others are well
fed.
"""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import tensorflow as tf

from stopwatch import StopWatch

STEPS = 14


def open_ticket(n):
    pages = tf.random.stateless_uniform([256, 160], tf.stack([n, 0]))
    return tf.reduce_mean(pages, 1), tf.cast(n % 2, tf.float32)


def main():
    tf.config.threading.set_intra_op_parallelism_threads(1)
    first = tf.Variable(tf.random.stateless_normal((256, 4096), (0, 0)) / 16)
    second = tf.Variable(tf.random.stateless_normal((4096, 1), (0, 1)) / 32)

    @tf.function
    def train_step(tickets, sold):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(tf.squeeze(tf.nn.relu(tickets @ first) @ second, 1) - sold))
        for variable, gradient in zip((first, second), tape.gradient(loss, (first, second))):
            variable.assign_sub(1e-3 * gradient)
        return loss

    train_step(tf.zeros((8, 256)), tf.zeros(8))  # traced before
    data = tf.data.Dataset.range(100000).map(open_ticket).shuffle(300).batch(8).prefetch(4)
    batches = iter(data)
    watch = StopWatch(0, STEPS, host_tracer_level=2)
    for step in watch.steps():
        with tf.profiler.experimental.Trace("train", step_num=step, _r=1):
            tickets, sold = next(batches)
            watch.fetched()
            float(train_step(tickets, sold))
    watch.save("tensorflow_cpu")


if __name__ == "__main__":
    main()
