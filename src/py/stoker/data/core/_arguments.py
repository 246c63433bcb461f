# SPDX-License-Identifier: Apache-2.0
"""Checks of Dataset methods' arguments: numbers, and the specs of results."""

import os
import re

import numpy as np

from . import _call, _dtypes, _function, _spec, _trace
from ._spec import DatasetSpec, TensorSpec
from ._value import Value
from ..errors import InvalidArgumentError, UnimplementedError


def plain(v, name):
    """Converts an argument for the engine; Values stay."""
    if isinstance(v, Value):
        known = v.constant()
        return v if known is None else plain(known, name)
    if isinstance(v, (bool, np.bool_)):
        return int(v)
    if isinstance(v, np.generic) or isinstance(v, np.ndarray) and v.ndim == 0:
        return v.item()
    return v


def csv_columns(record_defaults):
    """(dtypes, defaults) of CSV columns, each given as its dtype or its default."""
    dtypes, defaults = [], []
    for d in record_defaults:
        if isinstance(d, (type, np.dtype)) or hasattr(d, "as_numpy_dtype"):
            dtype = _dtypes.as_dtype(d)
            defaults.append(np.empty(0, object if dtype == _dtypes.string else dtype))
        else:
            defaults.append(np.atleast_1d(_call.convert(d)))
            dtype = _dtypes.as_dtype(defaults[-1].dtype)
        dtypes.append(dtype)
    return dtypes, defaults


def scheme_of(name):
    """ "s3" of "s3://bucket/x"; None: a local name."""
    name = os.fsdecode(name)
    found = re.match(r"([a-z][a-z0-9+.-]*)://", name) if "://" in name else None
    return found[1] if found else None


remote_glob = None  # names of remote objects that match a pattern; set by files/_remote.py


def local(path):
    """A file's name as text. UnimplementedError: a remote path ("s3://bucket/x")."""
    name = os.fsdecode(path)
    scheme = scheme_of(name)
    if scheme:
        raise UnimplementedError(
            f"{name}: remote paths ({scheme}://) are not supported here, but by the sources of files and "
            "list_files; stoker.data.remote.fetch(name) gives a local copy to read"
        )
    return name


def count(v, name, least=None):
    """An integer argument. TypeError, InvalidArgumentError."""
    v = plain(v, name)
    if isinstance(v, Value):
        if v.dtype.kind not in "iu":
            raise TypeError(f"{name} is an integer, not {v.dtype.name}")
        return v
    if not isinstance(v, int):
        raise TypeError(f"{name} is an integer, not {type(v).__name__}")
    if least is not None and v < least:
        raise InvalidArgumentError(f"{name} is at least {least}, not {v}")
    return v


def parallel(num_parallel_calls, deterministic):
    """Attributes of a stage that may run in parallel."""
    out = {}
    if num_parallel_calls is not None:
        n = count(num_parallel_calls, "num_parallel_calls")
        if n == 0 or n < -1:
            raise InvalidArgumentError(f"num_parallel_calls is positive or AUTOTUNE, not {n}")
        out["num_parallel_calls"] = n
    if deterministic is not None:
        out["deterministic"] = int(bool(deterministic))
    return out


def seed(seed):
    """Converts a seed for the engine, to 63 bits; None stays."""
    if seed is None:
        return None
    seed = count(seed, "seed")
    return seed if isinstance(seed, Value) else seed & (2**63 - 1)


def rank_of_environment():
    """(number of ranks, this rank) from torchrun, SLURM or Open MPI; (1, 0) without them."""
    for size, rank in (
        ("WORLD_SIZE", "RANK"),
        ("SLURM_NTASKS", "SLURM_PROCID"),
        ("OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"),
    ):
        if os.environ.get(size, "").isdigit() and os.environ.get(rank, "").isdigit():
            return int(os.environ[size]), int(os.environ[rank])
    return 1, 0


def signature(types, shapes):
    """The structure of TensorSpecs from TensorFlow's older output_types and output_shapes."""
    if isinstance(types, list):
        types = tuple(types)
    flat = _spec.flatten(types)
    if shapes is None:
        given = [None] * len(flat)
    elif isinstance(types, (tuple, dict)):
        keys = _spec.sorted_keys(types) if isinstance(types, dict) else range(len(types))
        given = [shapes[k] for k in keys]
    else:
        given = [shapes]
    it = iter(given)
    return _spec.map_structure(lambda t: TensorSpec(next(it), t), types)


def sliced(s):
    """The spec of a slice along the first dimension. TypeError: it can't be sliced."""
    if isinstance(s, (DatasetSpec,)) or hasattr(s, "parts"):
        raise TypeError(f"{s!r} cannot be cut into slices")
    return TensorSpec(None if s.shape is None else s.shape[1:], s.dtype)


def batched(s, n):
    """The spec of n of these in a batch; None: unknown. TypeError: datasets."""
    if isinstance(s, DatasetSpec):
        raise TypeError(
            "batches of datasets are not possible; flat_map(lambda w: w.batch(n)) batches their elements"
        )
    return TensorSpec(None if s.shape is None else (n,) + tuple(s.shape), s.dtype)


def joined(datasets):
    """The common spec of all elements. TypeError: structure or dtype differ."""
    for d in datasets:
        if not hasattr(d, "element_spec") or not hasattr(d, "_engine"):
            raise TypeError(f"a dataset is expected, not {type(d).__name__}")
    first = datasets[0].element_spec
    for d in datasets[1:]:
        a, b = _spec.components(first), _spec.components(d.element_spec)
        same = len(a) == len(b) and all(
            getattr(x, "dtype", None) == getattr(y, "dtype", None) for x, y in zip(a, b)
        )
        if not same or shape_of(first) != shape_of(d.element_spec):
            raise TypeError(
                f"the datasets' elements differ in structure or dtype: {first} and {d.element_spec}"
            )
    return first


def shape_of(structure):
    """A text that is equal for equal structures, regardless of their leaves."""
    return repr(_spec.map_structure(lambda _: 0, structure))


def generated(item, spec):
    """The components of a generator's element. InvalidArgumentError: it doesn't match the spec."""
    try:
        return _function.result_parts(item, spec, who="the generator")
    except (TypeError, ValueError, OverflowError) as e:
        raise InvalidArgumentError(str(e)) from e


class Generated:
    """Adapts from_generator for the engine: yields components of generator(*args)'s elements."""

    def __init__(self, generator, spec):
        self.generator, self.spec = generator, spec

    def __call__(self, *parts):
        args = [plain(p, "args") if isinstance(p, np.generic) else p for p in parts]
        with _trace.eager():
            source = iter(self.generator(*args))
            while True:
                try:
                    item = next(source)
                except StopIteration:
                    return
                yield generated(item, self.spec)


class Unique:
    """Yields a dataset's elements that didn't occur before."""

    def __init__(self, dataset):
        self.dataset = dataset

    def __call__(self):
        seen = set()
        for e in self.dataset._plain():
            is_single = isinstance(e, (bytes, np.generic))
            key = e if is_single else (np.shape(e), repr(np.asarray(e).tolist()))
            if key not in seen:
                seen.add(key)
                yield e
