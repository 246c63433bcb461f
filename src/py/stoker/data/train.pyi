# SPDX-License-Identifier: Apache-2.0
# Written by tools/py-stubs.
from builtins import bool as _bool
from collections.abc import Callable as _Callable, Iterator as _Iterator, Sequence as _Sequence
from typing import Any, overload as _overload

import numpy as np

from ._op_types import Array as _Array, Int64 as _Int64, Bytes as _Bytes, Value as _Value, Symbolic as _Symbolic, Plain as _Plain, Tensor as _Tensor, Int as _Int, Flag as _Flag, Float as _Float, Ints as _Ints, PlainInt as _PlainInt, PlainInts as _PlainInts, DType as _DType, U as _U, Drawn as _Drawn, Unique as _Unique, UniqueWithCounts as _UniqueWithCounts, TopK as _TopK

from .io import Example as _Example
from .io import SequenceExample as _SequenceExample
class BytesList:
    """Strings of a Feature. value: a list of bytes."""
    def __init__(self, value: Any = ...) -> None:
        ...
    value: Any
class Feature:
    """One of the three lists, or none: bytes_list, float_list, int64_list; the others are empty."""
    def __init__(self, bytes_list: Any = None, float_list: Any = None, int64_list: Any = None) -> None:
        ...
    def WhichOneof(self, oneof_group: Any = 'kind') -> Any:
        """The name of the list that it has: "bytes_list", "float_list", "int64_list"; None: none."""
    @property
    def value(self) -> Any:
        """The values of the list that it has, an array; None: none."""
    def SerializeToString(self) -> Any:
        """The wire form."""
    @classmethod
    def FromString(cls, serialized: Any) -> Any:
        """A new Feature of the wire form. DataLossError: it is none."""
    bytes_list: Any
    float_list: Any
    int64_list: Any
class FeatureList:
    """A Feature for each step."""
    def __init__(self, feature: Any = ...) -> None:
        ...
    feature: Any
class FeatureLists:
    """FeatureLists by name."""
    def __init__(self, feature_list: Any = None) -> None:
        ...
    def values(self) -> Any:
        """The lists' values by name: dict of lists, one item a step."""
    feature_list: Any
class Features:
    """Features by name: `feature` is a dict of Feature."""
    def __init__(self, feature: Any = None) -> None:
        ...
    def items(self) -> Any:
        """(name, values) of each."""
    def values(self) -> Any:
        """The features' values by name: dict."""
    feature: Any
class FloatList:
    """Floats of a Feature. value: a list of float, each what a float32 can be."""
    def __init__(self, value: Any = ...) -> None:
        ...
    value: Any
class Int64List:
    """Integers of a Feature. value: a list of int."""
    def __init__(self, value: Any = ...) -> None:
        ...
    value: Any
class Example(_Example):
    """tf.train.Example(features=Features(...)), or of a dict."""
    def __init__(self, features: Any = None) -> None:
        ...
    def ParseFromString(self, serialized: Any) -> Any:
        """Takes the features of the wire form. DataLossError: it is no Example."""
    @classmethod
    def FromString(cls, serialized: Any) -> Any:
        """A new Example of the wire form. DataLossError: it is none."""
    features: Any
class SequenceExample(_SequenceExample):
    """tf.train.SequenceExample(context=Features(...), feature_lists=FeatureLists(...))."""
    def __init__(self, context: Any = None, feature_lists: Any = None) -> None:
        ...
    def ParseFromString(self, serialized: Any) -> Any:
        """Takes what the wire form has. DataLossError: it is no SequenceExample."""
    @classmethod
    def FromString(cls, serialized: Any) -> Any:
        """A new SequenceExample of the wire form. DataLossError: it is none."""
    context: Any
    feature_lists: Any
def fields(data: Any) -> Any:
    """(number, wire type, value) of a message: bytes for lengths, ints for numbers."""
def varint(data: Any, at: Any) -> Any:
    """(number, where it ends). IndexError, ValueError: there is none."""
