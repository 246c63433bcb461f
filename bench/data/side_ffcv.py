# SPDX-License-Identifier: Apache-2.0
"""FFCV: JPEGs in its own file format, through its loader and transforms.

Its writer decodes and re-encodes each image (quality 90, as in its ImageNet example), so it reads the same images in
about the same number of bytes, from one file. Normalization comes before ToTensor (after ToTorchImage, as on a GPU, its
loader never becomes ready on the CPU), or torch does it on each batch, depending on the setting."""

import importlib.metadata
import json
import os
import tempfile

import numpy as np
import torch
from ffcv.fields import IntField, RGBImageField
from ffcv.fields.decoders import RandomResizedCropRGBImageDecoder
from ffcv.loader import Loader, OrderOption
from ffcv.transforms import NormalizeImage, RandomHorizontalFlip, ToTensor, ToTorchImage
from ffcv.writer import DatasetWriter
from PIL import Image

import side

MEAN = np.array([0.485, 0.456, 0.406]) * 255
STD = np.array([0.229, 0.224, 0.225]) * 255
folder = tempfile.TemporaryDirectory(prefix="bench-ffcv-")


class Images:
    def __init__(self, files, n):
        self.files, self.n = files, n

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        return np.asarray(Image.open(self.files[i % len(self.files)]).convert("RGB")), i


IMAGES = 1024  # in the file; passes repeat it as often as needed
ORDERS = {
    "sequential": OrderOption.SEQUENTIAL,
    "random": OrderOption.RANDOM,
    "quasi-random": OrderOption.QUASI_RANDOM,
}


def written(files):
    """The images in FFCV's format; written once."""
    path = os.path.join(folder.name, "images.beton")
    if not os.path.exists(path):
        fields = {"image": RGBImageField(write_mode="jpg", jpeg_quality=90), "i": IntField()}
        DatasetWriter(path, fields, num_workers=2).from_indexed_dataset(Images(files, IMAGES))
    return path


begun = {}  # by its arguments: a loader compiles its transforms for seconds


def batches_of(path, batch, normalised, setting):
    """Endless batches of the file at `path`: one iterator, however often requested; drops those for other work."""
    work = (path, batch, normalised)
    for key in [k for k in begun if k[0] != work]:
        del begun[key]
    key = (work, json.dumps(setting, sort_keys=True))
    if key not in begun:
        begun[key] = endless(path, batch, normalised, setting)
    return begun[key]


def endless(path, batch, normalised, setting):
    by_torch = setting.get("normalise") == "torch, of the batch"
    image = [RandomResizedCropRGBImageDecoder((224, 224)), RandomHorizontalFlip()]
    image += [NormalizeImage(MEAN, STD, np.float32)] if normalised and not by_torch else []
    ready = Loader(
        path,
        batch_size=batch,
        num_workers=setting["workers"],
        batches_ahead=setting["ahead"],
        order=ORDERS[setting["order"]],
        os_cache=setting.get("os cache", True),
        drop_last=True,
        pipelines={"image": image + [ToTensor(), ToTorchImage()]},
    )
    scale = torch.tensor(1 / STD, dtype=torch.float32).view(3, 1, 1)
    shift = torch.tensor(MEAN / STD, dtype=torch.float32).view(3, 1, 1)
    while True:
        for images, *_ in ready:
            yield images.float().mul_(scale).sub_(shift) if normalised and by_torch else images


def jpeg(files, batch, n, setting):
    return side.warm(batches_of(written(files), batch, True, setting), n // batch, elements=n)


class Arrays:
    def __init__(self, npy):
        self.images = np.load(npy, mmap_mode="r")

    def __len__(self):
        return len(self.images)

    def __getitem__(self, i):
        return np.ascontiguousarray(self.images[i]), i


def raw(npy, bare, batch, n, normalised, setting):
    path = os.path.join(folder.name, "raw.beton")
    if not os.path.exists(path):
        fields = {"image": RGBImageField(write_mode="raw"), "i": IntField()}
        DatasetWriter(path, fields, num_workers=2).from_indexed_dataset(Arrays(npy))
    return side.warm(batches_of(path, batch, normalised, setting), n // batch, elements=n)


def jpeg_paced(files, batch, step, seconds, setting, settle=0):
    made = batches_of(written(files), batch, True, setting)
    return lambda: side.paced(made, step, seconds, settle)


CASES = {"jpeg": jpeg, "raw": raw, "paced": jpeg_paced}

if __name__ == "__main__":
    side.serve(CASES, lambda: {"FFCV": importlib.metadata.version("ffcv")})
