# SPDX-License-Identifier: Apache-2.0
"""A torch loader's values as a pipeline's: NumPy arrays, bytes, tuples and dicts.

Limits: dense tensors in memory, numbers and texts; a TypeError names the place of any other value.
"""

import numpy as np

from ..core import _dtypes, _spec
from ..core._spec import TensorSpec


def plain(v, torch, place="the batch"):
    """A loader's values as NumPy arrays, bytes, tuples and dicts."""
    if isinstance(v, torch.Tensor):
        return _tensor(v, torch, place)
    if isinstance(v, (str, bytes)):
        return v.encode() if isinstance(v, str) else v
    if isinstance(v, (bool, np.ndarray, np.generic)):
        return v
    if isinstance(v, (int, float)):  # as wide as in torch's batches
        return np.int64(v) if isinstance(v, int) else np.float64(v)
    if hasattr(v, "keys") and hasattr(v, "__getitem__"):
        return {k: plain(v[k], torch, f"{place}[{k!r}]") for k in v.keys()}
    if isinstance(v, tuple) and hasattr(v, "_fields"):
        return type(v)(*[plain(x, torch, f"{place}.{k}") for k, x in zip(v._fields, v)])
    if isinstance(v, (list, tuple)):
        if v and all(isinstance(x, (str, bytes)) for x in v):
            return np.array([plain(x, torch) for x in v] + [None], object)[:-1]
        return tuple(plain(x, torch, f"{place}[{i}]") for i, x in enumerate(v))
    raise TypeError(f"{place} holds {type(v).__name__}, and a pipeline takes only tensors, numbers and texts")


def _tensor(v, torch, place):
    if v.layout != torch.strided or v.is_nested:
        raise TypeError(f"{place} is a sparse or nested tensor; dense ones can be taken over")
    if v.device.type != "cpu":
        raise TypeError(f"{place} is on {v.device}; workers make batches in memory, to_torch(device=) copies")
    v = v.detach()
    if v.dtype == torch.bfloat16:
        if _dtypes.bfloat16 is None:
            raise TypeError(f"{place} is bfloat16, which needs the package ml_dtypes")
        return v.view(torch.int16).numpy().view(_dtypes.bfloat16)
    return v.numpy()


def spec_of(result):
    """The spec of a batch: dtypes and ranks."""

    def leaf(v):
        a = _dtypes.array(v)
        return TensorSpec((None,) * a.ndim, a.dtype)

    return _spec.map_structure(leaf, result)


def learnt(batch, torch):
    """The spec of a loader's batches, from one of them."""
    return spec_of(plain(batch, torch))
