# SPDX-License-Identifier: Apache-2.0
# Written by tools/py-stubs.
from collections.abc import Iterator as _Iterator
from typing import Any

class math:
    """Operations of tf.math."""
    @staticmethod
    def abs(x: Any, name: Any = None) -> Any:
        """The amount of each value, of complex ones as well."""
    @staticmethod
    def acos(x: Any, *, name: Any = None) -> Any:
        """Arc cosine."""
    @staticmethod
    def acosh(x: Any, name: Any = None) -> Any:
        """Inverse hyperbolic cosine."""
    @staticmethod
    def add(x: Any, y: Any, *, name: Any = None) -> Any:
        """x + y; strings one behind the other."""
    @staticmethod
    def add_n(inputs: Any, name: Any = None) -> Any:
        """The sum of a list of values."""
    @staticmethod
    def angle(input: Any, name: Any = None) -> Any:
        """The angle of complex values, in radians; of real ones 0, or pi where they are negative."""
    @staticmethod
    def argmax(input: Any, axis: Any = None, output_type: Any = 'int64', name: Any = None) -> Any:
        """Where the largest value along an axis is, the first of equal ones."""
    @staticmethod
    def argmin(input: Any, axis: Any = None, output_type: Any = 'int64', name: Any = None) -> Any:
        """Where the smallest value along an axis is, the first of equal ones."""
    @staticmethod
    def asin(x: Any, *, name: Any = None) -> Any:
        """Arc sine."""
    @staticmethod
    def asinh(x: Any, name: Any = None) -> Any:
        """Inverse hyperbolic sine."""
    @staticmethod
    def atan(x: Any, *, name: Any = None) -> Any:
        """Arc tangent."""
    @staticmethod
    def atan2(y: Any, x: Any, *, name: Any = None) -> Any:
        """Angle of the point (y, x)."""
    @staticmethod
    def atanh(x: Any, name: Any = None) -> Any:
        """Inverse hyperbolic tangent."""
    @staticmethod
    def bincount(arr: Any, weights: Any = None, minlength: Any = None, maxlength: Any = None, dtype: Any = 'int32', name: Any = None) -> Any:
        """How often each number from 0 on comes in a vector; with weights, their sums."""
    @staticmethod
    def ceil(x: Any, *, name: Any = None) -> Any:
        """Up to an integer."""
    @staticmethod
    def cos(x: Any, *, name: Any = None) -> Any:
        """Cosine."""
    @staticmethod
    def cosh(x: Any, *, name: Any = None) -> Any:
        """Hyperbolic cosine."""
    @staticmethod
    def count_nonzero(input: Any, axis: Any = None, keepdims: Any = None, dtype: Any = 'int64', name: Any = None) -> Any:
        """How many values are not 0."""
    @staticmethod
    def cumsum(x: Any, axis: Any = 0, exclusive: Any = False, reverse: Any = False, *, name: Any = None) -> Any:
        """Sums up to each place along `axis`."""
    @staticmethod
    def divide(x: Any, y: Any, *, name: Any = None) -> Any:
        """x / y; integers give floats."""
    @staticmethod
    def divide_no_nan(x: Any, y: Any, name: Any = None) -> Any:
        """x / y, 0 where y is 0; integers as truediv divides them."""
    @staticmethod
    def equal(x: Any, y: Any, *, name: Any = None) -> Any:
        """x == y."""
    @staticmethod
    def erf(x: Any, *, name: Any = None) -> Any:
        """Gauss error function."""
    @staticmethod
    def erfc(x: Any, name: Any = None) -> Any:
        """1 less erf(x)."""
    @staticmethod
    def exp(x: Any, *, name: Any = None) -> Any:
        """e to the power x."""
    @staticmethod
    def expm1(x: Any, *, name: Any = None) -> Any:
        """e to the power x, less 1."""
    @staticmethod
    def floor(x: Any, *, name: Any = None) -> Any:
        """Down to an integer."""
    @staticmethod
    def floordiv(x: Any, y: Any, *, name: Any = None) -> Any:
        """x // y, rounded down."""
    @staticmethod
    def floormod(x: Any, y: Any, *, name: Any = None) -> Any:
        """x % y, of the sign of y."""
    @staticmethod
    def greater(x: Any, y: Any, *, name: Any = None) -> Any:
        """x > y."""
    @staticmethod
    def greater_equal(x: Any, y: Any, *, name: Any = None) -> Any:
        """x >= y."""
    @staticmethod
    def imag(input: Any, name: Any = None) -> Any:
        """The imaginary part: of real values 0."""
    @staticmethod
    def is_finite(x: Any, *, name: Any = None) -> Any:
        """Is it a finite number?."""
    @staticmethod
    def is_inf(x: Any, *, name: Any = None) -> Any:
        """Is it infinite?."""
    @staticmethod
    def is_nan(x: Any, *, name: Any = None) -> Any:
        """Is it not a number?."""
    @staticmethod
    def l2_normalize(x: Any, axis: Any = None, epsilon: Any = 1e-12, name: Any = None) -> Any:
        """x over its length along the axes."""
    @staticmethod
    def less(x: Any, y: Any, *, name: Any = None) -> Any:
        """x < y."""
    @staticmethod
    def less_equal(x: Any, y: Any, *, name: Any = None) -> Any:
        """x <= y."""
    @staticmethod
    def log(x: Any, *, name: Any = None) -> Any:
        """Natural logarithm."""
    @staticmethod
    def log1p(x: Any, *, name: Any = None) -> Any:
        """Natural logarithm of 1 + x."""
    @staticmethod
    def log_sigmoid(x: Any, name: Any = None) -> Any:
        """log(sigmoid(x))."""
    @staticmethod
    def log_softmax(logits: Any, axis: Any = None, name: Any = None) -> Any:
        """log of softmax along an axis, by default the last."""
    @staticmethod
    def logical_and(x: Any, y: Any, *, name: Any = None) -> Any:
        """Both are true."""
    @staticmethod
    def logical_not(x: Any, *, name: Any = None) -> Any:
        """True becomes false."""
    @staticmethod
    def logical_or(x: Any, y: Any, *, name: Any = None) -> Any:
        """One is true."""
    @staticmethod
    def logical_xor(x: Any, y: Any, *, name: Any = None) -> Any:
        """Exactly one is true."""
    @staticmethod
    def maximum(x: Any, y: Any, *, name: Any = None) -> Any:
        """the larger of two."""
    @staticmethod
    def minimum(x: Any, y: Any, *, name: Any = None) -> Any:
        """the smaller of two."""
    @staticmethod
    def mod(x: Any, y: Any, *, name: Any = None) -> Any:
        """x % y, of the sign of y."""
    @staticmethod
    def multiply(x: Any, y: Any, *, name: Any = None) -> Any:
        """x * y."""
    @staticmethod
    def multiply_no_nan(x: Any, y: Any, name: Any = None) -> Any:
        """x * y, 0 where y is 0."""
    @staticmethod
    def negative(x: Any, *, name: Any = None) -> Any:
        """-x."""
    @staticmethod
    def not_equal(x: Any, y: Any, *, name: Any = None) -> Any:
        """x != y."""
    @staticmethod
    def polyval(coeffs: Any, x: Any, name: Any = None) -> Any:
        """A polynomial's value: coeffs from the highest power on."""
    @staticmethod
    def pow(x: Any, y: Any, *, name: Any = None) -> Any:
        """x to the power y."""
    @staticmethod
    def real(input: Any, name: Any = None) -> Any:
        """The real part."""
    @staticmethod
    def reciprocal(x: Any, *, name: Any = None) -> Any:
        """1 / x."""
    @staticmethod
    def reciprocal_no_nan(x: Any, name: Any = None) -> Any:
        """1 / x, 0 where x is 0."""
    @staticmethod
    def reduce_all(input_tensor: Any, axis: Any = None, keepdims: Any = False, *, name: Any = None) -> Any:
        """Are all true, along axes."""
    @staticmethod
    def reduce_any(input_tensor: Any, axis: Any = None, keepdims: Any = False, *, name: Any = None) -> Any:
        """Is any true, along axes."""
    @staticmethod
    def reduce_euclidean_norm(input_tensor: Any, axis: Any = None, keepdims: Any = False, name: Any = None) -> Any:
        """The root of the sum of squares along axes."""
    @staticmethod
    def reduce_logsumexp(input_tensor: Any, axis: Any = None, keepdims: Any = False, name: Any = None) -> Any:
        """log of the sum of exp along axes, whatever the size of the values."""
    @staticmethod
    def reduce_max(input_tensor: Any, axis: Any = None, keepdims: Any = False, *, name: Any = None) -> Any:
        """Largest along axes."""
    @staticmethod
    def reduce_mean(input_tensor: Any, axis: Any = None, keepdims: Any = False, *, name: Any = None) -> Any:
        """Mean along axes."""
    @staticmethod
    def reduce_min(input_tensor: Any, axis: Any = None, keepdims: Any = False, *, name: Any = None) -> Any:
        """Smallest along axes."""
    @staticmethod
    def reduce_prod(input_tensor: Any, axis: Any = None, keepdims: Any = False, *, name: Any = None) -> Any:
        """Product along axes."""
    @staticmethod
    def reduce_std(input_tensor: Any, axis: Any = None, keepdims: Any = False, *, name: Any = None) -> Any:
        """Standard deviation along axes."""
    @staticmethod
    def reduce_sum(input_tensor: Any, axis: Any = None, keepdims: Any = False, *, name: Any = None) -> Any:
        """Sum along axes."""
    @staticmethod
    def reduce_variance(input_tensor: Any, axis: Any = None, keepdims: Any = False, *, name: Any = None) -> Any:
        """Variance along axes."""
    @staticmethod
    def rint(x: Any, name: Any = None) -> Any:
        """To the nearest integer, ties to even."""
    @staticmethod
    def round(x: Any, *, name: Any = None) -> Any:
        """To the nearest integer, ties to even."""
    @staticmethod
    def rsqrt(x: Any, *, name: Any = None) -> Any:
        """1 / square root."""
    @staticmethod
    def scalar_mul(scalar: Any, x: Any, name: Any = None) -> Any:
        """x times a scalar."""
    @staticmethod
    def sigmoid(x: Any, *, name: Any = None) -> Any:
        """1 / (1 + exp(-x))."""
    @staticmethod
    def sign(x: Any, *, name: Any = None) -> Any:
        """-1, 0 or 1."""
    @staticmethod
    def sin(x: Any, *, name: Any = None) -> Any:
        """Sine."""
    @staticmethod
    def sinh(x: Any, *, name: Any = None) -> Any:
        """Hyperbolic sine."""
    @staticmethod
    def softmax(logits: Any, axis: Any = None, name: Any = None) -> Any:
        """exp(x) over its sum along an axis, by default the last."""
    @staticmethod
    def softplus(features: Any, *, name: Any = None) -> Any:
        """log(1 + exp(x))."""
    @staticmethod
    def softsign(x: Any, name: Any = None) -> Any:
        """x / (1 + |x|)."""
    @staticmethod
    def sqrt(x: Any, *, name: Any = None) -> Any:
        """Square root."""
    @staticmethod
    def square(x: Any, *, name: Any = None) -> Any:
        """x * x."""
    @staticmethod
    def squared_difference(x: Any, y: Any, *, name: Any = None) -> Any:
        """(x - y) squared."""
    @staticmethod
    def subtract(x: Any, y: Any, *, name: Any = None) -> Any:
        """x - y."""
    @staticmethod
    def tan(x: Any, *, name: Any = None) -> Any:
        """Tangent."""
    @staticmethod
    def tanh(x: Any, *, name: Any = None) -> Any:
        """Hyperbolic tangent."""
    @staticmethod
    def top_k(input: Any, k: Any = 1, sorted: Any = True, index_type: Any = 'int32', name: Any = None) -> Any:
        """(values, indices): the k largest values of each row (the last dimension), the largest first."""
    @staticmethod
    def truediv(x: Any, y: Any, *, name: Any = None) -> Any:
        """x / y; integers give floats."""
    @staticmethod
    def xdivy(x: Any, y: Any, name: Any = None) -> Any:
        """x / y, 0 where x is 0."""
    @staticmethod
    def xlog1py(x: Any, y: Any, name: Any = None) -> Any:
        """x * log(1 + y), 0 where x is 0."""
    @staticmethod
    def xlogy(x: Any, y: Any, name: Any = None) -> Any:
        """x * log(y), 0 where x is 0."""
    @staticmethod
    def zero_fraction(value: Any, name: Any = None) -> Any:
        """The share of values that are 0."""
class strings:
    """Operations of tf.strings."""
    @staticmethod
    def as_string(input: Any, precision: Any = -1, scientific: Any = False, shortest: Any = False, width: Any = -1, fill: Any = '', name: Any = None) -> Any:
        """Numbers as text; strings as they are."""
    @staticmethod
    def bytes_split(input: Any, name: Any = None) -> Any:
        """The bytes of a string, each as a string."""
    @staticmethod
    def join(inputs: Any, separator: Any = '', name: Any = None) -> Any:
        """Strings of several values, one behind the other, with a separator between."""
    @staticmethod
    def length(input: Any, unit: Any = 'BYTE', *, name: Any = None) -> Any:
        """Bytes, or characters, of each string."""
    @staticmethod
    def lower(input: Any, encoding: Any = '', name: Any = None) -> Any:
        """ASCII letters made small."""
    @staticmethod
    def reduce_join(inputs: Any, axis: Any = None, keepdims: Any = False, separator: Any = '', *, name: Any = None) -> Any:
        """Strings along axes as one."""
    @staticmethod
    def regex_full_match(input: Any, pattern: Any, *, name: Any = None) -> Any:
        """Whether a pattern matches the whole string."""
    @staticmethod
    def regex_replace(input: Any, pattern: Any, rewrite: Any, replace_global: Any = True, *, name: Any = None) -> Any:
        """Strings with what a pattern matches replaced."""
    @staticmethod
    def split(input: Any, sep: Any = None, maxsplit: Any = -1, name: Any = None) -> Any:
        """The parts between separators (white space by default, runs of it as one)."""
    @staticmethod
    def strip(input: Any, *, name: Any = None) -> Any:
        """Without white space at both ends."""
    @staticmethod
    def substr(input: Any, pos: Any, len: Any, unit: Any = 'BYTE', *, name: Any = None) -> Any:
        """`len` bytes, or characters, from `pos` on."""
    @staticmethod
    def to_hash_bucket(input: Any, num_buckets: Any, *, name: Any = None) -> Any:
        """MurmurHash of each string modulo `num_buckets`."""
    @staticmethod
    def to_hash_bucket_fast(input: Any, num_buckets: Any, *, name: Any = None) -> Any:
        """FarmHash of each string modulo `num_buckets`."""
    @staticmethod
    def to_hash_bucket_strong(input: Any, num_buckets: Any, key: Any, *, name: Any = None) -> Any:
        """SipHash of each string, by `key`, modulo `num_buckets`."""
    @staticmethod
    def to_number(input: Any, out_type: Any = 'float32', *, name: Any = None) -> Any:
        """The number a string shows."""
    @staticmethod
    def unicode_decode(input: Any, input_encoding: Any, errors: Any = 'replace', replacement_char: Any = 65533, replace_control_characters: Any = False, name: Any = None) -> Any:
        """The numbers of a string's characters, int32."""
    @staticmethod
    def unicode_split(input: Any, input_encoding: Any, errors: Any = 'replace', replacement_char: Any = 65533, name: Any = None) -> Any:
        """The characters of a string, each as a string."""
    @staticmethod
    def upper(input: Any, encoding: Any = '', name: Any = None) -> Any:
        """ASCII letters made capital."""
class image:
    """Operations of tf.image."""
    ResizeMethod: Any
    @staticmethod
    def adjust_brightness(image: Any, delta: Any, *, name: Any = None) -> Any:
        """Brighter by delta."""
    @staticmethod
    def adjust_contrast(images: Any, contrast_factor: Any, *, name: Any = None) -> Any:
        """Contrast by a factor."""
    @staticmethod
    def adjust_gamma(image: Any, gamma: Any = 1.0, gain: Any = 1.0, *, name: Any = None) -> Any:
        """gain * x to the power gamma."""
    @staticmethod
    def adjust_hue(image: Any, delta: Any, *, name: Any = None) -> Any:
        """Hue turned by delta."""
    @staticmethod
    def adjust_jpeg_quality(image: Any, jpeg_quality: Any, dct_method: Any = '', name: Any = None) -> Any:
        """What an image looks like after it was a JPEG of that quality (a number)."""
    @staticmethod
    def adjust_saturation(image: Any, saturation_factor: Any, *, name: Any = None) -> Any:
        """Saturation by a factor."""
    @staticmethod
    def adjust_sharpness(image: Any, sharpness_factor: Any) -> Any:
        """0: smoothed, 1: as it is, 2: twice as sharp. Pixels at the edge stay."""
    @staticmethod
    def affine(image: Any, angle: Any = 0.0, translate: Any = ..., scale: Any = 1.0, shear: Any = ..., interpolation: Any = 'nearest', fill: Any = 0.0, center: Any = None) -> Any:
        """Turned clockwise by `angle` degrees, sheared (degrees along x and y), scaled, then moved by"""
    @staticmethod
    def autocontrast(image: Any) -> Any:
        """Each channel stretched to the whole range of values."""
    @staticmethod
    def central_crop(image: Any, central_fraction: Any, *, name: Any = None) -> Any:
        """The middle part."""
    @staticmethod
    def convert_image_dtype(image: Any, dtype: Any, saturate: Any = False, name: Any = None) -> Any:
        """Values of another type that stand for the same brightness: floats 0 to 1, integers 0 to their"""
    @staticmethod
    def crop_and_resize(image: Any, boxes: Any, box_indices: Any, crop_size: Any, method: Any = 'bilinear', extrapolation_value: Any = 0.0, *, name: Any = None) -> Any:
        """Boxes of images, resized to one size."""
    @staticmethod
    def crop_to_bounding_box(image: Any, offset_height: Any, offset_width: Any, target_height: Any, target_width: Any, *, name: Any = None) -> Any:
        """A box of the image."""
    @staticmethod
    def cutmix(images: Any, labels: Any, alpha: Any = 1.0, num_classes: Any = None, seed: Any = None) -> Any:
        """(images, labels) of a batch, each with a box of the one before it; labels in proportion to the"""
    @staticmethod
    def decode_and_crop_jpeg(contents: Any, crop_window: Any, channels: Any = 0, ratio: Any = 1, fancy_upscaling: Any = True, try_recover_truncated: Any = False, acceptable_fraction: Any = 1.0, dct_method: Any = '', *, name: Any = None) -> Any:
        """Pixels of a part of a JPEG file."""
    @staticmethod
    def decode_bmp(contents: Any, channels: Any = 0, name: Any = None) -> Any:
        """Pixels of a BMP file: uint8."""
    @staticmethod
    def decode_image(contents: Any, channels: Any = None, dtype: Any = 'uint8', name: Any = None, expand_animations: Any = True) -> Any:
        """Pixels of a JPEG, PNG, BMP or GIF (its first picture): uint8, uint16, or floats of 0 to 1."""
    @staticmethod
    def decode_jpeg(contents: Any, channels: Any = 0, ratio: Any = 1, fancy_upscaling: Any = True, try_recover_truncated: Any = False, acceptable_fraction: Any = 1.0, dct_method: Any = '', *, name: Any = None) -> Any:
        """Pixels of a JPEG file."""
    @staticmethod
    def decode_png(contents: Any, channels: Any = 0, dtype: Any = 'uint8', *, name: Any = None) -> Any:
        """Pixels of a PNG file."""
    @staticmethod
    def decode_webp(contents: Any, channels: Any = 0, dtype: Any = 'uint8', name: Any = None) -> Any:
        """Pixels of a WebP file: uint8, 3 channels or 4."""
    @staticmethod
    def encode_jpeg(image: Any, format: Any = '', quality: Any = 95, progressive: Any = False, optimize_size: Any = False, chroma_downsampling: Any = True, density_unit: Any = 'in', x_density: Any = 300, y_density: Any = 300, xmp_metadata: Any = '', *, name: Any = None) -> Any:
        """An image as a JPEG file."""
    @staticmethod
    def encode_png(image: Any, compression: Any = -1, *, name: Any = None) -> Any:
        """An image as a PNG file."""
    @staticmethod
    def equalize(image: Any) -> Any:
        """A uint8 image whose values are spread so that about as many pixels have each, by channel."""
    @staticmethod
    def extract_jpeg_shape(contents: Any, output_type: Any = 'int32', *, name: Any = None) -> Any:
        """Height, width and channels of a JPEG file."""
    @staticmethod
    def extract_patches(images: Any, sizes: Any, strides: Any, rates: Any, padding: Any, name: Any = None) -> Any:
        """Windows of images, (n, height, width, depth): (n, rows, columns, values of a window)."""
    @staticmethod
    def flip_left_right(image: Any, *, name: Any = None) -> Any:
        """Mirrored left to right."""
    @staticmethod
    def flip_up_down(image: Any, *, name: Any = None) -> Any:
        """Mirrored top to bottom."""
    @staticmethod
    def gaussian_blur(image: Any, kernel_size: Any, sigma: Any = None) -> Any:
        """Blurred: weights of a normal curve over kernel_size pixels (odd; or x and y), mirrored at edges."""
    @staticmethod
    def grayscale_to_rgb(images: Any, *, name: Any = None) -> Any:
        """One channel to three."""
    @staticmethod
    def hsv_to_rgb(images: Any, *, name: Any = None) -> Any:
        """And back."""
    @staticmethod
    def invert(image: Any) -> Any:
        """Dark becomes light: 255 (or 1) less each value."""
    @staticmethod
    def is_jpeg(contents: Any, name: Any = None) -> Any:
        """Whether a file's bytes begin as a JPEG's."""
    @staticmethod
    def jpeg_random_resized_crop(contents: Any, size: Any, scale: Any = ..., ratio: Any = ..., flip: Any = 0.0, mean: Any = None, std: Any = None, planar: Any = False, method: Any = 'pil_bilinear', fast: Any = False, seed: Any = None) -> Any:
        """A JPEG's first steps in training, in one: decodes what a random crop needs, resizes it,"""
    @staticmethod
    def mixup(images: Any, labels: Any, alpha: Any = 1.0, num_classes: Any = None, seed: Any = None) -> Any:
        """(images, labels) of a batch of float images, each mixed with the one before it: a share drawn of"""
    @staticmethod
    def pad_to_bounding_box(image: Any, offset_height: Any, offset_width: Any, target_height: Any, target_width: Any, *, name: Any = None) -> Any:
        """The image within zeros."""
    @staticmethod
    def per_image_standardization(image: Any, *, name: Any = None) -> Any:
        """Mean 0, deviation 1."""
    @staticmethod
    def perspective(image: Any, startpoints: Any, endpoints: Any, interpolation: Any = 'bilinear', fill: Any = 0.0) -> Any:
        """The image with four of its points (x, y), clockwise from the top left one, moved to others."""
    @staticmethod
    def posterize(image: Any, bits: Any) -> Any:
        """A uint8 image with the upper `bits` bits of each value, 0 to 8."""
    @staticmethod
    def psnr(a: Any, b: Any, max_val: Any, name: Any = None) -> Any:
        """Peak signal to noise ratio of two images, in decibels."""
    @staticmethod
    def rand_augment(image: Any, num_ops: Any = 2, magnitude: Any = 9, num_magnitude_bins: Any = 31, interpolation: Any = 'nearest', fill: Any = 0.0, seed: Any = None) -> Any:
        """num_ops changes drawn at random, each of `magnitude` (below num_magnitude_bins): RandAugment."""
    @staticmethod
    def random_brightness(image: Any, max_delta: Any, seed: Any = None, *, name: Any = None) -> Any:
        """Brighter by up to max_delta."""
    @staticmethod
    def random_contrast(image: Any, lower: Any, upper: Any, seed: Any = None, *, name: Any = None) -> Any:
        """Contrast by lower to upper."""
    @staticmethod
    def random_crop(value: Any, size: Any, seed: Any = None, name: Any = None) -> Any:
        """A part of that size, at a random place."""
    @staticmethod
    def random_erasing(image: Any, p: Any = 0.5, scale: Any = ..., ratio: Any = ..., value: Any = 0, seed: Any = None) -> Any:
        """With a chance of p a random rectangle of `value`: of that part of the image's area, and that"""
    @staticmethod
    def random_flip_left_right(image: Any, seed: Any = None, *, name: Any = None) -> Any:
        """Mirrored left to right, or not."""
    @staticmethod
    def random_flip_up_down(image: Any, seed: Any = None, *, name: Any = None) -> Any:
        """Mirrored top to bottom, or not."""
    @staticmethod
    def random_hue(image: Any, max_delta: Any, seed: Any = None, *, name: Any = None) -> Any:
        """Hue turned by up to max_delta."""
    @staticmethod
    def random_resized_crop(image: Any, size: Any, scale: Any = ..., ratio: Any = ..., flip: Any = 0.0, mean: Any = None, std: Any = None, planar: Any = False, method: Any = 'pil_bilinear', seed: Any = None) -> Any:
        """A uint8 image's (height, width, 1 to 4 channels) first steps in training, in one: a random"""
    @staticmethod
    def random_saturation(image: Any, lower: Any, upper: Any, seed: Any = None, *, name: Any = None) -> Any:
        """Saturation by lower to upper."""
    @staticmethod
    def resize(images: Any, size: Any, method: Any = 'bilinear', preserve_aspect_ratio: Any = False, antialias: Any = False, name: Any = None) -> Any:
        """Images, or one, at another size: float32; 'nearest' keeps the type."""
    @staticmethod
    def resize_with_crop_or_pad(image: Any, target_height: Any, target_width: Any, *, name: Any = None) -> Any:
        """To a size by cutting or padding around the middle."""
    @staticmethod
    def resize_with_pad(image: Any, target_height: Any, target_width: Any, method: Any = 'bilinear', antialias: Any = False) -> Any:
        """Resized with its proportions to fit, and filled up with zeros around."""
    @staticmethod
    def rgb_to_grayscale(images: Any, *, name: Any = None) -> Any:
        """Three channels to one."""
    @staticmethod
    def rgb_to_hsv(images: Any, *, name: Any = None) -> Any:
        """Hue, saturation, value of float images."""
    @staticmethod
    def rgb_to_yiq(images: Any) -> Any:
        """YIQ of float RGB in [0, 1]."""
    @staticmethod
    def rgb_to_yuv(images: Any, name: Any = None) -> Any:
        """Brightness and two differences of colour, of float RGB in [0, 1]."""
    @staticmethod
    def rot90(image: Any, k: Any = 1, *, name: Any = None) -> Any:
        """Turned counter-clockwise by k right angles."""
    @staticmethod
    def rotate(image: Any, angle: Any, interpolation: Any = 'nearest', fill: Any = 0.0, center: Any = None) -> Any:
        """Turned counter-clockwise by `angle` degrees, about its middle or center (x, y); `fill` outside."""
    @staticmethod
    def sample_distorted_bounding_box(image_size: Any, bounding_boxes: Any, seed: Any = 0, min_object_covered: Any = 0.1, aspect_ratio_range: Any = None, area_range: Any = None, max_attempts: Any = None, use_image_if_no_bounding_boxes: Any = None, name: Any = None) -> Any:
        """(begin, size, bboxes): a random crop for `slice`, in which some object is seen, and its box."""
    @staticmethod
    def solarize(image: Any, threshold: Any) -> Any:
        """Values from threshold on inverted."""
    @staticmethod
    def stateless_random_brightness(image: Any, max_delta: Any, seed: Any) -> Any:
        """adjust_brightness by what a seed draws of -max_delta to max_delta."""
    @staticmethod
    def stateless_random_contrast(image: Any, lower: Any, upper: Any, seed: Any) -> Any:
        """adjust_contrast by what a seed draws of lower to upper."""
    @staticmethod
    def stateless_random_crop(value: Any, size: Any, seed: Any, name: Any = None) -> Any:
        """A part of that size, at a place that a seed draws."""
    @staticmethod
    def stateless_random_flip_left_right(image: Any, seed: Any) -> Any:
        """Mirrored for half of the seeds (two integers): the same seed, the same result."""
    @staticmethod
    def stateless_random_flip_up_down(image: Any, seed: Any) -> Any:
        """Upside down for half of the seeds."""
    @staticmethod
    def stateless_random_hue(image: Any, max_delta: Any, seed: Any) -> Any:
        """adjust_hue by what a seed draws of -max_delta to max_delta."""
    @staticmethod
    def stateless_random_saturation(image: Any, lower: Any, upper: Any, seed: Any = None) -> Any:
        """adjust_saturation by what a seed draws of lower to upper."""
    @staticmethod
    def total_variation(images: Any, name: Any = None) -> Any:
        """The sum of the differences of neighbouring pixels."""
    @staticmethod
    def transpose(image: Any, *, name: Any = None) -> Any:
        """Rows become columns."""
    @staticmethod
    def trivial_augment(image: Any, num_magnitude_bins: Any = 31, interpolation: Any = 'nearest', fill: Any = 0.0, seed: Any = None) -> Any:
        """One change of one strength, both drawn at random: TrivialAugment (wide)."""
    @staticmethod
    def yiq_to_rgb(images: Any) -> Any:
        """RGB of YIQ."""
    @staticmethod
    def yuv_to_rgb(images: Any, name: Any = None) -> Any:
        """RGB of YUV."""
class nn:
    """Operations of tf.nn."""
    @staticmethod
    def l2_normalize(x: Any, axis: Any = None, epsilon: Any = 1e-12, name: Any = None) -> Any:
        """x over its length along the axes."""
    @staticmethod
    def log_sigmoid(x: Any, name: Any = None) -> Any:
        """log(sigmoid(x))."""
    @staticmethod
    def log_softmax(logits: Any, axis: Any = None, name: Any = None) -> Any:
        """log of softmax along an axis, by default the last."""
    @staticmethod
    def relu(features: Any, *, name: Any = None) -> Any:
        """x, or 0 if negative."""
    @staticmethod
    def sigmoid(x: Any, *, name: Any = None) -> Any:
        """1 / (1 + exp(-x))."""
    @staticmethod
    def softmax(logits: Any, axis: Any = None, name: Any = None) -> Any:
        """exp(x) over its sum along an axis, by default the last."""
    @staticmethod
    def softplus(features: Any, *, name: Any = None) -> Any:
        """log(1 + exp(x))."""
    @staticmethod
    def softsign(x: Any, name: Any = None) -> Any:
        """x / (1 + |x|)."""
    @staticmethod
    def tanh(x: Any, *, name: Any = None) -> Any:
        """Hyperbolic tangent."""
    @staticmethod
    def top_k(input: Any, k: Any = 1, sorted: Any = True, index_type: Any = 'int32', name: Any = None) -> Any:
        """(values, indices): the k largest values of each row (the last dimension), the largest first."""
    @staticmethod
    def zero_fraction(value: Any, name: Any = None) -> Any:
        """The share of values that are 0."""
class linalg:
    """Operations of tf.linalg."""
    @staticmethod
    def eye(num_rows: Any, num_columns: Any = None, batch_shape: Any = None, dtype: Any = 'float32', name: Any = None) -> Any:
        """A matrix with ones on its diagonal."""
    @staticmethod
    def l2_normalize(x: Any, axis: Any = None, epsilon: Any = 1e-12, name: Any = None) -> Any:
        """x over its length along the axes."""
    @staticmethod
    def matmul(a: Any, b: Any, transpose_a: Any = False, transpose_b: Any = False, *, name: Any = None) -> Any:
        """Matrix product."""
    @staticmethod
    def norm(tensor: Any, ord: Any = 'euclidean', axis: Any = None, keepdims: Any = None, name: Any = None) -> Any:
        """Length of vectors: the root of the sum of squares along the axes (ord 1: sum of amounts)."""
class bitwise:
    """Operations of tf.bitwise."""
    @staticmethod
    def bitwise_and(x: Any, y: Any, *, name: Any = None) -> Any:
        """Bits set in both."""
    @staticmethod
    def bitwise_or(x: Any, y: Any, *, name: Any = None) -> Any:
        """Bits set in one."""
    @staticmethod
    def bitwise_xor(x: Any, y: Any, *, name: Any = None) -> Any:
        """Bits set in exactly one."""
    @staticmethod
    def invert(x: Any, *, name: Any = None) -> Any:
        """Every bit turned over."""
    @staticmethod
    def left_shift(x: Any, y: Any, *, name: Any = None) -> Any:
        """Bits moved up."""
    @staticmethod
    def right_shift(x: Any, y: Any, *, name: Any = None) -> Any:
        """Bits moved down, the sign kept."""
class sparse:
    """Operations of tf.sparse."""
    SparseTensor: Any
    @staticmethod
    def to_dense(sp_input: Any, default_value: Any = None, validate_indices: Any = True, name: Any = None) -> Any:
        """The dense value of a sparse one, default_value (0, empty strings) elsewhere."""
class dtypes:
    """Operations of tf.dtypes."""
    @staticmethod
    def cast(x: Any, dtype: Any, name: Any = None) -> Any:
        """The values as another dtype. Floats are cut towards 0."""
    @staticmethod
    def saturate_cast(value: Any, dtype: Any, name: Any = None) -> Any:
        """The values as another dtype; those beyond its range become its ends."""
class debugging:
    """Operations of tf.debugging."""
    @staticmethod
    def Assert(condition: Any, data: Any = None, summarize: Any = None, name: Any = None) -> Any:
        """An element for which the condition (bools, all of them) does not hold is an error."""
    @staticmethod
    def assert_equal(x: Any, y: Any, message: Any = None, summarize: Any = None, name: Any = None) -> Any:
        """An element for which x == y does not hold everywhere is an error."""
    @staticmethod
    def assert_greater(x: Any, y: Any, message: Any = None, summarize: Any = None, name: Any = None) -> Any:
        """An element for which x > y does not hold everywhere is an error."""
    @staticmethod
    def assert_greater_equal(x: Any, y: Any, message: Any = None, summarize: Any = None, name: Any = None) -> Any:
        """An element for which x >= y does not hold everywhere is an error."""
    @staticmethod
    def assert_less(x: Any, y: Any, message: Any = None, summarize: Any = None, name: Any = None) -> Any:
        """An element for which x < y does not hold everywhere is an error."""
    @staticmethod
    def assert_less_equal(x: Any, y: Any, message: Any = None, summarize: Any = None, name: Any = None) -> Any:
        """An element for which x <= y does not hold everywhere is an error."""
    @staticmethod
    def assert_negative(x: Any, message: Any = None, summarize: Any = None, name: Any = None) -> Any:
        """An element for which x < 0 does not hold everywhere is an error."""
    @staticmethod
    def assert_non_negative(x: Any, message: Any = None, summarize: Any = None, name: Any = None) -> Any:
        """An element for which x >= 0 does not hold everywhere is an error."""
    @staticmethod
    def assert_non_positive(x: Any, message: Any = None, summarize: Any = None, name: Any = None) -> Any:
        """An element for which x <= 0 does not hold everywhere is an error."""
    @staticmethod
    def assert_none_equal(x: Any, y: Any, message: Any = None, summarize: Any = None, name: Any = None) -> Any:
        """An element for which x != y does not hold everywhere is an error."""
    @staticmethod
    def assert_positive(x: Any, message: Any = None, summarize: Any = None, name: Any = None) -> Any:
        """An element for which x > 0 does not hold everywhere is an error."""
class audio:
    """Operations of tf.audio."""
    @staticmethod
    def decode_wav(contents: Any, desired_channels: Any = -1, desired_samples: Any = -1, name: Any = None) -> Any:
        """(audio, sample_rate) of a WAV file of 16 bits a sample: float32 (samples, channels), int32."""
class signal:
    """Operations of tf.signal."""
    @staticmethod
    def frame(signal: Any, frame_length: Any, frame_step: Any, pad_end: Any = False, pad_value: Any = 0, axis: Any = -1, name: Any = None) -> Any:
        """Overlapping parts of the last dimension: (..., frames, frame_length)."""
    @staticmethod
    def hamming_window(window_length: Any, periodic: Any = True, dtype: Any = 'float32', name: Any = None) -> Any:
        """Weights of a Hamming window."""
    @staticmethod
    def hann_window(window_length: Any, periodic: Any = True, dtype: Any = 'float32', name: Any = None) -> Any:
        """Weights of a Hann window."""
    @staticmethod
    def linear_to_mel_weight_matrix(num_mel_bins: Any = 20, num_spectrogram_bins: Any = 129, sample_rate: Any = 8000, lower_edge_hertz: Any = 125.0, upper_edge_hertz: Any = 3800.0, dtype: Any = 'float32', name: Any = None) -> Any:
        """(num_spectrogram_bins, num_mel_bins): a spectrogram times this is one of mel bins."""
    @staticmethod
    def rfft(input_tensor: Any, fft_length: Any = None, name: Any = None) -> Any:
        """Fourier transforms of the last dimension of real values: Complex (..., fft_length / 2 + 1)."""
    @staticmethod
    def stft(signals: Any, frame_length: Any, frame_step: Any, fft_length: Any = None, window_fn: Any = ..., pad_end: Any = False, name: Any = None) -> Any:
        """Fourier transforms of windows of signals (..., samples): Complex (..., frames, bins)."""
class ragged:
    """Operations of tf.ragged."""
    @staticmethod
    def constant(pylist: Any, dtype: Any = None, ragged_rank: Any = None, inner_shape: Any = None, name: Any = None, row_splits_dtype: Any = 'int64') -> Any:
        """A RaggedTensor of nested lists whose rows differ in length."""
    @staticmethod
    def range(starts: Any, limits: Any = None, deltas: Any = 1, dtype: Any = None, name: Any = None, row_splits_dtype: Any = 'int64') -> Any:
        """Rows of numbers, each from its start up to its limit; with one argument from 0 on."""
