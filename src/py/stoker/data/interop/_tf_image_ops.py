# SPDX-License-Identifier: Apache-2.0
"""Translates operations of TensorFlow graphs: images and sound."""

import numpy as np

from ..ops._ops import do
from ._tf_graph import operation

_DECODE = ("channels", "ratio", "fancy_upscaling", "try_recover_truncated", "acceptable_fraction")


def _decoding(at):
    return {n: at.attr(n) for n in _DECODE} | {"dct_method": at.text("dct_method")}


@operation("DecodeJpeg")
def _jpeg(at, contents):
    return do.io.decode_jpeg(contents, **_decoding(at))


@operation("DecodeAndCropJpeg")
def _crop_jpeg(at, contents, window):
    return do.io.decode_and_crop_jpeg(contents, window, **_decoding(at))


@operation("DecodePng")
def _png(at, contents):
    return do.io.decode_png(contents, channels=at.attr("channels"), dtype=at.dtype("dtype"))


@operation("DecodeBmp")
def _bmp(at, contents):
    return do.io.decode_bmp(contents, channels=at.attr("channels"))


@operation("DecodeImage")
def _image(at, contents):
    more = {"channels": at.attr("channels"), "dtype": at.dtype("dtype")}
    if at.attr("expand_animations"):
        return do.io.decode_image(contents, **more)
    return do.io.decode_image(contents, expand_animations=False, **more)


@operation("ExtractJpegShape")
def _jpeg_shape(at, contents):
    return do.io.extract_jpeg_shape(contents, output_type=at.dtype("output_type"))


@operation("EncodePng")
def _encode_png(at, image):
    return do.io.encode_png(image, compression=at.attr("compression"))


@operation("EncodeJpeg")
def _encode_jpeg(at, image):
    names = "quality progressive optimize_size chroma_downsampling x_density y_density".split()
    texts = {n: at.text(n) for n in ("format", "density_unit", "xmp_metadata")}
    return do.io.encode_jpeg(image, **{n: at.attr(n) for n in names}, **texts)


_METHODS = {"ResizeBilinear": "bilinear", "ResizeBicubic": "bicubic", "ResizeNearestNeighbor": "nearest", "ResizeArea": "area"}


@operation(*_METHODS)
def _resize(at, images, size):
    method = _METHODS[at.op.type]
    if method != "area" and (at.attr("align_corners") or not at.attr("half_pixel_centers")):
        at.refuse("with the pixel centers of TensorFlow 1")
    if method == "area" and at.attr("align_corners"):
        at.refuse("with align_corners")
    return do.image.resize(images, size, method=method)


_KERNELS = {"triangle": "bilinear", "keyscubic": "bicubic", "lanczos3": "lanczos3", "lanczos5": "lanczos5",
            "gaussian": "gaussian", "mitchellcubic": "mitchellcubic"}  # fmt: skip


@operation("ScaleAndTranslate")
def _scale(at, images, size, scale, translation):
    kernel = at.text("kernel_type")
    moved = translation.constant() if hasattr(translation, "constant") else translation
    if kernel not in _KERNELS or moved is None or np.any(moved):
        at.refuse(f"with the kernel {kernel}, or moved")
    return do.image.resize(images, size, method=_KERNELS[kernel], antialias=bool(at.attr("antialias")))


@operation("CropAndResize")
def _crop_and_resize(at, image, boxes, indices, size):
    more = {"method": at.text("method"), "extrapolation_value": at.attr("extrapolation_value")}
    return do.image.crop_and_resize(image, boxes, indices, size, **more)


@operation("SampleDistortedBoundingBoxV2", "SampleDistortedBoundingBox")
def _distorted(at, image_size, boxes, covered=None):
    covered = at.attr("min_object_covered") if covered is None else float(np.asarray(_constant(at, covered)))
    return list(do.image.sample_distorted_bounding_box(image_size, boxes, min_object_covered=covered, **_bounds(at)))


@operation("StatelessSampleDistortedBoundingBox")
def _stateless_distorted(at, image_size, boxes, covered, seed):
    covered = float(np.asarray(_constant(at, covered)))
    return list(do.image.stateless_sample_distorted_bounding_box(image_size, boxes, seed, min_object_covered=covered, **_bounds(at)))


def _bounds(at):
    """The arguments of a random crop that are attributes."""
    more = {n: tuple(at.attr(n)) for n in ("aspect_ratio_range", "area_range")}
    return more | {n: at.attr(n) for n in ("max_attempts", "use_image_if_no_bounding_boxes")}


def _constant(at, v):
    v = v.constant() if hasattr(v, "constant") else v
    return at.refuse("an argument is computed for each element") if v is None else v


@operation("ExtractImagePatches")
def _patches(at, images):
    rates = {"sizes": "ksizes", "strides": "strides", "rates": "rates"}
    return do.image.extract_patches(images, padding=at.text("padding"), **{k: list(at.attr(v)) for k, v in rates.items()})


@operation("DecodeWav")
def _wav(at, contents):
    names = ("desired_channels", "desired_samples")
    return list(do.audio.decode_wav(contents, **{n: at.attr(n) for n in names}))
