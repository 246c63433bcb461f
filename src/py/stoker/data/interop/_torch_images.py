# SPDX-License-Identifier: Apache-2.0
"""Native import of image folder loaders: torchvision's ImageFolder and DatasetFolder with transforms that have a native
form (_torch_transforms.py).

A generator walks the loader's batches in this process. For each item it reads the file's header, draws the transforms'
random numbers, and yields them with the path and the target. The engine's threads then read, decode and transform.
Random generators start like those of the loader's workers, one for each worker, so items equal the loader's own.

Limits: Pillow decodes files whose pixels are neither RGB nor gray, in this process. With persistent_workers, random
numbers equal a DataLoader's only in the first pass. Without workers they are those that torch's generator would give if
nothing else drew from it.
"""

import io
import sys

import numpy as np

from ..core._dataset import Dataset
from ..core._function import cond
from ..core._options import AUTOTUNE
from ..core._spec import TensorSpec
from ..ops._ops import do
from . import _torch_draws
from ._torch_transforms import Chain, Unrecognized

_PLAIN = ("RGB", "L")  # modes that the engine decodes like Pillow's convert("RGB")
_DECODED = (".jpg", ".jpeg", ".png")


class Plan:
    """A recognized loader: its files, targets and transforms."""

    def __init__(self, samples, places, chain, target):
        self.samples, self.places, self.chain, self.target = samples, places, chain, target


def usual(loader, torch):
    """(the dataset under the loader's Subsets, the indices in it or None) of a loader that batches and collates in the
    usual way. Unrecognized: it doesn't."""
    torchvision = sys.modules.get("torchvision")
    if torchvision is None or loader.batch_size is None:
        raise Unrecognized("it has no data set of torchvision's in batches of one size")
    data, dataset, places = torch.utils.data, loader.dataset, None
    while type(dataset) is data.Subset:
        inner = np.asarray(dataset.indices, np.int64)
        places = inner if places is None else inner[places]
        dataset = dataset.dataset
    if loader.collate_fn is not data.default_collate or torchvision.get_image_backend() != "PIL":
        raise Unrecognized("it collates in its own way, or images are not Pillow's")
    if loader.worker_init_fn is not None or type(loader.batch_sampler) is not data.BatchSampler:
        raise Unrecognized("it has a worker_init_fn, or a batch sampler of its own")
    return dataset, places


def recognized(loader, torch):
    """The Plan of a loader of an image folder. Unrecognized: why it has none."""
    dataset, places = usual(loader, torch)
    torchvision = sys.modules["torchvision"]
    folder = torchvision.datasets.folder
    is_folder = isinstance(dataset, folder.DatasetFolder) and type(dataset).__getitem__ is folder.DatasetFolder.__getitem__
    if not is_folder or dataset.loader not in (folder.default_loader, folder.pil_loader):
        raise Unrecognized("its data set isn't an ImageFolder or DatasetFolder with torchvision's own loader")
    if not all(path.lower().endswith(_DECODED) for path, _ in dataset.samples):
        raise Unrecognized("some files are neither JPEG nor PNG")
    if dataset.transform is None:
        raise Unrecognized("it has no transforms")
    target = dataset.target_transform or (lambda t: t)
    if dataset.samples and not isinstance(target(dataset.samples[0][1]), (int, float)):
        raise Unrecognized("its targets are not numbers")
    return Plan(dataset.samples, places, Chain(dataset.transform, torch, torchvision), target)


class Items:
    """A generator of a pass: for each batch the files, their contents if Pillow decoded them, the transforms' numbers,
    and the targets."""

    def __init__(self, loader, plan):
        self.loader, self.plan = loader, plan
        self.sizes = np.zeros((len(plan.samples), 3), np.int32)  # height, width, whether the engine decodes it
        self.dtype = np.int64 if self._is_int() else np.float64

    def _is_int(self):
        return not self.plan.samples or isinstance(self.plan.target(self.plan.samples[0][1]), int)

    def __call__(self):
        import torch

        return (self._batch(*made) for made in _torch_draws.batches(self.loader, torch))

    def _batch(self, numbers, stream):
        plan, count = self.plan, len(numbers)
        paths, decoded = np.empty(count, object), np.empty(count, object)
        drawn = np.zeros((count, plan.chain.width), np.int32)
        targets = np.empty(count, self.dtype)
        for i, number in enumerate(numbers):
            at = int(number) if plan.places is None else int(plan.places[number])
            path, target = plan.samples[at]
            height, width, is_plain = self._size(at, path)
            paths[i], decoded[i] = path.encode(), b"" if is_plain else _by_pillow(path)
            try:
                drawn[i] = plan.chain.draw((height, width), stream)
            except ValueError as e:
                raise ValueError(f"{path}: {e}") from None
            targets[i] = plan.target(target)
        return paths, decoded, drawn, targets

    def _size(self, at, path):
        known = self.sizes[at]
        if not known[0]:
            from PIL import Image

            with Image.open(path) as image:
                is_plain = image.mode in _PLAIN and image.format in ("JPEG", "PNG")
                self.sizes[at] = known = (image.height, image.width, is_plain)
        return int(known[0]), int(known[1]), bool(known[2])


def _by_pillow(path):
    """The file's pixels as a lossless RGB PNG file."""
    from PIL import Image

    out = io.BytesIO()
    with Image.open(path) as image:
        image.convert("RGB").save(out, "PNG", compress_level=1)
    return out.getvalue()


def images(loader, plan):
    """The batches of a recognized loader: (images, targets)."""
    items, chain = Items(loader, plan), plan.chain
    signature = (
        TensorSpec((None,), "bytes"),
        TensorSpec((None,), "bytes"),
        TensorSpec((None, chain.width), "int32"),
        TensorSpec((None,), np.dtype(items.dtype).name),
    )
    def item(path, decoded, drawn, target):
        is_file = do.equal(do.strings.length(decoded), np.int32(0))
        content = cond(is_file, lambda: do.io.read_file(path), lambda: decoded)
        image = do.io.decode_jpeg(content, channels=3, dct_method="INTEGER_ACCURATE")
        return chain.apply(image, drawn), target

    order = Dataset.from_generator(items, output_signature=signature)
    made = order.unbatch().map(item, AUTOTUNE)
    return made.batch(loader.batch_size, drop_remainder=bool(loader.drop_last))
