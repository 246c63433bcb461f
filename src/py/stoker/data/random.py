# SPDX-License-Identifier: Apache-2.0
"""Random values: per element inside of a dataset, from (seed, epoch, index)."""

import numpy as np

from . import _call, _dtypes, _ops

_base = None
_orders, _process = 0, None


def next_order():
    """The number of another shuffle that keeps its order, since the seed was set."""
    global _orders
    process_seed()  # now: a forked process must have the same
    _orders += 1
    return _orders


def process_seed():
    """A seed drawn once in this process, for datasets without one that must agree."""
    global _process
    if _process is None:
        _process = int(np.random.SeedSequence().generate_state(1, np.uint64)[0])
    return _process


def set_seed(seed):
    """The seed of every dataset and operation from here on; None: drawn anew each time."""
    global _base, _orders
    _orders = 0
    _base = None if seed is None else int(seed) & (2**64 - 1)
    _call._seed[0] = 0


def get_seed():
    """The seed that was set, or None."""
    return _base


def _drawn(op, shape, dtype, attrs, seed):
    inputs, attrs = [], {
        k: float(_ops.attribute(v, k)) if dtype.kind != "i" else int(v) for k, v in attrs.items()
    }
    _ops._put_shape(inputs, attrs, "shape", shape, "h")
    attrs["dtype"] = _dtypes.number(dtype)
    if seed is not None:
        attrs["seed"] = int(seed) & (2**63 - 1)
    return _call.run(op, inputs, attrs, is_random=True)[0]


def uniform(shape, minval=0, maxval=None, dtype="float32", seed=None, name=None):
    """Evenly distributed values in [minval, maxval); floats in [0, 1) by default."""
    dtype = _dtypes.as_dtype(dtype)
    if maxval is None:
        if dtype.kind in "iu":
            raise _ops._trace.TraceError("uniform: integers need maxval")
        maxval = 1
    return _drawn("random_uniform", shape, dtype, {"minval": minval, "maxval": maxval}, seed)


def normal(shape, mean=0.0, stddev=1.0, dtype="float32", seed=None, name=None):
    """Normally distributed values."""
    dtype = _dtypes.as_dtype(dtype)
    return _drawn("random_normal", shape, dtype, {"mean": mean, "stddev": stddev}, seed)


def truncated_normal(shape, mean=0.0, stddev=1.0, dtype="float32", seed=None, name=None):
    """Normally distributed values within two standard deviations."""
    dtype = _dtypes.as_dtype(dtype)
    return _drawn("truncated_normal", shape, dtype, {"mean": mean, "stddev": stddev}, seed)


for _n, _f in _ops.PUBLIC.items():
    if _n.startswith("random."):
        globals()[_n.split(".")[1]] = _f
for _n, _op in (
    ("uniform", "random_uniform"),
    ("normal", "random_normal"),
    ("truncated_normal", "truncated_normal"),
):
    if not _call.exists(_op):
        _ops.MISSING["random." + _n] = _op
