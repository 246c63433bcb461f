# SPDX-License-Identifier: Apache-2.0
"""Sandbars: after every fourth step the model is written as a SavedModel for those who serve it (tf.saved_model.save), which traces its functions and
writes files. Data from a prefetched data set in memory. Step marks.

Truth: host-bound, by tf.saved_model.save, which takes more than half of the time; every fourth step is long, the others are well.
"""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np
import tensorflow as tf

from stopwatch import StopWatch

WARMUP, STEPS, BATCH = 5, 12, 128


class Tide(tf.Module):
    def __init__(self):
        super().__init__()
        self.w = tf.Variable(tf.random.stateless_normal((64, 512), (0, 1)) / 8)
        self.v = tf.Variable(tf.random.stateless_normal((512, 512), (0, 2)) / 22)
        self.u = tf.Variable(tf.random.stateless_normal((512, 1), (0, 3)) / 22)

    @tf.function(input_signature=[tf.TensorSpec((None, 64))])
    def __call__(self, x):
        return tf.nn.relu(tf.nn.relu(x @ self.w) @ self.v) @ self.u


def main():
    tf.config.threading.set_intra_op_parallelism_threads(1)
    rng = np.random.default_rng(0)
    x, y = rng.random((BATCH * 20, 64), np.float32), rng.random((BATCH * 20, 1), np.float32)
    dataset = tf.data.Dataset.from_tensor_slices((x, y)).batch(BATCH).cache().repeat().prefetch(tf.data.AUTOTUNE)
    model = Tide()
    optimizer = tf.keras.optimizers.Adam(1e-3)
    optimizer.build(model.trainable_variables)

    @tf.function
    def train_step(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((model(x) - y) ** 2)
        optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
        return loss

    iterator = iter(dataset)
    watch = StopWatch(WARMUP, STEPS)
    for step in watch.steps():
        with tf.profiler.experimental.Trace("train", step_num=step, _r=1):
            x, y = next(iterator)
            watch.fetched()
            train_step(x, y).numpy()
            if step % 4 == 0:
                with watch.timed("saved_model"):
                    tf.saved_model.save(model, "serving")
    watch.save("tensorflow_cpu")


if __name__ == "__main__":
    main()
