# SPDX-License-Identifier: Apache-2.0
"""Random augmentations like torchvision's: policies that pick among other operations (RandAugment, TrivialAugment),
random erasing, and mixing a batch's images (MixUp, CutMix)."""

import math

import numpy as np

from . import _random as random
from . import _branch_ops
from ..core._call import convert, is_symbolic
from ._image_ops import image_of, sizes_of
from ._ops import as_type, cast, do, publish
from ._tone_ops import (
    adjust_sharpness, autocontrast, brightness, colour, contrast, equalize, posterize, solarize,
)  # fmt: skip
from ..core._trace import TraceError
from ._warp_ops import affine, rotate
from ..errors import InvalidArgumentError

_F32, _U8 = np.dtype("float32"), np.dtype("uint8")


def _at(table, bin_number):
    return do.gather(np.asarray(table, np.float32), bin_number)


def _choices(x, bin_number, sign, bins, reach, how):
    """The operations that the policies pick from, as functions without arguments. reach: the range of each: shear,
    pixels of translation (None: by the image's size), degrees, factor, bits."""
    shear, pixels, degrees, factor, bits = reach
    line = np.linspace(0.0, 1.0, bins)

    def signed(most):
        return do.multiply(_at(line * most, bin_number), sign)

    def moved(axis):
        height, width = sizes_of(x)
        side = width if axis == 0 else height
        most = do.multiply(side, np.float32(150.0 / 331.0)) if pixels is None else np.float32(pixels)
        # whole pixels, like torchvision
        by = do.floor(do.multiply(_at(line, bin_number), most))
        offset = do.multiply(by, sign)
        return affine(x, translate=(offset, 0.0) if axis == 0 else (0.0, offset), **how)

    def sheared(axis):
        angle = do.multiply(do.atan(signed(shear)), np.float32(180 / math.pi))
        return affine(
            x, shear=(angle, 0.0) if axis == 0 else (0.0, angle), center=(0.0, 0.0), **how
        )

    def blended(f):
        return lambda: f(x, do.add(np.float32(1), signed(factor)))

    depth = 8 - np.round(np.arange(bins) / ((bins - 1) / bits))
    limit = np.linspace(255.0 if x.dtype == _U8 else 1.0, 0.0, bins)
    out = [
        lambda: x,
        lambda: sheared(0),
        lambda: sheared(1),
        lambda: moved(0),
        lambda: moved(1),
        lambda: rotate(x, signed(degrees), **how),
        blended(brightness),
        blended(colour),
        blended(contrast),
        blended(adjust_sharpness),
        lambda: solarize(x, _at(limit, bin_number)),
        lambda: autocontrast(x),
    ]
    if x.dtype == _U8:
        out += [lambda: posterize(x, cast(_at(depth, bin_number), "int32")), lambda: equalize(x)]
    return out


def _drawn(most, seed, salt):
    """A whole number below `most`."""
    return random.uniform([], 0, most, "int32", None if seed is None else seed + salt)


def _changed(x, bin_number, bins, reach, how, seed, salt):
    sign = cast(do.subtract(do.multiply(_drawn(2, seed, salt), np.int32(2)), np.int32(1)), _F32)
    choices = _choices(x, bin_number, sign, bins, reach, how)
    return _branch_ops.switch_case(_drawn(len(choices), seed, salt + 1), choices)


@publish("image.rand_augment")
def rand_augment(image, num_ops=2, magnitude=9, num_magnitude_bins=31, interpolation="nearest",
                 fill=0.0, seed=None):  # fmt: skip
    """num_ops random changes, each of `magnitude` (below num_magnitude_bins): RandAugment."""
    x = image_of(image, "rand_augment")
    bins, how = int(num_magnitude_bins), {"interpolation": interpolation, "fill": fill}
    if not 0 <= int(magnitude) < bins:
        raise InvalidArgumentError(f"rand_augment: magnitude is 0 to {bins - 1}, not {magnitude}")
    for i in range(int(num_ops)):
        reach = (0.3, None, 30.0, 0.9, 4)
        x = _kept(_changed(x, np.int32(magnitude), bins, reach, how, seed, 2 * i), image)
    return x


@publish("image.trivial_augment")
def trivial_augment(image, num_magnitude_bins=31, interpolation="nearest", fill=0.0, seed=None):
    """One random change of random strength: TrivialAugment (wide)."""
    x = image_of(image, "trivial_augment")
    bins, how = int(num_magnitude_bins), {"interpolation": interpolation, "fill": fill}
    strength = _drawn(bins, seed, 2)
    return _kept(_changed(x, strength, bins, (0.99, 32.0, 135.0, 0.99, 6), how, seed, 0), image)


def _kept(x, like):
    """x, with the known dimensions of the image before it."""
    known = convert(like).shape
    return do.ensure_shape(x, known) if is_symbolic(x) and known is not None else x


@publish("image.random_erasing")
def random_erasing(image, p=0.5, scale=(0.02, 0.33), ratio=(0.3, 3.3), value=0, seed=None):
    """With probability p, fills a random rectangle with `value`; its share of the image's area and its aspect ratio
    (height to width) are drawn from the given ranges."""
    x = image_of(image, "random_erasing")
    seeds = [None if seed is None else seed + k for k in range(5)]
    height, width = sizes_of(x)
    area = do.multiply(random.uniform([10], *map(float, scale), seed=seeds[0]), do.multiply(height, width))
    aspect = do.exp(random.uniform([10], math.log(ratio[0]), math.log(ratio[1]), seed=seeds[1]))
    tall = do.round(do.sqrt(do.multiply(area, aspect)))
    wide = do.round(do.sqrt(do.truediv(area, aspect)))
    fits = do.logical_and(do.less(tall, height), do.less(wide, width))
    first = do.argmax(cast(fits, "int32"))  # of ten draws, like torchvision
    tall, wide = do.gather(tall, first), do.gather(wide, first)

    def place(side, part, k):
        room = do.add(do.subtract(side, part), np.float32(1))
        return do.floor(do.multiply(random.uniform([], seed=seeds[k]), room))

    top, left = place(height, tall, 2), place(width, wide, 3)
    inside = _box(x, top, left, do.add(top, tall), do.add(left, wide))
    is_done = do.logical_and(
        do.less(random.uniform([], seed=seeds[4]), np.float32(p)), do.reduce_any(fits)
    )
    return do.where(
        do.logical_and(inside, is_done), as_type(value, x.dtype), x
    )


def _box(x, top, left, bottom, right):
    """(height, width, 1) bools: inside the box?"""
    shape = do.shape(x)
    y = cast(do.range(shape[-3]), _F32)
    z = cast(do.range(shape[-2]), _F32)

    def between(v, low, high):
        return do.logical_and(do.greater_equal(v, low), do.less(v, high))

    rows, columns = between(y, top, bottom), between(z, left, right)
    both = do.logical_and(do.expand_dims(rows, 1), columns)
    return do.expand_dims(both, 2)


def _labels(labels, num_classes):
    labels = convert(labels)
    if labels.dtype.kind in "iu":
        if num_classes is None:
            raise InvalidArgumentError("labels that are numbers need num_classes")
        return do.one_hot(labels, num_classes)
    return labels


def _mixed(labels, share):
    rest = do.subtract(np.float32(1), share)
    share, rest = cast(share, labels.dtype), cast(rest, labels.dtype)
    return do.add(do.multiply(labels, share), do.multiply(do.roll(labels, 1, 0), rest))


@publish("image.mixup")
def mixup(images, labels, alpha=1.0, num_classes=None, seed=None):
    """(images, labels) of a batch of float images, each mixed with the previous one by a share drawn from Beta(alpha,
    alpha), one per batch."""
    x = image_of(images, "mixup")
    if x.dtype.kind != "f":
        raise TraceError("mixup takes images of floats")
    share = random.beta([], float(alpha), float(alpha), seed=seed)
    rest = do.subtract(np.float32(1), share)
    mixed = do.add(do.multiply(x, cast(share, x.dtype)), do.multiply(do.roll(x, 1, 0), cast(rest, x.dtype)))
    return mixed, _mixed(_labels(labels, num_classes), share)


@publish("image.cutmix")
def cutmix(images, labels, alpha=1.0, num_classes=None, seed=None):
    """(images, labels) of a batch, each with a box from the previous one; labels in proportion to the area. Labels:
    one-hot floats, or numbers with num_classes."""
    x = image_of(images, "cutmix")
    share = random.beta([], float(alpha), float(alpha), seed=seed)
    height, width = sizes_of(x)
    at = random.uniform([2], seed=None if seed is None else seed + 1)
    half = do.multiply(np.float32(0.5), do.sqrt(do.subtract(np.float32(1), share)))

    def ends(side, where):
        middle, reach = do.floor(do.multiply(where, side)), do.floor(do.multiply(half, side))
        low = do.maximum(do.subtract(middle, reach), np.float32(0))
        return low, do.minimum(do.add(middle, reach), side)

    (top, bottom), (left, right) = ends(height, at[0]), ends(width, at[1])
    area = do.multiply(do.subtract(bottom, top), do.subtract(right, left))
    share = do.subtract(np.float32(1), do.truediv(area, do.multiply(height, width)))
    mixed = do.where(_box(x, top, left, bottom, right), do.roll(x, 1, 0), x)
    return mixed, _mixed(_labels(labels, num_classes), share)
