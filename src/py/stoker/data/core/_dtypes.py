# SPDX-License-Identifier: Apache-2.0
"""Types of values: NumPy's dtypes. Strings are `np.dtype("S")`, whose name is "bytes"."""

import numpy as np

from .. import _engine
from ..errors import InvalidArgumentError
from ._dtype_names import DType

NAMES = _engine.dtype_names()
NUMBERS = "uint8 int8 uint16 int16 uint32 int32 uint64 int64 float16 float32 float64".split()
DATASET = NAMES.index("dataset")
RAGGED = "stoker.data.ragged.constant(list(rows)) takes such rows"

string = np.dtype("S")
try:
    import ml_dtypes

    bfloat16 = np.dtype(ml_dtypes.bfloat16)
    _engine.set_bfloat16(bfloat16)
except ImportError:
    bfloat16 = None

_BY_NAME = {n: np.dtype(n) for n in NAMES if n not in ("bytes", "bfloat16", "dataset")}
_BY_NAME.update(
    bytes=string,
    string=string,
    str=string,
    object=string,
    half=np.dtype("float16"),
    double=np.dtype("float64"),
)
if bfloat16 is not None:
    _BY_NAME["bfloat16"] = bfloat16
_NUMBER = {d: NAMES.index("bytes" if d == string else n) for n, d in _BY_NAME.items() if n in NAMES}
_BY_NUMBER = {number: d for d, number in _NUMBER.items()}
_PYTHON = {float: np.dtype("float32"), bool: np.dtype("bool"), bytes: string, str: string}


def as_dtype(value):
    """The dtype for a name, a NumPy or TensorFlow dtype, or a Python type."""
    if type(value) is DType:
        return value.dtype
    if isinstance(value, np.dtype) and value in _NUMBER:
        return value
    if isinstance(value, str) and value in _BY_NAME:
        return _BY_NAME[value]
    if isinstance(value, type) and value in _PYTHON:
        return _PYTHON[value]
    if hasattr(value, "as_numpy_dtype"):  # TensorFlow's
        value = value.as_numpy_dtype
    if value == "bfloat16":
        raise TypeError("bfloat16 needs the package ml_dtypes")
    try:
        d = np.dtype(value)
    except TypeError:
        raise TypeError(f"{value!r:.60} is not a dtype: {', '.join(sorted(_BY_NAME))}") from None
    if d.kind in "SUO":
        return string
    d = d.newbyteorder("=")
    if d not in _NUMBER:
        raise TypeError(f"dtype {d} is not supported")
    return d


_PUBLIC = {}


def public(dtype):
    """The public form of NumPy's dtype, with TensorFlow's attributes. Object arrays contain strings."""
    if dtype.kind in "OSU":
        dtype = string
    found = _PUBLIC.get(dtype)
    if found is None:
        found = _PUBLIC[dtype] = DType(dtype)
    return found


def as_public_dtype(type_value):
    """The dtype for a name, a NumPy or TensorFlow dtype, or a Python type."""
    return public(as_dtype(type_value))


def number(dtype):
    """The engine's number of a dtype."""
    return _NUMBER[as_dtype(dtype)]


def from_number(n):
    """The dtype of the engine's number."""
    if n not in _BY_NUMBER:
        raise TypeError(f"{NAMES[n]} values need the package ml_dtypes")
    return _BY_NUMBER[n]


def array(value, dtype=None):
    """A NumPy array like the tensor that TensorFlow would make of `value`.

    Python ints become int32 (int64 if one doesn't fit) and floats float32, unless dtype is given; arrays keep theirs.
    Raises TypeError if the dtype differs, ValueError if a list is ragged.
    """
    is_typed = isinstance(value, (np.ndarray, np.generic))
    if is_typed and type(value) is not np.ndarray and isinstance(value, np.ndarray):
        value = value.view(np.ndarray)  # now its dtype is NumPy's
    if not is_typed and hasattr(value, "__array__"):
        value, is_typed = np.asarray(value), True
    if not is_typed and hasattr(value, "__dlpack__"):
        value, is_typed = np.from_dlpack(value), True
    if (
        not is_typed
        and isinstance(value, (memoryview, bytearray))
        or type(value).__module__ == "array"
    ):
        value, is_typed = np.asarray(value), True
    if isinstance(value, np.ndarray):
        a = value
    elif _holds_text(value):
        a = strings(value)
    else:
        try:
            a = np.asarray(value)
        except ValueError:
            raise InvalidArgumentError(f"a list whose parts differ in length is not an array: {RAGGED}") from None
        if a.dtype.kind in "SU":  # NumPy turned the numbers into text
            raise TypeError("a list of numbers and strings")
    if dtype is not None:
        return _to(a, as_dtype(dtype), is_typed)
    if not is_typed and not _holds_typed(value):
        if a.dtype == np.int64 or (a.dtype == np.float64 and a.size == 0):
            return _narrow(a)
        if a.dtype == np.float64:
            return a.astype(np.float32)
    if a.dtype.kind == "O":
        return strings(value)
    as_dtype(a.dtype)
    return a


def _narrow(a):
    if a.dtype != np.int64:
        return a.astype(np.float32)
    if a.size and (a.max() > 2**31 - 1 or a.min() < -(2**31)):
        return a
    return a.astype(np.int32)


def _first(value):
    while isinstance(value, (list, tuple)) and len(value):
        value = value[0]
    return value


def _holds_text(value):
    return isinstance(_first(value), (str, bytes))


def _holds_typed(value):
    return isinstance(_first(value), (np.ndarray, np.generic)) or hasattr(
        _first(value), "__array__"
    )


def strings(value):
    """An object array of bytes."""
    a = np.asarray(value)
    if a.dtype.kind in "SU":
        a = np.array(value, dtype=object)  # NumPy's own strings lose trailing zeros
    flat = [
        (
            v.encode()
            if isinstance(v, str)
            else (bytes(v) if isinstance(v, (bytes, bytearray, memoryview)) else _no_text(v))
        )
        for v in a.ravel()
    ]
    out = np.empty(a.shape, dtype=object)
    out.ravel()[:] = flat
    return out


def _no_text(v):
    if isinstance(v, (int, float, np.number)):
        raise TypeError("a list of numbers and strings")
    if isinstance(v, (np.ndarray, list)):
        raise TypeError(f"rows of unequal lengths do not form an array: {RAGGED}")
    raise TypeError(
        f"can't make an array from {type(v).__name__}: values are numbers, bytes and str, arrays and "
        "lists of one of these, and tuples and dicts of them"
    )


def _to(a, dtype, is_typed):
    if dtype == string:
        if not is_typed and a.size == 0:
            return np.empty(a.shape, dtype=object)
        if a.dtype.kind not in "SUO":
            raise TypeError(f"expected strings, got {a.dtype}; sd.as_string converts")
        return a if a.dtype.kind == "O" else strings(a)
    if a.dtype == dtype:
        return a
    if is_typed:
        raise TypeError(f"expected {dtype.name}, got {a.dtype.name}; sd.cast converts")
    ok = (
        a.dtype.kind == dtype.kind
        or a.dtype.kind in "iu"
        and dtype.kind in "iuf"
        or a.size == 0
        or dtype.kind == "V"
        and a.dtype.kind in "if"
    )
    if not ok:
        raise TypeError(f"a Python {_name(a)} cannot become {dtype.name}")
    out = a.astype(dtype)
    if dtype.kind in "iu" and (out != a).any():
        raise InvalidArgumentError(f"{a.ravel()[0]} is beyond {dtype.name}")
    return out


def _name(a):
    return {"b": "bool", "i": "int", "f": "float", "S": "bytes", "U": "str", "O": "str"}.get(
        a.dtype.kind, str(a.dtype)
    )
