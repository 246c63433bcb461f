# SPDX-License-Identifier: Apache-2.0
"""tf.train's classes for Examples, for scripts written with them."""

import struct

import numpy as np

from .. import io as _io
from . import _elastic  # noqa: F401 - a method of Dataset
from ..core import _absent
from ..core._dtypes import strings as _strings
from ..ops._wire import fields, varint
from ..errors import DataLossError


class _Numbers(list):
    """A list of numbers, which NumPy converts to an array of their type."""

    def __init__(self, values, dtype):
        super().__init__(np.asarray(list(values), dtype).tolist())
        self._dtype = dtype

    def __array__(self, dtype=None, copy=None):
        return np.array(list(self), dtype or self._dtype)

    def __reduce__(self):
        return _Numbers, (list(self), self._dtype)


class Int64List:
    """Integers of a Feature. value: a list of int."""

    def __init__(self, value=()):
        self.value = _Numbers(value, np.int64)


class FloatList:
    """Floats of a Feature. value: a list of float, each rounded to float32."""

    def __init__(self, value=()):
        self.value = _Numbers(value, np.float32)


class BytesList:
    """Strings of a Feature. value: a list of bytes."""

    def __init__(self, value=()):
        self.value = _strings(list(value)).tolist()


class Feature:
    """One of the three lists, or none: bytes_list, float_list, int64_list; the others are empty."""

    def __init__(self, bytes_list=None, float_list=None, int64_list=None):
        given = [v for v in (bytes_list, float_list, int64_list) if v is not None]
        if len(given) > 1:
            raise ValueError("a Feature has one list")
        self.bytes_list = bytes_list or BytesList()
        self.float_list = float_list or FloatList()
        self.int64_list = int64_list or Int64List()
        self._given = given[0] if given else None

    def WhichOneof(self, oneof_group="kind"):
        """The name of its list: "bytes_list", "float_list", "int64_list"; None: none."""
        for name in ("bytes_list", "float_list", "int64_list"):
            if getattr(self, name) is self._given or len(getattr(self, name).value):
                return name
        return None

    @property
    def value(self):
        """The values of its list, as an array; None: none."""
        kind = self.WhichOneof()
        if kind is None:
            return None
        dtype = {"bytes_list": object, "float_list": np.float32, "int64_list": np.int64}[kind]
        return np.asarray(getattr(self, kind).value, dtype)

    def SerializeToString(self):
        """The wire form."""
        whole = _io.Example({"": self.value}).SerializeToString()
        parts = [v for _, _, entry in fields(whole) for _, _, v in fields(entry)]
        return bytes({n: v for n, _, v in fields(parts[0])}.get(2, b""))

    @classmethod
    def FromString(cls, serialized):
        """A new Feature from the wire form. DataLossError: invalid."""
        return _read(_feature, bytes(serialized), "Feature")

    def __repr__(self):
        return f"Feature({self.WhichOneof()}={self.value!r})"


class _ByName(dict):
    """A dict that creates missing items on access, like protocol buffers."""

    def __init__(self, make, items):
        super().__init__(items)
        self._make = make

    def __missing__(self, name):
        self[name] = self._make()
        return self[name]


class Features:
    """Features by name: `feature` is a dict of Feature."""

    def __init__(self, feature=None):
        self.feature = _ByName(Feature, feature or {})

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
        self.feature_list = _ByName(FeatureList, feature_list or {})

    def values(self):
        """The lists' values by name: dict of lists, one item per step."""
        return {k: [f.value for f in v.feature] for k, v in self.feature_list.items()}


class Example(_io.Example):
    """tf.train.Example(features=Features(...)), or from a dict."""

    def __init__(self, features=None):
        super().__init__()
        self.features = features if isinstance(features, Features) else Features(features)

    def ParseFromString(self, serialized):
        """Reads the features from the wire form. DataLossError: not an Example."""
        self.features = Features(_parsed(bytes(serialized)))
        return len(serialized)

    @classmethod
    def FromString(cls, serialized):
        """A new Example from the wire form. DataLossError: invalid."""
        out = cls()
        out.ParseFromString(serialized)
        return out

    def __repr__(self):
        return f"Example({self.features.values()!r})"


class SequenceExample(_io.SequenceExample):
    """tf.train.SequenceExample(context=Features(...), feature_lists=FeatureLists(...))."""

    def __init__(self, context=None, feature_lists=None):
        super().__init__()
        self.context = context if isinstance(context, Features) else Features(context)
        self.feature_lists = (
            feature_lists
            if isinstance(feature_lists, FeatureLists)
            else FeatureLists(
                {k: FeatureList(steps) for k, steps in dict(feature_lists or {}).items()}
            )
        )

    def ParseFromString(self, serialized):
        """Reads the wire form. DataLossError: not a SequenceExample."""
        data = bytes(serialized)
        context, lists = _read(_sequence, data, "SequenceExample")
        self.context, self.feature_lists = Features(context), FeatureLists(lists)
        return len(data)

    @classmethod
    def FromString(cls, serialized):
        """A new SequenceExample from the wire form. DataLossError: invalid."""
        out = cls()
        out.ParseFromString(serialized)
        return out

    def __repr__(self):
        lists = self.feature_lists.values()
        return f"SequenceExample({self.context.values()!r}, {lists!r})"


def _numbers(data):
    """Values of an Int64List, packed or not."""
    out = []
    for number, kind, value in fields(data):
        if number == 1 and kind == 0:
            out.append(value)
        elif number == 1 and kind == 2:
            at = 0
            while at < len(value):
                v, at = varint(value, at)
                out.append(v)
    return Int64List(v - 2**64 if v >= 2**63 else v for v in out)


def _floats(data):
    out = [v for number, kind, v in fields(data) if number == 1 and kind in (2, 5)]
    return FloatList(x for v in out for x in struct.unpack(f"<{len(v) // 4}f", v))


def _feature(data):
    out = Feature()
    for number, kind, value in fields(data):
        if kind == 2 and number == 1:
            out = Feature(BytesList(v for n, k, v in fields(value) if n == 1 and k == 2))
        elif kind == 2 and number == 2:
            out = Feature(float_list=_floats(value))
        elif kind == 2 and number == 3:
            out = Feature(int64_list=_numbers(value))
    return out


def _entries(features):
    """(name, bytes of the value) of each entry of a map with string keys."""
    for n, k, entry in fields(features):
        if (n, k) == (1, 2):
            parts = {i: v for i, t, v in fields(entry) if t == 2}
            yield parts.get(1, b"").decode(), parts.get(2, b"")


def _list_of(data):
    return FeatureList(_feature(v) for n, k, v in fields(data) if (n, k) == (1, 2))


def _example(data):
    out = {}
    for number, kind, features in fields(data):
        if (number, kind) == (1, 2):
            out.update((name, _feature(v)) for name, v in _entries(features))
    return out


def _sequence(data):
    context, lists = {}, {}
    for number, kind, part in fields(data):
        if (number, kind) == (1, 2):
            context.update((name, _feature(v)) for name, v in _entries(part))
        elif (number, kind) == (2, 2):
            lists.update((name, _list_of(v)) for name, v in _entries(part))
    return context, lists


def _read(f, data, what):
    """f(data). DataLossError: not such a message."""
    try:
        return f(data)
    except (ValueError, IndexError, struct.error) as e:
        raise DataLossError(f"these {len(data)} bytes are not a {what}: {e}") from None


def _parsed(data):
    return _read(_example, data, "Example")


__getattr__ = _absent.answers("train", __name__)
