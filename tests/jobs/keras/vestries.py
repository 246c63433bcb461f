# SPDX-License-Identifier: Apache-2.0
"""Vestries: a Model with a train_step of its own (GradientTape, a second loss), arrays in memory.

Truth: compute-bound; healthy.
"""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import keras
import numpy as np
import tensorflow as tf

from stopwatch import StopWatch

FIRST, LAST, STEPS = 6, 17, 20


class TwoLosses(keras.Model):
    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            h = self.body(x, training=True)
            loss = tf.reduce_mean(tf.square(self.head(h) - y)) + 1e-4 * tf.reduce_mean(tf.square(h))
        variables = self.trainable_variables
        self.optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
        return {"loss": loss}


def main():
    tf.config.threading.set_intra_op_parallelism_threads(1)
    keras.utils.set_random_seed(0)
    layers = keras.layers
    model = TwoLosses()
    model.body = keras.Sequential([keras.Input((512,)), layers.Dense(1024, "relu"), layers.Dense(1024, "relu")])
    model.head = layers.Dense(4)
    model.head.build((None, 1024))
    model.built = True
    model.compile(optimizer="sgd", jit_compile=False)
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((64 * STEPS, 512), np.float32), rng.standard_normal((64 * STEPS, 4), np.float32)
    watch = StopWatch(FIRST, LAST)
    watch.fit(model, x, y, batch_size=64)
    watch.save()


if __name__ == "__main__":
    main()
