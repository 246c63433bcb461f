# SPDX-License-Identifier: Apache-2.0
"""Ropes: TFRecords of JPEG images, read one file behind the other, parsed and decoded in a map that is not parallel; prefetch at the
end. Step marks.

Truth: input-bound, in the map (decode_image).
"""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np
import tensorflow as tf

from stopwatch import StopWatch

WARMUP, STEPS = 3, 10
SPEC = {"image": tf.io.FixedLenFeature((), tf.string), "label": tf.io.FixedLenFeature((), tf.int64)}


def write_records(path, count):
    rng = np.random.default_rng(0)
    with tf.io.TFRecordWriter(path) as writer:
        for n in range(count):
            image = tf.io.encode_jpeg(rng.integers(0, 255, (96, 96, 3), np.uint8)).numpy()
            feature = {"image": tf.train.Feature(bytes_list=tf.train.BytesList(value=[image])),
                       "label": tf.train.Feature(int64_list=tf.train.Int64List(value=[n % 4]))}  # fmt: skip
            writer.write(tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString())


def decode_image(record):
    row = tf.io.parse_single_example(record, SPEC)
    image = tf.image.resize(tf.io.decode_jpeg(row["image"], 3), (48, 48)) / 255
    return tf.image.random_flip_left_right(image), row["label"]


def main():
    tf.config.threading.set_intra_op_parallelism_threads(1)
    for n in range(2):
        write_records(f"ropes-{n}.tfrecord", 64)
    files = tf.data.Dataset.list_files("ropes-*.tfrecord").repeat()
    batches = iter(tf.data.TFRecordDataset(files).map(decode_image).batch(32).prefetch(1))
    w = tf.Variable(tf.random.stateless_normal((48 * 48 * 3, 4), (0, 1)) / 64)

    @tf.function
    def train_step(x, y):
        with tf.GradientTape() as tape:
            logits = tf.reshape(x, (32, -1)) @ w
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(y, logits))
        w.assign_sub(0.001 * tape.gradient(loss, w))
        return loss

    watch = StopWatch(WARMUP, STEPS)
    for step in watch.steps():
        with tf.profiler.experimental.Trace("train", step_num=step, _r=1):
            x, y = next(batches)
            watch.fetched()
            float(train_step(x, y))
    watch.save("tensorflow_cpu")


if __name__ == "__main__":
    main()
