#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Images by recipes: Pillow's arithmetic against a plain version in NumPy, floats against float32 by hand, files
against decode_jpeg, and invalid recipes. Pillow itself is compared in tests/peers/from_torch_recorded."""

import os
import struct
import tempfile

import numpy as np

import checks as c
import stoker.data as sd
from stoker.data.core import _dtypes
from stoker.data.core._call import run
from stoker.data.interop import _recipes as r

RNG = np.random.default_rng(5)
BITS = 22  # of a weight, as Pillow has them
SUPPORT = {2: 1.0, 3: 2.0, 4: 0.5}  # of the filters: bilinear, bicubic, box


def made(recipe, dtype="uint8", path=b""):
    files = run("read_files", [path], {})[0]
    return np.asarray(run("image_recipes", [files, recipe], {"dtype": _dtypes.number(dtype)})[0])


def of(image, *steps, dtype="uint8"):
    """What the steps make of an image (height, width, channels), as channels, height, width."""
    return made(r.written((r.PIXELS, *image.shape), steps, image.tobytes()), dtype)


def noise(height, width, channels=3):
    return RNG.integers(0, 256, (height, width, channels), np.uint8)


def weight(kind, x):
    d = abs(x)
    if kind == 4:
        return float(-0.5 < x <= 0.5)
    if kind == 2:
        return max(0.0, 1 - d)
    return (1.5 * d - 2.5) * d * d + 1 if d < 1 else (((d - 5) * d + 8) * d - 4) * -0.5 if d < 2 else 0.0


def along(image, length, kind):
    """Resized along the first axis in whole numbers, rounded to bytes."""
    have = image.shape[0]
    scale = have / length
    wide = max(scale, 1.0)
    out = np.empty((length, *image.shape[1:]), np.uint8)
    for i in range(length):
        center = (i + 0.5) * scale
        first = max(0, int(center - SUPPORT[kind] * wide + 0.5))
        end = min(have, int(center + SUPPORT[kind] * wide + 0.5))
        w = np.array([weight(kind, (k - center + 0.5) * (1 / wide)) for k in range(first, end)])
        w = w / w.sum()
        whole = np.trunc(np.where(w < 0, -0.5, 0.5) + w * (1 << BITS)).astype(np.int64)
        total = (1 << (BITS - 1)) + np.tensordot(whole, image[first:end].astype(np.int64), 1)
        out[i] = np.clip(total >> BITS, 0, 255)
    return out


def resized(image, height, width, kind, is_down_first):
    def down(im):
        return im if im.shape[0] == height else along(im, height, kind)

    def across(im):
        return im if im.shape[1] == width else along(im.swapaxes(0, 1), width, kind).swapaxes(0, 1)

    return across(down(image)) if is_down_first else down(across(image))


def test_resizing_is_in_whole_numbers():
    for kind in SUPPORT:
        for channels in (1, 3):
            for order in (0, 1):
                for size in ((40, 31), (7, 90), (90, 7), (33, 9), (1, 1), (33, 50)):
                    image = noise(33, 50, channels)
                    want = resized(image, *size, kind, order).transpose(2, 0, 1)
                    have = of(image, (r.RESIZE, size[1], size[0], kind, order))
                    c.same(np.array_equal(have, want), True, f"filter {kind}, {channels} channels to {size}, order {order}")


def test_boxes_flips_and_levels():
    x = noise(9, 12)
    planes = x.transpose(2, 0, 1)
    c.same(np.array_equal(of(x), planes), True)
    c.same(np.array_equal(of(x, (r.CROP, 2, 3, 7, 8)), planes[:, 3:8, 2:7]), True, "inside")
    around = np.pad(planes, ((0, 0), (2, 1), (1, 3)))
    c.same(np.array_equal(of(x, (r.CROP, -1, -2, 15, 10)), around), True, "black outside")
    c.same(np.array_equal(of(x, (r.CROP, 20, 20, 22, 23)), np.zeros((3, 3, 2), np.uint8)), True, "all outside")
    ways = (lambda p: p[:, ::-1], lambda p: p[::-1], np.rot90, lambda p: np.rot90(p, 2), lambda p: np.rot90(p, 3))
    ways = (*ways, lambda p: p.swapaxes(0, 1), lambda p: np.rot90(p, 2).swapaxes(0, 1))
    for k, f in enumerate(ways):
        c.same(np.array_equal(of(x, (r.TRANSPOSE, k)), f(x).transpose(2, 0, 1)), True, f"transpose {k}")
    gray = (x @ np.array([19595, 38470, 7471]) + 0x8000) >> 16
    c.same(np.array_equal(of(x, (r.GRAY,)), gray[None]), True, "gray")
    c.same(np.array_equal(of(x, (r.GRAY,), (r.COLOR,)), np.stack([gray] * 3)), True, "gray in color")
    table = RNG.integers(0, 256, 768)
    want = np.stack([table[256 * k + planes[k].astype(int)] for k in range(3)])
    c.same(np.array_equal(of(x, (r.LEVELS, *map(int, table))), want), True, "levels")


def blended(start, x, factor):
    f = np.float32(factor)
    return np.clip(np.float32(start) + f * (x.astype(np.float32) - np.float32(start)), 0, 255).astype(np.uint8)


def test_enhancing():
    x = noise(21, 17)
    planes = x.transpose(2, 0, 1)
    gray = ((x @ np.array([19595, 38470, 7471]) + 0x8000) >> 16).astype(np.float32)
    mean = int(gray.sum(dtype=np.float64) / gray.size + 0.5)
    for factor in (0.0, 0.4, 1.0, 1.7):
        c.same(np.array_equal(of(x, (r.BRIGHTNESS, factor)), blended(0, planes, factor)), True, f"brightness {factor}")
        c.same(np.array_equal(of(x, (r.CONTRAST, factor)), blended(mean, planes, factor)), True, f"contrast {factor}")
        c.same(np.array_equal(of(x, (r.SATURATION, factor)), blended(gray, planes, factor)), True, f"saturation {factor}")
    c.same(np.array_equal(of(np.full((2, 2, 3), 7, np.uint8), (r.HUE, 90)), np.full((3, 2, 2), 7)), True, "gray has no hue")
    red = np.array([[[255, 0, 0]]], np.uint8)
    c.same([of(red, (r.HUE, s)).ravel().tolist() for s in (0, 85, 170)], [[255, 0, 0], [0, 255, 0], [0, 0, 255]])


def boxed(x, radius):
    """Three box blurs of a whole radius along the last axis, as whole numbers of 24 bits."""
    whole = int(np.float32(1 << 24) / np.float32(2 * radius + 1))
    part = ((1 << 24) - (2 * radius + 1) * whole) // 2
    for _ in range(3):
        p = np.pad(x, [(0, 0)] * (x.ndim - 1) + [(radius + 1, radius + 1)], "edge").astype(np.int64)
        n = x.shape[-1]
        inner = sum(p[..., k + 1 : k + 1 + n] for k in range(2 * radius + 1))
        x = (inner * whole + (p[..., :n] + p[..., 2 * radius + 2 :]) * part + (1 << 23)) >> 24
    return x


def test_blur():
    x = noise(24, 31)
    planes = x.transpose(2, 0, 1).astype(np.int64)
    for radius in (1, 2, 40):
        sigma = float(np.sqrt(((2 * radius + 1) ** 2 - 1) / 4))  # of which three boxes have this radius
        c.same(np.array_equal(of(x, (r.BLUR, sigma, 0.0)), boxed(planes, radius)), True, f"along rows, {radius}")
        want = boxed(planes.swapaxes(1, 2), radius).swapaxes(1, 2)
        c.same(np.array_equal(of(x, (r.BLUR, 0.0, sigma)), want), True, f"along columns, {radius}")
    c.same(np.array_equal(of(x, (r.BLUR, 0.0, 0.0)), planes), True, "not at all")


def test_histograms_and_sharpness():
    x = noise(21, 17) // 2 + 30
    planes = x.transpose(2, 0, 1)
    low, high = planes.min((1, 2), keepdims=True).astype(float), planes.max((1, 2), keepdims=True).astype(float)
    scale = 255.0 / (high - low)
    c.same(np.array_equal(of(x, (r.AUTOCONTRAST,)), np.clip(np.trunc(planes * scale + -low * scale), 0, 255)), True)
    flat = np.full((5, 6, 3), 9, np.uint8)
    c.same(np.array_equal(of(flat, (r.AUTOCONTRAST,), (r.EQUALIZE,)), flat.transpose(2, 0, 1)), True, "one level stays")
    for plane, made in zip(planes, of(x, (r.EQUALIZE,)), strict=True):
        count = np.bincount(plane.ravel(), minlength=256)
        step = (count.sum() - count[count > 0][-1]) // 255
        levels = (step // 2 + np.cumsum(count) - count) // step if step else np.arange(256)
        c.same(np.array_equal(made, np.clip(levels, 0, 255)[plane]), True, "equalized")
    c.same(np.array_equal(of(x, (r.SHARPNESS, 1.0)), planes), True, "as it was")
    smooth = of(x, (r.SHARPNESS, 0.0))
    around = sum(planes[:, 1 + i : 20 + i, 1 + j : 16 + j].astype(int) for i in (-1, 0, 1) for j in (-1, 0, 1))
    want = (around + 4 * planes[:, 1:-1, 1:-1].astype(int)) / 13
    c.same(np.abs(smooth[:, 1:-1, 1:-1] - want).max() <= 0.5001, True, "the mean of the neighbors")
    c.same(np.array_equal(smooth[:, 0], planes[:, 0]), True, "edges stay")


def test_affine_transforms():
    x = noise(9, 12)
    planes = x.transpose(2, 0, 1)
    for kind in (0, 2, 3):
        moved = of(x, (r.AFFINE, 10, 9, 1.0, 0.0, 2.0, 0.0, 1.0, -3.0, kind, 7, 8, 9))
        c.same(np.array_equal(moved[:, 3:], planes[:, :6, 2:12]), True, f"moved, filter {kind}")
        c.same(moved[:, :3].reshape(3, -1).tolist(), [[v] * 30 for v in (7, 8, 9)], "outside")
        turned = of(x, (r.AFFINE, 9, 12, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0, kind, 0, 0, 0))
        c.same(np.array_equal(turned, planes.swapaxes(1, 2)), True, f"transposed, filter {kind}")
    halves = of(x, (r.AFFINE, 12, 9, 1.0, 0.0, 0.5, 0.0, 1.0, 0.0, 2, 0, 0, 0))[:, :, :11]
    c.same(np.array_equal(halves, (planes[:, :, :-1].astype(int) + planes[:, :, 1:]) // 2), True, "between two")


def test_patches():
    x = noise(8, 7)
    values = [RNG.normal(size=size).astype(np.float32) for size in ((3, 2, 4), (3, 1, 1))]
    want = x.transpose(2, 0, 1).astype(np.float32)
    want[:, 1:3, 2:6], want[:, 7:, :1] = values
    steps = [(r.PATCH, 1, 2, 2, 4, 3), (r.PATCH, 7, 0, 1, 1, 3)]
    recipe = r.written((r.PIXELS, *x.shape), steps, b"".join(v.tobytes() for v in values) + x.tobytes())
    c.same(np.array_equal(made(recipe, "float32"), want), True)
    for step in [(7, 0, 2, 1, 3), (0, 0, 1, 1, 1), (0, 0, 0, 1, 3), (0, 0, 1 << 20, 1 << 20, 3), (-1, 0, 1, 1, 3)]:
        mutant = r.written((r.PIXELS, *x.shape), [(r.PATCH, *step)], bytes(max(0, min(4 * step[2] * step[3] * step[4], 99))) + x.tobytes())
        c.raises(sd.errors.InvalidArgumentError, lambda: made(mutant, "float32"), "image_recipes")


def test_floats():
    x = noise(6, 5)
    planes = x.transpose(2, 0, 1)
    by_255 = planes.astype(np.float32) / np.float32(255)
    c.same(np.array_equal(of(x, dtype="float32"), planes.astype(np.float32)), True)
    c.same(np.array_equal(of(x, (r.SCALE, r.TO_TENSOR), dtype="float32"), by_255), True)
    product = planes.astype(np.float32) * np.float32(1 / 255)
    c.same(np.array_equal(of(x, (r.SCALE, r.TO_DTYPE), dtype="float32"), product), True)
    mean, std = [np.array(v, np.float32)[:, None, None] for v in ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))]
    steps = [(r.SCALE, r.TO_TENSOR), (r.NORMALIZE, *mean.ravel().tolist(), *std.ravel().tolist())]
    want = (by_255 - mean) / std
    c.same(np.array_equal(of(x, *steps, dtype="float32"), want), True)
    want[:, 1:4, 2:4] = np.array([1, 2, 3], np.float32)[:, None, None]
    c.same(np.array_equal(of(x, *steps, (r.ERASE, 1, 2, 3, 2, 1.0, 2.0, 3.0), dtype="float32"), want), True)
    values = RNG.normal(size=(4, 3, 2)).astype(np.float32)
    c.same(np.array_equal(made(r.written((r.TENSOR, 3, 2, 4), (), values.tobytes()), "float32"), values), True)


def test_files():
    x = np.kron(noise(6, 8), np.ones((8, 8, 1), np.uint8))
    file = sd.io.encode_jpeg(x).numpy()
    want = np.asarray(sd.io.decode_jpeg(file, dct_method="INTEGER_ACCURATE")).transpose(2, 0, 1)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "x.jpg")
        with open(path, "wb") as f:
            f.write(file)
        for steps, part in (((), want), (((r.COLOR,), (r.CROP, 5, 3, 40, 33)), want[:, 3:33, 5:40])):
            c.same(np.array_equal(made(r.written((r.FILE, 0, 0, 0), steps, b""), path=path.encode()), part), True)
            c.same(np.array_equal(made(r.written((r.FILE, 0, 0, 0), steps, file)), part), True, "in memory")
        recipe = r.written((r.FILE, 0, 0, 0), (), b"")
        names, recipes = np.array([path.encode()] * 3 + [None], object)[:-1], np.array([recipe] * 3 + [None], object)[:-1]
        c.same(np.array_equal(made(recipes, path=names), np.stack([want] * 3)), True, "a batch")
        c.raises(sd.errors.InvalidArgumentError, lambda: made(recipe, path=b""), "image_recipes")
        ds = sd.Dataset.from_tensor_slices([np.frombuffer(file, np.uint8)])
        c.same(len(list(ds)), 1)


def test_hostile_recipes():
    x = noise(4, 4)
    good = r.written((r.PIXELS, 4, 4, 3), [(r.RESIZE, 3, 3, 2, 0)], x.tobytes())
    bad = sd.errors.InvalidArgumentError
    for k in range(0, len(good), 3):
        c.raises(bad, lambda: made(good[:k]), "image_recipes")
    for step in [(99,), (r.RESIZE, 3, 3, 17, 0), (r.RESIZE, 0, 3, 2, 0), (r.RESIZE, 1 << 30, 1 << 30, 2, 0), (r.TRANSPOSE, 7)]:
        c.raises(bad, lambda: of(x, step), "image_recipes")
    move = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0)
    for step in [(4, 4, *move, 1), (0, 4, *move, 0), (4, 4, 1e300, *move[1:], 0), (4, 4, float("nan"), *move[1:], 2)]:
        c.raises(bad, lambda: of(x, (r.AFFINE, *step, 0, 0, 0)), "image_recipes")
    for radius in (-1.0, float("nan"), float(r.BLUR_MAX)):
        c.raises(bad, lambda: of(x, (r.BLUR, radius, 0.0)), "a blur")
    c.raises(bad, lambda: of(x, (r.CROP, -(1 << 31), 0, (1 << 31) - 1, 4)), "image_recipes")
    c.raises(bad, lambda: of(x[..., :1], (r.SATURATION, 1.5)), "gray image")
    c.raises(bad, lambda: of(x, (r.SCALE, 0)), "another type")
    c.raises(bad, lambda: of(x, (r.ERASE, 2, 2, 5, 5, 0.0, 0.0, 0.0), dtype="float32"), "outside")
    c.raises(bad, lambda: made(r.written((r.PIXELS, 1 << 20, 1 << 20, 3), (), b"")), "another size")
    c.raises(bad, lambda: made(struct.pack("=i", 1 << 30) + bytes(64)), "no recipe")
    for _ in range(300):
        mutant = bytearray(good)
        for at in RNG.integers(0, 40, 3):
            mutant[at] = RNG.integers(256)
        try:
            made(bytes(mutant))
        except sd.errors.InvalidArgumentError:
            pass
        c.same(True, True)


def test_sizes_of_a_batch_are_equal():
    recipes = [r.written((r.PIXELS, n, 4, 3), (), noise(n, 4).tobytes()) for n in (4, 5)]
    both = np.array([*recipes, None], object)[:-1]
    c.raises(sd.errors.InvalidArgumentError, lambda: made(both, path=np.array([b"", b""], object)), "in one batch")


c.main(globals())
