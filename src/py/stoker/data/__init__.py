# SPDX-License-Identifier: Apache-2.0
"""stoker.data: input pipelines for training, with tf.data's interface.

    import stoker.data as sd
    ds = sd.Dataset.from_tensor_slices((images, labels)).map(f, sd.AUTOTUNE).shuffle(1000).batch(32)
    for images, labels in ds.prefetch(sd.AUTOTUNE): ...

Functions passed to map, filter, flat_map, ... become native code if they use only `sd` operations
and operators. `Dataset.explain()` shows the plan.
"""

import atexit as _atexit
import sys as _sys
import types as _types

import numpy as _np

from . import _engine, errors
from .ops import _ops
from . import ops, random, io, lookup, train
from .files import _experimental
from .core import _absent, _explain, _named, _options
from .core._dataset import Dataset, Iterator
from ._engine import DeviceArray
from .core._dtypes import as_dtype, bfloat16, string
from .interop._from_tf import from_tf
from .interop._from_torch import from_torch
from .core._function import cond, numpy_function, py_function
from .core._limits import limits, set_limits
from .train._normalize import Normalize
from .core._options import AUTOTUNE, INFINITE_CARDINALITY, UNKNOWN_CARDINALITY, Options
from .ops._plugin import get_include, load_op_library
from .files._sources import (
    CsvDataset,
    FixedLengthRecordDataset,
    IndexedDataset,
    NpyDataset,
    TarDataset,
    TextLineDataset,
    TFRecordDataset,
)
from .core._sparse import RaggedTensor, SparseTensor
from .core._spec import DatasetSpec, RaggedTensorSpec, SparseTensorSpec, TensorShape, TensorSpec
from .core._value import Value
from .ops._variable import Variable
from .io import TFRecordWriter

_atexit.register(_engine.close_all)
bool = _np.dtype("bool")
for _n in (
    "uint8",
    "int8",
    "uint16",
    "int16",
    "uint32",
    "int32",
    "uint64",
    "int64",
    "float16",
    "float32",
    "float64",
):
    globals()[_n] = _np.dtype(_n)
half, double = float16, float64  # noqa: F821

for _n, _f in _ops.PUBLIC.items():
    if "." not in _n:
        globals()[_n] = _f
math, strings, image, nn, linalg, bitwise, sparse, dtypes, debugging, audio, signal, ragged = (
    ops.math,
    ops.strings,
    ops.image,
    ops.nn,
    ops.linalg,
    ops.bitwise,
    ops.sparse,
    ops.dtypes,
    ops.debugging,
    ops.audio,
    ops.signal,
    ops.ragged,
)
newaxis = None


def function(
    func=None,
    input_signature=None,
    autograph=True,
    jit_compile=None,
    reduce_retracing=False,
    experimental_implements=None,
    experimental_autograph_options=None,
    experimental_attributes=None,
    experimental_relax_shapes=None,
    experimental_compile=None,
    experimental_follow_type_hints=None,
):
    """Accepted as a decorator, with its arguments. Functions are traced when a dataset gets them."""
    return func if func is not None else lambda f: f


def _cardinality(dataset):
    """dataset.cardinality()"""
    return dataset.cardinality()


def _ignore_errors(log_warning=False):
    """For Dataset.apply: ignore_errors(log_warning)."""
    return lambda dataset: dataset.ignore_errors(log_warning)


def _unbatch():
    """For Dataset.apply: unbatch()."""
    return lambda dataset: dataset.unbatch()


def _prefetch_to_device(device, buffer_size=2):
    """For Dataset.apply: to_device(device, buffer_size), which must be the last."""
    return lambda dataset: dataset.to_device(device, buffer_size)


def _dense_to_ragged_batch(batch_size, drop_remainder=False, row_splits_dtype="int64"):
    """For Dataset.apply: ragged_batch(batch_size, ...)."""
    return lambda dataset: dataset.ragged_batch(batch_size, drop_remainder, row_splits_dtype)


def _dense_to_sparse_batch(batch_size, row_shape):
    """For Dataset.apply: sparse_batch(batch_size, row_shape)."""
    return lambda dataset: dataset.sparse_batch(batch_size, row_shape)


def _get_single_element(dataset):
    """The only element of a dataset."""
    return dataset.get_single_element()


# tf.data.Dataset and tf.data.experimental.AUTOTUNE of scripts whose import was changed.
data = _sys.modules[__name__]
class _Namespace(_types.SimpleNamespace):
    def __getattr__(self, name):
        return _absent.answers("data.experimental", "stoker.data.experimental")(name)


experimental = _Namespace(
    AUTOTUNE=AUTOTUNE,
    INFINITE_CARDINALITY=INFINITE_CARDINALITY,
    UNKNOWN_CARDINALITY=UNKNOWN_CARDINALITY,
    CsvDataset=CsvDataset,
    RandomDataset=Dataset.random,
    cardinality=_cardinality,
    ignore_errors=_ignore_errors,
    unbatch=_unbatch,
    dense_to_ragged_batch=_dense_to_ragged_batch,
    dense_to_sparse_batch=_dense_to_sparse_batch,
    get_single_element=_get_single_element,
    prefetch_to_device=_prefetch_to_device,
    **_experimental.NAMES,
)
__getattr__ = _absent.answers("data", __name__, "")
__dir__ = _named.surface(globals())
__version__ = "0.1.0"
_named.show_surface(v for v in list(globals().values()) if isinstance(v, type))
_named.show_surface((_explain.Stats, _options.AutotuneOptions, _options.ThreadingOptions))
for _names in (globals(), vars(io), vars(lookup), vars(random), vars(train), vars(experimental)):
    _named.named_module(_names, __name__)
