# SPDX-License-Identifier: Apache-2.0
"""Currents: a model with a train_step of its own (two losses, clipped gradients), fitted on data in memory.

Truth: compute-bound, nothing is wrong; the step is a graph.
"""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import keras
import numpy as np
import tensorflow as tf

from stopwatch import StopWatch

FIRST, LAST = 6, 23


class Currents(keras.Model):
    def __init__(self):
        super().__init__()
        self.code, self.undo = keras.layers.Dense(1024, "tanh"), keras.layers.Dense(512)

    def call(self, x):
        return self.undo(self.code(x))

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            given = self(x, training=True)
            loss = tf.reduce_mean(tf.square(given - y)) + 1e-3 * tf.reduce_mean(tf.abs(self.code(x)))
        gradients = tape.gradient(loss, self.trainable_variables)
        gradients, _ = tf.clip_by_global_norm(gradients, 1.0)
        self.optimizer.apply_gradients(zip(gradients, self.trainable_variables))
        return {"loss": loss}


def main():
    tf.config.threading.set_intra_op_parallelism_threads(1)
    keras.utils.set_random_seed(0)
    model = Currents()
    model.compile("adam", jit_compile=False)
    x = np.random.default_rng(0).standard_normal((256 * 26, 512), np.float32)
    watch = StopWatch(FIRST, LAST)
    watch.fit(model, x, x, batch_size=256)
    watch.save()


if __name__ == "__main__":
    main()
