# SPDX-License-Identifier: Apache-2.0
"""SPDL's side: a pipeline of threads; its own decoder (FFmpeg) with crop, scaling and mirroring in
the filter, else Pillow in the threads."""

import math
import os
import random

import numpy as np
import spdl.pipeline

import side

MEAN, STD = np.array([0.485, 0.456, 0.406], np.float32), np.array([0.229, 0.224, 0.225], np.float32)
try:
    import spdl.io
    from spdl.io.lib import _import_libspdl

    _import_libspdl()  # otherwise it is looked for at each image
    HAS_IO = True
except Exception as e:  # no FFmpeg libraries
    print(f"SPDL's decoder cannot be used: {e}")
    HAS_IO = False


def window(w, h):
    """(x, y, width, height) of a random-resized crop."""
    for _ in range(10):
        area = w * h * random.uniform(0.08, 1.0)
        ratio = math.exp(random.uniform(math.log(3 / 4), math.log(4 / 3)))
        cw, ch = round(math.sqrt(area * ratio)), round(math.sqrt(area / ratio))
        if 0 < cw <= w and 0 < ch <= h:
            return random.randint(0, w - cw), random.randint(0, h - ch), cw, ch
    return 0, 0, w, h


def by_spdl(path):
    packets = spdl.io.demux_image(path)
    x, y, w, h = window(packets.width, packets.height)
    flip = ",hflip" if random.random() < 0.5 else ""
    frames = spdl.io.decode_packets(
        packets, filter_desc=f"crop={w}:{h}:{x}:{y},scale=224:224{flip},format=pix_fmts=rgb24"
    )
    return spdl.io.to_numpy(spdl.io.convert_frames(frames)).reshape(224, 224, 3)


def by_pillow(path):
    from PIL import Image

    image = Image.open(path)
    x, y, w, h = window(*image.size)
    image = image.convert("RGB").resize((224, 224), Image.BILINEAR, (x, y, x + w, y + h))
    return np.asarray(image.transpose(Image.FLIP_LEFT_RIGHT) if random.random() < 0.5 else image)


def collate(images):
    return (np.stack(images).astype(np.float32) / 255 - MEAN) / STD


def pipeline(files, batch, n):
    threads = len(os.sched_getaffinity(0))

    def paths():
        for i in range(n):
            yield files[i % len(files)]

    builder = spdl.pipeline.PipelineBuilder().add_source(paths())
    builder = builder.pipe(by_spdl if HAS_IO else by_pillow, concurrency=threads).aggregate(
        batch, drop_last=True
    )
    return builder.pipe(collate).add_sink(2).build(num_threads=threads + 1)


def jpeg(files, batch, n):
    def run():
        p = pipeline(files, batch, n)
        with p.auto_stop():
            return side.timed(lambda: side.drain(p.get_iterator(timeout=60)), elements=n)

    return run


def jpeg_paced(files, batch, step, seconds):
    def run():
        p = pipeline(files, batch, 1 << 17)
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
