# SPDX-License-Identifier: Apache-2.0
"""Comics: a custom loop over Dataset.from_generator, whose generator reads from far away (a sleep). Step marks.

Truth: input-bound, in the generator draw_strips; prefetch alone does not help, for the model is much faster.
"""

import os
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np
import tensorflow as tf

from stopwatch import StopWatch

WARMUP, STEPS = 4, 20


def draw_strips():
    rng = np.random.default_rng(0)
    while True:
        time.sleep(0.0015)
        yield rng.random(512, np.float32)


def main():
    tf.config.threading.set_intra_op_parallelism_threads(1)
    weights = tf.Variable(tf.random.stateless_normal((512, 256), (0, 0)) / 16)

    @tf.function
    def train_step(strips):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(strips @ weights @ tf.transpose(weights) - strips))
        weights.assign_sub(1e-4 * tape.gradient(loss, weights))
        return loss

    data = tf.data.Dataset.from_generator(draw_strips, output_signature=tf.TensorSpec((512,), tf.float32))
    batches = iter(data.batch(16).prefetch(tf.data.AUTOTUNE))
    watch = StopWatch(WARMUP, STEPS, host_tracer_level=2)
    for step in watch.steps():
        with tf.profiler.experimental.Trace("train", step_num=step, _r=1):
            strips = next(batches)
            watch.fetched()
            float(train_step(strips))
    watch.save("tensorflow_cpu")


if __name__ == "__main__":
    main()
