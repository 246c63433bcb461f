# SPDX-License-Identifier: Apache-2.0
"""Adds operators to symbolic values. v[...] takes integers, slices, None, Ellipsis, boolean masks and index arrays,
like NumPy."""

import numpy as np

from . import _ops
from ..core import _call, _eager, _trace
from ..core._value import Value

_INTEGER, _SLICE, _NEW, _ELLIPSIS = range(4)
_NO_BEGIN, _NO_END, _BEGIN_INPUT, _END_INPUT, _STEP_INPUT = 1, 2, 4, 8, 16


def _bound(v, inputs):
    """(number, is an input)."""
    if isinstance(v, Value):
        known = v.constant()
        if known is None:
            if v.dtype.kind not in "iu" or v.shape not in ((), None):
                raise _trace.TraceError(f"an index is an integer scalar, not {v!r}")
            inputs.append(v)
            return 0, True
        v = known
    return int(np.asarray(v).__index__() if isinstance(v, np.ndarray) else v.__index__()), False


def _item(k, inputs):
    if k is None:
        return [_NEW, 0, 0, 1, 0]
    if k is Ellipsis:
        return [_ELLIPSIS, 0, 0, 1, 0]
    if isinstance(k, slice):
        flags, parts = 0, []
        for v, none, given in (
            (k.start, _NO_BEGIN, _BEGIN_INPUT),
            (k.stop, _NO_END, _END_INPUT),
            (k.step, 0, _STEP_INPUT),
        ):
            if v is None:
                flags |= none
                parts.append(1 if none == 0 else 0)
            else:
                n, is_input = _bound(v, inputs)
                flags |= given if is_input else 0
                parts.append(n)
        return [_SLICE] + parts + [flags]
    n, is_input = _bound(k, inputs)
    return [_INTEGER, n, 0, 1, _BEGIN_INPUT if is_input else 0]


def _is_list(k):
    if isinstance(k, Value):
        return k.dtype == np.bool_ or k.shape is None or len(k.shape) > 0
    return isinstance(k, (list, np.ndarray)) and np.ndim(k) > 0


def getitem(value, key):
    """value[key]."""
    key = _eager.as_key(key)
    if _is_list(key):
        key = _call.convert(key)
        op = "boolean_mask" if _call.dtype_of(key) == np.bool_ else "gather"
        return _call.run(op, [value, key], {} if op == "boolean_mask" else {"axis": 0})[0]
    keys = key if isinstance(key, tuple) else (key,)
    lists = [i for i, k in enumerate(keys) if _is_list(k)]
    if lists:
        if len(lists) > 1 or any(
            k is None or k is Ellipsis or isinstance(k, (int, np.integer)) for k in keys
        ):
            raise _trace.TraceError(
                "at most one index array together with slices; sd.gather handles the rest"
            )
        rest = tuple(slice(None) if i == lists[0] else k for i, k in enumerate(keys))
        return _call.run(
            "gather", [getitem(value, rest), _call.convert(keys[lists[0]])], {"axis": lists[0]}
        )[0]
    inputs = [value]
    index = [n for k in keys for n in _item(k, inputs)]
    return _call.run("strided_slice", inputs, {"index": ("ints", index)})[0]


def _binary(f, swapped=False):
    def method(self, other):
        if other is None or isinstance(other, (dict, set)):
            return NotImplemented
        return f(other, self) if swapped else f(self, other)

    return method


def _set_shape(self, shape):
    """Declares what is known about the shape; checked at run time."""
    self.i = _ops.ensure_shape(self, shape).i


def _transposed(self):
    """Transposed."""
    return _ops.transpose(self)


for _name, _op in {
    "add": _ops.add,
    "sub": _ops.subtract,
    "mul": _ops.multiply,
    "truediv": _ops.truediv,
    "floordiv": _ops.floordiv,
    "mod": _ops.floormod,
    "pow": _ops.pow,
    "matmul": _ops.matmul,
    "and": _ops._and,
    "or": _ops._or,
    "xor": _ops._xor,
}.items():
    setattr(Value, f"__{_name}__", _binary(_op))
    setattr(Value, f"__r{_name}__", _binary(_op, True))
for _name in ("less", "greater"):
    setattr(Value, f"__{_name[0]}t__", _binary(getattr(_ops, _name)))
    setattr(Value, f"__{_name[0]}e__", _binary(getattr(_ops, f"{_name}_equal")))
for _name, _op in {"neg": _ops.negative, "abs": _ops.abs, "invert": _ops._invert, "pos": _ops.identity}.items():
    setattr(Value, f"__{_name}__", lambda self, f=_op: f(self))
Value.__eq__ = lambda self, other: _ops.equal(self, other)
Value.__ne__ = lambda self, other: _ops.not_equal(self, other)
Value.__getitem__ = getitem
Value.set_shape, Value.T = _set_shape, property(_transposed)
