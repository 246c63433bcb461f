# SPDX-License-Identifier: Apache-2.0
"""tf.data's side of the benchmark, in the settings listed in settings.py."""

import os
import re

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
# oneDNN's allocator keeps large buffers, the default in TensorFlow on CPUs with VNNI; elsewhere each batch above
# glibc's 32 MB gets fresh pages, six times slower.
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "1")
import numpy as np
import tensorflow as tf

import side

AUTO = tf.data.AUTOTUNE
MEAN, STD = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]
WHOLE = tf.constant([[[0.0, 0.0, 1.0, 1.0]]])
# (x - mean) / std as x * SCALE - SHIFT, as large as an image: nothing is broadcast
SCALE = tf.constant(np.broadcast_to(1 / (255 * np.array(STD)), (224, 224, 3)).astype(np.float32))
SHIFT = tf.constant(np.broadcast_to(np.array(MEAN) / STD, (224, 224, 3)).astype(np.float32))


def number(value):
    """A parallelism or depth of a setting; AUTOTUNE by its name."""
    return AUTO if value == "AUTOTUNE" else value


def with_options(ds, setting, from_one=False):
    options = tf.data.Options()
    options.deterministic = setting.get("in order", False)
    if "autotune" in setting:
        options.autotune.enabled = setting["autotune"]
    if from_one:
        options.autotune.initial_parallelism = 1
    if setting.get("one thread an op"):
        options.threading.max_intra_op_parallelism = 1
    if "pool" in setting:
        options.threading.private_threadpool_size = setting["pool"]
    if setting.get("fusion"):
        options.experimental_optimization.map_fusion = True
        options.experimental_optimization.map_and_batch_fusion = True
    return ds.with_options(options)


def ahead(ds, setting, otherwise=None):
    depth = number(setting.get("prefetch", otherwise))
    return ds if depth is None else ds.prefetch(depth)


def lean(found):
    """Long values stay inside: only their lengths come out, so that no copy for Python is timed."""
    if "raw" in found:
        found = {"length": tf.strings.length(found["raw"]), "y": found["y"]}
    return found


def record_features(kind):
    if kind == "raw":
        spec = {"raw": tf.io.FixedLenFeature([], tf.string)}
    else:
        spec = {"x": tf.io.FixedLenFeature([int(kind)], tf.float32)}
    spec["y"] = tf.io.FixedLenFeature([], tf.int64)
    return spec


def record_dataset(files, kind, batch, compression, limit, setting):
    """Parsed batches; only the first `limit` records unless None. readers: one, AUTOTUNE (num_parallel_reads: record by
    record from all files), or N files, each batching (an interleave of batched datasets, so that batches pass between
    threads)."""
    spec, size = record_features(kind), setting["buffer MB"]
    calls, order = number(setting["map"]), setting["order"]
    files_each = re.match(r"(\d+) files, each batching( and parsing)?$", str(setting["readers"]))

    def source(names, **more):
        return tf.data.TFRecordDataset(names, compression, size and size << 20, **more)

    def parse(records):
        return lean(tf.io.parse_example(records, spec))

    if files_each:
        width, parses = int(files_each[1]), bool(files_each[2])

        def one(name):
            made = source(name).batch(batch)
            return made.map(parse) if parses else made

        ds = tf.data.Dataset.from_tensor_slices(files).interleave(
            one, cycle_length=width, num_parallel_calls=width
        )
        ds = ds if parses else ds.map(parse, calls)
        return ds if limit is None else ds.take(limit // batch)
    readers = setting["readers"]
    ds = source(files, num_parallel_reads=None if readers == 1 else number(readers))
    if setting.get("take") == "records":
        ds, limit = ds.take(limit or 1 << 60), None
    if order == "parse_single_example, batch":
        ds = ds.map(lambda r: lean(tf.io.parse_single_example(r, spec)), calls).batch(batch)
    elif order == "batch, parse_example_dataset":
        ds = ds.batch(batch).apply(tf.data.experimental.parse_example_dataset(spec, calls))
        ds = ds.map(lean) if kind == "raw" else ds
    else:
        ds = ds.batch(batch).map(parse, calls)
    return ds if limit is None else ds.take(limit // batch)


def records(files, kind, batch, compression, n, total, record, setting):
    def run():
        ds = record_dataset(files, kind, batch, compression, None if n == total else n, setting)
        ds = with_options(ahead(ds, setting, "AUTOTUNE"), setting)
        return side.timed(lambda: side.drain(iter(ds)), elements=n, bytes=int(n * record))

    return run


def overhead(n, batch, maps, setting, of_batches=False):
    """of_batches: each map gets 1000 numbers at once, tf.data's vectorized form; with the source blocks it already
    makes them, as a user with such small elements would."""
    if setting.get("source") == "blocks":
        ds = tf.data.Dataset.range(0, n, batch).map(lambda i: tf.range(i, i + batch), number(setting["map"]))
    else:
        ds = tf.data.Dataset.range(n)
        ds = ds.batch(batch) if of_batches else ds
    for _ in range(maps):
        ds = ds.map(lambda x: x + 1, number(setting["map"]))
    ds = with_options(ahead(ds if of_batches else ds.batch(batch), setting), setting)
    return lambda: side.timed(lambda: side.drain(iter(ds)), elements=n)


def next_ready(rounds, ready, setting):
    ds = tf.data.Dataset.from_tensors(np.zeros((32, 8), np.float32)).repeat()
    ds = with_options(ahead(ds, setting), setting)
    it = ds.as_numpy_iterator() if setting.get("by") == "as_numpy_iterator" else iter(ds)
    return lambda: side.ready_next(it, rounds, ready)


def window(shape, setting):
    """(y, x, height, width) of a random-resized crop. box: none and whole call the operation without, and with a box of
    the whole image; own arithmetic is ours in TensorFlow operations."""
    if setting["box"] == "own arithmetic":
        u = tf.random.uniform([4])
        size = tf.cast(shape[:2], tf.float32)
        area, ratio = size[0] * size[1] * (0.08 + 0.92 * u[0]), tf.exp((u[1] * 2 - 1) * np.log(4 / 3))
        h = tf.minimum(tf.round(tf.sqrt(area / ratio)), size[0])
        w = tf.minimum(tf.round(tf.sqrt(area * ratio)), size[1])
        y, x = tf.floor((size[0] - h + 1) * u[2]), tf.floor((size[1] - w + 1) * u[3])
        return tf.cast(tf.stack([y, x, h, w]), tf.int32)
    begin, size, _ = tf.image.sample_distorted_bounding_box(
        shape,
        tf.zeros([1, 0, 4]) if setting["box"] == "none" else WHOLE,
        area_range=(0.08, 1.0),
        aspect_ratio_range=(3 / 4, 4 / 3),
        max_attempts=10,
        use_image_if_no_bounding_boxes=True,
    )
    return tf.stack([begin[0], begin[1], size[0], size[1]])


def decoded(path, setting):
    data = tf.io.read_file(path)
    found = window(tf.io.extract_jpeg_shape(data), setting)
    return tf.io.decode_and_crop_jpeg(data, found, channels=3, dct_method="INTEGER_FAST")


def normalised(images, setting):
    """scalar: one mean and one deviation, as in many scripts: less work than ours."""
    how = setting["normalise"]
    if how.startswith("scalar"):
        return images / 127.5 - 1.0
    if how == "constants of the image's shape":
        return images * SCALE - SHIFT
    return (images / 255.0 - tf.constant(MEAN)) / tf.constant(STD)


def finished(image, setting):
    image = tf.image.random_flip_left_right(tf.image.resize(image, [224, 224]))
    return image if "of the batch" in setting["normalise"] else normalised(image, setting)


def jpeg_dataset(files, batch, setting, count=None, parallel=None, from_one=False, is_split=False):
    calls = parallel or number(setting["map"])
    ds = tf.data.Dataset.from_tensor_slices(files).repeat()
    ds = ds if count is None else ds.take(count)
    if is_split:
        ds = ds.map(lambda p: decoded(p, setting), calls).map(lambda i: finished(i, setting), calls)
    else:
        ds = ds.map(lambda p: finished(decoded(p, setting), setting), calls)
    ds = ds.batch(batch, drop_remainder=True)
    if "of the batch" in setting["normalise"]:
        ds = ds.map(lambda images: normalised(images, setting), calls)
    return with_options(ahead(ds, setting, 2 if parallel else "AUTOTUNE"), setting, from_one)


def jpeg(files, batch, n, setting, parallel=None, is_fused=True):
    ds = jpeg_dataset(files, batch, setting, n, parallel, is_split=not is_fused)
    return lambda: side.timed(lambda: side.drain(iter(ds)), elements=n)


def raw_one(record, setting, is_normalised):
    image = tf.reshape(tf.io.decode_raw(record, tf.uint8), [256, 256, 3])
    y, x, h, w = tf.unstack(window(tf.constant([256, 256, 3]), setting))
    image = tf.image.resize(image[y : y + h, x : x + w], [224, 224])
    image = tf.ensure_shape(tf.image.random_flip_left_right(image), [224, 224, 3])
    return normalised(image, setting) if is_normalised else tf.cast(image + 0.5, tf.uint8)


def raw_batch(records, batch, setting, is_normalised):
    """Crops, scales and flips a batch in one operation: a box with swapped sides flips."""
    images = tf.reshape(tf.io.decode_raw(records, tf.uint8), [batch, 256, 256, 3])
    u = tf.random.uniform([5, batch])
    area, ratio = 0.08 + 0.92 * u[0], tf.exp((u[1] * 2 - 1) * np.log(4 / 3))
    h, w = tf.minimum(tf.sqrt(area / ratio), 1.0), tf.minimum(tf.sqrt(area * ratio), 1.0)
    y, x = (1 - h) * u[2], (1 - w) * u[3]
    left, right = tf.where(u[4] < 0.5, x, x + w), tf.where(u[4] < 0.5, x + w, x)
    boxes = tf.stack([y, left, y + h, right], 1)
    images = tf.image.crop_and_resize(images, boxes, tf.range(batch), [224, 224])
    return normalised(images, setting) if is_normalised else tf.cast(images + 0.5, tf.uint8)


def raw(npy, bare, batch, n, normalised, setting):
    is_whole = setting.get("record") == "batch"
    ds = tf.data.FixedLengthRecordDataset(bare, 256 * 256 * 3 * (batch if is_whole else 1)).repeat()
    calls = number(setting["map"])
    if setting["by"] == "image":
        ds = ds.map(lambda r: raw_one(r, setting, normalised), calls)
        ds = ds.batch(batch, drop_remainder=True)
    else:
        ds = ds if is_whole else ds.batch(batch, drop_remainder=True)
        ds = ds.map(lambda r: raw_batch(r, batch, setting, normalised), calls)
    it = iter(with_options(ahead(ds, setting, "AUTOTUNE"), setting))
    return side.warm(it, n // batch, elements=n)


def assemble(count, batch, batches, shuffled, setting):
    data = np.ones((count, 3, 224, 224), np.float32)
    if setting["by"] == "gather":
        data = tf.constant(data)
        ds = tf.data.Dataset.range(count)
        ds = (ds.shuffle(count) if shuffled else ds).repeat().batch(batch, drop_remainder=True)
        ds = ds.map(lambda i: tf.gather(data, i), number(setting.get("map")))
    else:
        ds = tf.data.Dataset.from_tensor_slices(data)
        ds = (ds.shuffle(count) if shuffled else ds).repeat()
        calls = number(setting["batch"])
        ds = ds.batch(batch, drop_remainder=True, num_parallel_calls=calls)
    size = batches * batch * 3 * 224 * 224 * 4
    return side.warm(
        iter(with_options(ahead(ds, setting), setting)), batches, elements=batches, bytes=size
    )


def reaction(files, large_files, batch, step, before, after, setting):
    ds = tf.data.Dataset.from_tensor_slices(files).repeat().take(before * batch)
    ds = ds.concatenate(tf.data.Dataset.from_tensor_slices(large_files).repeat())
    ds = ds.map(lambda p: decoded(p, setting), AUTO).map(lambda i: finished(i, setting), AUTO)
    ds = ds.batch(batch, drop_remainder=True).prefetch(AUTO)
    ds = with_options(ds, {"in order": setting.get("in order", False)})
    return lambda: side.reaction(iter(ds), step, before, after)


def jpeg_arrivals(files, batch, seconds, setting):
    tuned = {k: v for k, v in setting.items() if k not in ("autotune", "pool", "prefetch")}
    ds = jpeg_dataset(files, batch, {**tuned, "map": "AUTOTUNE"}, from_one=True, is_split=True)
    return lambda: side.arrivals(lambda: iter(ds), seconds)


def jpeg_paced(files, batch, step, seconds, setting, settle=0):
    ds = jpeg_dataset(files, batch, setting)
    return lambda: side.paced(iter(ds), step, seconds, settle)


def shuffle(n, buffer, batch, setting):
    """A full permutation by NumPy, made within the pass, if the setting says so."""

    def dataset():
        if not setting["by"].startswith("permutation"):
            again = setting.get("reshuffle", True)
            return tf.data.Dataset.range(n).shuffle(buffer, reshuffle_each_iteration=again).batch(batch)
        order = np.random.permutation(n)
        if setting["by"].endswith("batches"):
            return tf.data.Dataset.from_tensor_slices(order[: n // batch * batch].reshape(-1, batch))
        return tf.data.Dataset.from_tensor_slices(order).batch(batch)

    def run():
        return side.drain(iter(with_options(ahead(dataset(), setting), setting)))

    return lambda: side.timed(run, elements=n)


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
