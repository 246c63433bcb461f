# SPDX-License-Identifier: Apache-2.0
"""Reeds: tf.train.Checkpoint.write after every third step of a custom loop. Step marks, data in memory.

Truth: host-bound, by the checkpoints, more than half of the time; every third step is long.
"""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import tensorflow as tf

from stopwatch import StopWatch

WARMUP, STEPS, EVERY = 3, 15, 3


def main():
    tf.config.threading.set_intra_op_parallelism_threads(1)
    weights = [tf.Variable(tf.random.stateless_normal((512, 512), (0, n)) / 16) for n in range(6)]
    checkpoint = tf.train.Checkpoint(weights=weights)

    @tf.function
    def train_step(reeds):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(tf.nn.relu(reeds @ weights[0]) @ weights[1]))
        for variable, gradient in zip(weights, tape.gradient(loss, weights[:2])):
            variable.assign_sub(1e-3 * gradient)
        return loss

    reeds = tf.random.stateless_normal((64, 512), (1, 1))
    watch = StopWatch(WARMUP, STEPS, host_tracer_level=2)
    for step in watch.steps():
        with tf.profiler.experimental.Trace("train", step_num=step, _r=1):
            float(train_step(reeds))
            if step % EVERY == EVERY - 1:
                with watch.timed("checkpoint"):
                    checkpoint.write("reeds")
    watch.save("tensorflow_cpu")


if __name__ == "__main__":
    main()
