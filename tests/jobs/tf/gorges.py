# SPDX-License-Identifier: Apache-2.0
"""Gorges: behind each step all weights are fetched with .numpy() and hashed in plain Python for a journal. Step marks; data in
memory.

Truth: host-bound, by Python that the profile lacks (TensorFlow's tracer doesn't record it): with Trace( it would have
it.
"""

import hashlib
import json
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import tensorflow as tf

from stopwatch import StopWatch

WARMUP, STEPS = 3, 12


def write_journal(out, step, weights):
    digests = [hashlib.sha256(w.numpy().tobytes()).hexdigest() for w in weights]
    largest = [sorted(abs(v) for v in w.numpy().ravel()[:4000].tolist())[-5:] for w in weights]
    out.write(json.dumps({"step": step, "digests": digests, "largest": largest}) + "\n")


def main():
    tf.config.threading.set_intra_op_parallelism_threads(1)
    weights = [tf.Variable(tf.random.stateless_normal((256, 256), (0, n)) / 16) for n in range(4)]
    x = tf.random.stateless_normal((32, 256), (1, 1))

    @tf.function
    def train_step(x):
        with tf.GradientTape() as tape:
            h = x
            for w in weights:
                h = tf.tanh(h @ w)
            loss = tf.reduce_mean(tf.square(h))
        for w, g in zip(weights, tape.gradient(loss, weights)):
            w.assign_sub(1e-2 * g)
        return loss

    watch = StopWatch(WARMUP, STEPS)
    with open("gorges.jsonl", "w") as out:
        for step in watch.steps():
            with tf.profiler.experimental.Trace("train", step_num=step, _r=1):
                float(train_step(x))
                write_journal(out, step, weights)
    watch.save("tensorflow_cpu")


if __name__ == "__main__":
    main()
