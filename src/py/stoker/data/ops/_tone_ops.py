# SPDX-License-Identifier: Apache-2.0
"""Blur and tones of images: image.gaussian_blur, invert, solarize, posterize, equalize, autocontrast, adjust_sharpness,
and other operations used by the policies of _augment.

Values, arguments and rounding are torchvision's (transforms.functional, on tensors); images are (height, width,
channels), uint8 or floats from 0 to 1. Factors may be values of the function.
"""

import numpy as np

from ..core._call import convert, run
from ._image_ops import image_of, number, rounded_like
from ._ops import attribute, cast, do, publish
from ..core._trace import TraceError
from ..errors import InvalidArgumentError

_F32, _U8 = np.dtype("float32"), np.dtype("uint8")


def _pair(v, what):
    v = list(v) if isinstance(v, (list, tuple)) else [v, v]
    if len(v) not in (1, 2):
        raise InvalidArgumentError(f"gaussian_blur: {what} is a number, or two: x and y")
    return v if len(v) == 2 else v * 2


def _weights(size, sigma):
    half = (size - 1) / 2
    x = do.truediv(np.linspace(-half, half, size, dtype=np.float32), number(sigma))
    e = do.exp(do.multiply(np.float32(-0.5), do.square(x)))
    return do.truediv(e, do.reduce_sum(e))


@publish("image.gaussian_blur")
def gaussian_blur(image, kernel_size, sigma=None):
    """Gaussian blur over kernel_size pixels (odd; or x and y), mirrored at edges.

    sigma: its width in pixels (or x and y); by default 0.3 * ((kernel_size - 1) / 2 - 1) + 0.8.
    """
    x = image_of(image, "gaussian_blur")
    sizes = [int(attribute(k, "kernel_size")) for k in _pair(kernel_size, "kernel_size")]
    if any(k < 1 or k % 2 == 0 for k in sizes):
        raise InvalidArgumentError(f"gaussian_blur: kernel_size is odd and positive, not {sizes}")
    if sigma is None:
        sigma = [0.3 * ((k - 1) * 0.5 - 1) + 0.8 for k in sizes]
    of_x, of_y = (_weights(k, s) for k, s in zip(sizes, _pair(sigma, "sigma")))
    return rounded_like(run("image_blur", [cast(x, _F32), of_y, of_x], {})[0], x)


def top(x):
    return np.asarray(255 if x.dtype == _U8 else 1, x.dtype)


@publish("image.invert")
def invert(image):
    """Inverts brightness: 255 (or 1) minus each value."""
    x = image_of(image, "invert")
    return do.subtract(top(x), x)


@publish("image.solarize")
def solarize(image, threshold):
    """Inverts values from threshold on."""
    x = image_of(image, "solarize")
    limit = number(threshold)
    return do.where(do.greater_equal(cast(x, _F32), limit), invert(x), x)


@publish("image.posterize")
def posterize(image, bits):
    """A uint8 image with the upper `bits` bits of each value, 0 to 8."""
    x = image_of(image, "posterize")
    if x.dtype != _U8:
        raise TraceError("posterize takes an image of uint8")
    left = do.subtract(np.int32(8), cast(convert(bits), "int32"))
    step = cast(do.bitwise.left_shift(np.int32(1), left), "int32")
    wide = cast(x, "int32")
    return cast(do.multiply(do.floordiv(wide, step), step), _U8)


@publish("image.equalize")
def equalize(image):
    """Equalizes the histogram of each channel of a uint8 image."""
    x = image_of(image, "equalize")
    if x.dtype != _U8:
        raise TraceError("equalize takes an image of uint8")
    return run("image_equalize", [x], {})[0]


def _cut(values, x):
    """Float values limited to x's range and converted to its type, truncating toward 0."""
    kept = do.clip_by_value(values, np.float32(0), np.float32(top(x)))
    return cast(kept, x.dtype)


@publish("image.autocontrast")
def autocontrast(image):
    """Each channel stretched to the whole range of values."""
    x = image_of(image, "autocontrast")
    f = cast(x, _F32)
    low = do.reduce_min(f, axis=[-3, -2], keepdims=True)
    high = do.reduce_max(f, axis=[-3, -2], keepdims=True)
    span = do.subtract(high, low)
    is_flat = do.equal(span, np.float32(0))
    scale = do.truediv(np.float32(top(x)), do.where(is_flat, np.float32(1), span))
    stretched = do.multiply(do.subtract(f, low), scale)
    return _cut(do.where(is_flat, f, stretched), x)


def _blend(x, other, factor):
    factor = number(factor)
    rest = do.subtract(np.float32(1), factor)
    return _cut(do.add(do.multiply(factor, cast(x, _F32)), do.multiply(rest, other)), x)


@publish("image.adjust_sharpness")
def adjust_sharpness(image, sharpness_factor):
    """0: smoothed, 1: unchanged, 2: twice as sharp. Edge pixels stay."""
    x = image_of(image, "adjust_sharpness")
    f = cast(x, _F32)
    shape = x.shape
    if shape is not None and any(s is not None and s <= 2 for s in tuple(shape)[-3:-1]):
        return x
    rows = [_shifted(f, i, j) for i in range(3) for j in range(3)]
    smooth = do.truediv(do.add_n([*rows, do.multiply(np.float32(4), rows[4])]), np.float32(13))
    smooth = do.round(smooth) if x.dtype == _U8 else smooth
    pads = [[0, 0]] * (0 if shape is None else len(shape) - 3) + [[1, 1], [1, 1], [0, 0]]
    inner = do.pad(do.ones_like(smooth), pads)
    smooth = do.pad(smooth, pads)
    return _blend(x, do.where(do.greater(inner, np.float32(0)), smooth, f), sharpness_factor)


def _shifted(f, i, j):
    """The image without two rows and two columns, starting at row i and column j."""
    rows = slice(i, None if i == 2 else i - 2)
    columns = slice(j, None if j == 2 else j - 2)
    return f[(Ellipsis, rows, columns, slice(None))]


def _grey(x):
    """Brightness as in torchvision, (..., 1), from three channels."""
    f = cast(x, _F32)
    if x.shape is not None and x.shape[-1] == 1:
        return f
    weights = np.array([[0.2989], [0.587], [0.114]], np.float32)
    grey = do.matmul(f, weights)
    return do.floor(grey) if x.dtype == _U8 else grey


def brightness(x, factor):
    return _blend(x, do.zeros_like(cast(x, _F32)), factor)


def colour(x, factor):
    grey = _grey(x)
    return _blend(x, do.add(do.zeros_like(cast(x, _F32)), grey), factor)


def contrast(x, factor):
    mean = do.reduce_mean(_grey(x), axis=[-3, -2, -1], keepdims=True)
    return _blend(x, do.add(do.zeros_like(cast(x, _F32)), mean), factor)
