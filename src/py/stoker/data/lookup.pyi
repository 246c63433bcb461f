# SPDX-License-Identifier: Apache-2.0
# Written by tools/py-stubs.
from builtins import bool as _bool
from collections.abc import Callable as _Callable, Iterator as _Iterator, Sequence as _Sequence
from typing import Any, overload as _overload

import numpy as np

from ._op_types import Array as _Array, Int64 as _Int64, Bytes as _Bytes, Value as _Value, Symbolic as _Symbolic, Plain as _Plain, Tensor as _Tensor, Int as _Int, Flag as _Flag, Float as _Float, Ints as _Ints, PlainInt as _PlainInt, PlainInts as _PlainInts, DType as _DType, U as _U, Drawn as _Drawn, Unique as _Unique, UniqueWithCounts as _UniqueWithCounts, TopK as _TopK

class KeyValueTensorInitializer:
    """Keys and their values: two vectors."""
    def __init__(self, keys: Any, values: Any, key_dtype: Any = None, value_dtype: Any = None, name: Any = None) -> None:
        ...
    @property
    def key_dtype(self) -> Any:
        """Of the keys."""
    @property
    def value_dtype(self) -> Any:
        """Of the values."""
    keys: Any
    values: Any
class TextFileIndex:
    """What of a line is key or value: its number (LINE_NUMBER), all of it (WHOLE_LINE), or a column."""
    WHOLE_LINE: Any
    LINE_NUMBER: Any
class experimental:
    """Tables that grow."""
    def MutableHashTable(key_dtype: Any, value_dtype: Any, default_value: Any, name: Any = 'MutableHashTable', checkpoint: Any = True, experimental_is_anonymous: Any = False) -> Any:
        """A table that grows. In a pipeline it is what it was when the function was traced."""
class StaticHashTable:
    """Values by key, default_value for others."""
    @property
    def key_dtype(self) -> Any:
        """Of the keys."""
    @property
    def value_dtype(self) -> Any:
        """Of the values."""
    def __init__(self, initializer: Any, default_value: Any, name: Any = None, experimental_is_anonymous: Any = False) -> None:
        ...
    @property
    def default_value(self) -> Any:
        """For keys that are not there."""
    def lookup(self, keys: Any, name: Any = None) -> Any:
        """The value of each key."""
    def size(self, name: Any = None) -> Any:
        """How many keys there are: int64."""
    def export(self, name: Any = None) -> Any:
        """(keys, values)."""
    name: Any
class StaticVocabularyTable:
    """Numbers by key; other strings (or numbers) are spread over num_oov_buckets numbers behind."""
    @property
    def key_dtype(self) -> Any:
        """Of the keys."""
    @property
    def value_dtype(self) -> Any:
        """Of the values."""
    def __init__(self, initializer: Any, num_oov_buckets: Any, lookup_key_dtype: Any = None, name: Any = None, experimental_is_anonymous: Any = False) -> None:
        ...
    def lookup(self, keys: Any, name: Any = None) -> Any:
        """The number of each key: int64."""
    def size(self, name: Any = None) -> Any:
        """How many numbers there are, buckets included: int64."""
    name: Any
class TextFileInitializer(KeyValueTensorInitializer):
    """Keys and values out of the lines of a text file."""
    def __init__(self, filename: Any, key_dtype: Any, key_index: Any, value_dtype: Any, value_index: Any, vocab_size: Any = None, delimiter: Any = '\t', name: Any = None, value_index_offset: Any = 0) -> None:
        ...
