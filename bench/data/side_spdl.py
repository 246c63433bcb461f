# SPDX-License-Identifier: Apache-2.0
"""SPDL's side: a pipeline of threads; its own decoder (FFmpeg) with crop, scaling and mirroring in the filter, or
Pillow in the threads, depending on the setting."""

import concurrent.futures
import random
import sys

import spdl.pipeline

import side
from pillow_images import by_pillow, collate, normalised, window

try:
    import spdl.io
    from spdl.io.lib import _import_libspdl

    _import_libspdl()  # otherwise it is searched for at each image
    HAS_IO = True
except Exception as e:  # no FFmpeg libraries
    print(f"SPDL's decoder cannot be used: {e}", file=sys.stderr)  # stdout carries the answers
    HAS_IO = False


def frames_of(packets):
    x, y, w, h = window(packets.width, packets.height)
    flip = ",hflip" if random.random() < 0.5 else ""
    what = f"crop={w}:{h}:{x}:{y},scale=224:224{flip},format=pix_fmts=rgb24"
    return spdl.io.decode_packets(packets, filter_desc=what)


def array_of(frames):
    return spdl.io.to_numpy(spdl.io.convert_frames(frames)).reshape(224, 224, 3)


def collate_frames(frames):
    return normalised(spdl.io.to_numpy(spdl.io.convert_frames(frames)).reshape(-1, 224, 224, 3))


def pipeline(files, batch, n, setting):
    threads, more = setting["threads"], {}

    def paths():
        for i in range(n):
            yield files[i % len(files)]

    if setting.get("order"):
        more["output_order"] = setting["order"]
    if setting.get("by") == "processes":
        more["executor"] = concurrent.futures.ProcessPoolExecutor(threads)
    is_each = setting["convert"] == "each"
    if setting["decoder"] == "spdl.io" and not HAS_IO:
        raise RuntimeError("SPDL's decoder needs FFmpeg's libraries")
    builder = spdl.pipeline.PipelineBuilder().add_source(paths())
    if setting["decoder"] == "Pillow":
        builder = builder.pipe(by_pillow, concurrency=threads, **more)
    elif setting.get("stages"):
        builder = builder.pipe(spdl.io.demux_image, concurrency=1).pipe(frames_of, concurrency=threads)
    else:
        one = lambda p: frames_of(spdl.io.demux_image(p))  # noqa: E731
        decode = (lambda p: array_of(one(p))) if is_each else one
        builder = builder.pipe(decode, concurrency=threads, **more)
    builder = builder.aggregate(batch, drop_last=True)
    builder = builder.pipe(collate if is_each else collate_frames)
    return builder.add_sink(setting.get("ahead", 2)).build(num_threads=threads + 1)


def jpeg(files, batch, n, setting):
    def run():
        p = pipeline(files, batch, n, setting)
        with p.auto_stop():
            return side.timed(lambda: side.drain(p.get_iterator(timeout=60)), elements=n)

    return run


def jpeg_paced(files, batch, step, seconds, setting):
    def run():
        p = pipeline(files, batch, 1 << 17, setting)
        with p.auto_stop():
            return side.paced(p.get_iterator(timeout=60), step, seconds)

    return run


CASES = {"jpeg": jpeg, "paced": jpeg_paced}


def versions():
    import importlib.metadata

    return {
        "SPDL": importlib.metadata.version("spdl")
        + ("" if HAS_IO else " with Pillow, its decoder needs FFmpeg's libraries")
    }


if __name__ == "__main__":
    side.serve(CASES, versions)
