# SPDX-License-Identifier: Apache-2.0
"""Changes of images that torchvision has and tf.image has not: rotations, shears, perspectives, blur,
tones, and the policies that draw among them. Values, arguments and rounding are torchvision's
(transforms.functional, on tensors), images are (height, width, channels), uint8 or floats of 0 to 1.
All of it is native in pipelines; angles and factors may be values of the function.
"""

import math

import numpy as np

from . import _branch_ops, _call, random
from ._call import convert, is_symbolic, run
from ._ops import PUBLIC, attribute, cast, publish
from ._trace import TraceError
from .errors import InvalidArgumentError

_F32, _U8 = np.dtype("float32"), np.dtype("uint8")


def _image(image, what):
    x = convert(image)
    if x.dtype != _U8 and x.dtype.kind != "f":
        raise TraceError(f"{what} takes an image of uint8 or floats, not of {x.dtype.name}")
    if x.shape is not None and len(x.shape) not in (3, 4):
        raise TraceError(f"{what} takes an image (height, width, channels), or a stack of them")
    return x


def _number(v):
    """A float32 scalar: an array, or a symbolic value."""
    return cast(v, _F32) if _call.is_typed(v) else np.float32(v)


def _sizes(x):
    """(height, width) as float32 scalars."""
    shape = PUBLIC["shape"](x)
    return cast(shape[-3], _F32), cast(shape[-2], _F32)


def _add(*parts):
    total = parts[0]
    for p in parts[1:]:
        total = PUBLIC["add"](total, p)
    return total


def _mul(*parts):
    total = parts[0]
    for p in parts[1:]:
        total = PUBLIC["multiply"](total, p)
    return total


def _div(a, b):
    return PUBLIC["truediv"](a, b)


def _neg(a):
    return PUBLIC["negative"](a)


def _like(values, x):
    """Float values as an image of x's type, rounded and kept within its range."""
    if x.dtype == _U8:
        return PUBLIC["saturate_cast"](PUBLIC["round"](values), _U8)
    return cast(values, x.dtype)


def warped(x, matrix, interpolation, fill, fill_mode="constant"):
    """The image through the matrix (eight float32 scalars, from the result's pixels to the image's)."""
    if interpolation not in ("nearest", "bilinear"):
        raise InvalidArgumentError(
            f"interpolation is 'nearest' or 'bilinear', not {interpolation!r}"
        )
    a = PUBLIC["stack"]([_number(v) for v in matrix])
    attrs = {"method": interpolation, "fill_mode": fill_mode, "fill_value": float(fill)}
    is_whole = x.dtype == _F32 or x.dtype == _U8 and interpolation == "nearest"
    out = run("image_warp", [x if is_whole else cast(x, _F32), a], attrs)[0]
    return out if is_whole else _like(out, x)


def _inverse(angle, translate, scale, shear, center):
    """The matrix of torchvision's affine, whose angles are clockwise: from the result to the image."""
    rot = _mul(_number(angle), np.float32(math.pi / 180))
    sx, sy = (_mul(_number(s), np.float32(math.pi / 180)) for s in shear)
    cos, sin, tan = PUBLIC["cos"], PUBLIC["sin"], PUBLIC["tan"]
    turned = PUBLIC["subtract"](rot, sy)
    a = _div(cos(turned), cos(sy))
    b = PUBLIC["subtract"](_neg(_div(_mul(cos(turned), tan(sx)), cos(sy))), sin(rot))
    c = _div(sin(turned), cos(sy))
    d = PUBLIC["subtract"](cos(rot), _div(_mul(sin(turned), tan(sx)), cos(sy)))
    scale = _number(scale)
    m = [_div(d, scale), _div(_neg(b), scale), _div(_neg(c), scale), _div(a, scale)]
    cx, cy = center
    tx, ty = (_number(t) for t in translate)
    back_x, back_y = _neg(_add(cx, tx)), _neg(_add(cy, ty))
    return [
        m[0], m[1], _add(_mul(m[0], back_x), _mul(m[1], back_y), cx),
        m[2], m[3], _add(_mul(m[2], back_x), _mul(m[3], back_y), cy),
        0.0, 0.0,
    ]  # fmt: skip


def _center(x, center):
    height, width = _sizes(x)
    half = np.float32(0.5)
    if center is None:
        return (
            _mul(PUBLIC["subtract"](width, np.float32(1)), half),
            _mul(PUBLIC["subtract"](height, np.float32(1)), half),
        )
    return tuple(PUBLIC["subtract"](_number(c), half) for c in center)


def _shears(shear):
    return tuple(shear) if isinstance(shear, (tuple, list)) else (shear, 0.0)


@publish("image.rotate", "image_warp")
def rotate(image, angle, interpolation="nearest", fill=0.0, center=None):
    """Turned counter-clockwise by `angle` degrees, about its middle or center (x, y); `fill` outside."""
    x = _image(image, "rotate")
    m = _inverse(_neg(_number(angle)), (0.0, 0.0), 1.0, (0.0, 0.0), _center(x, center))
    return warped(x, m, interpolation, fill)


@publish("image.affine", "image_warp")
def affine(image, angle=0.0, translate=(0.0, 0.0), scale=1.0, shear=(0.0, 0.0),
           interpolation="nearest", fill=0.0, center=None):  # fmt: skip
    """Turned clockwise by `angle` degrees, sheared (degrees along x and y), scaled, then moved by
    `translate` pixels (x, y)."""
    x = _image(image, "affine")
    m = _inverse(angle, translate, scale, _shears(shear), _center(x, center))
    return warped(x, m, interpolation, fill)


def _square_to(corners):
    """The projective matrix (nine scalars) from the unit square to four corners, clockwise from the
    top left one: (x, y) scalars. Heckbert 1989, 2.2.3."""
    (x0, y0), (x1, y1), (x2, y2), (x3, y3) = corners
    sub = PUBLIC["subtract"]
    dx1, dx2, dy1, dy2 = sub(x1, x2), sub(x3, x2), sub(y1, y2), sub(y3, y2)
    sx, sy = _add(sub(x0, x1), sub(x2, x3)), _add(sub(y0, y1), sub(y2, y3))
    det = sub(_mul(dx1, dy2), _mul(dx2, dy1))
    g = _div(sub(_mul(sx, dy2), _mul(dx2, sy)), det)
    h = _div(sub(_mul(dx1, sy), _mul(sx, dy1)), det)
    return [
        _add(sub(x1, x0), _mul(g, x1)), _add(sub(x3, x0), _mul(h, x3)), x0,
        _add(sub(y1, y0), _mul(g, y1)), _add(sub(y3, y0), _mul(h, y3)), y0,
        g, h, np.float32(1),
    ]  # fmt: skip


def _adjugate(m):
    a, b, c, d, e, f, g, h, i = m

    def minor(p, q, r, s):
        return PUBLIC["subtract"](_mul(p, q), _mul(r, s))

    return [
        minor(e, i, f, h), minor(c, h, b, i), minor(b, f, c, e),
        minor(f, g, d, i), minor(a, i, c, g), minor(c, d, a, f),
        minor(d, h, e, g), minor(b, g, a, h), minor(a, e, b, d),
    ]  # fmt: skip


def _product(m, n):
    return [_add(*[_mul(m[3 * i + k], n[3 * k + j]) for k in range(3)]) for i in range(3) for j in range(3)]


@publish("image.perspective", "image_warp")
def perspective(image, startpoints, endpoints, interpolation="bilinear", fill=0.0):
    """The image with four of its points (x, y), clockwise from the top left one, moved to others."""
    x = _image(image, "perspective")
    start, end = ([(_number(p[0]), _number(p[1])) for p in points] for points in (startpoints, endpoints))
    if len(start) != 4 or len(end) != 4:
        raise InvalidArgumentError("perspective: four points before, and four behind")
    m = _product(_square_to(start), _adjugate(_square_to(end)))
    # Of pixels' middles, which lie half a pixel from their corners.
    half = np.float32(0.5)
    m = _product([1, 0, -half, 0, 1, -half, 0, 0, 1], _product(m, [1, 0, half, 0, 1, half, 0, 0, 1]))
    return warped(x, [_div(v, m[8]) for v in m[:8]], interpolation, fill)


def _pair(v, what):
    v = list(v) if isinstance(v, (list, tuple)) else [v, v]
    if len(v) not in (1, 2):
        raise InvalidArgumentError(f"gaussian_blur: {what} is a number, or two: x and y")
    return v if len(v) == 2 else v * 2


def _weights(size, sigma):
    half = (size - 1) / 2
    x = _div(np.linspace(-half, half, size, dtype=np.float32), _number(sigma))
    e = PUBLIC["exp"](_mul(np.float32(-0.5), PUBLIC["square"](x)))
    return _div(e, PUBLIC["reduce_sum"](e))


@publish("image.gaussian_blur", "image_blur")
def gaussian_blur(image, kernel_size, sigma=None):
    """Blurred: weights of a normal curve over kernel_size pixels (odd; or x and y), mirrored at edges.

    sigma: its width in pixels (or x and y); by default 0.3 * ((kernel_size - 1) / 2 - 1) + 0.8.
    """
    x = _image(image, "gaussian_blur")
    sizes = [int(attribute(k, "kernel_size")) for k in _pair(kernel_size, "kernel_size")]
    if any(k < 1 or k % 2 == 0 for k in sizes):
        raise InvalidArgumentError(f"gaussian_blur: kernel_size is odd and positive, not {sizes}")
    if sigma is None:
        sigma = [0.3 * ((k - 1) * 0.5 - 1) + 0.8 for k in sizes]
    of_x, of_y = (_weights(k, s) for k, s in zip(sizes, _pair(sigma, "sigma")))
    return _like(run("image_blur", [cast(x, _F32), of_y, of_x], {})[0], x)


def _top(x):
    return np.asarray(255 if x.dtype == _U8 else 1, x.dtype)


@publish("image.invert")
def invert(image):
    """Dark becomes light: 255 (or 1) less each value."""
    x = _image(image, "invert")
    return PUBLIC["subtract"](_top(x), x)


@publish("image.solarize")
def solarize(image, threshold):
    """Values from threshold on inverted."""
    x = _image(image, "solarize")
    limit = cast(threshold, _F32) if _call.is_typed(threshold) else np.float32(threshold)
    return PUBLIC["where"](PUBLIC["greater_equal"](cast(x, _F32), limit), invert(x), x)


@publish("image.posterize")
def posterize(image, bits):
    """A uint8 image with the upper `bits` bits of each value, 0 to 8."""
    x = _image(image, "posterize")
    if x.dtype != _U8:
        raise TraceError("posterize takes an image of uint8")
    left = PUBLIC["subtract"](np.int32(8), cast(convert(bits), "int32"))
    step = cast(PUBLIC["bitwise.left_shift"](np.int32(1), left), "int32")
    wide = cast(x, "int32")
    return cast(PUBLIC["multiply"](PUBLIC["floordiv"](wide, step), step), _U8)


@publish("image.equalize", "image_equalize")
def equalize(image):
    """A uint8 image whose values are spread so that about as many pixels have each, by channel."""
    x = _image(image, "equalize")
    if x.dtype != _U8:
        raise TraceError("equalize takes an image of uint8")
    return run("image_equalize", [x], {})[0]


def _cut(values, x):
    """Float values within x's range, as its type: towards 0."""
    kept = PUBLIC["clip_by_value"](values, np.float32(0), np.float32(_top(x)))
    return cast(kept, x.dtype)


@publish("image.autocontrast")
def autocontrast(image):
    """Each channel stretched to the whole range of values."""
    x = _image(image, "autocontrast")
    f = cast(x, _F32)
    low = PUBLIC["reduce_min"](f, axis=[-3, -2], keepdims=True)
    high = PUBLIC["reduce_max"](f, axis=[-3, -2], keepdims=True)
    span = PUBLIC["subtract"](high, low)
    is_flat = PUBLIC["equal"](span, np.float32(0))
    scale = _div(np.float32(_top(x)), PUBLIC["where"](is_flat, np.float32(1), span))
    stretched = _mul(PUBLIC["subtract"](f, low), scale)
    return _cut(PUBLIC["where"](is_flat, f, stretched), x)


def _blend(x, other, factor):
    factor = _number(factor)
    rest = PUBLIC["subtract"](np.float32(1), factor)
    return _cut(_add(_mul(factor, cast(x, _F32)), _mul(rest, other)), x)


@publish("image.adjust_sharpness")
def adjust_sharpness(image, sharpness_factor):
    """0: smoothed, 1: as it is, 2: twice as sharp. Pixels at the edge stay."""
    x = _image(image, "adjust_sharpness")
    f = cast(x, _F32)
    shape = x.shape
    if shape is not None and any(s is not None and s <= 2 for s in tuple(shape)[-3:-1]):
        return x
    rows = [_shifted(f, i, j) for i in range(3) for j in range(3)]
    smooth = _div(_add(*rows, _mul(np.float32(4), rows[4])), np.float32(13))
    smooth = PUBLIC["round"](smooth) if x.dtype == _U8 else smooth
    pads = [[0, 0]] * (0 if shape is None else len(shape) - 3) + [[1, 1], [1, 1], [0, 0]]
    inner = PUBLIC["pad"](PUBLIC["ones_like"](smooth), pads)
    smooth = PUBLIC["pad"](smooth, pads)
    return _blend(x, PUBLIC["where"](PUBLIC["greater"](inner, np.float32(0)), smooth, f), sharpness_factor)


def _shifted(f, i, j):
    """The image without two rows and two columns, from row i and column j on."""
    rows = slice(i, None if i == 2 else i - 2)
    columns = slice(j, None if j == 2 else j - 2)
    return f[(Ellipsis, rows, columns, slice(None))]


def _grey(x):
    """Brightness as torchvision has it, (..., 1), of three channels."""
    f = cast(x, _F32)
    if x.shape is not None and x.shape[-1] == 1:
        return f
    weights = np.array([[0.2989], [0.587], [0.114]], np.float32)
    grey = PUBLIC["matmul"](f, weights)
    return PUBLIC["floor"](grey) if x.dtype == _U8 else grey


def _brightness(x, factor):
    return _blend(x, PUBLIC["zeros_like"](cast(x, _F32)), factor)


def _colour(x, factor):
    grey = _grey(x)
    return _blend(x, _add(PUBLIC["zeros_like"](cast(x, _F32)), grey), factor)


def _contrast(x, factor):
    mean = PUBLIC["reduce_mean"](_grey(x), axis=[-3, -2, -1], keepdims=True)
    return _blend(x, _add(PUBLIC["zeros_like"](cast(x, _F32)), mean), factor)


def _at(table, bin_number):
    return PUBLIC["gather"](np.asarray(table, np.float32), bin_number)


def _choices(x, bin_number, sign, bins, reach, how):
    """The operations that the policies draw from, as functions without arguments. reach: how far each
    goes: shear, pixels of translation (None: by the image's size), degrees, factor, bits."""
    shear, pixels, degrees, factor, bits = reach
    line = np.linspace(0.0, 1.0, bins)

    def signed(most):
        return _mul(_at(line * most, bin_number), sign)

    def moved(axis):
        height, width = _sizes(x)
        side = width if axis == 0 else height
        most = _mul(side, np.float32(150.0 / 331.0)) if pixels is None else np.float32(pixels)
        # Whole pixels, as torchvision moves by.
        by = PUBLIC["floor"](_mul(_at(line, bin_number), most))
        offset = _mul(by, sign)
        return affine(x, translate=(offset, 0.0) if axis == 0 else (0.0, offset), **how)

    def sheared(axis):
        angle = _mul(PUBLIC["atan"](signed(shear)), np.float32(180 / math.pi))
        return affine(
            x, shear=(angle, 0.0) if axis == 0 else (0.0, angle), center=(0.0, 0.0), **how
        )

    def blended(f):
        return lambda: f(x, _add(np.float32(1), signed(factor)))

    depth = 8 - np.round(np.arange(bins) / ((bins - 1) / bits))
    limit = np.linspace(255.0 if x.dtype == _U8 else 1.0, 0.0, bins)
    out = [
        lambda: x,
        lambda: sheared(0),
        lambda: sheared(1),
        lambda: moved(0),
        lambda: moved(1),
        lambda: rotate(x, signed(degrees), **how),
        blended(_brightness),
        blended(_colour),
        blended(_contrast),
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
    sign = cast(PUBLIC["subtract"](_mul(_drawn(2, seed, salt), np.int32(2)), np.int32(1)), _F32)
    choices = _choices(x, bin_number, sign, bins, reach, how)
    return _branch_ops.switch_case(_drawn(len(choices), seed, salt + 1), choices)


@publish("image.rand_augment", "image_warp")
def rand_augment(image, num_ops=2, magnitude=9, num_magnitude_bins=31, interpolation="nearest",
                 fill=0.0, seed=None):  # fmt: skip
    """num_ops changes drawn at random, each of `magnitude` (below num_magnitude_bins): RandAugment."""
    x = _image(image, "rand_augment")
    bins, how = int(num_magnitude_bins), {"interpolation": interpolation, "fill": fill}
    if not 0 <= int(magnitude) < bins:
        raise InvalidArgumentError(f"rand_augment: magnitude is 0 to {bins - 1}, not {magnitude}")
    for i in range(int(num_ops)):
        reach = (0.3, None, 30.0, 0.9, 4)
        x = _kept(_changed(x, np.int32(magnitude), bins, reach, how, seed, 2 * i), image)
    return x


@publish("image.trivial_augment", "image_warp")
def trivial_augment(image, num_magnitude_bins=31, interpolation="nearest", fill=0.0, seed=None):
    """One change of one strength, both drawn at random: TrivialAugment (wide)."""
    x = _image(image, "trivial_augment")
    bins, how = int(num_magnitude_bins), {"interpolation": interpolation, "fill": fill}
    strength = _drawn(bins, seed, 2)
    return _kept(_changed(x, strength, bins, (0.99, 32.0, 135.0, 0.99, 6), how, seed, 0), image)


def _kept(x, like):
    """x, whose shape is known as far as that of the image before."""
    known = convert(like).shape
    return PUBLIC["ensure_shape"](x, known) if is_symbolic(x) and known is not None else x


@publish("image.random_erasing")
def random_erasing(image, p=0.5, scale=(0.02, 0.33), ratio=(0.3, 3.3), value=0, seed=None):
    """With a chance of p a random rectangle of `value`: of that part of the image's area, and that
    ratio of height to width."""
    x = _image(image, "random_erasing")
    seeds = [None if seed is None else seed + k for k in range(5)]
    height, width = _sizes(x)
    area = _mul(random.uniform([10], *map(float, scale), seed=seeds[0]), _mul(height, width))
    aspect = PUBLIC["exp"](random.uniform([10], math.log(ratio[0]), math.log(ratio[1]), seed=seeds[1]))
    tall = PUBLIC["round"](PUBLIC["sqrt"](_mul(area, aspect)))
    wide = PUBLIC["round"](PUBLIC["sqrt"](_div(area, aspect)))
    fits = PUBLIC["logical_and"](PUBLIC["less"](tall, height), PUBLIC["less"](wide, width))
    first = PUBLIC["argmax"](cast(fits, "int32"))  # of ten draws, as torchvision
    tall, wide = PUBLIC["gather"](tall, first), PUBLIC["gather"](wide, first)

    def place(side, part, k):
        room = _add(PUBLIC["subtract"](side, part), np.float32(1))
        return PUBLIC["floor"](_mul(random.uniform([], seed=seeds[k]), room))

    top, left = place(height, tall, 2), place(width, wide, 3)
    inside = _box(x, top, left, _add(top, tall), _add(left, wide))
    is_done = PUBLIC["logical_and"](
        PUBLIC["less"](random.uniform([], seed=seeds[4]), np.float32(p)), PUBLIC["reduce_any"](fits)
    )
    return PUBLIC["where"](
        PUBLIC["logical_and"](inside, is_done), convert(value, x.dtype) if not _call.is_typed(value) else value, x
    )


def _box(x, top, left, bottom, right):
    """(height, width, 1) bools: inside of the box?"""
    shape = PUBLIC["shape"](x)
    y = cast(PUBLIC["range"](shape[-3]), _F32)
    z = cast(PUBLIC["range"](shape[-2]), _F32)

    def between(v, low, high):
        return PUBLIC["logical_and"](PUBLIC["greater_equal"](v, low), PUBLIC["less"](v, high))

    rows, columns = between(y, top, bottom), between(z, left, right)
    both = PUBLIC["logical_and"](PUBLIC["expand_dims"](rows, 1), columns)
    return PUBLIC["expand_dims"](both, 2)


def _labels(labels, num_classes):
    labels = convert(labels)
    if labels.dtype.kind in "iu":
        if num_classes is None:
            raise InvalidArgumentError("labels that are numbers need num_classes")
        return PUBLIC["one_hot"](labels, num_classes)
    return labels


def _mixed(labels, share):
    rest = PUBLIC["subtract"](np.float32(1), share)
    share, rest = cast(share, labels.dtype), cast(rest, labels.dtype)
    return _add(_mul(labels, share), _mul(PUBLIC["roll"](labels, 1, 0), rest))


@publish("image.mixup")
def mixup(images, labels, alpha=1.0, num_classes=None, seed=None):
    """(images, labels) of a batch of float images, each mixed with the one before it: a share drawn of
    Beta(alpha, alpha), one for the batch."""
    x = _image(images, "mixup")
    if x.dtype.kind != "f":
        raise TraceError("mixup takes images of floats")
    share = random.beta([], float(alpha), float(alpha), seed=seed)
    rest = PUBLIC["subtract"](np.float32(1), share)
    mixed = _add(_mul(x, cast(share, x.dtype)), _mul(PUBLIC["roll"](x, 1, 0), cast(rest, x.dtype)))
    return mixed, _mixed(_labels(labels, num_classes), share)


@publish("image.cutmix")
def cutmix(images, labels, alpha=1.0, num_classes=None, seed=None):
    """(images, labels) of a batch, each with a box of the one before it; labels in proportion to the
    area. Labels: one-hot floats, or numbers with num_classes."""
    x = _image(images, "cutmix")
    share = random.beta([], float(alpha), float(alpha), seed=seed)
    height, width = _sizes(x)
    at = random.uniform([2], seed=None if seed is None else seed + 1)
    half = _mul(np.float32(0.5), PUBLIC["sqrt"](PUBLIC["subtract"](np.float32(1), share)))

    def ends(side, where):
        middle, reach = PUBLIC["floor"](_mul(where, side)), PUBLIC["floor"](_mul(half, side))
        low = PUBLIC["maximum"](PUBLIC["subtract"](middle, reach), np.float32(0))
        return low, PUBLIC["minimum"](_add(middle, reach), side)

    (top, bottom), (left, right) = ends(height, at[0]), ends(width, at[1])
    area = _mul(PUBLIC["subtract"](bottom, top), PUBLIC["subtract"](right, left))
    share = PUBLIC["subtract"](np.float32(1), _div(area, _mul(height, width)))
    mixed = PUBLIC["where"](_box(x, top, left, bottom, right), PUBLIC["roll"](x, 1, 0), x)
    return mixed, _mixed(_labels(labels, num_classes), share)
