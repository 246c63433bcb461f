# SPDX-License-Identifier: Apache-2.0
# Written by tools/py-stubs.
from builtins import bool as _bool
from collections.abc import Callable as _Callable, Iterator as _Iterator, Sequence as _Sequence
from typing import Any, overload as _overload

import numpy as np

from ._op_types import Array as _Array, Int64 as _Int64, Bytes as _Bytes, Value as _Value, Symbolic as _Symbolic, Plain as _Plain, Tensor as _Tensor, Int as _Int, Flag as _Flag, Float as _Float, Ints as _Ints, PlainInt as _PlainInt, PlainInts as _PlainInts, DType as _DType, U as _U, Drawn as _Drawn, Unique as _Unique, UniqueWithCounts as _UniqueWithCounts, TopK as _TopK

from . import RaggedTensor as RaggedTensor, SparseTensor as SparseTensor, TFRecordWriter as TFRecordWriter

class Example:
    """tf.train.Example of a dict: numbers, arrays, bytes and lists of them; None: a feature without"""
    def __init__(self, features: Any = None, **more: Any) -> None:
        ...
    def SerializeToString(self) -> Any:
        """The wire form."""
    def __bytes__(self) -> bytes:
        ...
    features: Any
class SequenceExample:
    """tf.train.SequenceExample: context as an Example's features, feature_lists: lists of them."""
    def __init__(self, context: Any = None, feature_lists: Any = None) -> None:
        ...
    def SerializeToString(self) -> Any:
        """The wire form."""
    def __bytes__(self) -> bytes:
        ...
    context: Any
    feature_lists: Any
class TFRecordOptions:
    """compression_type: "", "GZIP" or "ZLIB"; compression_level: 1 to 9. The others are accepted."""
    def __init__(self, compression_type: Any = None, compression_level: Any = None, flush_mode: Any = None, input_buffer_size: Any = None, output_buffer_size: Any = None, window_bits: Any = None, compression_method: Any = None, mem_level: Any = None, compression_strategy: Any = None) -> None:
        ...
    compression_type: Any
    compression_level: Any
class gfile:
    """Files by pattern."""
    @staticmethod
    def glob(pattern: Any) -> Any:
        """Names that match a pattern (or several), sorted."""
    @staticmethod
    def exists(path: Any) -> Any:
        """Is there a file or folder of that name?"""
class FixedLenFeature(tuple[Any, ...]):
    """FixedLenFeature(shape, dtype, default_value)"""
    def __new__(cls, shape: Any, dtype: Any, default_value: Any = None) -> "FixedLenFeature":
        ...
    shape: Any
    dtype: Any
    default_value: Any
class FixedLenSequenceFeature(tuple[Any, ...]):
    """FixedLenSequenceFeature(shape, dtype, allow_missing, default_value)"""
    def __new__(cls, shape: Any, dtype: Any, allow_missing: Any = False, default_value: Any = None) -> "FixedLenSequenceFeature":
        ...
    shape: Any
    dtype: Any
    allow_missing: Any
    default_value: Any
class VarLenFeature(tuple[Any, ...]):
    """VarLenFeature(dtype,)"""
    def __new__(cls, dtype: Any) -> "VarLenFeature":
        ...
    dtype: Any
class RaggedFeature(tuple[Any, ...]):
    """Values of a feature whose number differs; partitions cut them into rows."""
    def __new__(cls, dtype: Any, value_key: Any = None, partitions: Any = ..., row_splits_dtype: Any = 'int32', validate: Any = False) -> "RaggedFeature":
        ...
    def RowSplits(key: Any) -> Any:
        """RowSplits(key,)"""
    def RowLengths(key: Any) -> Any:
        """RowLengths(key,)"""
    def RowStarts(key: Any) -> Any:
        """RowStarts(key,)"""
    def UniformRowLength(length: Any) -> Any:
        """UniformRowLength(length,)"""
class SparseFeature(tuple[Any, ...]):
    """A sparse value: places in one feature (or several), values in another."""
    def __new__(cls, index_key: Any, value_key: Any, dtype: Any, size: Any, already_sorted: Any = False) -> "SparseFeature":
        ...
@_overload
def decode_and_crop_jpeg(contents: _Symbolic, crop_window: _Tensor, channels: _Int = 0, ratio: _Int = 1, fancy_upscaling: _Flag = True, try_recover_truncated: _Flag = False, acceptable_fraction: _Float = 1.0, dct_method: str = '', *, name: str | None = None) -> _Value:
    """Pixels of a part of a JPEG file."""
@_overload
def decode_and_crop_jpeg(contents: _Tensor, crop_window: _Symbolic, channels: _Int = 0, ratio: _Int = 1, fancy_upscaling: _Flag = True, try_recover_truncated: _Flag = False, acceptable_fraction: _Float = 1.0, dct_method: str = '', *, name: str | None = None) -> _Value:
    """Pixels of a part of a JPEG file."""
@_overload
def decode_and_crop_jpeg(contents: _Plain, crop_window: _Plain, channels: _Int = 0, ratio: _Int = 1, fancy_upscaling: _Flag = True, try_recover_truncated: _Flag = False, acceptable_fraction: _Float = 1.0, dct_method: str = '', *, name: str | None = None) -> _Array:
    """Pixels of a part of a JPEG file."""
@_overload
def decode_base64(input: _Symbolic, *, name: str | None = None) -> _Value:
    """Bytes out of base64 for the web."""
@_overload
def decode_base64(input: _Plain, *, name: str | None = None) -> _Array:
    """Bytes out of base64 for the web."""
@_overload
def decode_bmp(contents: _Symbolic, channels: Any = 0, name: str | None = None) -> _Value:
    """Pixels of a BMP file: uint8."""
@_overload
def decode_bmp(contents: _Plain, channels: Any = 0, name: str | None = None) -> _Array:
    """Pixels of a BMP file: uint8."""
@_overload
def decode_compressed(bytes: _Symbolic, compression_type: str = '', *, name: str | None = None) -> _Value:
    """What gzip or zlib packed."""
@_overload
def decode_compressed(bytes: _Plain, compression_type: str = '', *, name: str | None = None) -> _Array:
    """What gzip or zlib packed."""
def decode_csv(records: _Tensor, record_defaults: Any, field_delim: Any = ',', use_quote_delim: Any = True, na_value: Any = '', select_cols: Any = None, name: str | None = None) -> list[Any]:
    """Columns of CSV lines (strings), one value each; record_defaults: dtype or default of each."""
@_overload
def decode_image(contents: _Symbolic, channels: _Int | None = None, dtype: _DType = 'uint8', name: str | None = None, expand_animations: _Flag = True) -> _Value:
    """Pixels of a JPEG, PNG, BMP or GIF (its first picture): uint8, uint16, or floats of 0 to 1."""
@_overload
def decode_image(contents: _Plain, channels: _Int | None = None, dtype: _DType = 'uint8', name: str | None = None, expand_animations: _Flag = True) -> _Array:
    """Pixels of a JPEG, PNG, BMP or GIF (its first picture): uint8, uint16, or floats of 0 to 1."""
@_overload
def decode_jpeg(contents: _Symbolic, channels: _Int = 0, ratio: _Int = 1, fancy_upscaling: _Flag = True, try_recover_truncated: _Flag = False, acceptable_fraction: _Float = 1.0, dct_method: str = '', *, name: str | None = None) -> _Value:
    """Pixels of a JPEG file."""
@_overload
def decode_jpeg(contents: _Plain, channels: _Int = 0, ratio: _Int = 1, fancy_upscaling: _Flag = True, try_recover_truncated: _Flag = False, acceptable_fraction: _Float = 1.0, dct_method: str = '', *, name: str | None = None) -> _Array:
    """Pixels of a JPEG file."""
@_overload
def decode_png(contents: _Symbolic, channels: _Int = 0, dtype: _DType = 'uint8', *, name: str | None = None) -> _Value:
    """Pixels of a PNG file."""
@_overload
def decode_png(contents: _Plain, channels: _Int = 0, dtype: _DType = 'uint8', *, name: str | None = None) -> _Array:
    """Pixels of a PNG file."""
@_overload
def decode_raw(input_bytes: _Symbolic, out_type: _DType, little_endian: _Flag = True, fixed_length: _Int | None = None, *, name: str | None = None) -> _Value:
    """Bytes of strings as numbers."""
@_overload
def decode_raw(input_bytes: _Plain, out_type: _DType, little_endian: _Flag = True, fixed_length: _Int | None = None, *, name: str | None = None) -> _Array:
    """Bytes of strings as numbers."""
@_overload
def decode_webp(contents: _Symbolic, channels: Any = 0, dtype: _DType = 'uint8', name: str | None = None) -> _Value:
    """Pixels of a WebP file: uint8, 3 channels or 4."""
@_overload
def decode_webp(contents: _Plain, channels: Any = 0, dtype: _DType = 'uint8', name: str | None = None) -> _Array:
    """Pixels of a WebP file: uint8, 3 channels or 4."""
@_overload
def encode_base64(input: _Symbolic, pad: _Flag = False, *, name: str | None = None) -> _Value:
    """Bytes as base64 for the web."""
@_overload
def encode_base64(input: _Plain, pad: _Flag = False, *, name: str | None = None) -> _Array:
    """Bytes as base64 for the web."""
@_overload
def encode_jpeg(image: _Symbolic, format: str = '', quality: _Int = 95, progressive: _Flag = False, optimize_size: _Flag = False, chroma_downsampling: _Flag = True, density_unit: str = 'in', x_density: _Int = 300, y_density: _Int = 300, xmp_metadata: Any = '', *, name: str | None = None) -> _Value:
    """An image as a JPEG file."""
@_overload
def encode_jpeg(image: _Plain, format: str = '', quality: _Int = 95, progressive: _Flag = False, optimize_size: _Flag = False, chroma_downsampling: _Flag = True, density_unit: str = 'in', x_density: _Int = 300, y_density: _Int = 300, xmp_metadata: Any = '', *, name: str | None = None) -> _Array:
    """An image as a JPEG file."""
@_overload
def encode_png(image: _Symbolic, compression: _Int = -1, *, name: str | None = None) -> _Value:
    """An image as a PNG file."""
@_overload
def encode_png(image: _Plain, compression: _Int = -1, *, name: str | None = None) -> _Array:
    """An image as a PNG file."""
@_overload
def extract_jpeg_shape(contents: _Symbolic, output_type: _DType = 'int32', *, name: str | None = None) -> _Value:
    """Height, width and channels of a JPEG file."""
@_overload
def extract_jpeg_shape(contents: _Plain, output_type: _DType = 'int32', *, name: str | None = None) -> _Array:
    """Height, width and channels of a JPEG file."""
@_overload
def is_jpeg(contents: _Symbolic, name: str | None = None) -> _Value:
    """Whether a file's bytes begin as a JPEG's."""
@_overload
def is_jpeg(contents: _Plain, name: str | None = None) -> _Array:
    """Whether a file's bytes begin as a JPEG's."""
def parse_example(serialized: _Tensor, features: Any, example_names: Any = None, name: str | None = None) -> dict[str, Any]:
    """The same for a vector of serialized Examples: each value has a first dimension of the batch."""
def parse_sequence_example(serialized: _Tensor, context_features: Any = None, sequence_features: Any = None, example_names: Any = None, name: str | None = None) -> tuple[dict[str, Any], ...]:
    """(context, feature lists, lengths) of a vector of serialized SequenceExamples, as dicts."""
def parse_single_example(serialized: _Tensor, features: Any, example_names: Any = None, name: str | None = None) -> dict[str, Any]:
    """A dict of the features of one serialized Example (a string scalar)."""
def parse_single_sequence_example(serialized: _Tensor, context_features: Any = None, sequence_features: Any = None, example_name: Any = None, name: str | None = None) -> tuple[dict[str, Any], ...]:
    """(context, feature lists) of one serialized SequenceExample, as dicts."""
def parse_tensor(serialized: _Tensor, out_type: _DType, name: str | None = None) -> Any:
    """The values of such a string; their shape is not known beforehand: ensure_shape says it."""
@_overload
def read_file(filename: _Symbolic, *, name: str | None = None) -> _Value:
    """The bytes of the file of that name."""
@_overload
def read_file(filename: _Plain, *, name: str | None = None) -> _Array:
    """The bytes of the file of that name."""
def serialize_tensor(tensor: _Tensor, name: str | None = None) -> Any:
    """The values, their type and shape as one string, as TensorFlow writes them."""
def write_file(filename: Any, contents: Any, name: Any = None) -> Any:
    """Writes the bytes into a file, outside of pipelines; folders that lack are made."""
