# SPDX-License-Identifier: Apache-2.0
"""torchvision's transforms (v1 and v2) of an image file: random numbers in Python, pixels in the engine.

A chain of transforms becomes a chain of steps. Each step has two halves. `draw` runs in Python for each item, in the
loader's order: it calls the transform's own public make_params (v1: get_params) with an image that has a size but no
pixels, so random numbers are torchvision's (_torch_draws.py), and returns the numbers that the pixels need. `apply` is
traced once into the pipeline's function and takes these numbers as values.

Limits: the transforms in _MAKERS, with Pillow's bilinear filter; resized pixels are within one level of Pillow's.
Unrecognized says what is missing.
"""

import copy

import numpy as np

from ..core._function import cond
from . import _torch_draws
from ..ops._ops import do


class Unrecognized(Exception):
    """A transform, or an argument of it, without a native form here."""


class Step:
    """A transform: draws numbers for an item, and computes the pixels."""

    width = 0  # numbers per item

    def draw(self, size, generator):
        """(numbers, the resulting size) for an image of that (height, width)."""
        return (), size

    def apply(self, x, numbers):
        """The transformed image x (height, width, channels); numbers: int32, those of draw."""
        return x


class _Crop(Step):
    """A box of the image, resized."""

    width = 4

    def __init__(self, box, size=None):
        self.box, self.size = box, size

    def draw(self, size, generator):
        top, left, height, width = self.box(size, generator)
        if top < 0 or left < 0 or top + height > size[0] or left + width > size[1]:
            raise ValueError(f"a crop of {height} x {width} does not fit in an image of {size[0]} x {size[1]}")
        return (top, left, height, width), self.size or (height, width)

    def apply(self, x, numbers):
        top, left, height, width = (numbers[i] for i in range(4))
        x = x[top : top + height, left : left + width]
        return x if self.size is None else _resized(x, list(self.size))


class _Fixed(Step):
    """The box in the middle, with a fixed size."""

    width = 2

    def __init__(self, height, width, channels):
        self.height, self.columns, self.channels = height, width, channels

    def draw(self, size, generator):
        if size[0] < self.height or size[1] < self.columns:
            raise ValueError(f"a crop of {self.height} x {self.columns} does not fit in an image of {size[0]} x {size[1]}")
        at = int(round((size[0] - self.height) / 2.0)), int(round((size[1] - self.columns) / 2.0))
        return at, (self.height, self.columns)

    def apply(self, x, numbers):
        top, left = numbers[0], numbers[1]
        x = x[top : top + self.height, left : left + self.columns]
        return do.ensure_shape(x, [self.height, self.columns, self.channels])


class _Resize(Step):
    """The whole image resized; the size may depend on the image's."""

    width = 2

    def __init__(self, size_of):
        self.size_of = size_of

    def draw(self, size, generator):
        made = self.size_of(size)
        return made, made

    def apply(self, x, numbers):
        return _resized(x, numbers[0:2])


def _resized(x, size):
    """With Pillow's bilinear filter, rounded to whole levels."""
    return do.image.resize(_as_bytes(x), size, method="pil_bilinear")


def _as_bytes(x):
    return do.cast(x, "uint8") if x.dtype.kind == "f" else x


class _Flip(Step):
    """Mirrored at random."""

    width = 1

    def __init__(self, drawn, axis):
        self.drawn, self.axis = drawn, axis

    def draw(self, size, generator):
        return self.drawn(size, generator), size

    def apply(self, x, numbers):
        f = do.image.flip_left_right if self.axis == 1 else do.image.flip_up_down
        return cond(do.equal(numbers[0], np.int32(1)), lambda: f(x), lambda: x)


class _Scaled(Step):
    """Converts bytes to float32 from 0 to 1."""

    def apply(self, x, numbers):
        return do.truediv(do.cast(x, "float32"), np.float32(255))


class _Normalized(Step):
    """Subtracts the mean and divides by the standard deviation, per channel."""

    def __init__(self, mean, std):
        self.mean, self.std = np.asarray(mean, np.float32), np.asarray(std, np.float32)

    def apply(self, x, numbers):
        return do.truediv(do.subtract(x, self.mean), self.std)


class Chain:
    """The steps of a transform."""

    def __init__(self, transform, torch, torchvision, channels=3):
        self.torch, self.tv, self.channels, self.steps = torch, torchvision, channels, []
        self.is_tensor = self.is_float = False
        self._add(transform)
        if not self.is_tensor:
            raise Unrecognized("no transform makes the image a tensor")
        self.width = sum(s.width for s in self.steps)

    def _add(self, t):
        name, module = type(t).__name__, type(t).__module__
        if not module.startswith("torchvision.transforms"):
            raise Unrecognized(f"{module}.{name} is not torchvision's")
        if name == "Compose":
            for part in t.transforms:
                self._add(part)
            return
        make = _MAKERS.get(name)
        if make is None or getattr(type(t), "forward", None) is None and name not in ("ToTensor", "PILToTensor"):
            raise Unrecognized(f"the transform {name} has no native equivalent")
        self.steps.extend(make(self, t, module.startswith("torchvision.transforms.v2")) or ())

    def sized(self, size):
        """An image of that size without pixels, for make_params."""
        pixels = self.torch.empty((self.channels, *size), device="meta")
        return self.tv.tv_tensors.Image(pixels) if hasattr(self.tv, "tv_tensors") else pixels

    def draw(self, size, generator):
        """The numbers of an item."""
        out = []
        for s in self.steps:
            numbers, size = s.draw(size, generator)
            out.extend(numbers)
        return out

    def apply(self, x, numbers):
        """The item's tensor (channels, height, width)."""
        at = 0
        for s in self.steps:
            x = s.apply(x, numbers[at : at + s.width])
            at += s.width
        x = x if self.is_float else _as_bytes(x)
        return do.transpose(x, [2, 0, 1])

    def apply_to_batch(self, x):
        """The tensors of items of one size that need no random numbers: (items, height, width, channels)."""
        for s in self.steps:
            x = s.apply(x, None)
        return do.transpose(x, [0, 3, 1, 2])


def _filter(t):
    if getattr(getattr(t, "interpolation", None), "value", "bilinear") != "bilinear":
        raise Unrecognized(f"{type(t).__name__} with the filter {t.interpolation.value}")


def _before_tensor(chain, t):
    if chain.is_tensor:
        raise Unrecognized(f"{type(t).__name__} after the tensor: torchvision resizes tensors differently")


def _pair(size):
    if isinstance(size, int):
        return size, size
    size = [int(s) for s in size]
    return (size[0], size[0]) if len(size) == 1 else tuple(size)


def _box_of(chain, t, own):
    """The function that draws a box by the transform's make_params, or own for v1."""

    def box(size):
        image = chain.sized(size)
        if not hasattr(t, "make_params"):
            return own(image)
        p = t.make_params([image])
        return p["top"], p["left"], p["height"], p["width"]

    return box


def _random_resized_crop(chain, t, is_v2):
    _filter(t)
    _before_tensor(chain, t)
    own = _box_of(chain, t, lambda image: type(t).get_params(image, t.scale, t.ratio))
    short = _torch_draws.resized_crop(chain.torch, t.scale, t.ratio)
    return [_Crop(_torch_draws.drawn(chain.torch, short, own), _pair(t.size))]


def _random_crop(chain, t, is_v2):
    if t.pad_if_needed:
        raise Unrecognized("RandomCrop with pad_if_needed")
    size = _pair(t.size)
    around = _pad(chain, t, is_v2) if t.padding else []

    def own(image):
        return type(t).get_params(image, size)

    draw = _torch_draws.drawn(chain.torch, _torch_draws.crop(chain.torch, size, is_v2), _box_of(chain, _unpadded(t), own))
    return [*around, _Crop(draw)]


def _unpadded(t):
    """The transform for an already padded image."""
    if not t.padding:
        return t
    t = copy.copy(t)
    t.padding = None
    return t


class _Padded(Step):
    """Pads with zeros."""

    def __init__(self, left, top, right, bottom):
        self.sides = [[top, bottom], [left, right], [0, 0]]

    def draw(self, size, generator):
        return (), (size[0] + sum(self.sides[0]), size[1] + sum(self.sides[1]))

    def apply(self, x, numbers):
        return do.pad(x, self.sides)


def _pad(chain, t, is_v2):
    given = t.padding
    if t.padding_mode != "constant" or t.fill not in (0, None) or chain.is_tensor:
        raise Unrecognized(f"{type(t).__name__} with values other than 0, or after the tensor")
    sides = [given] if isinstance(given, int) else [int(n) for n in given]
    if is_v2 and type(t).__name__ == "RandomCrop":  # it stores left, right, top, bottom
        left, right, top, bottom = sides
    else:
        left, top, right, bottom = sides * (4 // len(sides))
    if min(left, top, right, bottom) < 0:
        raise Unrecognized(f"{type(t).__name__} with values below 0")
    return [_Padded(left, top, right, bottom)]


def _resize(chain, t, is_v2):
    _filter(t)
    _before_tensor(chain, t)
    size, most = t.size, getattr(t, "max_size", None)
    if most is not None or size is None:
        raise Unrecognized("Resize with max_size")
    size = [size] if isinstance(size, int) else list(size)
    if len(size) == 2:
        return [_Crop(lambda have, generator: (0, 0, *have), tuple(size))]

    def size_of(have):
        short, long = sorted(have)
        scaled = int(size[0] * long / short)
        return (size[0], scaled) if have[0] <= have[1] else (scaled, size[0])

    return [_Resize(size_of)]


def _flip(axis):
    def make(chain, t, is_v2):
        own = lambda size: (int(bool(chain.torch.rand(1) < t.p)),)
        return [_Flip(_torch_draws.drawn(chain.torch, _torch_draws.chance(chain.torch, t.p), own), axis)]

    return make


def _to_tensor(is_float):
    def make(chain, t, is_v2):
        chain.is_tensor, was = True, chain.is_float
        if is_float and not was:
            chain.is_float = True
            return [_Scaled()]
        return None

    return make


def _to_dtype(chain, t, is_v2):
    dtype, scale = t.dtype, getattr(t, "scale", True)
    if dtype == chain.torch.uint8 and not chain.is_float:
        return None
    if dtype != chain.torch.float32 or not scale or not chain.is_tensor:
        raise Unrecognized(f"{type(t).__name__} to {dtype}, scale={scale}")
    return _to_tensor(True)(chain, t, is_v2)


def _normalize(chain, t, is_v2):
    counts = {len(t.mean), len(t.std)}
    if not chain.is_float or not counts <= {1, chain.channels}:
        raise Unrecognized(f"Normalize of values other than {chain.channels} channels of float32")
    return [_Normalized(list(t.mean), list(t.std))]


_MAKERS = {
    "RandomResizedCrop": _random_resized_crop,
    "RandomCrop": _random_crop,
    "CenterCrop": lambda chain, t, is_v2: [_Fixed(*_pair(t.size), chain.channels)],
    "Pad": _pad,
    "Resize": _resize,
    "RandomHorizontalFlip": _flip(1),
    "RandomVerticalFlip": _flip(0),
    "ToTensor": _to_tensor(True),
    "PILToTensor": _to_tensor(False),
    "ToImage": _to_tensor(False),
    "ToPureTensor": _to_tensor(False),
    "ToDtype": _to_dtype,
    "ConvertImageDtype": _to_dtype,
    "Normalize": _normalize,
    "Identity": lambda chain, t, is_v2: None,
}
