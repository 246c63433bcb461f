# SPDX-License-Identifier: Apache-2.0
"""Random values: per element within a dataset, from (seed, epoch, index)."""

import types

from .core import _absent, _named
from .core._seeds import get_seed, next_order, process_seed, set_seed  # noqa: F401
from .ops import _ops
from .ops._generator import (
    Generator,
    create_rng_state,
    get_global_generator,
    set_global_generator,
)
from .ops._random import beta, categorical, gamma, normal, truncated_normal, uniform  # noqa: F401
from .ops._stateless import (
    fold_in,
    split,
    stateless_categorical,  # noqa: F401
    stateless_normal,  # noqa: F401
    stateless_shuffle,
    stateless_truncated_normal,  # noqa: F401
    stateless_uniform,  # noqa: F401
)

for _n, _f in _ops.PUBLIC.items():
    if _n.startswith("random."):
        globals()[_n.split(".")[1]] = _f

class _Namespace(types.SimpleNamespace):
    def __getattr__(self, name):
        return _absent.answers("random.experimental", "stoker.data.random.experimental")(name)


experimental = _Namespace(
    Generator=Generator,
    create_rng_state=create_rng_state,
    get_global_generator=get_global_generator,
    set_global_generator=set_global_generator,
    stateless_fold_in=fold_in,
    stateless_split=split,
    stateless_shuffle=stateless_shuffle,
)
__getattr__ = _absent.answers("random", __name__)
__dir__ = _named.surface(globals())
