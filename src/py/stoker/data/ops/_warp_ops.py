# SPDX-License-Identifier: Apache-2.0
"""Rotates, shears, moves and changes the perspective of images: image.rotate, affine, perspective.

Values, arguments and rounding are torchvision's (transforms.functional, on tensors); images are (height, width,
channels). Angles and points may be values of the function.
"""

import math

import numpy as np

from ..core._call import run
from ._image_ops import image_of, number, rounded_like, sizes_of
from ._ops import cast, do, publish
from ..errors import InvalidArgumentError

_F32, _U8 = np.dtype("float32"), np.dtype("uint8")


def warped(x, matrix, interpolation, fill, fill_mode="constant"):
    """Warps the image by the matrix (eight float32 scalars, mapping the result's pixels to the image's)."""
    if interpolation not in ("nearest", "bilinear"):
        raise InvalidArgumentError(
            f"interpolation is 'nearest' or 'bilinear', not {interpolation!r}"
        )
    a = do.stack([number(v) for v in matrix])
    attrs = {"method": interpolation, "fill_mode": fill_mode, "fill_value": float(fill)}
    is_whole = x.dtype == _F32 or x.dtype == _U8 and interpolation == "nearest"
    out = run("image_warp", [x if is_whole else cast(x, _F32), a], attrs)[0]
    return out if is_whole else rounded_like(out, x)


def _inverse(angle, translate, scale, shear, center):
    """The matrix of torchvision's affine, whose angles are clockwise: from the result to the image."""
    rot = do.multiply(number(angle), np.float32(math.pi / 180))
    sx, sy = (do.multiply(number(s), np.float32(math.pi / 180)) for s in shear)
    cos, sin, tan = do.cos, do.sin, do.tan
    turned = do.subtract(rot, sy)
    a = do.truediv(cos(turned), cos(sy))
    b = do.subtract(do.negative(do.truediv(do.multiply(cos(turned), tan(sx)), cos(sy))), sin(rot))
    c = do.truediv(sin(turned), cos(sy))
    d = do.subtract(cos(rot), do.truediv(do.multiply(sin(turned), tan(sx)), cos(sy)))
    scale = number(scale)
    m = [do.truediv(d, scale), do.truediv(do.negative(b), scale), do.truediv(do.negative(c), scale), do.truediv(a, scale)]
    cx, cy = center
    tx, ty = (number(t) for t in translate)
    back_x, back_y = do.negative(do.add(cx, tx)), do.negative(do.add(cy, ty))
    return [
        m[0], m[1], do.add_n([do.multiply(m[0], back_x), do.multiply(m[1], back_y), cx]),
        m[2], m[3], do.add_n([do.multiply(m[2], back_x), do.multiply(m[3], back_y), cy]),
        0.0, 0.0,
    ]  # fmt: skip


def _center(x, center):
    height, width = sizes_of(x)
    half = np.float32(0.5)
    if center is None:
        return (
            do.multiply(do.subtract(width, np.float32(1)), half),
            do.multiply(do.subtract(height, np.float32(1)), half),
        )
    return tuple(do.subtract(number(c), half) for c in center)


def _shears(shear):
    return tuple(shear) if isinstance(shear, (tuple, list)) else (shear, 0.0)


@publish("image.rotate")
def rotate(image, angle, interpolation="nearest", fill=0.0, center=None):
    """Rotated counterclockwise by `angle` degrees about its middle or center (x, y); `fill` outside."""
    x = image_of(image, "rotate")
    m = _inverse(do.negative(number(angle)), (0.0, 0.0), 1.0, (0.0, 0.0), _center(x, center))
    return warped(x, m, interpolation, fill)


@publish("image.affine")
def affine(image, angle=0.0, translate=(0.0, 0.0), scale=1.0, shear=(0.0, 0.0),
           interpolation="nearest", fill=0.0, center=None):  # fmt: skip
    """Rotated clockwise by `angle` degrees, sheared (degrees along x and y), scaled, then moved by `translate`
    pixels (x, y)."""
    x = image_of(image, "affine")
    m = _inverse(angle, translate, scale, _shears(shear), _center(x, center))
    return warped(x, m, interpolation, fill)


def _square_to(corners):
    """The projective matrix (nine scalars) from the unit square to four corners (x, y), clockwise from the top left.
    Heckbert 1989, 2.2.3."""
    (x0, y0), (x1, y1), (x2, y2), (x3, y3) = corners
    sub = do.subtract
    dx1, dx2, dy1, dy2 = sub(x1, x2), sub(x3, x2), sub(y1, y2), sub(y3, y2)
    sx, sy = do.add(sub(x0, x1), sub(x2, x3)), do.add(sub(y0, y1), sub(y2, y3))
    det = sub(do.multiply(dx1, dy2), do.multiply(dx2, dy1))
    g = do.truediv(sub(do.multiply(sx, dy2), do.multiply(dx2, sy)), det)
    h = do.truediv(sub(do.multiply(dx1, sy), do.multiply(sx, dy1)), det)
    return [
        do.add(sub(x1, x0), do.multiply(g, x1)), do.add(sub(x3, x0), do.multiply(h, x3)), x0,
        do.add(sub(y1, y0), do.multiply(g, y1)), do.add(sub(y3, y0), do.multiply(h, y3)), y0,
        g, h, np.float32(1),
    ]  # fmt: skip


def _adjugate(m):
    a, b, c, d, e, f, g, h, i = m

    def minor(p, q, r, s):
        return do.subtract(do.multiply(p, q), do.multiply(r, s))

    return [
        minor(e, i, f, h), minor(c, h, b, i), minor(b, f, c, e),
        minor(f, g, d, i), minor(a, i, c, g), minor(c, d, a, f),
        minor(d, h, e, g), minor(b, g, a, h), minor(a, e, b, d),
    ]  # fmt: skip


def _product(m, n):
    return [do.add_n([do.multiply(m[3 * i + k], n[3 * k + j]) for k in range(3)]) for i in range(3) for j in range(3)]


@publish("image.perspective")
def perspective(image, startpoints, endpoints, interpolation="bilinear", fill=0.0):
    """The image with four of its points (x, y), clockwise from the top left, moved to others."""
    x = image_of(image, "perspective")
    start, end = ([(number(p[0]), number(p[1])) for p in points] for points in (startpoints, endpoints))
    if len(start) != 4 or len(end) != 4:
        raise InvalidArgumentError("perspective needs four start points and four end points")
    m = _product(_square_to(start), _adjugate(_square_to(end)))
    # pixel centers are half a pixel from the corners
    half = np.float32(0.5)
    m = _product([1, 0, -half, 0, 1, -half, 0, 0, 1], _product(m, [1, 0, half, 0, 1, half, 0, 0, 1]))
    return warped(x, [do.truediv(v, m[8]) for v in m[:8]], interpolation, fill)
