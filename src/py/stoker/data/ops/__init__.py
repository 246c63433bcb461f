# SPDX-License-Identifier: Apache-2.0
"""All operations, flat and by TensorFlow's groups (math, strings, image, ...)."""

import types as _types

import numpy as _np

from ..core import _absent, _dtypes, _libraries, _sparse
from . import _augment, _branch_ops, _compose, _groups, _image_ops, _loops, _math_ops, _operators  # noqa: F401
from . import _context_ops, _host_ops, _linear_ops, _more_ops, _picture_ops  # noqa: F401
from . import _ragged_methods, _scatter_ops, _sparse_ops, _spectrum_ops  # noqa: F401
from . import _ops, _pack, _tokenizer, _sound, _plugin, _print, _ragged, _ragged_ops, _signal, _tensor_proto, _tone_ops, _warp_ops  # noqa: F401
from ..core._function import cond, numpy_function, py_function

_GROUPS = (
    "math strings image nn linalg bitwise sparse dtypes debugging audio signal ragged nest autograph".split()
)


def _group(name):
    m = _types.ModuleType(f"stoker.data.{name}", f"Operations of TensorFlow's tf.{name}.")
    for n, f in _ops.PUBLIC.items():
        group, _, own = n.partition(".")
        if own and group == name:
            setattr(m, own, f)
    m.__getattr__ = _absent.answers(name, m.__name__)
    return m


for _n in _GROUPS:
    globals()[_n] = _group(_n)
sparse.to_dense = _sparse.to_dense  # noqa: F821
sparse.SparseTensor = _sparse.SparseTensor  # noqa: F821
for _n in ("bool", "string", "half", "double", "bfloat16", *_dtypes.NUMBERS):
    if _n != "bfloat16" or _dtypes.bfloat16 is not None:
        setattr(dtypes, _n, _dtypes.as_public_dtype(_n))  # noqa: F821
dtypes.complex64, dtypes.complex128 = (_dtypes.DType(_np.dtype(n)) for n in ("complex64", "complex128"))  # noqa: F821
math.special = _types.SimpleNamespace(  # noqa: F821
    **{n: getattr(math, n) for n in ("bessel_i0", "bessel_i0e", "bessel_i1", "bessel_i1e")}  # noqa: F821
)
autograph.experimental = _types.SimpleNamespace(  # noqa: F821
    do_not_convert=_context_ops.do_not_convert, set_loop_options=_context_ops.set_loop_options
)
dtypes.DType, dtypes.as_dtype = _dtypes.DType, _dtypes.as_public_dtype  # noqa: F821
for _n, _f in _ops.PUBLIC.items():
    if "." not in _n:
        globals()[_n] = _f
MISSING = _absent.missing()


def __getattr__(name):
    """An engine operation without a TensorFlow name (src/engine/ops.def): values, and its arguments by keyword."""
    if name.startswith("_") or name not in _libraries.op_names:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return _plugin._operation(name)
