# SPDX-License-Identifier: Apache-2.0
"""All operations, flat and by TensorFlow's groups (math, strings, image, ...)."""

import types as _types

from ..core import _absent, _libraries, _sparse
from . import _augment, _branch_ops, _compose, _groups, _image_ops, _loops, _math_ops, _operators  # noqa: F401
from . import _ops, _plugin, _print, _ragged, _ragged_ops, _signal, _tensor_proto, _tone_ops, _warp_ops  # noqa: F401
from ..core._function import cond, numpy_function, py_function

_GROUPS = (
    "math strings image nn linalg bitwise sparse dtypes debugging audio signal ragged".split()
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
for _n, _f in _ops.PUBLIC.items():
    if "." not in _n:
        globals()[_n] = _f
MISSING = _absent.missing()


def __getattr__(name):
    """An operation of the engine that has no name of TensorFlow's (src/engine/ops.def): values, and its
    arguments by keyword."""
    if name.startswith("_") or name not in _libraries.op_names:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return _plugin._operation(name)
