# SPDX-License-Identifier: Apache-2.0
"""FFCV: JPEGs in its own file format, through its loader and transforms.

Its writer decodes and encodes each image again (quality 90, as in its ImageNet example), so that it
reads the same pictures in about the same number of bytes, out of one file. The normalisation stands
before ToTensor: behind ToTorchImage, as on a GPU, its loader does not get ready on the CPU."""

import importlib.metadata
import os
import tempfile

import numpy as np
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


def written(files, n):
    """The images in FFCV's format, n of them; written once."""
    path = os.path.join(folder.name, f"{n}.beton")
    if not os.path.exists(path):
        fields = {"image": RGBImageField(write_mode="jpg", jpeg_quality=90), "i": IntField()}
        DatasetWriter(path, fields, num_workers=2).from_indexed_dataset(Images(files, n))
    return path


def loader(files, n, batch):
    image = [
        RandomResizedCropRGBImageDecoder((224, 224)),
        RandomHorizontalFlip(),
        NormalizeImage(MEAN, STD, np.float32),
        ToTensor(),
        ToTorchImage(),
    ]
    return Loader(
        written(files, n),
        batch_size=batch,
        num_workers=2,
        order=OrderOption.SEQUENTIAL,
        os_cache=True,
        drop_last=False,
        pipelines={"image": image},
    )


def jpeg(files, batch, n):
    ready = loader(files, n, batch)
    return lambda: side.timed(lambda: side.drain(ready), elements=n)


class Arrays:
    def __init__(self, npy):
        self.images = np.load(npy, mmap_mode="r")

    def __len__(self):
        return len(self.images)

    def __getitem__(self, i):
        return np.ascontiguousarray(self.images[i]), i


def raw(npy, bare, batch, n, normalised):
    path = os.path.join(folder.name, "raw.beton")
    if not os.path.exists(path):
        fields = {"image": RGBImageField(write_mode="raw"), "i": IntField()}
        DatasetWriter(path, fields, num_workers=2).from_indexed_dataset(Arrays(npy))
    image = [RandomResizedCropRGBImageDecoder((224, 224)), RandomHorizontalFlip()]
    image += [NormalizeImage(MEAN, STD, np.float32)] if normalised else []
    ready = Loader(
        path,
        batch_size=batch,
        num_workers=2,
        order=OrderOption.SEQUENTIAL,
        os_cache=True,
        drop_last=True,
        pipelines={"image": image + [ToTensor(), ToTorchImage()]},
    )
    return side.warm(endless(ready), n // batch, elements=n)


def endless(ready):
    while True:
        yield from ready


def jpeg_paced(files, batch, step, seconds, settle=0):
    ready = loader(files, 2048, batch)
    return lambda: side.paced(iter(endless(ready)), step, seconds, settle)


CASES = {"jpeg": jpeg, "raw": raw, "paced": jpeg_paced}

if __name__ == "__main__":
    side.serve(CASES, lambda: {"FFCV": importlib.metadata.version("ffcv")})
