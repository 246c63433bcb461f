# SPDX-License-Identifier: Apache-2.0
"""Replaces TensorFlow's objects in the functions and arguments of a tf.data pipeline by this module's.

A function is copied with other globals and closure. Among the names its code looks up, TensorFlow's modules, functions
and classes become those with the same public name here; eager tensors and variables become arrays; features and dtypes
become this module's; and the program's functions, which may use TensorFlow themselves, become such copies. Containers
are copied if they contain any of these. Nothing in the program is changed.
"""

import functools
import os
import sys
import types

import numpy as np

from ..core import _dtypes, _spec

_FEATURES = ("FixedLenFeature", "VarLenFeature", "FixedLenSequenceFeature", "RaggedFeature", "SparseFeature")
_PUBLIC = __name__.rpartition(".interop")[0]  # the package with the public names that replace TensorFlow's
_DEPTH = 8  # nested containers searched


def plain(v):
    """A tensor's value: an array, a number, bytes."""
    v = v.numpy() if hasattr(v, "numpy") else v
    return v.item() if isinstance(v, np.generic) else v


def cycle(length, calls):
    """The cycle length of interleave, with what TensorFlow takes for AUTOTUNE: the order of elements depends on it."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if length != -1:
        return length
    return cores if calls is None else -(-cores // 3) if calls == -1 else min(calls, cores)


def structure(like, leaf):
    """leaf() for all leaves of a structure of dicts and tuples."""
    if isinstance(like, dict) or hasattr(like, "keys"):
        made = {k: structure(like[k], leaf) for k in sorted(like)}
        return {k: made[k] for k in like}
    if isinstance(like, tuple) and hasattr(like, "_fields"):
        return type(like)(*[structure(x, leaf) for x in like])
    if isinstance(like, (tuple, list)):
        return tuple(structure(x, leaf) for x in like)
    return None if like is None else leaf(like)


def leaves_like(value, like):
    """The parts of `value` at the leaves of `like`; the same for all, if it has no parts."""
    if isinstance(like, dict) or hasattr(like, "keys"):
        parts = [(value[k] if hasattr(value, "keys") else value, like[k]) for k in sorted(like)]
    elif isinstance(like, (tuple, list)):
        has_parts = isinstance(value, (tuple, list)) and len(value) == len(like)
        parts = list(zip(value, like)) if has_parts else [(value, x) for x in like]
    else:
        return [value]
    return [leaf for v, x in parts for leaf in leaves_like(v, x)]


def difference(theirs, ours, place="the element"):
    """How two element_specs differ; None: they don't."""
    theirs = None if type(theirs).__name__ == "NoneTensorSpec" else theirs
    if theirs is None or ours is None:
        return None if theirs is ours else f"{place} is {theirs} in TensorFlow and {ours} here"
    if isinstance(theirs, dict) or isinstance(ours, dict):
        if not (isinstance(theirs, dict) and isinstance(ours, dict) and theirs.keys() == ours.keys()):
            return f"{place} is {theirs} in TensorFlow and {ours} here"
        found = (difference(theirs[k], ours[k], f"{place}[{k!r}]") for k in theirs)
        return next((d for d in found if d), None)
    if isinstance(theirs, (tuple, list)) or isinstance(ours, (tuple, list)):
        if not (isinstance(theirs, (tuple, list)) and isinstance(ours, (tuple, list)) and len(theirs) == len(ours)):
            return f"{place} is {theirs} in TensorFlow and {ours} here"
        found = (difference(a, b, f"{place}[{i}]") for i, (a, b) in enumerate(zip(theirs, ours)))
        return next((d for d in found if d), None)
    is_row = type(theirs).__name__ == "RaggedTensorSpec" and not theirs.ragged_rank  # dense_to_ragged_batch's
    if type(theirs).__name__ != type(ours).__name__ and not is_row:
        return f"{place} is a {type(theirs).__name__} in TensorFlow and a {type(ours).__name__} here"
    if type(theirs).__name__ == "DatasetSpec":
        return difference(theirs.element_spec, ours.element_spec, f"{place}'s elements")
    if theirs.dtype.name != _dtype_name(ours.dtype):
        return f"{place} is {theirs.dtype.name} in TensorFlow and {_dtype_name(ours.dtype)} here"
    return _shape_difference(theirs.shape, ours.shape, place)


def _dtype_name(dtype):
    name = getattr(dtype, "name", str(dtype))
    return "string" if name in ("object", "bytes") else name


def _shape_difference(theirs, ours, place):
    a = None if theirs is None or theirs.rank is None else theirs.as_list()
    b = None if ours is None else list(ours)
    if a is None or b is None:
        return None
    if len(a) != len(b) or any(None not in (x, y) and x != y for x, y in zip(a, b)):
        return f"{place} has shape {tuple(a)} in TensorFlow and {tuple(b)} here"
    return None


def spec_of(spec):
    """This module's spec for one of TensorFlow's. ValueError: it has no such values."""

    def leaf(s):
        kind = type(s).__name__
        if kind == "NoneTensorSpec":
            return None
        if kind == "DatasetSpec":
            return _spec.DatasetSpec(spec_of(s.element_spec))
        shape = None if s.shape.rank is None else s.shape.as_list()
        if kind == "TensorSpec":
            return _spec.TensorSpec(shape, _ours(s.dtype))
        if kind == "SparseTensorSpec":
            return _spec.SparseTensorSpec(shape, _ours(s.dtype))
        if kind == "RaggedTensorSpec":
            return _spec.RaggedTensorSpec(shape, _ours(s.dtype), s.ragged_rank, _ours(s.row_splits_dtype))
        raise ValueError(f"elements hold a {kind}, which has no equivalent here")

    return structure(spec, leaf)


def _ours(dtype):
    return "bytes" if dtype.name == "string" else dtype.name


def feature(v):
    """This module's feature for one of TensorFlow's, for Examples in batches."""
    made = _Copy().of(v)
    if type(made).__name__ == "FixedLenSequenceFeature" and list(made.shape)[:1] == [None]:
        made = made._replace(shape=list(made.shape)[1:])  # as in ParseExampleDataset
    return made


def function(f):
    """(copy of a function with this module's names, whether it reads values that may change)."""
    copies = _Copy()
    made = copies.of(f)
    return made, copies.reads_values or not isinstance(f, types.FunctionType)


class _Copy:
    """The copies of one stage's functions, each made once."""

    def __init__(self):
        self.here, self.made, self.reads_values = sys.modules[_PUBLIC], {}, False

    def of(self, v, depth=0):
        """The replacement for a value; the value itself if it contains nothing of TensorFlow's."""
        if id(v) in self.made:
            return self.made[id(v)][0]
        if not isinstance(v, (types.ModuleType, types.FunctionType, types.BuiltinFunctionType, type)):
            self.reads_values = True
        found = self._new(v, depth) if depth < _DEPTH else v
        self.made.setdefault(id(v), (found, v))  # v lives as long as its id is used
        return found

    def _new(self, v, depth):
        name = type(v).__name__
        if isinstance(v, types.ModuleType):
            return self._named(v.__name__.replace("tensorflow._api.v2", "tensorflow"), v)
        if isinstance(v, (types.FunctionType, type)) and getattr(v, "_tf_api_names", None):
            return self._api(v)
        if name == "LazyModule" and getattr(v, "name", "") == "tensorflow":
            return self.here
        module = type(v).__module__ or ""
        if module.startswith("tensorflow."):
            return self._value(v, name, depth)
        if isinstance(v, functools.partial):
            arguments = [self.of(a, depth + 1) for a in v.args]
            return functools.partial(self.of(v.func), *arguments, **self._dict(v.keywords, depth))
        if isinstance(v, types.MethodType):
            return types.MethodType(self.of(v.__func__), v.__self__)
        if isinstance(v, types.FunctionType):
            return self._function(v)
        if type(v) is dict:
            return self._dict(v, depth)
        if type(v) in (list, tuple):
            made = [self.of(x, depth + 1) for x in v]
            return v if all(a is b for a, b in zip(made, v)) else type(v)(made)
        return v

    def _dict(self, v, depth):
        made = {k: self.of(x, depth + 1) for k, x in v.items()}
        return v if all(made[k] is v[k] for k in v) else made

    def _value(self, v, name, depth):
        """An object of one of TensorFlow's classes."""
        if name == "DType":
            return getattr(self.here, v.name)
        if name in _FEATURES:
            fields = {k: self.of(x, depth + 1) for k, x in v._asdict().items()}
            return getattr(self.here.io, name)(**{k: x for k, x in fields.items() if x is not None})
        if name == "TensorShape":
            return v.as_list()
        if hasattr(v, "python_function"):  # tf.function
            return self.of(v.python_function)
        if hasattr(v, "numpy") and hasattr(v, "dtype"):
            return np.asarray(v.numpy()) if v.shape.rank else _dtypes.array(v.numpy())[()]
        return v

    def _named(self, name, module):
        """tensorflow, or a part of it by name."""
        if name.split(".")[0] != "tensorflow" or "tensorflow" not in sys.modules:
            return module
        found = self.here
        for part in name.split(".")[1:]:
            found = getattr(found, part, None)
            if found is None:
                return module
        return found

    def _api(self, v):
        """A function or class with public names in TensorFlow."""
        for name in v._tf_api_names:
            found = self.here
            for part in name.split("."):
                try:
                    found = getattr(found, part)
                except AttributeError:
                    found = None
                    break
            if found is not None:
                return found
        return v

    def _function(self, f):
        copy = types.FunctionType(f.__code__, {}, f.__name__, None, f.__closure__ and _cells(f))
        self.made[id(f)] = (copy, f)  # before its names: it may call itself
        copy.__defaults__ = f.__defaults__ and tuple(self.of(v) for v in f.__defaults__)
        copy.__kwdefaults__ = f.__kwdefaults__ and self._dict(f.__kwdefaults__, 0)
        copy.__module__, copy.__qualname__ = f.__module__, f.__qualname__
        for cell, old in zip(copy.__closure__ or (), f.__closure__ or ()):
            try:
                cell.cell_contents = self.of(old.cell_contents)
            except ValueError:  # not bound yet
                continue
        names = copy.__globals__
        names["__builtins__"], names["__name__"] = f.__globals__.get("__builtins__", __builtins__), f.__module__
        for name in _looked_up(f.__code__):
            if name in f.__globals__:
                names[name] = self.of(f.__globals__[name])
        return copy


def _cells(f):
    return tuple(types.CellType() for _ in f.__closure__)


def _looked_up(code):
    """Names that a function's code, including nested functions, may look up."""
    found = set(code.co_names)
    for part in code.co_consts:
        if isinstance(part, types.CodeType):
            found |= _looked_up(part)
    return found
