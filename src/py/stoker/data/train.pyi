# SPDX-License-Identifier: Apache-2.0
# Written by tools/py-stubs.
from collections.abc import Iterator as _Iterator
from typing import Any

class BytesList:
    """Strings of a Feature. value: 1-D object array of bytes."""
    def __init__(self, value: Any = ...) -> None:
        """Initialize self.  See help(type(self)) for accurate signature."""
class Feature:
    """One of the three lists, or none: bytes_list, float_list, int64_list; the others are empty."""
    def __init__(self, bytes_list: Any = None, float_list: Any = None, int64_list: Any = None) -> None:
        """Initialize self.  See help(type(self)) for accurate signature."""
class FeatureList:
    """A Feature for each step."""
    def __init__(self, feature: Any = ...) -> None:
        """Initialize self.  See help(type(self)) for accurate signature."""
class FeatureLists:
    """FeatureLists by name."""
    def __init__(self, feature_list: Any = None) -> None:
        """Initialize self.  See help(type(self)) for accurate signature."""
    def values(self) -> Any:
        """The lists' values by name: dict of lists, one item a step."""
class Features:
    """Features by name: `feature` is a dict of Feature."""
    def __init__(self, feature: Any = None) -> None:
        """Initialize self.  See help(type(self)) for accurate signature."""
    def items(self) -> Any:
        """(name, values) of each."""
    def values(self) -> Any:
        """The features' values by name: dict."""
class FloatList:
    """Floats of a Feature. value: 1-D float32 array."""
    def __init__(self, value: Any = ...) -> None:
        """Initialize self.  See help(type(self)) for accurate signature."""
class Int64List:
    """Integers of a Feature. value: 1-D int64 array."""
    def __init__(self, value: Any = ...) -> None:
        """Initialize self.  See help(type(self)) for accurate signature."""
class Example(Any):
    """tf.train.Example(features=Features(...)), or of a dict."""
    def __init__(self, features: Any = None) -> None:
        """Initialize self.  See help(type(self)) for accurate signature."""
    def ParseFromString(self, serialized: Any) -> Any:
        """Takes the features of the wire form. DataLossError: it is no Example."""
    @classmethod
    def FromString(cls, serialized: Any) -> Any:
        """A new Example of the wire form. DataLossError: it is none."""
class SequenceExample(Any):
    """tf.train.SequenceExample(context=Features(...), feature_lists=FeatureLists(...))."""
    def __init__(self, context: Any = None, feature_lists: Any = None) -> None:
        """Initialize self.  See help(type(self)) for accurate signature."""
