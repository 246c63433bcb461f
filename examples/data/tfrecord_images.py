# SPDX-License-Identifier: Apache-2.0
"""TFRecord from end to end: written, read, parsed, decoded, augmented, batched.

Both libraries use the same files, and each also writes them. "before" works sequentially, like many first versions;
"after" alternates between files, parses whole batches at once where possible, and decodes in parallel and ahead of
time.
"""

import os
import tempfile

import numpy as np
import stoker.data as sd

import timing

FILES, BATCH = 4, 32


def pictures(is_small):
    """(JPEG bytes, label) of smooth scenes."""
    y, x = np.mgrid[0:180, 0:240]
    rng = np.random.default_rng(0)
    kinds = []
    for i in range(16):
        wave = 128 + 60 * np.sin(x / (9 + i) + y / 31) + 40 * np.sin(x / 23 - y / (5 + i))
        noise = rng.integers(0, 24, (180, 240, 3))
        kinds.append(
            bytes(
                sd.io.encode_jpeg(
                    np.clip(wave[..., None] + noise, 0, 255).astype(np.uint8), quality=90
                )
            )
        )
    for i in range(64 if is_small else 2048):
        yield kinds[i % 16], i % 10


def folder(made={}):
    made.setdefault("folder", tempfile.TemporaryDirectory(prefix="tfrecord-images-"))
    return made["folder"].name


def names(is_small):
    return [
        os.path.join(folder(), f"{'small' if is_small else 'full'}-{i}-of-{FILES}.tfrecord")
        for i in range(FILES)
    ]


def written(is_small):
    """The files; writes them if `write` didn't run."""
    if not os.path.exists(names(is_small)[0]):
        write(is_small)
    return names(is_small)


def write(is_small):
    """stoker.data, writes the files"""
    writers = [sd.TFRecordWriter(name) for name in names(is_small)]
    n = 0
    for n, (data, label) in enumerate(pictures(is_small), 1):
        writers[n % FILES].write(sd.io.Example({"image": data, "label": label}))
    for w in writers:
        w.close()
    return n


def train(ds):
    n = 0
    for image, _ in timing.steps(ds):
        timing.device_step()
        n += len(image)
    return n


def parse(record):
    spec = {
        "image": sd.io.FixedLenFeature([], "string"),
        "label": sd.io.FixedLenFeature([], "int64"),
    }
    found = sd.io.parse_single_example(record, spec)
    return found["image"], found["label"]


def augment(data, label):
    image = sd.image.resize(sd.io.decode_jpeg(data, channels=3), [128, 128])
    image = sd.image.random_flip_left_right(sd.image.random_crop(image, [112, 112, 3]))
    return sd.image.random_brightness(image / 255.0, 0.1), label


def before(is_small):
    """stoker.data, sequential"""
    return train(sd.TFRecordDataset(written(is_small)).map(parse).map(augment).batch(BATCH))


def after(is_small):
    """stoker.data, parallel, shuffled, ahead"""
    ds = sd.TFRecordDataset(written(is_small), num_parallel_reads=sd.AUTOTUNE).shuffle(512)
    return train(
        ds.map(parse, sd.AUTOTUNE).map(augment, sd.AUTOTUNE).batch(BATCH).prefetch(sd.AUTOTUNE)
    )


def tf_write(is_small):
    """TensorFlow, writes the files"""
    import tensorflow as tf

    paths = [
        os.path.join(folder(), f"tf-{'small' if is_small else 'full'}-{i}.tfrecord")
        for i in range(FILES)
    ]
    writers = [tf.io.TFRecordWriter(p) for p in paths]
    n = 0
    for n, (data, label) in enumerate(pictures(is_small), 1):
        feature = {
            "image": tf.train.Feature(bytes_list=tf.train.BytesList(value=[data])),
            "label": tf.train.Feature(int64_list=tf.train.Int64List(value=[label])),
        }
        writers[n % FILES].write(
            tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString()
        )
    for w in writers:
        w.close()
    return n


def tf_functions():
    import tensorflow as tf

    spec = {
        "image": tf.io.FixedLenFeature([], tf.string),
        "label": tf.io.FixedLenFeature([], tf.int64),
    }

    def tf_parse(record):
        found = tf.io.parse_single_example(record, spec)
        return found["image"], found["label"]

    def tf_augment(data, label):
        image = tf.image.resize(tf.io.decode_jpeg(data, channels=3), [128, 128])
        image = tf.image.random_flip_left_right(tf.image.random_crop(image, [112, 112, 3]))
        return tf.image.random_brightness(image / 255.0, 0.1), label

    return tf, tf_parse, tf_augment


def tf_before(is_small):
    """TensorFlow, sequential"""
    tf, tf_parse, tf_augment = tf_functions()
    return train(
        tf.data.TFRecordDataset(written(is_small)).map(tf_parse).map(tf_augment).batch(BATCH)
    )


def tf_after(is_small):
    """TensorFlow, parallel, shuffled, ahead"""
    tf, tf_parse, tf_augment = tf_functions()
    auto = tf.data.AUTOTUNE
    ds = tf.data.TFRecordDataset(written(is_small), num_parallel_reads=auto).shuffle(512)
    return train(ds.map(tf_parse, auto).map(tf_augment, auto).batch(BATCH).prefetch(auto))


if __name__ == "__main__":
    timing.main(
        __doc__.split("\n")[0],
        [write, before, after, tf_write, tf_before, tf_after],
        "images",
        prepare=written,
    )
