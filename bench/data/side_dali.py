# SPDX-License-Identifier: Apache-2.0
"""DALI's CPU path: region decoding, in the settings listed in settings.py."""

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


INTERPOLATION = {"triangular": types.INTERP_TRIANGULAR, "linear": types.INTERP_LINEAR}


def augmented(files, setting):
    reader = {"random order": {"random_shuffle": True}, "copies": {"dont_use_mmap": True}}
    data, _ = fn.readers.file(
        files=files, name="reader", prefetch_queue_depth=4, **reader.get(setting.get("reader"), {})
    )
    image = fn.decoders.image_random_crop(
        data,
        device="cpu",
        output_type=types.RGB,
        random_area=[0.08, 1.0],
        random_aspect_ratio=[3 / 4, 4 / 3],
        num_attempts=10,
        use_fast_idct=setting["fast idct"],
    )
    how = INTERPOLATION[setting["interpolation"]]
    image = fn.resize(image, device="cpu", resize_x=224, resize_y=224, interp_type=how)
    return mirrored_and_normalised(image)


def cropped(source, normalised, setting):
    """source: returns batches, or the path of the .npy file for DALI's own reader of rows."""
    if setting.get("reader") == "numpy":
        image = fn.reshape(fn.readers.numpy(files=source, cache_header_information=True), layout="HWC")
    else:
        image = fn.external_source(source, layout="HWC", dtype=types.UINT8, ndim=3, no_copy=True)
    image = fn.random_resized_crop(
        image,
        device="cpu",
        size=[224, 224],
        random_area=[0.08, 1.0],
        random_aspect_ratio=[3 / 4, 4 / 3],
        num_attempts=10,
        interp_type=INTERPOLATION[setting["interpolation"]],
    )
    if not normalised:
        return fn.flip(image, device="cpu", horizontal=fn.random.coin_flip())
    return mirrored_and_normalised(image)


def begun(definition, batch, setting, *args):
    """A pipeline that has already run once."""
    more = {"exec_dynamic": True} if setting.get("dynamic") else {}
    pipeline = dali.pipeline_def(definition)(
        *args,
        setting,
        batch_size=batch,
        num_threads=setting["threads"],
        device_id=None,
        prefetch_queue_depth=setting["queue"],
        **more,
    )
    pipeline.build()
    pipeline.run()
    return pipeline


def jpeg(files, batch, n, setting):
    pipeline = begun(augmented, batch, setting, files)

    def run():
        return side.timed(lambda: side.drain(pipeline.run() for _ in range(n // batch)), elements=n)

    return run


def one_file_each(npy):
    """The images as separate files next to the .npy file, for DALI's reader."""
    folder, images = f"{npy}-each", np.load(npy, mmap_mode="r")
    paths = [os.path.join(folder, f"{i:05}.npy") for i in range(len(images))]
    if not os.path.exists(folder):
        os.makedirs(folder + ".partial", exist_ok=True)
        for path, image in zip(paths, images):
            np.save(os.path.join(folder + ".partial", os.path.basename(path)), image)
        os.replace(folder + ".partial", folder)
    return paths


def raw(npy, bare, batch, n, normalised, setting):
    images = np.load(npy)

    def batches():
        while True:
            for i in range(0, len(images) // batch * batch, batch):
                yield images[i : i + batch]

    source = one_file_each(npy) if setting.get("reader") == "numpy" else batches()
    pipeline = begun(cropped, batch, setting, source, normalised)
    return side.warm(iter(pipeline.run, None), n // batch, elements=n)


def jpeg_paced(files, batch, step, seconds, setting, settle=0):
    pipeline = begun(augmented, batch, setting, files)
    return lambda: side.paced(iter(pipeline.run, None), step, seconds, settle)


CASES = {"jpeg": jpeg, "raw": raw, "paced": jpeg_paced}

if __name__ == "__main__":
    side.serve(CASES, lambda: {"DALI": dali.__version__})
