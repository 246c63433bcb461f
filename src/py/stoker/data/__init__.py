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

from .. import __version__ as _program_version
from ._version import __version__

if __version__ != _program_version:
    raise ImportError(
        f"stoker-data {__version__} needs stoker of the same version, and {_program_version} is installed: "
        f"run `pip install 'stoker[data]=={__version__}'`"
    )

from . import _engine, errors
from .ops import _ops
from . import ops, random, io, lookup, remote, train
from . import compat as _compat
from .files import _experimental
from .core import _absent, _explain, _named, _options
from .core._dataset import Dataset, Iterator
from ._engine import DeviceArray
from .core import _dtypes
from .core._dtype_names import DType
from .core._dtypes import as_public_dtype as as_dtype
from .interop._from_tf import from_tf
from .interop._from_torch import from_torch
from .interop._from_hugging_face import from_huggingface
from .interop._ray import ray
from .interop._ray_source import ray_source
from .core._function import cond, numpy_function, py_function
from .core._limits import limits, set_limits
from .train._normalize import Normalize
from .core._options import AUTOTUNE, INFINITE_CARDINALITY, UNKNOWN_CARDINALITY, Options
from .ops._plugin import get_include, load_op_library
from .ops._tokenizer import Tokenizer
from .files._arrow_files import ArrowDataset, LanceDataset
from .files._parquet import ParquetDataset
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
from .core._value import Tensor, Value
from .ops._tensor_array import TensorArray
from .ops._variable import Variable
from .io import TFRecordWriter

_atexit.register(_engine.close_all)
bool, string = _dtypes.public(_np.dtype("bool")), _dtypes.public(_dtypes.string)
bfloat16 = None if _dtypes.bfloat16 is None else _dtypes.public(_dtypes.bfloat16)
for _n in _dtypes.NUMBERS:
    globals()[_n] = _dtypes.public(_np.dtype(_n))
half, double = float16, float64  # noqa: F821
complex64, complex128 = DType(_np.dtype("complex64")), DType(_np.dtype("complex128"))

for _n, _f in _ops.PUBLIC.items():
    if "." not in _n:
        globals()[_n] = _f
math, strings, image, nn, linalg, bitwise, sparse, dtypes, debugging, audio, signal, ragged, nest, autograph = (
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
    ops.nest,
    ops.autograph,
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
    """Accepted as a decorator, with its arguments. Functions are traced when given to a dataset."""
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


# tf.data.Dataset and tf.data.experimental.AUTOTUNE, for scripts that only changed the import.
data = _sys.modules[__name__]
class _Namespace(_types.SimpleNamespace):
    def __getattr__(self, name):
        return _absent.answers("data.experimental", "stoker.data.experimental", "experimental")(name)


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
compat = _compat
_compat._modern["module"] = data
_compat.v2 = data
_unknown = _absent.answers("data", __name__, "")


def __getattr__(name):
    """TensorFlow 1's names (tf.random_uniform, tf.gfile); for others an error with the nearest."""
    old = _compat.old_name(name)
    return _unknown(name) if old is None else old


_absent.know(_ops.PUBLIC)
for _prefix, _names in (("", globals()), ("io.", vars(io)), ("random.", vars(random)), ("lookup.", vars(lookup))):
    _absent.know(_prefix + _n for _n, _v in _names.items() if not _n.startswith("_") and callable(_v))
__dir__ = _named.surface(globals())
_named.show_surface(v for v in list(globals().values()) if isinstance(v, type))
_named.show_surface((_explain.Stats, _options.AutotuneOptions, _options.ThreadingOptions))
for _names in (globals(), vars(io), vars(lookup), vars(random), vars(remote), vars(train), vars(experimental)):
    _named.named_module(_names, __name__)
