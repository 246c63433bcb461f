# SPDX-License-Identifier: Apache-2.0
"""Pairs of TensorFlow jobs on the CPU, in custom loops, run by alternate.py."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np
import tensorflow as tf

import alternate
from stopwatch import StopWatch
from tf_samples import generated, samples, stored

STEPS = 20


def train(data, after=None):
    widths = (256, 512, 512, 1)
    weights = [tf.Variable(tf.random.normal(s, stddev=0.03)) for s in zip(widths, widths[1:])]

    @tf.function
    def update(x, y):
        with tf.GradientTape() as tape:
            for w in weights[:-1]:
                x = tf.nn.gelu(x @ w)
            loss = tf.reduce_mean(tf.square(x @ weights[-1] - y))
        for w, g in zip(weights, tape.gradient(loss, weights)):
            w.assign_sub(1e-3 * g)
        return loss

    for step, (x, y) in enumerate(data):
        float(update(x, y))
        if after:
            after(step, weights)
        yield


def mapped(changed):
    """A map processes batches, without prefetch; changed: one constant batch."""
    return train(samples(4, constant=changed))


def ahead(changed):
    """A map processes batches, without prefetch; changed: prefetch(2)."""
    return train(samples(4, prefetch=2 if changed else 0))


def lighter(changed):
    """A map processes batches; changed: half of the work."""
    return train(samples(4 if changed else 8))


def watched(changed):
    """Norms and quantiles of all weights after each step; changed: after every tenth."""

    def report(step, weights):
        if not changed or step % 10 == 0:
            for w in weights:
                np.quantile(w.numpy().ravel()[::2], [0.1, 0.9])
                float(tf.norm(w))

    return train(samples(1), after=report)


def remote(changed):
    """Each batch waits for a store; changed: prefetch(2)."""
    return train(stored(2 if changed else 0))


def scripted(changed):
    """A Python generator makes the batches; changed: one constant batch."""
    return train(generated(2, constant=changed))


def parallel(changed):
    """Two parallel map calls run alongside the model; changed: half of their work."""
    return train(samples(6 if changed else 12, calls=2, prefetch=2))


def kept(changed):
    """All weights are serialized and sorted after each step; changed: after every tenth."""

    def keep(step, weights):
        if not changed or step % 10 == 0:
            for w in weights:
                tf.io.serialize_tensor(w).numpy()
                np.sort(w.numpy().ravel()[::4])

    return train(samples(1), after=keep)


def record(arm):
    watch = StopWatch(0, STEPS)
    for step in watch.steps():
        with tf.profiler.experimental.Trace("train", step_num=step, _r=1):
            next(arm)


SEEN = (mapped, ahead, lighter, watched)
HELD = (remote, scripted, parallel, kept)
PAIRS = {f.__name__: f for f in (*SEEN, *HELD)}

if __name__ == "__main__":
    tf.config.threading.set_intra_op_parallelism_threads(1)
    alternate.main(PAIRS, record, "tensorflow_cpu")
