# SPDX-License-Identifier: Apache-2.0
"""tf.data's side of the benchmark: AUTOTUNE, not deterministic, as its performance guide says."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tensorflow as tf

import side

AUTO = tf.data.AUTOTUNE
MEAN, STD = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]
BOX = tf.constant([[[0.0, 0.0, 1.0, 1.0]]])


def loose(ds, from_one=False):
    options = tf.data.Options()
    options.deterministic = False
    if from_one:
        options.autotune.initial_parallelism = 1
    return ds.with_options(options)


def lean(found):
    """Long values stay inside: their lengths come out, so that no copy for Python is timed."""
    if "raw" in found:
        found = {"length": tf.strings.length(found["raw"]), "y": found["y"]}
    return found


def records(files, kind, batch, single, compression, n, parallel, bytes):
    if kind == "raw":
        spec = {"raw": tf.io.FixedLenFeature([], tf.string)}
    else:
        spec = {"x": tf.io.FixedLenFeature([int(kind)], tf.float32)}
    spec["y"] = tf.io.FixedLenFeature([], tf.int64)

    def run():
        ds = tf.data.TFRecordDataset(files, compression, num_parallel_reads=parallel).take(n)
        if single:
            ds = ds.map(lambda r: lean(tf.io.parse_single_example(r, spec)), AUTO).batch(batch)
        else:
            ds = ds.batch(batch).map(lambda r: lean(tf.io.parse_example(r, spec)), AUTO)
        ds = loose(ds.prefetch(AUTO))
        return side.timed(lambda: side.drain(iter(ds)), elements=n, bytes=bytes)

    return run


def overhead(n, batch, maps, parallel=None):
    ds = tf.data.Dataset.range(n)
    for _ in range(maps):
        ds = ds.map(lambda x: x + 1, parallel)
    ds = loose(ds.batch(batch).prefetch(AUTO) if parallel else ds.batch(batch))
    return lambda: side.timed(lambda: side.drain(iter(ds)), elements=n)


def next_ready(rounds, ready):
    it = iter(
        tf.data.Dataset.from_tensors(np.zeros((32, 8), np.float32)).repeat().prefetch(ready + 2)
    )
    return lambda: side.ready_next(it, rounds, ready)


def decoded(path):
    data = tf.io.read_file(path)
    begin, size, _ = tf.image.sample_distorted_bounding_box(
        tf.io.extract_jpeg_shape(data),
        BOX,
        area_range=(0.08, 1.0),
        aspect_ratio_range=(3 / 4, 4 / 3),
        max_attempts=10,
        use_image_if_no_bounding_boxes=True,
    )
    window = tf.stack([begin[0], begin[1], size[0], size[1]])
    return tf.io.decode_and_crop_jpeg(data, window, channels=3, dct_method="INTEGER_FAST")


def finished(image):
    image = tf.image.random_flip_left_right(tf.image.resize(image, [224, 224]))
    return (image / 255.0 - tf.constant(MEAN)) / tf.constant(STD)


def jpeg_dataset(files, batch, count=None, parallel=AUTO, from_one=False, is_split=False):
    ds = tf.data.Dataset.from_tensor_slices(files).repeat()
    ds = ds if count is None else ds.take(count)
    for f in (decoded, finished) if is_split else (lambda p: finished(decoded(p)),):
        ds = ds.map(f, parallel)
    return loose(
        ds.batch(batch, drop_remainder=True).prefetch(AUTO if parallel == AUTO else 2), from_one
    )


def jpeg(files, batch, n, parallel=AUTO, is_fused=True):
    ds = jpeg_dataset(files, batch, n, parallel, is_split=not is_fused)
    return lambda: side.timed(lambda: side.drain(iter(ds)), elements=n)


def raw_crop(record, normalised):
    image = tf.reshape(tf.io.decode_raw(record, tf.uint8), [256, 256, 3])
    begin, size, _ = tf.image.sample_distorted_bounding_box(
        [256, 256, 3],
        BOX,
        area_range=(0.08, 1.0),
        aspect_ratio_range=(3 / 4, 4 / 3),
        max_attempts=10,
        use_image_if_no_bounding_boxes=True,
    )
    image = tf.image.resize(tf.slice(image, begin, size), [224, 224])
    image = tf.ensure_shape(tf.image.random_flip_left_right(image), [224, 224, 3])
    if normalised:
        return (image / 255.0 - tf.constant(MEAN)) / tf.constant(STD)
    return tf.cast(image + 0.5, tf.uint8)


def raw(npy, bare, batch, n, normalised):
    ds = tf.data.FixedLengthRecordDataset(bare, 256 * 256 * 3).repeat()
    ds = ds.map(lambda r: raw_crop(r, normalised), AUTO)
    it = iter(loose(ds.batch(batch, drop_remainder=True).prefetch(AUTO)))
    return side.warm(it, n // batch, elements=n)


def assemble(count, batch, batches, shuffled):
    ds = tf.data.Dataset.from_tensor_slices(np.ones((count, 3, 224, 224), np.float32))
    ds = ds.shuffle(count) if shuffled else ds
    ds = ds.repeat().batch(batch, drop_remainder=True, num_parallel_calls=AUTO).prefetch(AUTO)
    return side.warm(
        iter(loose(ds)), batches, elements=batches, bytes=batches * batch * 3 * 224 * 224 * 4
    )


def reaction(files, large_files, batch, step, before, after):
    ds = tf.data.Dataset.from_tensor_slices(files).repeat().take(before * batch)
    ds = ds.concatenate(tf.data.Dataset.from_tensor_slices(large_files).repeat())
    for f in (decoded, finished):
        ds = ds.map(f, AUTO)
    ds = loose(ds.batch(batch, drop_remainder=True).prefetch(AUTO))
    return lambda: side.reaction(iter(ds), step, before, after)


def jpeg_arrivals(files, batch, seconds):
    ds = jpeg_dataset(files, batch, from_one=True, is_split=True)
    return lambda: side.arrivals(lambda: iter(ds), seconds)


def jpeg_paced(files, batch, step, seconds, settle=0):
    ds = jpeg_dataset(files, batch)
    return lambda: side.paced(iter(ds), step, seconds, settle)


def shuffle(n, buffer, batch):
    ds = tf.data.Dataset.range(n).shuffle(buffer).batch(batch)
    return lambda: side.timed(lambda: side.drain(iter(ds)), elements=n)


CASES = {
    "records": records,
    "overhead": overhead,
    "next": next_ready,
    "jpeg": jpeg,
    "raw": raw,
    "assemble": assemble,
    "reaction": reaction,
    "arrivals": jpeg_arrivals,
    "paced": jpeg_paced,
    "shuffle": shuffle,
}

if __name__ == "__main__":
    side.serve(CASES, lambda: {"TensorFlow": tf.__version__})
