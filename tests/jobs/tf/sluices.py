# SPDX-License-Identifier: Apache-2.0
"""Sluices: TFRecords, parse_single_example, decode_raw and a resize in a plain map, then batch; no prefetch. Step marks.

Truth: input-bound, in the map.
"""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np
import tensorflow as tf

from stopwatch import StopWatch

WARMUP, STEPS, WIDTH = 3, 8, 256


def parse(record):
    example = tf.io.parse_single_example(record, {"image": tf.io.FixedLenFeature([], tf.string)})
    image = tf.reshape(tf.io.decode_raw(example["image"], tf.uint8), (96, 96, 3))
    return tf.reshape(tf.image.resize(image, (16, 16), "area")[:, :, 0], (WIDTH,)) / 255


def main():
    tf.config.threading.set_intra_op_parallelism_threads(1)
    rng = np.random.default_rng(0)
    with tf.io.TFRecordWriter("sluices.tfrecord") as out:
        for _ in range(32 * (WARMUP + STEPS + 2)):
            value = tf.train.BytesList(value=[rng.integers(0, 255, (96, 96, 3), np.uint8).tobytes()])
            features = tf.train.Features(feature={"image": tf.train.Feature(bytes_list=value)})
            out.write(tf.train.Example(features=features).SerializeToString())
    weights = [tf.Variable(tf.random.stateless_normal((WIDTH, WIDTH), (0, n)) / 16) for n in range(2)]

    @tf.function
    def train_step(x):
        with tf.GradientTape() as tape:
            h = x
            for w in weights:
                h = tf.tanh(h @ w)
            loss = tf.reduce_mean(tf.square(h - x))
        for w, g in zip(weights, tape.gradient(loss, weights)):
            w.assign_sub(1e-2 * g)
        return loss

    batches = iter(tf.data.TFRecordDataset("sluices.tfrecord").map(parse).batch(32))
    watch = StopWatch(WARMUP, STEPS)
    for step in watch.steps():
        with tf.profiler.experimental.Trace("train", step_num=step, _r=1):
            x = next(batches)
            watch.fetched()
            float(train_step(x))
    watch.save("tensorflow_cpu")


if __name__ == "__main__":
    main()
