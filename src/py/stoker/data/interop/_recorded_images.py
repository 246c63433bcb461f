# SPDX-License-Identifier: Apache-2.0
"""Pillow images whose pixels aren't made yet: operations on them are recorded, for the engine to carry out.

In a process that has called `begin`, Image.open gives a Recorded for files that the engine decodes like Pillow. Crops,
resizing, flips, affine transforms, conversions between RGB and gray, ImageEnhance, GaussianBlur, lookup tables,
autocontrast and equalize make another Recorded with one more step. Any other operation, and any access to the pixels,
first makes them with Pillow, in place. From then on it is an ordinary Pillow image. `recipe` writes an image in the
form that the operation image_recipes reads.

Limits: JPEG and PNG of modes RGB and L, 8 bits, one picture. A damaged file is found when its pixels are made. A
truncated one is left to Pillow at once.
"""

import io
import os

import numpy as np
from PIL import Image, ImageEnhance, ImageFilter, ImageOps

from ._recipes import (
    AFFINE,
    AUTOCONTRAST,
    BLUR,
    BLUR_MAX,
    BRIGHTNESS,
    COLOR,
    CONTRAST,
    CROP,
    EQUALIZE,
    FILE,
    GRAY,
    HUE,
    LEVELS,
    PIXELS,
    RESIZE,
    SATURATION,
    SHARPNESS,
    TRANSPOSE,
    written,
)

_MODES = {"RGB": 3, "L": 1}
_HELD = 64 << 20  # largest file in memory that is recorded, in bytes
_open = Image.open


def _across(size, to):
    """The order of Pillow's resizing passes: is the one along columns first? Up to version 12: never."""
    return False


def _by_size(size, to):
    """The same for later versions."""
    return to[1] < size[1] and size[1] - to[1] > 2 * (size[0] - to[0])


def _pillows_order():
    """Which of these this Pillow follows; None: neither."""
    sizes = [((61, 56), (41, 13)), ((57, 61), (40, 30)), ((29, 49), (63, 13)), ((30, 20), (9, 50)), ((20, 40), (30, 60))]
    sizes += [((40, 80), (20, 39)), ((40, 80), (20, 41)), ((500, 375), (341, 256)), ((80, 90), (81, 89))]
    noise = np.random.default_rng(0)
    for order in (_by_size, _across):
        if all(_passes(noise, *pair, order(*pair)) for pair in sizes):
            return order
    return None


def _passes(noise, size, to, is_down_first):
    """Does Pillow resize in these two passes?"""
    image = Image.fromarray(noise.integers(0, 256, size[::-1], np.uint8))
    between = (size[0], to[1]) if is_down_first else (to[0], size[1])
    two = image.resize(between, Image.Resampling.BILINEAR).resize(to, Image.Resampling.BILINEAR)
    return image.resize(to, Image.Resampling.BILINEAR).tobytes() == two.tobytes()


_order = None


class _Source:
    """A file that isn't decoded yet: its path, or its content."""

    def __init__(self, path, content):
        self.path, self.content, self._pixels = path, content, None

    def pixels(self):
        """The image as Pillow decodes it, once."""
        if self._pixels is None:
            with _open(self.path if self.content is None else io.BytesIO(self.content)) as image:
                image.load()
                self._pixels = image
        return self._pixels


def _by_affine(image, width, height, *a):
    fill = a[7:] if image.mode == "RGB" else a[7]
    return image.transform((width, height), Image.Transform.AFFINE, a[:6], a[6], fillcolor=fill)


def _by_hue(image, shift):
    h, s, v = image.convert("HSV").split()
    moved = np.asarray(h) + np.uint8(shift)
    return Image.merge("HSV", (Image.fromarray(moved, "L"), s, v)).convert("RGB")


_BY_PILLOW = {
    GRAY: lambda im: im.convert("L"),
    COLOR: lambda im: im.convert("RGB"),
    CROP: lambda im, *box: im.crop(box),
    RESIZE: lambda im, width, height, resample, order: im.resize((width, height), resample),
    TRANSPOSE: lambda im, method: im.transpose(Image.Transpose(method)),
    BRIGHTNESS: lambda im, factor: ImageEnhance.Brightness(im).enhance(factor),
    CONTRAST: lambda im, factor: ImageEnhance.Contrast(im).enhance(factor),
    SATURATION: lambda im, factor: ImageEnhance.Color(im).enhance(factor),
    HUE: _by_hue,
    LEVELS: lambda im, *levels: im.point(levels),
    BLUR: lambda im, x, y: im.filter(ImageFilter.GaussianBlur(x if x == y else (x, y))),
    AFFINE: _by_affine,
    AUTOCONTRAST: lambda im: ImageOps.autocontrast(im),
    EQUALIZE: lambda im: ImageOps.equalize(im),
    SHARPNESS: lambda im, factor: ImageEnhance.Sharpness(im).enhance(factor),
}


def _affine(mode, size, data, resample, color):
    """The arguments of an affine step; None: it isn't the engine's."""
    color = (color or 0,) * _MODES[mode] if color in (None, 0) or mode == "L" and isinstance(color, int) else color
    if data is None or len(data) < 6 or resample not in (0, 2, 3) or len(size) != 2 or min(size) <= 0:
        return None
    if not isinstance(color, (tuple, list)) or len(color) != _MODES[mode]:
        return None
    if not all(isinstance(v, int) and 0 <= v <= 255 for v in color):
        return None
    (width, height), a = (int(v) for v in size), [float(v) for v in data[:6]]
    ends = [x * p + y * q + r for x in (0, width) for y in (0, height) for p, q, r in (a[:3], a[3:])]
    if not all(abs(v) < 32768 for v in ends):  # Pillow's places of 16.16 bits; false of a NaN, too
        return None
    return (width, height, *a, int(resample), *color, *[0] * (3 - len(color)))


class _Pixels:
    """The result of load(): the pixels are made when one is read."""

    def __init__(self, image):
        self._image = image

    def __getitem__(self, at):
        return self._made()[at]

    def __setitem__(self, at, value):
        self._made()[at] = value

    def _made(self):
        self._image._settle()
        return self._image.load()


class Recorded(Image.Image):
    """An image of a file, and the steps requested so far."""

    _source, _steps, _header = None, (), None

    def _settle(self):
        """Makes the pixels with Pillow."""
        source, steps = self._source, self._steps
        if source is None:
            return
        self._source = None
        image = source.pixels()
        for kind, *arguments in steps:
            image = _BY_PILLOW[kind](image, *arguments)
        self._im = image.im if steps else image.im.copy()

    def _with(self, size, mode, *step):
        out = Recorded()
        out._source, out._header, out._size, out._mode = self._source, self._header, tuple(size), mode
        out._steps = (*self._steps, step) if step else self._steps
        out.info = self.info.copy()
        return out

    @property
    def im(self):
        self._settle()
        return Image.Image.im.fget(self)

    @im.setter
    def im(self, im):
        self._source, self._im = None, im

    def __getattr__(self, name):
        if name.startswith("__") or self._header is None or self._steps:
            raise AttributeError(name)
        return getattr(self._header, name)

    def load(self):
        return super().load() if self._source is None else _Pixels(self)

    def copy(self):
        return super().copy() if self._source is None else self._with(self.size, self.mode)

    __copy__ = copy

    def convert(self, mode=None, *more, **named):
        if self._source is None or more or named or mode not in _MODES:
            return super().convert(mode, *more, **named)
        if mode == self.mode:
            return self.copy()
        return self._with(self.size, mode, COLOR if mode == "RGB" else GRAY)

    def crop(self, box=None):
        if self._source is None or box is None or len(box) != 4:
            return super().crop(box)
        left, top, right, bottom = (int(round(v)) for v in box)
        width, height = right - left, bottom - top
        if tuple(box) == (0, 0, *self.size):
            return self.copy()
        if width <= 0 or height <= 0 or width * height > (Image.MAX_IMAGE_PIXELS or 1 << 26):
            return super().crop(box)
        return self._with((width, height), self.mode, CROP, left, top, right, bottom)

    def resize(self, size, resample=None, box=None, reducing_gap=None):
        size = tuple(size)
        filters = range(6)
        given = Image.Resampling.BICUBIC if resample is None else resample
        is_known = given in filters and box in (None, (0, 0, *self.size)) and reducing_gap is None and _order is not None
        if self._source is None or not is_known or len(size) != 2 or min(size) <= 0:
            return super().resize(size, resample, box, reducing_gap)
        if size == self.size:
            return self.copy()
        width, height = (int(v) for v in size)
        first = int(_order(self.size, (width, height)))
        return self._with((width, height), self.mode, RESIZE, width, height, int(given), first)

    def transpose(self, method):
        if self._source is None or method not in range(7):
            return super().transpose(method)
        size = self.size if method in (0, 1, 3) else self.size[::-1]
        return self._with(size, self.mode, TRANSPOSE, int(method))

    def point(self, lut, mode=None):
        bands = _MODES.get(self.mode, 0)
        if self._source is None or mode is not None or isinstance(lut, Image.ImagePointHandler):
            return super().point(lut, mode)
        levels = [lut(v) for v in range(256)] * bands if callable(lut) else list(lut)
        levels = [round(v) for v in levels]
        if len(levels) != 256 * bands or min(levels) < 0 or max(levels) > 255:
            return super().point(levels, mode)
        return self._with(self.size, self.mode, LEVELS, *levels)

    def filter(self, filter):
        radius = filter.radius if isinstance(filter, ImageFilter.GaussianBlur) else None
        both = tuple(radius) if isinstance(radius, (tuple, list)) else (radius, radius)
        if self._source is None or None in both or len(both) != 2 or not all(0 <= v < BLUR_MAX for v in both):
            return super().filter(filter)
        return self._with(self.size, self.mode, BLUR, *map(float, both)) if any(both) else self.copy()

    def transform(self, size, method, data=None, resample=Image.Resampling.NEAREST, fill=1, fillcolor=None):
        step = None
        if self._source is not None and isinstance(method, int) and method == Image.Transform.AFFINE:
            step = _affine(self.mode, size, data, resample, fillcolor)
        if step is None:
            return super().transform(size, method, data, resample, fill, fillcolor)
        return self._with(size, self.mode, AFFINE, *step)

    def draft(self, mode, size):
        return self._opened_again(lambda image: image.draft(mode, size))

    def thumbnail(self, *arguments, **named):
        if self._source is None or self._steps:
            return super().thumbnail(*arguments, **named)
        return self._opened_again(lambda image: image.thumbnail(*arguments, **named))

    def verify(self):
        if self._source is not None and not self._steps:
            with _open(self._source.path or io.BytesIO(self._source.content)) as image:
                image.verify()

    def _opened_again(self, f):
        """Becomes the result of f on the file's image."""
        if self._source is None or self._steps:
            return None
        with _open(self._source.path or io.BytesIO(self._source.content)) as image:
            given = f(image)
            image.load()
        self._source, self._im, self._mode, self._size = None, image.im, image.mode, image.size
        return given


def _is_plain(image):
    """Does the engine decode it like Pillow?"""
    if image.mode not in _MODES or image.format not in ("JPEG", "PNG") or len(image.tile) != 1:
        return False
    if "transparency" in image.info or getattr(image, "is_animated", False):
        return False
    raw = image.tile[0][3]
    return image.format == "JPEG" or raw == image.mode or raw and raw[0] == image.mode


def _is_whole(path, content, kind):
    """Does the file end as its format says?"""
    if content is None:
        with open(path, "rb") as f:
            f.seek(-min(16, os.fstat(f.fileno()).st_size), os.SEEK_END)
            content = f.read()
    return content.endswith(b"\xff\xd9") if kind == "JPEG" else b"IEND" in content[-16:]


def _place(fp):
    """(path, content) of Image.open's argument; (None, None): neither is known."""
    if isinstance(fp, (str, os.PathLike)):
        return os.fspath(fp), None
    if isinstance(fp, io.BytesIO) and fp.tell() == 0 and fp.getbuffer().nbytes <= _HELD:
        return None, fp.getvalue()
    name = getattr(fp, "name", None)
    is_file = isinstance(fp, (io.BufferedReader, io.FileIO)) and isinstance(name, str)
    return (name, None) if is_file and fp.tell() == 0 else (None, None)


def _recorded_open(fp, mode="r", formats=None):
    path, content = _place(fp)
    image = _open(fp, mode, formats)
    known = path is not None or content is not None
    if not known or not _is_plain(image) or not _is_whole(path, content, image.format):
        return image
    out = Recorded()
    out._source, out._header = _Source(None if path is None else os.path.abspath(path), content), image
    out._mode, out._size, out.info = image.mode, image.size, image.info
    if path is not None and path is not fp and not isinstance(fp, os.PathLike):
        return out  # the file belongs to the caller
    image.fp.close()
    return out


_ENHANCEMENTS = {
    BRIGHTNESS: ImageEnhance.Brightness,
    CONTRAST: ImageEnhance.Contrast,
    SATURATION: ImageEnhance.Color,
    SHARPNESS: ImageEnhance.Sharpness,
}


def _enhance(kind):
    """ImageEnhance's class, which records if the image does."""
    own = _ENHANCEMENTS[kind]
    begin, enhance = own.__init__, own.enhance

    def __init__(self, image):
        self._recorded = image if is_recorded(image) else None
        if self._recorded is None:
            begin(self, image)
        else:
            self.image = image

    def enhanced(self, factor):
        image = self._recorded
        if image is None:
            return enhance(self, factor)
        if kind == SATURATION and image.mode == "L":
            return image.copy()
        return image._with(image.size, image.mode, kind, float(factor))

    own.__init__, own.enhance = __init__, enhanced


def _expand():
    own = ImageOps.expand

    def expand(image, border=0, fill=0):
        is_black = fill in (0, None) or isinstance(fill, (tuple, list)) and not any(fill)
        if not is_recorded(image) or not is_black:
            return own(image, border, fill)
        around = (border,) * 4 if isinstance(border, int) else tuple(border)
        left, top, right, bottom = around * (4 // len(around))
        return image.crop((-left, -top, image.width + right, image.height + bottom))

    ImageOps.expand = expand


def _of_histogram(kind, name):
    """ImageOps' function of that name, of all of an image's levels."""
    own = getattr(ImageOps, name)

    def recorded(image, *arguments, **named):
        if arguments or named or not is_recorded(image):
            return own(image, *arguments, **named)
        return image._with(image.size, image.mode, kind)

    setattr(ImageOps, name, recorded)


def is_recorded(image):
    """Are its pixels not made yet?"""
    return isinstance(image, Recorded) and image._source is not None


def begin():
    """Makes Image.open record in this process from now on."""
    global _order
    if Image.open is not _recorded_open:
        _order = _pillows_order()
        Image.open = _recorded_open
        for kind in _ENHANCEMENTS:
            _enhance(kind)
        _expand()
        _of_histogram(AUTOCONTRAST, "autocontrast")
        _of_histogram(EQUALIZE, "equalize")


def channels_of(image):
    """Channels of an image that has a recipe; None: it has none."""
    return _MODES.get(image.mode) if isinstance(image, Image.Image) else None


def recipe(image, more=(), patches=b""):
    """(path or empty, the recipe) of an image of mode RGB or L, and the steps on floats after its own, with the values that
    those copy."""
    if is_recorded(image):
        path, content = image._source.path, image._source.content
        head, steps = (FILE, 0, 0, 0), (*image._steps, *more)
        return b"" if path is None else os.fsencode(path), written(head, steps, patches + (content or b""))
    head = PIXELS, image.height, image.width, _MODES[image.mode]
    return b"", written(head, more, patches + image.tobytes())
