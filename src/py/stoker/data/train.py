# SPDX-License-Identifier: Apache-2.0
"""tf.train's classes for Examples, for scripts that are written with them."""

import struct

import numpy as np

from . import io as _io
from .errors import DataLossError


class Int64List:
    """Integers of a Feature. value: 1-D int64 array."""

    def __init__(self, value=()):
        self.value = np.asarray(list(value), np.int64)


class FloatList:
    """Floats of a Feature. value: 1-D float32 array."""

    def __init__(self, value=()):
        self.value = np.asarray(list(value), np.float32)


class BytesList:
    """Strings of a Feature. value: 1-D object array of bytes."""

    def __init__(self, value=()):
        from ._dtypes import strings

        self.value = strings(list(value))


class Feature:
    """One of the three lists, or none: bytes_list, float_list, int64_list; the others are empty."""

    def __init__(self, bytes_list=None, float_list=None, int64_list=None):
        given = [v for v in (bytes_list, float_list, int64_list) if v is not None]
        if len(given) > 1:
            raise ValueError("a Feature has one list")
        self.value = given[0].value if given else None
        self.bytes_list = bytes_list or BytesList()
        self.float_list = float_list or FloatList()
        self.int64_list = int64_list or Int64List()


class Features:
    """Features by name: `feature` is a dict of Feature."""

    def __init__(self, feature=None):
        self.feature = dict(feature or {})

    def items(self):
        """(name, values) of each."""
        return [(k, getattr(f, "value", f)) for k, f in self.feature.items()]

    def values(self):
        """The features' values by name: dict."""
        return dict(self.items())


class FeatureList:
    """A Feature for each step."""

    def __init__(self, feature=()):
        self.feature = list(feature)


class FeatureLists:
    """FeatureLists by name."""

    def __init__(self, feature_list=None):
        self.feature_list = dict(feature_list or {})

    def values(self):
        """The lists' values by name: dict of lists, one item a step."""
        return {k: [f.value for f in v.feature] for k, v in self.feature_list.items()}


class Example(_io.Example):
    """tf.train.Example(features=Features(...)), or of a dict."""

    def __init__(self, features=None):
        super().__init__()
        self.features = features if isinstance(features, Features) else Features(features)

    def ParseFromString(self, serialized):
        """Takes the features of the wire form. DataLossError: it is no Example."""
        self.features = Features(_parsed(bytes(serialized)))
        return len(serialized)

    @classmethod
    def FromString(cls, serialized):
        """A new Example of the wire form. DataLossError: it is none."""
        out = cls()
        out.ParseFromString(serialized)
        return out

    def __repr__(self):
        return f"Example({self.features.values()!r})"


class SequenceExample(_io.SequenceExample):
    """tf.train.SequenceExample(context=Features(...), feature_lists=FeatureLists(...))."""

    def __init__(self, context=None, feature_lists=None):
        super().__init__(
            context.values() if isinstance(context, Features) else context,
            feature_lists.values() if isinstance(feature_lists, FeatureLists) else feature_lists,
        )


def _varint(data, at):
    value, shift = 0, 0
    while True:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value & (2**64 - 1), at
        if shift > 63:
            raise ValueError("a number of more than 64 bits")


def _fields(data):
    """(number, wire type, value) of a message: bytes for lengths, ints for numbers."""
    at = 0
    while at < len(data):
        tag, at = _varint(data, at)
        kind = tag & 7
        if kind == 0:
            value, at = _varint(data, at)
        elif kind in (1, 5):
            end = at + (8 if kind == 1 else 4)
            value, at = data[at:end], end
        elif kind == 2:
            size, at = _varint(data, at)
            value, at = data[at : at + size], at + size
        else:
            raise ValueError(f"wire type {kind}")
        if at > len(data):
            raise ValueError("it ends within a field")
        yield tag >> 3, kind, value


def _numbers(data):
    """Of an Int64List, packed or not."""
    out = []
    for number, kind, value in _fields(data):
        if number == 1 and kind == 0:
            out.append(value)
        elif number == 1 and kind == 2:
            at = 0
            while at < len(value):
                v, at = _varint(value, at)
                out.append(v)
    return Int64List(v - 2**64 if v >= 2**63 else v for v in out)


def _floats(data):
    out = [v for number, kind, v in _fields(data) if number == 1 and kind in (2, 5)]
    return FloatList(x for v in out for x in struct.unpack(f"<{len(v) // 4}f", v))


def _feature(data):
    out = Feature()
    for number, kind, value in _fields(data):
        if kind == 2 and number == 1:
            out = Feature(BytesList(v for n, k, v in _fields(value) if n == 1 and k == 2))
        elif kind == 2 and number == 2:
            out = Feature(float_list=_floats(value))
        elif kind == 2 and number == 3:
            out = Feature(int64_list=_numbers(value))
    return out


def _parsed(data):
    out = {}
    try:
        for number, kind, features in _fields(data):
            for n, k, entry in _fields(features) if (number, kind) == (1, 2) else ():
                if (n, k) == (1, 2):
                    parts = {i: v for i, t, v in _fields(entry) if t == 2}
                    out[parts.get(1, b"").decode()] = _feature(parts.get(2, b""))
    except (ValueError, IndexError, struct.error) as e:
        raise DataLossError(f"these {len(data)} bytes are no Example: {e}") from None
    return out
