# SPDX-License-Identifier: Apache-2.0
"""Pairs with Keras's model.fit on the CPU, run by alternate.py. A block is a call of fit; its step is measured from
start to start, by a callback after the others."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import keras
import numpy as np
import tensorflow as tf

import alternate
from stopwatch import StopWatch
from tf_samples import generated, samples, stored

FIRST, LAST = 8, 27


class Norms(keras.callbacks.Callback):
    """Norms of all weights, every so many steps."""

    def __init__(self, every):
        super().__init__()
        self.every = every

    def on_train_batch_end(self, batch, logs=None):
        if batch % self.every == 0:
            for weights in self.model.get_weights():
                np.quantile(np.abs(weights.ravel()[::2]), [0.1, 0.5, 0.9])


class Copies(keras.callbacks.Callback):
    """Copies of all weights, the least and the largest, every so many steps."""

    def __init__(self, every):
        super().__init__()
        self.every, self.kept = every, []

    def on_train_batch_end(self, batch, logs=None):
        if batch % self.every == 0:
            self.kept = [np.sort(weights.ravel()[::4]) for weights in self.model.get_weights()]


def fitted(data, *callbacks):
    """A compiled model, its data and its callbacks."""
    keras.utils.set_random_seed(0)
    dense = keras.layers.Dense
    layers = [dense(512, activation="gelu"), dense(512, activation="gelu"), dense(1)]
    model = keras.Sequential([keras.Input((256,)), *layers])
    model.compile("adam", "mse", jit_compile=False)
    return model, data, callbacks


def fed(changed):
    """A map processes batches, without prefetch; changed: one constant batch."""
    return fitted(samples(4, constant=changed))


def read_ahead(changed):
    """A map processes batches, without prefetch; changed: prefetch(2)."""
    return fitted(samples(4, prefetch=2 if changed else 0))


def reported(changed):
    """A callback examines all weights after each step; changed: after every tenth."""
    return fitted(samples(1), Norms(10 if changed else 1))


def awaited(changed):
    """Each batch waits for a store; changed: prefetch(2)."""
    return fitted(stored(2 if changed else 0, wait_s=0.006))


def scripted(changed):
    """A Python generator makes the batches; changed: one constant batch."""
    return fitted(generated(3, constant=changed))


def lightened(changed):
    """A map processes batches; changed: half of the work."""
    return fitted(samples(5 if changed else 10))


def copied(changed):
    """A callback copies all weights after each step; changed: after every tenth."""
    return fitted(samples(1), Copies(10 if changed else 1))


def block_ms(arm):
    model, data, callbacks = arm
    watch = StopWatch()
    steps = alternate.SETTLE + alternate.BLOCK + 1
    model.fit(data, steps_per_epoch=steps, verbose=0, callbacks=[*callbacks, watch])
    return (watch.rows[-1][0] - watch.rows[alternate.SETTLE][0]) * 1000 / alternate.BLOCK


def record(arm):
    model, data, callbacks = arm
    StopWatch(FIRST, LAST).fit(model, data, callbacks=callbacks, steps_per_epoch=LAST + 3)


SEEN = (fed, read_ahead, reported)
HELD = (awaited, scripted, lightened, copied)
PAIRS = {f.__name__: f for f in (*SEEN, *HELD)}

if __name__ == "__main__":
    tf.config.threading.set_intra_op_parallelism_threads(1)
    alternate.main(PAIRS, record, "tensorflow_cpu", "keras", block=block_ms)
