# SPDX-License-Identifier: Apache-2.0
"""stoker.data's side of the benchmark, which also creates its files."""

import itertools
import os
import platform
import subprocess
import sys
import time

import numpy as np
import stoker.data as sd

import make_files
import side

MEAN, STD = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]


def features(kind):
    if kind == "raw":
        return {"raw": sd.io.FixedLenFeature([], "string"), "y": sd.io.FixedLenFeature([], "int64")}
    return {
        "x": sd.io.FixedLenFeature([int(kind)], "float32"),
        "y": sd.io.FixedLenFeature([], "int64"),
    }


def lean(found):
    """Long values stay inside: only their lengths come out, so that no copy for Python is timed."""
    if "raw" in found:
        found = {"length": sd.strings.length(found["raw"]), "y": found["y"]}
    return found


def records(files, kind, batch, single, compression, n, total, record, parallel):
    """parallel None: on the caller's thread, to get the rate of one core."""
    spec = features(kind)

    def run():
        ds = sd.TFRecordDataset(files, compression, num_parallel_reads=parallel)
        ds = ds if n == total else ds.take(n)
        if single:
            ds = ds.map(lambda r: lean(sd.io.parse_single_example(r, spec)), parallel).batch(batch)
        else:
            ds = ds.batch(batch).map(lambda r: lean(sd.io.parse_example(r, spec)), parallel)
        it = iter(ds.prefetch(sd.AUTOTUNE) if parallel else ds)
        return side.timed(lambda: side.drain(it), elements=n, bytes=int(n * record))

    return run


def plus_one(x):
    return x + 1


def overhead(n, batch, maps, parallel=None, of_batches=False):
    ds = sd.Dataset.range(n)
    ds = ds.batch(batch) if of_batches else ds
    for _ in range(maps):
        ds = ds.map(plus_one, parallel)
    ds = ds if of_batches else ds.batch(batch)
    return lambda: side.timed(lambda: side.drain(iter(ds)), elements=n)


def next_ready(rounds, ready):
    ds = sd.Dataset.from_tensors(np.zeros((32, 8), np.float32)).repeat().prefetch(ready + 2)
    it = iter(ds)
    memory = bytearray(1024)

    def floor():
        while True:
            yield np.frombuffer(memory, np.float32)

    def run():
        def each(iterator):
            found = side.ready_next(iterator, rounds, ready)
            return found["seconds"] / found["elements"]

        nothing = each(itertools.repeat(None))
        return dict(side.ready_next(it, rounds, ready), floor=each(floor()), nothing=nothing)

    return run


def random_window(shape):
    """(y, x, h, w) of a random-resized crop; a box that doesn't fit is clipped to the image."""
    u = sd.random.uniform([4])
    size = sd.cast(shape[:2], "float32")
    area = size[0] * size[1] * (0.08 + 0.92 * u[0])
    ratio = sd.exp((u[1] * 2.0 - 1.0) * float(np.log(4 / 3)))
    h = sd.minimum(sd.round(sd.sqrt(area / ratio)), size[0])
    w = sd.minimum(sd.round(sd.sqrt(area * ratio)), size[1])
    y, x = sd.floor((size[0] - h + 1.0) * u[2]), sd.floor((size[1] - w + 1.0) * u[3])
    return sd.cast(sd.stack([y, x, h, w]), "int32")


def decoded(path):
    data = sd.io.read_file(path)
    window = random_window(sd.io.extract_jpeg_shape(data))
    return sd.io.decode_and_crop_jpeg(data, window, channels=3, dct_method="INTEGER_FAST")


def finished(image):
    image = sd.image.random_flip_left_right(sd.image.resize(image, [224, 224]))
    return (image / 255.0 - np.array(MEAN, np.float32)) / np.array(STD, np.float32)


def fused(path):
    return sd.image.jpeg_random_resized_crop(
        sd.io.read_file(path), [224, 224], flip=0.5, mean=MEAN, std=STD, fast=True
    )


def jpeg_dataset(files, batch, is_fused, parallel=sd.AUTOTUNE, count=None):
    ds = sd.Dataset.from_tensor_slices(np.array(files, object)).repeat()
    ds = ds if count is None else ds.take(count)
    for f in (fused,) if is_fused else (decoded, finished):
        ds = ds.map(f, parallel)
    return ds.batch(batch, drop_remainder=True).prefetch(
        sd.AUTOTUNE if parallel == sd.AUTOTUNE else 2
    )


def jpeg(files, batch, n, is_fused=True, parallel=sd.AUTOTUNE):
    ds = jpeg_dataset(files, batch, is_fused, parallel, n)
    return lambda: side.timed(lambda: side.drain(iter(ds)), elements=n)


def raw(npy, bare, batch, n, normalised, parallel=sd.AUTOTUNE):
    more = {"mean": MEAN, "std": STD} if normalised else {}
    ds = sd.NpyDataset(npy).repeat()
    ds = ds.map(lambda x: sd.image.random_resized_crop(x, [224, 224], flip=0.5, **more), parallel)
    ds = ds.batch(batch, drop_remainder=True)
    it = iter(ds.prefetch(sd.AUTOTUNE) if parallel else ds)
    return side.warm(it, n // batch, elements=n)


def assemble(count, batch, batches, shuffled):
    """Batches of in-memory elements (3, 224, 224) float32: in order, or picked at random."""
    ds = sd.Dataset.from_tensor_slices(np.ones((count, 3, 224, 224), np.float32))
    ds = ds.shuffle(count) if shuffled else ds
    return side.warm(
        iter(ds.repeat().batch(batch, drop_remainder=True)),
        batches,
        elements=batches,
        bytes=batches * batch * 3 * 224 * 224 * 4,
    )


def assemble_copy(count, batch, batches):
    """Copies the same bytes from one place to another: the lower bound for picking."""
    a = np.ones((count, 3, 224, 224), np.float32)
    b = np.ones((batch, 3, 224, 224), np.float32)

    def copies():
        while True:
            for i in range(0, count, batch):
                yield np.copyto(b, a[i : i + batch])

    return side.warm(copies(), batches, elements=batches, bytes=batches * b.nbytes)


def reaction(files, large_files, batch, step, before, after):
    """Files, then others that take longer, with the same operations."""
    cheap = sd.Dataset.from_tensor_slices(np.array(files, object)).repeat().take(before * batch)
    ds = cheap.concatenate(sd.Dataset.from_tensor_slices(np.array(large_files, object)).repeat())
    for f in (decoded, finished):
        ds = ds.map(f, sd.AUTOTUNE)
    ds = ds.batch(batch, drop_remainder=True).prefetch(sd.AUTOTUNE)
    return lambda: side.reaction(iter(ds), step, before, after)


def jpeg_arrivals(files, batch, seconds):
    options = sd.Options()
    options.autotune.initial_parallelism = 1
    ds = jpeg_dataset(files, batch, False).with_options(options)
    return lambda: side.arrivals(lambda: iter(ds), seconds)


def jpeg_paced(files, batch, step, seconds, settle=0, is_fused=True):
    ds = jpeg_dataset(files, batch, is_fused)
    return lambda: side.paced(iter(ds), step, seconds, settle)


def paced_in_bursts(files, batch, step, seconds, settle):
    """The same work at the same pace without engine threads: the consumer makes each batch itself at the end of a
    correspondingly shorter step."""
    ds = sd.Dataset.from_tensor_slices(np.array(files, object)).repeat().map(fused)
    it = iter(ds.batch(batch, drop_remainder=True))
    next(it)
    takes = side.timed(lambda: side.drain(itertools.islice(it, 8)))["seconds"] / 8
    return lambda: side.paced(it, max(0.0, step - takes), seconds, settle)


def paced_ready(files, batch, step, seconds):
    """Batches that are ready, while other processes' batch work keeps all cores busy: how long the machine itself makes
    such a consumer wait."""
    it = iter(sd.Dataset.from_tensors(np.zeros((batch, 8), np.float32)).repeat())
    spin = "import os; os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))\nwhile 1: pass"

    def run():
        busy = [
            subprocess.Popen([sys.executable, "-c", spin])
            for _ in range(len(os.sched_getaffinity(0)))
        ]
        try:
            time.sleep(0.2)  # they have started
            return side.paced(it, step, seconds)
        finally:
            for process in busy:
                process.kill()
                process.wait()

    return run


def steady(files, batch, batches, stretches):
    """Page faults of a running pipeline whose batches are dropped, in each interval of `batches`."""
    it = iter(jpeg_dataset(files, batch, True))

    def pull():
        for _ in range(batches):
            next(it)
        return batches

    def run():
        for _ in range(2):
            pull()
        faults = [side.timed(pull, elements=1)["faults"] for _ in range(stretches)]
        return {"faults": faults, "batches": batches}

    return run


def shuffle(n, buffer, batch):
    ds = sd.Dataset.range(n).shuffle(buffer).batch(batch)
    return lambda: side.timed(lambda: side.drain(iter(ds)), elements=n)


def memory(size):
    """Copies that many bytes: the machine's current bandwidth."""
    a, b = np.ones(size, np.uint8), np.ones(size, np.uint8)

    def run():
        best = float("inf")
        for _ in range(3):
            start = time.perf_counter()
            np.copyto(b, a)
            best = min(best, time.perf_counter() - start)
        return {"seconds": best, "elements": size, "bytes": size}

    return run


CASES = {
    "records": records,
    "overhead": overhead,
    "next": next_ready,
    "jpeg": jpeg,
    "raw": raw,
    "assemble": assemble,
    "assemble_copy": assemble_copy,
    "reaction": reaction,
    "arrivals": jpeg_arrivals,
    "paced": jpeg_paced,
    "paced_in_bursts": paced_in_bursts,
    "paced_ready": paced_ready,
    "steady": steady,
    "shuffle": shuffle,
    "memory": memory,
    "make_records": make_files.records,
    "make_images": make_files.images,
    "make_tar": make_files.tar,
    "make_raw": make_files.raw,
}

if __name__ == "__main__":
    side.serve(
        CASES,
        lambda: {
            "stoker": sd.__version__,
            "NumPy": np.__version__,
            "Python": platform.python_version(),
        },
    )
