# SPDX-License-Identifier: Apache-2.0
"""DALI's CPU path: region decoding with the fast DCT, one thread for each processor."""

import os

import numpy as np
import nvidia.dali as dali
from nvidia.dali import fn, types

import side

MEAN, STD = [0.485 * 255, 0.456 * 255, 0.406 * 255], [0.229 * 255, 0.224 * 255, 0.225 * 255]


def mirrored_and_normalised(image):
    return fn.crop_mirror_normalize(
        image,
        device="cpu",
        dtype=types.FLOAT,
        output_layout="HWC",
        mean=MEAN,
        std=STD,
        mirror=fn.random.coin_flip(),
    )


@dali.pipeline_def
def augmented(files):
    data, _ = fn.readers.file(files=files, name="reader", prefetch_queue_depth=4)
    image = fn.decoders.image_random_crop(
        data,
        device="cpu",
        output_type=types.RGB,
        random_area=[0.08, 1.0],
        random_aspect_ratio=[3 / 4, 4 / 3],
        num_attempts=10,
        use_fast_idct=True,
    )
    image = fn.resize(
        image, device="cpu", resize_x=224, resize_y=224, interp_type=types.INTERP_TRIANGULAR
    )
    return mirrored_and_normalised(image)


@dali.pipeline_def
def cropped(batches, normalised):
    image = fn.external_source(batches, layout="HWC", dtype=types.UINT8, ndim=3, no_copy=True)
    image = fn.random_resized_crop(
        image,
        device="cpu",
        size=[224, 224],
        random_area=[0.08, 1.0],
        random_aspect_ratio=[3 / 4, 4 / 3],
        num_attempts=10,
        interp_type=types.INTERP_TRIANGULAR,
    )
    if not normalised:
        return fn.flip(image, device="cpu", horizontal=fn.random.coin_flip())
    return mirrored_and_normalised(image)


def built(files, batch):
    return begun(augmented, batch, files)


def begun(definition, batch, *args):
    pipeline = definition(
        *args,
        batch_size=batch,
        num_threads=len(os.sched_getaffinity(0)),
        device_id=None,
        prefetch_queue_depth=2,
    )
    pipeline.build()
    pipeline.run()
    return pipeline


def jpeg(files, batch, n):
    pipeline = built(files, batch)

    def run():
        return side.timed(lambda: side.drain(pipeline.run() for _ in range(n // batch)), elements=n)

    return run


def raw(npy, bare, batch, n, normalised):
    images = np.load(npy)

    def batches():
        while True:
            for i in range(0, len(images) // batch * batch, batch):
                yield images[i : i + batch]

    pipeline = begun(cropped, batch, batches(), normalised)
    return side.warm(iter(pipeline.run, None), n // batch, elements=n)


def jpeg_paced(files, batch, step, seconds, settle=0):
    pipeline = built(files, batch)
    return lambda: side.paced(iter(pipeline.run, None), step, seconds, settle)


CASES = {"jpeg": jpeg, "raw": raw, "paced": jpeg_paced}

if __name__ == "__main__":
    side.serve(CASES, lambda: {"DALI": dali.__version__})
