# SPDX-License-Identifier: Apache-2.0
"""Image operations composed of others: types that the engine's own don't support, colors, and random changes whose bits
come from a given seed."""

import functools
import inspect

import numpy as np

from ..core import _dtypes
from ..core._call import convert, run
from ._ops import as_type, attribute, cast, do, publish, static_ints
from ._stateless import unit
from ..core._trace import TraceError

_NATIVE = (np.dtype("uint8"), np.dtype("uint16"), np.dtype("float32"))
_resize, _convert, _decode = (
    do.image.resize,
    do.image.convert_image_dtype,
    do.image.decode_image,
)


def image_of(image, what):
    """The argument as an image, or a stack of images; TraceError: it is neither."""
    x = convert(image)
    if x.dtype != np.dtype("uint8") and x.dtype.kind != "f":
        raise TraceError(f"{what} takes an image of uint8 or floats, not of {x.dtype.name}")
    if x.shape is not None and len(x.shape) not in (3, 4):
        raise TraceError(f"{what} takes an image (height, width, channels), or a stack of them")
    return x


def number(v):
    """A float32 scalar: an array, or a symbolic value."""
    return as_type(v, np.dtype("float32"))


def sizes_of(x):
    """(height, width) as float32 scalars."""
    shape = do.shape(x)
    return cast(shape[-3], np.dtype("float32")), cast(shape[-2], np.dtype("float32"))


def rounded_like(values, x):
    """Float values as an image of x's type, rounded and kept within its range."""
    if x.dtype == np.dtype("uint8"):
        return do.saturate_cast(do.round(values), np.dtype("uint8"))
    return cast(values, x.dtype)


def _nearest(x, size, keeps_ratio):
    """resize with 'nearest', which keeps the type: resizes row and column indices, and gathers by them."""
    if x.shape is None or len(x.shape) not in (3, 4):
        raise TraceError("resize takes an image or a batch of them")
    sizes = do.shape(x)[-3:-1]
    height, width = sizes[0], sizes[1]
    rows = do.broadcast_to(
        do.expand_dims(do.range(height), 1), do.stack([height, width])
    )
    columns = do.broadcast_to(do.range(width), do.stack([height, width]))
    places = cast(do.stack([rows, columns], axis=-1), "float32")
    at = cast(_resize(places, size, "nearest", keeps_ratio), "int32")
    axis = len(x.shape) - 3
    x = do.gather(x, at[:, 0, 0], axis=axis)
    return do.gather(x, at[0, :, 1], axis=axis + 1)


@publish("image.resize")
def resize(
    images, size, method="bilinear", preserve_aspect_ratio=False, antialias=False, name=None
):
    """Resizes images, or one: float32; 'nearest' keeps the type."""
    x = convert(images)
    if x.dtype in _NATIVE or x.dtype.kind not in "iuf":
        return _resize(x, size, method, preserve_aspect_ratio, antialias)
    if method == "nearest":
        return _nearest(x, size, preserve_aspect_ratio)
    return _resize(cast(x, "float32"), size, method, preserve_aspect_ratio, antialias)


@publish("image.convert_image_dtype")
def convert_image_dtype(image, dtype, saturate=False, name=None):
    """Converts values to another type with the same brightness: floats 0 to 1, integers 0 to their largest."""
    x, dtype = convert(image), _dtypes.as_dtype(dtype)
    have = x.dtype
    if have == dtype:
        return do.identity(x)
    if have in _NATIVE and dtype in _NATIVE:
        return _convert(x, dtype, saturate)
    to = do.saturate_cast if saturate else cast
    is_int, becomes_int = (t.kind in "iu" for t in (have, dtype))
    if is_int and becomes_int:
        most_in, most_out = int(np.iinfo(have).max), int(np.iinfo(dtype).max)
        if most_in > most_out:
            return to(do.floordiv(x, (most_in + 1) // (most_out + 1)), dtype)
        return do.multiply(to(x, dtype), (most_out + 1) // (most_in + 1))
    if is_int:
        return do.multiply(cast(x, dtype), 1.0 / int(np.iinfo(have).max))
    if becomes_int:
        return to(do.multiply(x, int(np.iinfo(dtype).max) + 0.5), dtype)
    return cast(x, dtype)


def _by_floats(name):
    """The operation for other types than the engine's, through float32 and back."""
    own = getattr(do.image, name)
    signature = inspect.signature(own)
    bound, first = signature.bind, next(iter(signature.parameters))

    @functools.wraps(own)
    def f(*args, **kwargs):
        kwargs = bound(*args, **kwargs).arguments
        x = convert(kwargs.pop(first))
        if x.dtype in (np.dtype("uint8"), np.dtype("float32")) or x.dtype.kind not in "iuf":
            return own(x, **kwargs)
        changed = own(convert_image_dtype(x, "float32"), **kwargs)
        return convert_image_dtype(changed, x.dtype, saturate=True)

    f.__signature__ = signature
    publish(f"image.{name}")(f)


for _change in ("brightness", "contrast", "saturation", "hue"):
    _by_floats("adjust_" + _change)
    _by_floats("random_" + _change)
_by_floats("adjust_gamma")
_by_floats("rgb_to_grayscale")


@publish("image.decode_image,io.decode_image")
def decode_image(contents, channels=None, dtype="uint8", name=None, expand_animations=True):
    """Pixels of a JPEG, PNG, BMP or GIF (its first frame): uint8, uint16, or floats from 0 to 1."""
    channels, dtype = channels or 0, _dtypes.as_dtype(dtype)
    if dtype == np.dtype("uint16"):
        return do.image.decode_png(contents, channels, dtype)
    pixels = _decode(contents, channels, "uint8", expand_animations)
    return pixels if dtype == np.dtype("uint8") else convert_image_dtype(pixels, dtype)


@publish("image.decode_webp,io.decode_webp")
def decode_webp(contents, channels=0, dtype="uint8", name=None):
    """Pixels of a WebP file: uint8, 3 channels or 4."""
    return decode_image(contents, channels, dtype)


@publish("image.is_jpeg,io.is_jpeg")
def is_jpeg(contents, name=None):
    """Do a file's bytes start like a JPEG's?"""
    return do.equal(do.strings.substr(contents, 0, 3), b"\xff\xd8\xff")


@publish("image.adjust_jpeg_quality")
def adjust_jpeg_quality(image, jpeg_quality, dct_method="", name=None):
    """The image after JPEG compression with that quality (a number)."""
    x = convert(image)
    small = convert_image_dtype(x, "uint8", saturate=True)
    file = do.image.encode_jpeg(small, quality=attribute(jpeg_quality, "jpeg_quality"))
    channels = 0 if x.shape is None or x.shape[-1] is None else x.shape[-1]
    pixels = do.image.decode_jpeg(file, channels=channels, dct_method=dct_method)
    return convert_image_dtype(pixels, x.dtype, saturate=True)


_KERNELS = {
    "rgb_to_yuv": (
        "Brightness and two differences of color, of float RGB in [0, 1].",
        [
            [0.299, -0.14714119, 0.61497538],
            [0.587, -0.28886916, -0.51496512],
            [0.114, 0.43601035, -0.10001026],
        ],
    ),
    "yuv_to_rgb": (
        "RGB of YUV.",
        [[1, 1, 1], [0, -0.394642334, 2.03206185], [1.13988303, -0.58062185, 0]],
    ),
    "rgb_to_yiq": (
        "YIQ of float RGB in [0, 1].",
        [
            [0.299, 0.59590059, 0.2115],
            [0.587, -0.27455667, -0.52273617],
            [0.114, -0.32134392, 0.31119955],
        ],
    ),
    "yiq_to_rgb": (
        "RGB of YIQ.",
        [[1, 1, 1], [0.95598634, -0.27201283, -1.10674021], [0.6208248, -0.64720424, 1.70423049]],
    ),
}


def _colours(name, about, kernel):
    kernel = np.asarray(kernel, np.float64)

    def f(images, name=None):
        x = convert(images)
        return do.matmul(x, kernel.astype(x.dtype))

    f.__name__ = f.__qualname__ = name
    f.__doc__ = about
    publish(f"image.{name}")(f)


for _name, (_about, _kernel) in _KERNELS.items():
    _colours(_name, _about, _kernel)


def _uniform(seed, salt):
    """A float32 in [0, 1) from a seed of two integers."""
    return unit(seed, np.uint64(salt))


def _between(seed, low, high):
    return do.add(
        do.multiply(_uniform(seed, 0), np.float32(high - low)), np.float32(low)
    )


def _limits(low, high, what):
    low, high = float(attribute(low, "lower")), float(attribute(high, "upper"))
    if high <= low or low < 0:
        raise ValueError(f"{what}: 0 <= lower < upper, not {low} and {high}")
    return low, high


def _delta(max_delta, most, what):
    d = float(attribute(max_delta, "max_delta"))
    if not 0 <= d <= most:
        raise ValueError(f"{what}: max_delta is at least 0" + (f" and at most {most}" * (most < 9)))
    return d


@publish("image.stateless_random_flip_left_right")
def stateless_random_flip_left_right(image, seed):
    """Mirrored left to right for half of the seeds (two integers): the same seed gives the same result."""
    x = convert(image)
    return do.where(_uniform(seed, 0) < 0.5, do.image.flip_left_right(x), x)


@publish("image.stateless_random_flip_up_down")
def stateless_random_flip_up_down(image, seed):
    """Flipped upside down for half of the seeds."""
    x = convert(image)
    return do.where(_uniform(seed, 0) < 0.5, do.image.flip_up_down(x), x)


@publish("image.stateless_random_brightness")
def stateless_random_brightness(image, max_delta, seed):
    """adjust_brightness by a seeded draw from -max_delta to max_delta."""
    d = _delta(max_delta, np.inf, "stateless_random_brightness")
    return do.image.adjust_brightness(image, _between(seed, -d, d))


@publish("image.stateless_random_contrast")
def stateless_random_contrast(image, lower, upper, seed):
    """adjust_contrast by a seeded draw from lower to upper."""
    ends = _limits(lower, upper, "stateless_random_contrast")
    return do.image.adjust_contrast(image, _between(seed, *ends))


@publish("image.stateless_random_saturation")
def stateless_random_saturation(image, lower, upper, seed=None):
    """adjust_saturation by a seeded draw from lower to upper."""
    ends = _limits(lower, upper, "stateless_random_saturation")
    return do.image.adjust_saturation(image, _between(seed, *ends))


@publish("image.stateless_random_hue")
def stateless_random_hue(image, max_delta, seed):
    """adjust_hue by a seeded draw from -max_delta to max_delta."""
    d = _delta(max_delta, 0.5, "stateless_random_hue")
    return do.image.adjust_hue(image, _between(seed, -d, d))


@publish("image.stateless_random_crop")
def stateless_random_crop(value, size, seed, name=None):
    """A part of that size, at a seeded random place."""
    x, known = convert(value), static_ints(size)
    if known is None:
        raise TraceError("stateless_random_crop: size must be known while the function is traced")
    sizes = do.shape(x)
    begin = [
        cast(
            do.multiply(_uniform(seed, i), cast(sizes[i] - np.int32(n - 1), "float32")),
            "int32",
        )
        for i, n in enumerate(known)
    ]
    return do.slice(x, do.stack(begin), known)


@publish("image.sample_distorted_bounding_box")
def sample_distorted_bounding_box(
    image_size,
    bounding_boxes,
    seed=0,
    min_object_covered=0.1,
    aspect_ratio_range=None,
    area_range=None,
    max_attempts=None,
    use_image_if_no_bounding_boxes=None,
    name=None,
):
    """(begin, size, bboxes): a random crop for `slice` that shows some object, and its box.

    image_size: (height, width, channels), int32 or int64. bounding_boxes: float32 (..., 4): top, left,
    bottom, right, from 0 to 1. The whole image if max_attempts (100) fail. aspect_ratio_range (0.75, 1.33): width over
    height; area_range (0.05, 1): share of the image's area.
    """
    return _distorted(image_size, bounding_boxes, int(seed) or None, [], min_object_covered, aspect_ratio_range, area_range, max_attempts,
                      use_image_if_no_bounding_boxes)  # fmt: skip


@publish("image.stateless_sample_distorted_bounding_box")
def stateless_sample_distorted_bounding_box(image_size, bounding_boxes, seed, min_object_covered=0.1, aspect_ratio_range=None,
                                            area_range=None, max_attempts=None, use_image_if_no_bounding_boxes=None, name=None):  # fmt: skip
    """sample_distorted_bounding_box with a seed of two integers: the same seed draws the same for every element."""
    return _distorted(image_size, bounding_boxes, None, [cast(seed, "int64")], min_object_covered, aspect_ratio_range, area_range,
                      max_attempts, use_image_if_no_bounding_boxes)  # fmt: skip


def _distorted(image_size, bounding_boxes, number, seeds, min_object_covered, aspect_ratio_range, area_range, max_attempts, use_image):
    size = convert(image_size)
    if size.dtype not in (np.dtype("int32"), np.dtype("int64")):
        size = cast(size, "int32")
    attrs = {
        "seed": number,
        "min_object_covered": float(attribute(min_object_covered, "min_object_covered")),
        "aspect_ratio_range": ("floats", [float(v) for v in aspect_ratio_range or (0.75, 1.33)]),
        "area_range": ("floats", [float(v) for v in area_range or (0.05, 1.0)]),
        "max_attempts": int(max_attempts or 100),
        "use_image_if_no_bounding_boxes": int(bool(use_image)),
    }
    boxes = convert(bounding_boxes, np.dtype("float32"))
    return tuple(run("sample_distorted_bounding_box", [size, boxes, *seeds], attrs, True))


@publish("image.psnr")
def psnr(a, b, max_val, name=None):
    """Peak signal to noise ratio of two images, in decibels."""
    whole = convert(a).dtype.kind in "iu"  # max_val is on the integers' scale
    a, b = (do.image.convert_image_dtype(v, "float32") for v in (a, b))
    most = np.float32(max_val / 255 if whole else max_val)
    mse = do.reduce_mean(do.math.squared_difference(a, b), axis=[-3, -2, -1])
    scale = np.float32(10 / np.log(10))
    return do.subtract(do.multiply(np.float32(2) * scale, do.log(most)), do.multiply(scale, do.log(mse)))


@publish("image.total_variation")
def total_variation(images, name=None):
    """The sum of differences between neighboring pixels."""
    x = convert(images)
    down = do.abs(do.subtract(x[..., 1:, :, :], x[..., :-1, :, :]))
    right = do.abs(do.subtract(x[..., :, 1:, :], x[..., :, :-1, :]))
    axes = [-3, -2, -1]
    return do.add(do.reduce_sum(down, axis=axes), do.reduce_sum(right, axis=axes))


@publish("image.decode_bmp,io.decode_bmp")
def decode_bmp(contents, channels=0, name=None):
    """Pixels of a BMP file: uint8."""
    return do.image.decode_image(contents, channels)
