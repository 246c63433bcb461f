# SPDX-License-Identifier: Apache-2.0
"""More image operations composed of others: gradients, JPEG artifacts, similarity."""

import functools

import numpy as np

from ..core import _call, _dtypes
from ..core._call import convert
from ._compose import _shape
from ._image_ops import convert_image_dtype
from ._ops import attribute, cast, do, publish
from ._random import uniform
from ._stateless import unit


@publish("image.image_gradients")
def image_gradients(image):
    """(differences of rows, of columns), the last ones 0."""
    x = convert(image)
    down, right = do.subtract(x[:, 1:], x[:, :-1]), do.subtract(x[:, :, 1:], x[:, :, :-1])
    return do.pad(down, [[0, 0], [0, 1], [0, 0], [0, 0]]), do.pad(right, [[0, 0], [0, 0], [0, 1], [0, 0]])


@publish("image.sobel_edges")
def sobel_edges(image):
    """Sobel edges: (..., channels, 2)."""
    x = convert(image)
    x = do.pad(x, [[0, 0], [1, 1], [1, 1], [0, 0]], "REFLECT")
    part = lambda i, j: x[:, i : (i - 2) or None, j : (j - 2) or None]
    add = functools.reduce
    down = add(do.add, [do.multiply(part(i, j), k) for i, j, k in ((0, 0, -1.0), (0, 1, -2.0), (0, 2, -1.0), (2, 0, 1.0), (2, 1, 2.0), (2, 2, 1.0))])
    right = add(do.add, [do.multiply(part(i, j), k) for i, j, k in ((0, 0, -1.0), (1, 0, -2.0), (2, 0, -1.0), (0, 2, 1.0), (1, 2, 2.0), (2, 2, 1.0))])
    return do.stack([down, right], axis=-1)


def _jpeg_at(image, quality, low, high):
    """The image after JPEG compression with a quality in [low, high)."""
    branches = [lambda q=q: do.image.adjust_jpeg_quality(image, q) for q in range(low, high)]
    return do.switch_case(quality - np.int32(low), branches)


@publish("image.random_jpeg_quality")
def random_jpeg_quality(image, min_jpeg_quality, max_jpeg_quality, seed=None):
    """The image after JPEG compression with a random quality."""
    low, high = _qualities(min_jpeg_quality, max_jpeg_quality)
    return _jpeg_at(image, uniform([], low, high, "int32", seed), low, high)


@publish("image.stateless_random_jpeg_quality")
def stateless_random_jpeg_quality(image, min_jpeg_quality, max_jpeg_quality, seed):
    """The same, with a seeded random quality."""
    low, high = _qualities(min_jpeg_quality, max_jpeg_quality)
    drawn = cast(do.multiply(unit(seed, np.uint64(0)), np.float32(high - low)), "int32")
    return _jpeg_at(image, drawn + np.int32(low), low, high)


def _qualities(low, high):
    low, high = int(attribute(low, "min_jpeg_quality")), int(attribute(high, "max_jpeg_quality"))
    if not 0 <= low < high <= 100:
        raise ValueError(f"0 <= min_jpeg_quality < max_jpeg_quality <= 100, not {low} and {high}")
    return low, high


def _gauss(size=11, sigma=1.5):
    at = np.arange(size, dtype=np.float32) - np.float32((size - 1) / 2)
    logits = -0.5 * at * at / np.float32(sigma) ** 2
    e = np.exp((logits[:, None] + logits[None, :]).ravel())
    return (e / e.sum()).astype(np.float32).reshape(size, size)


def _filtered(x, kernel):
    """Convolves each channel with a kernel, where it fits."""
    size = len(kernel)
    patches = do.image.extract_patches(x, [1, size, size, 1], [1, 1, 1, 1], [1, 1, 1, 1], "VALID")
    dims = _shape(patches)
    windows = do.reshape(patches, do.stack([dims[0], dims[1], dims[2], np.int32(size * size), _shape(x)[3]]))
    return do.reduce_sum(do.multiply(windows, kernel.reshape(-1, 1)), axis=3)


@publish("image.ssim")
def ssim(img1, img2, max_val, filter_size=11, filter_sigma=1.5, k1=0.01, k2=0.03, return_index_map=False):
    """Structural similarity of images."""
    most = convert_image_dtype(convert(max_val), "float32") if _call.is_typed(max_val) else np.float32(max_val)
    a, b = convert(img1), convert(img2)
    if a.dtype.kind in "iu":
        most = np.float32(float(max_val) / float(np.iinfo(_dtypes.as_dtype(a.dtype)).max))
    a, b = convert_image_dtype(a, "float32"), convert_image_dtype(b, "float32")
    single = len(a.shape) == 3
    a, b = (do.expand_dims(v, 0) if single else v for v in (a, b))
    kernel = _gauss(filter_size, filter_sigma)
    c1, c2 = (k1 * most) ** 2, (k2 * most) ** 2
    m1, m2 = _filtered(a, kernel), _filtered(b, kernel)
    num0, den0 = do.multiply(do.multiply(m1, m2), 2.0), do.add(do.square(m1), do.square(m2))
    luminance = do.truediv(do.add(num0, np.float32(c1)), do.add(den0, np.float32(c1)))
    num1 = do.multiply(_filtered(do.multiply(a, b), kernel), 2.0)
    den1 = _filtered(do.add(do.square(a), do.square(b)), kernel)
    cs = do.truediv(do.add(do.subtract(num1, num0), np.float32(c2)), do.add(do.subtract(den1, den0), np.float32(c2)))
    out = do.multiply(luminance, cs)
    out = do.reduce_mean(out, axis=-1) if return_index_map else do.reduce_mean(out, axis=[-3, -2, -1])
    return out[0] if single else out
