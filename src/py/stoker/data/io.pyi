# SPDX-License-Identifier: Apache-2.0
# Written by tools/py-stubs.
from collections.abc import Iterator as _Iterator
from typing import Any

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
class RaggedFeature(Any):
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
class SparseFeature(Any):
    """A sparse value: places in one feature (or several), values in another."""
    def __new__(cls, index_key: Any, value_key: Any, dtype: Any, size: Any, already_sorted: Any = False) -> "SparseFeature":
        ...
def decode_and_crop_jpeg(contents: Any, crop_window: Any, channels: Any = 0, ratio: Any = 1, fancy_upscaling: Any = True, try_recover_truncated: Any = False, acceptable_fraction: Any = 1.0, dct_method: Any = '', *, name: Any = None) -> Any:
    """Pixels of a part of a JPEG file."""
def decode_base64(input: Any, *, name: Any = None) -> Any:
    """Bytes out of base64 for the web."""
def decode_bmp(contents: Any, channels: Any = 0, name: Any = None) -> Any:
    """Pixels of a BMP file: uint8."""
def decode_compressed(bytes: Any, compression_type: Any = '', *, name: Any = None) -> Any:
    """What gzip or zlib packed."""
def decode_csv(records: Any, record_defaults: Any, field_delim: Any = ',', use_quote_delim: Any = True, na_value: Any = '', select_cols: Any = None, name: Any = None) -> Any:
    """Columns of CSV lines (strings), one value each; record_defaults: dtype or default of each."""
def decode_image(contents: Any, channels: Any = None, dtype: Any = 'uint8', name: Any = None, expand_animations: Any = True) -> Any:
    """Pixels of a JPEG, PNG, BMP or GIF (its first picture): uint8, uint16, or floats of 0 to 1."""
def decode_jpeg(contents: Any, channels: Any = 0, ratio: Any = 1, fancy_upscaling: Any = True, try_recover_truncated: Any = False, acceptable_fraction: Any = 1.0, dct_method: Any = '', *, name: Any = None) -> Any:
    """Pixels of a JPEG file."""
def decode_png(contents: Any, channels: Any = 0, dtype: Any = 'uint8', *, name: Any = None) -> Any:
    """Pixels of a PNG file."""
def decode_raw(input_bytes: Any, out_type: Any, little_endian: Any = True, fixed_length: Any = None, *, name: Any = None) -> Any:
    """Bytes of strings as numbers."""
def decode_webp(contents: Any, channels: Any = 0, dtype: Any = 'uint8', name: Any = None) -> Any:
    """Pixels of a WebP file: uint8, 3 channels or 4."""
def encode_base64(input: Any, pad: Any = False, *, name: Any = None) -> Any:
    """Bytes as base64 for the web."""
def encode_jpeg(image: Any, format: Any = '', quality: Any = 95, progressive: Any = False, optimize_size: Any = False, chroma_downsampling: Any = True, density_unit: Any = 'in', x_density: Any = 300, y_density: Any = 300, xmp_metadata: Any = '', *, name: Any = None) -> Any:
    """An image as a JPEG file."""
def encode_png(image: Any, compression: Any = -1, *, name: Any = None) -> Any:
    """An image as a PNG file."""
def extract_jpeg_shape(contents: Any, output_type: Any = 'int32', *, name: Any = None) -> Any:
    """Height, width and channels of a JPEG file."""
def is_jpeg(contents: Any, name: Any = None) -> Any:
    """Whether a file's bytes begin as a JPEG's."""
def parse_example(serialized: Any, features: Any, example_names: Any = None, name: Any = None) -> Any:
    """The same for a vector of serialized Examples: each value has a first dimension of the batch."""
def parse_sequence_example(serialized: Any, context_features: Any = None, sequence_features: Any = None, example_names: Any = None, name: Any = None) -> Any:
    """(context, feature lists, lengths) of a vector of serialized SequenceExamples, as dicts."""
def parse_single_example(serialized: Any, features: Any, example_names: Any = None, name: Any = None) -> Any:
    """A dict of the features of one serialized Example (a string scalar)."""
def parse_single_sequence_example(serialized: Any, context_features: Any = None, sequence_features: Any = None, example_name: Any = None, name: Any = None) -> Any:
    """(context, feature lists) of one serialized SequenceExample, as dicts."""
def parse_tensor(serialized: Any, out_type: Any, name: Any = None) -> Any:
    """The values of such a string; their shape is not known beforehand: ensure_shape says it."""
def read_file(filename: Any, *, name: Any = None) -> Any:
    """The bytes of the file of that name."""
def serialize_tensor(tensor: Any, name: Any = None) -> Any:
    """The values, their type and shape as one string, as TensorFlow writes them."""
def write_file(filename: Any, contents: Any, name: Any = None) -> Any:
    """Writes the bytes into a file, outside of pipelines; folders that lack are made."""
