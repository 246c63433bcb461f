# SPDX-License-Identifier: Apache-2.0
"""Values in functions that run as Python: NumPy's arrays, scalars and bytes, with the attributes of the symbolic values
used in tracing, so that the same lines behave alike.

Method: subclasses of the engine's types (src/py/py_eager.c), with sd's dtype (strings are sd.string, not object or S5)
and a TensorShape as shape. Dividing small integers gives float32, as in operations.

Limits: arithmetic on a scalar returns NumPy's own scalar. Bools are NumPy's, which compares them by address.
"""

import numpy as np

from .. import _engine
from . import _dtypes, _trace
from ._spec import TensorShape, as_shape
from ..errors import InvalidArgumentError

_DIVIDED = np.dtype("float32")  # of integers with up to 16 bits, as in TensorFlow


def as_key(key):
    """The key for v[key]: a list with slices, None or Ellipsis in it becomes a tuple, as in TensorFlow."""
    is_spec = isinstance(key, list) and any(k is None or k is Ellipsis or isinstance(k, slice) for k in key)
    return tuple(key) if is_spec else key


class _Answers:
    """Shared by arrays, scalars and bytes."""

    __slots__ = ()

    @property
    def rank(self):
        """The number of dimensions."""
        return self.ndim

    @property
    def device(self):
        """The device of the value."""
        return "CPU:0"

    def get_shape(self):
        """The shape."""
        return self.shape

    def set_shape(self, shape):
        """Declares the shape. InvalidArgumentError: it differs."""
        want, have = as_shape(shape), self.shape
        if want is None:
            return
        if len(want) != len(have) or any(w is not None and w != h for w, h in zip(want, have)):
            raise InvalidArgumentError(f"set_shape: the value has shape {tuple(have)}, not {tuple(want)}")

    def ref(self):
        """The value, for use as a dict key."""
        return id(self)


class Array(_Answers, type(_engine.eager(np.zeros(1)))):
    """An array."""

    __slots__ = ()

    @property
    def dtype(self):
        """The dtype."""
        return _dtypes.public(np.ndarray.dtype.__get__(self))

    @property
    def shape(self):
        """The sizes of the dimensions."""
        return TensorShape(np.ndarray.shape.__get__(self))

    @shape.setter
    def shape(self, value):
        np.ndarray.shape.__set__(self, value)

    def __array_wrap__(self, made, context=None, is_scalar=False):
        return of(made[()] if made.ndim == 0 else made)

    def __getitem__(self, key):
        return of(np.ndarray.__getitem__(self, as_key(key)))

    def __truediv__(self, other):
        return _divided(self, other)

    def __rtruediv__(self, other):
        return _divided(other, self)


def _divided(x, y):
    types = [np.asarray(v).dtype if hasattr(v, "dtype") else None for v in (x, y)]
    if all(t is None or t.kind in "iu" and t.itemsize <= 2 for t in types) and not isinstance(y, float):
        if not isinstance(x, float):
            return of(np.true_divide(np.asarray(x), np.asarray(y), dtype=_DIVIDED))
    return of(np.true_divide(_plain(x), _plain(y)))


def _plain(v):
    return v.view(np.ndarray) if isinstance(v, np.ndarray) else v


class _Scalar(_Answers):
    __slots__ = ()

    @property
    def dtype(self):
        """The dtype."""
        return _dtypes.public(np.generic.dtype.__get__(self))

    @property
    def shape(self):
        """No dimensions."""
        return TensorShape(())


def _scalar_class(base, members):
    """A subclass whose only base is NumPy's, because that is where NumPy looks for the dtype."""
    own = {k: v for c in (_Answers, _Scalar) for k, v in vars(c).items() if not k.startswith("__")}
    return type(base.__name__, (base,), dict(own, **members, __slots__=(), __module__=__name__, __doc__="A scalar."))


_division = {"__truediv__": _divided, "__rtruediv__": lambda self, other: _divided(other, self)}
_CLASSES = {}  # NumPy's or the engine's type -> our class
for _name in ("uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64", "float16", "float32", "float64"):
    _own = np.dtype(_name)
    _base = type(_engine.eager(_own.type(0)))
    _CLASSES[_own.type] = _CLASSES[_base] = _scalar_class(
        _base, _division if _own.kind in "iu" and _own.itemsize <= 2 else {}
    )
_base = type(_engine.eager(b""))
_CLASSES[np.bytes_] = _CLASSES[_base] = _CLASSES[bytes] = _scalar_class(_base, {})


def of(v):
    """Converts a NumPy or engine value to one of these; returns others unchanged."""
    if isinstance(v, np.ndarray):
        return v.view(Array)
    found = _CLASSES.get(type(v))
    return v if found is None else found(v)


def given(v):
    """The result of an operation outside traced functions: with numpy(); in Python functions, one of these."""
    return of(v) if _trace.is_python() else _engine.eager(v)
