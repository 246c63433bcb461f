# SPDX-License-Identifier: Apache-2.0
"""Springs: cache() behind a slow map: the first pass of eight steps fills it, later ones come from memory. Step marks.

Truth: input-bound in the first eight steps, which hold most of the time; from the ninth on all is well. Nothing recurs.
"""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import tensorflow as tf

from stopwatch import StopWatch

STEPS, EACH = 20, 8


def draw_water(n):
    drops = tf.random.stateless_normal([60000], tf.stack([n, 1]))
    return tf.sort(drops)[::240]


def main():
    tf.config.threading.set_intra_op_parallelism_threads(1)
    first = tf.Variable(tf.random.stateless_normal((250, 768), (0, 0)) / 16)
    second = tf.Variable(tf.random.stateless_normal((768, 1), (0, 1)) / 16)

    @tf.function
    def train_step(water):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(tf.nn.relu(water @ first) @ second))
        for variable, gradient in zip((first, second), tape.gradient(loss, (first, second))):
            variable.assign_sub(1e-3 * gradient)
        return loss

    train_step(tf.zeros((16, 250)))  # traced before
    data = tf.data.Dataset.range(16 * EACH).map(draw_water).cache().shuffle(16).repeat().batch(16).prefetch(1)
    batches = iter(data)
    watch = StopWatch(0, STEPS, host_tracer_level=2)
    for step in watch.steps():
        with tf.profiler.experimental.Trace("train", step_num=step, _r=1):
            water = next(batches)
            watch.fetched()
            float(train_step(water))
    watch.save("tensorflow_cpu")


if __name__ == "__main__":
    main()
