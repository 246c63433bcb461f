# SPDX-License-Identifier: Apache-2.0
"""Native import of loaders of torchvision datasets that keep their images in one array: the MNIST family and CIFAR,
with transforms that have a native form (_torch_transforms.py).

If the transforms are deterministic, batches are rows of the array, transformed at once. Otherwise a generator draws
each item's random numbers in this process, as for image folders (_torch_images.py), and the items are batched again.

Limits: targets without a target_transform.
"""

import sys

import numpy as np

from ..core._dataset import Dataset
from ..core._options import AUTOTUNE
from ..core._spec import TensorSpec
from ..ops._ops import do
from . import _torch_draws, _torch_images
from ._torch_transforms import Chain, Unrecognized


class Plan:
    """A recognized loader: its images (items, height, width, channels), their targets and transforms."""

    def __init__(self, images, targets, places, chain):
        self.images, self.targets, self.places, self.chain = images, targets, places, chain


def recognized(loader, torch):
    """The Plan of a loader. Unrecognized: why it has none."""
    dataset, places = _torch_images.usual(loader, torch)
    torchvision = sys.modules["torchvision"]
    kinds = (torchvision.datasets.MNIST, torchvision.datasets.CIFAR10)
    kind = next((k for k in kinds if isinstance(dataset, k) and type(dataset).__getitem__ is k.__getitem__), None)
    if kind is None:
        raise Unrecognized("its data set isn't one of torchvision's in memory (MNIST, CIFAR)")
    images, targets = np.asarray(dataset.data), np.asarray(dataset.targets)
    images = images[..., None] if images.ndim == 3 else images
    if images.dtype != np.uint8 or images.ndim != 4 or targets.dtype.kind != "i" or targets.shape != images.shape[:1]:
        raise Unrecognized("its images are not bytes in one array, or its targets are not whole numbers")
    if dataset.transform is None or dataset.target_transform is not None:
        raise Unrecognized("it has no transforms, or a target_transform")
    chain = Chain(dataset.transform, torch, torchvision, images.shape[3])
    return Plan(images, targets.astype(np.int64), places, chain)


class Items:
    """A generator of a pass: for each batch the items' indices and their transforms' numbers."""

    def __init__(self, loader, plan):
        self.loader, self.places, self.chain = loader, plan.places, plan.chain
        self.size = plan.images.shape[1:3]

    def __call__(self):
        import torch

        return (self._batch(*made) for made in _torch_draws.batches(self.loader, torch))

    def _batch(self, numbers, stream):
        at = np.asarray(numbers, np.int64)
        drawn = np.zeros((len(at), self.chain.width), np.int32)
        for i in range(len(at) if self.chain.width else 0):
            drawn[i] = self.chain.draw(self.size, stream)
        return at if self.places is None else self.places[at], drawn


def images(loader, plan):
    """The batches of a recognized loader: (images, targets)."""
    chain = plan.chain
    signature = (TensorSpec((None,), "int64"), TensorSpec((None, chain.width), "int32"))
    order = Dataset.from_generator(Items(loader, plan), output_signature=signature)
    if not chain.width:

        def batch(at, drawn):
            return chain.apply_to_batch(do.gather(plan.images, at)), do.gather(plan.targets, at)

        return order.map(batch, AUTOTUNE)

    def item(at, drawn):
        return chain.apply(do.gather(plan.images, at), drawn), do.gather(plan.targets, at)

    return order.unbatch().map(item, AUTOTUNE).batch(loader.batch_size, drop_remainder=bool(loader.drop_last))
