# SPDX-License-Identifier: Apache-2.0
"""Tensors as TensorFlow's TensorProto messages: serialize_tensor and parse_tensor.

The message: 1 dtype, 2 shape (2 dimension (1 size)), 4 tensor_content (the values, little-endian), or lists of values
by type, whose last value fills the rest. Both run as Python for each element in traced functions. The number of values
must match the shape: it is limited by the message's length, or by _MOST values if the last one is repeated.
"""

import struct
import sys

import numpy as np

from ..core import _call, _dtypes, _eager
from ..core._function import numpy_function
from ._ops import publish
from ._wire import fields, varint
from ..errors import InvalidArgumentError

_MOST = 1 << 28
_NUMBERS = {
    "float32": 1,
    "float64": 2,
    "int32": 3,
    "uint8": 4,
    "int16": 5,
    "int8": 6,
    "bytes": 7,
    "int64": 9,
    "bool": 10,
    "bfloat16": 14,
    "uint16": 17,
    "float16": 19,
    "uint32": 22,
    "uint64": 23,
}
_NAMES = {n: name for name, n in _NUMBERS.items()}
# the field with a list of values of a type: (number, kind)
_LISTS = {"float32": (5, "f"), "float64": (6, "d"), "bytes": (8, "s"), "int64": (10, "v")}
_LISTS.update({"bool": (11, "v"), "uint32": (16, "v"), "uint64": (17, "v")})
_LISTS.update({t: (7, "v") for t in ("int32", "uint8", "int16", "int8", "uint16")})
_LISTS.update({t: (13, "h") for t in ("float16", "bfloat16")})


def _coded(n):
    """A varint."""
    out, n = bytearray(), n & (2**64 - 1)
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    return bytes(out) + bytes([n])


def _field(number, data):
    return _coded(number << 3 | 2) + _coded(len(data)) + data


def serialized(value):
    """The message of an array."""
    a = np.asarray(value) if not isinstance(value, bytes) else _dtypes.strings(value)
    name = "bytes" if a.dtype == object else _dtypes.as_dtype(a.dtype).name
    # sizes of 0 are also written, as in TensorFlow: an empty field
    sizes = b"".join(_field(2, b"\x08" + _coded(n) if n else b"") for n in a.shape)
    out = b"\x08" + _coded(_NUMBERS[name]) + _field(2, sizes)
    if name == "bytes":
        return out + b"".join(_field(8, v) for v in a.ravel())
    if sys.byteorder == "big":
        a = a.astype(a.dtype.newbyteorder("<"))
    return out + (_field(4, a.tobytes()) if a.size else b"")


def _values(kind, wire, data):
    """Values of a list field, packed or not."""
    if kind == "s":
        return [data]
    if kind in "fd":
        return list(struct.unpack(f"<{len(data) // struct.calcsize(kind)}{kind}", data))
    if wire == 0:
        return [data]
    out, at = [], 0
    while at < len(data):
        v, at = varint(data, at)
        out.append(v)
    return out


def _shape(data):
    sizes = []
    for number, wire, part in fields(data):
        if (number, wire) == (2, 2):
            sizes.append(next((v for n, w, v in fields(part) if (n, w) == (1, 0)), 0))
    return tuple(sizes)


def parsed(data, dtype):
    """The array of a message. InvalidArgumentError: not an array, or another type."""
    number, shape, content, values = 0, (), None, []
    field, kind = _LISTS[dtype.name]
    try:
        for n, wire, v in fields(data):
            if (n, wire) == (1, 0):
                number = v
            elif (n, wire) == (2, 2):
                shape = _shape(v)
            elif (n, wire) == (4, 2):
                content = v
            elif n == field:
                values += _values(kind, wire, v)
    except (ValueError, IndexError, struct.error) as e:
        raise InvalidArgumentError(f"parse_tensor: these {len(data)} bytes are not a tensor: {e}") from None
    if _NAMES.get(number) != dtype.name:
        have = _NAMES.get(number, f"number {number}")
        raise InvalidArgumentError(f"parse_tensor: a tensor of type {have}, not {dtype.name}")
    count = 1
    for n in shape:
        count *= n
    if kind == "s" and content is not None:
        try:
            values = _texts(content, count)
        except (ValueError, IndexError) as e:
            raise InvalidArgumentError(f"parse_tensor: these {len(data)} bytes are not a tensor: {e}") from None
    return _array(content, values, kind, dtype, shape, count)


def _texts(content, count):
    """Strings in tensor_content's form: all lengths, then all bytes."""
    lengths, at, out = [], 0, []
    for _ in range(min(count, len(content))):
        n, at = varint(content, at)
        lengths.append(n)
    for n in lengths:
        if n > len(content) - at:
            raise IndexError("a string is cut off")
        out.append(content[at : at + n])
        at += n
    return out


def _array(content, values, kind, dtype, shape, count):
    have = len(content) // dtype.itemsize if content is not None and kind != "s" else len(values)
    is_filled = content is None and 0 < have < count <= _MOST
    if have != count and not is_filled:
        raise InvalidArgumentError(f"parse_tensor: {have} values for the shape {shape}")
    if kind == "s":
        out = np.empty(count, object)
        out[:have], out[have:] = values, values[-1] if values else b""
        return out.reshape(shape)
    if content is not None:
        little = np.frombuffer(content, dtype.newbyteorder("<"), count)
        return little.astype(dtype).reshape(shape)
    if kind == "h":
        made = np.asarray(values, np.uint16).view(dtype)
    elif kind == "v":
        made = np.asarray(values, np.uint64).astype(dtype)
    else:
        made = np.asarray(values, dtype)
    return np.concatenate([made, np.repeat(made[-1:], count - have)]).reshape(shape)


@publish("io.serialize_tensor")
def serialize_tensor(tensor, name=None):
    """Serializes values, type and shape to one string, in TensorFlow's format."""
    tensor = _call.convert(tensor)
    if not _call.is_symbolic(tensor):
        return _eager.given(serialized(tensor))
    out = numpy_function(serialized, [tensor], "bytes")
    out.set_shape(())
    return out


@publish("io.parse_tensor")
def parse_tensor(serialized, out_type, name=None):
    """Parses such a string; the shape isn't known beforehand: use ensure_shape to set it."""
    dtype = _dtypes.as_dtype(out_type)
    serialized = _call.convert(serialized, _dtypes.string)

    def parse(data):
        return parsed(bytes(data), dtype)

    if not _call.is_symbolic(serialized):
        return _eager.given(parse(np.asarray(serialized, object)[()]))
    return numpy_function(parse, [serialized], dtype)
