# SPDX-License-Identifier: Apache-2.0
"""Lathes: sentences in buckets of like lengths (bucket_by_sequence_length), a parallel map, prefetch; the step is a
tf.function with an open dimension. Step marks.

Truth: compute-bound; healthy.
"""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np
import tensorflow as tf

from stopwatch import StopWatch

WARMUP, STEPS = 6, 10


def main():
    tf.config.threading.set_intra_op_parallelism_threads(1)
    rng = np.random.default_rng(0)
    rows = tf.ragged.constant([[int(v) for v in rng.integers(0, 99, k)] for k in rng.integers(60, 120, 300)])
    data = tf.data.Dataset.from_tensor_slices(rows).map(lambda r: r, num_parallel_calls=2).cache().repeat()
    data = data.bucket_by_sequence_length(lambda r: tf.shape(r)[0], [80, 100], [32, 32, 32])
    batches = iter(data.prefetch(4))
    table = tf.Variable(tf.random.stateless_normal((100, 192), (0, 0)))
    layers = [tf.Variable(tf.random.stateless_normal((192, 192), (0, n)) / 14) for n in (1, 2)]

    @tf.function(input_signature=[tf.TensorSpec((None, None), tf.int32)])
    def train_step(ids):
        with tf.GradientTape() as tape:
            h = tf.gather(table, ids)
            for w in layers:
                h = tf.nn.relu(h @ w)
            loss = tf.reduce_mean(tf.square(h))
        for v, g in zip(layers, tape.gradient(loss, layers)):
            v.assign_sub(1e-2 * g)
        return loss

    watch = StopWatch(WARMUP, STEPS)
    for step in watch.steps():
        with tf.profiler.experimental.Trace("train", step_num=step, _r=1):
            ids = next(batches)
            watch.fetched()
            float(train_step(ids))
    watch.save("tensorflow_cpu")


if __name__ == "__main__":
    main()
