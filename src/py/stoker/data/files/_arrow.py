# SPDX-License-Identifier: Apache-2.0
"""Arrow tables as datasets: derives components from a schema, and opens the units.

A column is a component with its name; a struct is a dict of its fields. A list is an element of unknown length, a list
of lists a RaggedTensor; fixed-size lists are dimensions. A list of structs is a dict of lists. Dictionaries become
their values. Times and dates are integers in the column's unit.

pyarrow, which reads the files, is imported when a dataset is made or opened.
"""

import contextlib
import os
import threading

import numpy as np

from .. import _engine
from ..core import _dtypes, _function, _spec
from ..core._dataset import Dataset
from ..core._packages import need
from ..core._spec import RaggedTensorSpec, TensorSpec
from ..errors import (
    DataLossError,
    InvalidArgumentError,
    NotFoundError,
    OpError,
    PermissionDeniedError,
    UnimplementedError,
)

PART_BYTES = 4 << 20  # bytes of a record batch, for a unit read in parts
UNKNOWN_BYTES = 1 << 50  # for a unit of unknown size: it is read in parts


def pyarrow():
    return need("pyarrow", "reading Arrow and Parquet data")


class Leaf:
    """A column of values, reached through structs and lists: a leaf of the kind arrow."""

    def __init__(self, name, path, dims, dtype, shape=None):
        self.name, self.path, self.dims, self.dtype = name, path, dims, _dtypes.as_dtype(dtype)
        self.shape = shape  # of a fixed-shape tensor, whose list has one dimension

    def ragged(self):
        """The last level of variable-length lists, or -1."""
        return max((i for i, d in enumerate(self.dims) if d < 0), default=-1)

    def spec(self):
        dims = tuple(None if d < 0 else d for d in self.dims)
        rank = self.ragged()
        if rank <= 0:
            return TensorSpec(self.shape or dims, self.dtype)
        return RaggedTensorSpec((None,) * (rank + 1) + dims[rank + 1 :], self.dtype, rank)

    def numbers(self):
        """For the engine."""
        return [len(self.path), *self.path, len(self.dims), *self.dims]


def _plain(pa, t):
    """The dtype for a type of single values, or None."""
    p = pa.types
    if p.is_boolean(t):
        return "bool"
    if p.is_integer(t) or p.is_float32(t) or p.is_float64(t) or p.is_float16(t):
        return np.dtype(t.to_pandas_dtype())
    if p.is_date32(t) or p.is_time32(t):
        return "int32"
    if p.is_date64(t) or p.is_time64(t) or p.is_timestamp(t) or p.is_duration(t):
        return "int64"
    is_view = getattr(p, "is_string_view", bool)(t) or getattr(p, "is_binary_view", bool)(t)
    if p.is_string(t) or p.is_large_string(t) or p.is_binary(t) or p.is_large_binary(t) or is_view:
        return "bytes"
    return "bytes" if p.is_fixed_size_binary(t) else None


def _refuse(name, t):
    raise UnimplementedError(
        f"column '{name}' is {t}, which has no equivalent type: leave it out with columns=[...], or "
        "cast it before"
    )


def _extension(pa, t, name, path, dims):
    shape = getattr(t, "shape", None)
    order = getattr(t, "permutation", None)
    storage = t.storage_type
    is_tensor = shape is not None and pa.types.is_fixed_size_list(storage) and not dims
    if is_tensor and (order is None or list(order) == sorted(order)):
        leaf = walk(pa, storage, name, path, dims)
        leaf.shape = tuple(shape)
        return leaf
    if shape is not None and not is_tensor:  # an ArrayXD of Hugging Face: lists of known lengths
        leaf = walk(pa, storage, name, path, dims)
        if isinstance(leaf, Leaf) and len(leaf.dims) == len(dims) + len(shape):
            leaf.dims = dims + [-1 if d is None else d for d in shape]
        return leaf
    if is_tensor:
        _refuse(name, f"{t} of permuted dimensions")
    return walk(pa, storage, name, path, dims)


def walk(pa, t, name, path, dims):
    """The structure of leaves for a column's type."""
    if len(path) > 16 or len(dims) > 8:
        _refuse(name, f"{t}, deeper than 16 structs or 8 lists,")
    if isinstance(t, pa.BaseExtensionType):
        return _extension(pa, t, name, path, dims)
    if pa.types.is_struct(t) and t.num_fields:
        fields = [t.field(i) for i in range(t.num_fields)]
        return {
            f.name: walk(pa, f.type, f"{name}.{f.name}", path + [i], dims)
            for i, f in enumerate(fields)
        }
    if pa.types.is_list(t) or pa.types.is_large_list(t):
        return walk(pa, t.value_type, name, path, dims + [-1])
    if pa.types.is_fixed_size_list(t):
        return walk(pa, t.value_type, name, path, dims + [t.list_size])
    dtype = _plain(pa, t.value_type if pa.types.is_dictionary(t) else t)
    return _refuse(name, t) if dtype is None else Leaf(name, path, dims, dtype)


def select(schema, columns, where):
    """The names of the wanted columns. InvalidArgumentError: one is missing, or occurs twice."""
    names = list(schema.names)
    wanted = names if columns is None else [columns] if isinstance(columns, str) else list(columns)
    for c in wanted:
        if names.count(c) != 1:
            what = "no column" if c not in names else "several columns"
            near = "" if c in names else f"; it has {', '.join(map(repr, names[:40]))}"
            raise InvalidArgumentError(f"{where}: {what} {c!r}{near}")
    if not wanted:
        raise InvalidArgumentError(f"{where}: no columns")
    return wanted


def structure(pa, schema):
    """{column: structure of leaves} of a schema, for the wanted columns only."""
    return {f.name: walk(pa, f.type, f.name, [i], []) for i, f in enumerate(schema)}


def _fills(leaves, nulls):
    """The numbers of leaves with a value for nulls, and the values."""
    if nulls is None:
        return [], []
    if nulls != "zero" and not isinstance(nulls, dict):
        raise InvalidArgumentError(
            f"nulls is None (a null is an error), 'zero', or a dict of columns and values, not {nulls!r}"
        )
    names = {n for leaf in leaves for n in _prefixes(leaf.name)}
    for n in nulls if isinstance(nulls, dict) else ():
        if n not in names:
            raise InvalidArgumentError(f"nulls: no column {n!r}; there are {', '.join(sorted(names))}")
    which, values = [], []
    for i, leaf in enumerate(leaves):
        if nulls == "zero":
            value = b"" if leaf.dtype == _dtypes.string else 0
        else:
            named = [n for n in _prefixes(leaf.name) if n in nulls]
            if not named:
                continue
            value = nulls[max(named, key=len)]
        which.append(i)
        values.append(_fill(leaf, value))
    return which, values


def _prefixes(name):
    """A leaf's name, preceded by those of the enclosing structs."""
    parts = name.split(".")
    return [".".join(parts[: k + 1]) for k in range(len(parts))]


def _fill(leaf, value):
    try:
        a = _dtypes.array(value, leaf.dtype)
    except (TypeError, ValueError, OverflowError) as e:
        raise InvalidArgumentError(f"nulls: {value!r} is not a valid {leaf.dtype} for {leaf.name!r}: {e}") from e
    if np.ndim(a):
        raise InvalidArgumentError(f"nulls: {value!r} for {leaf.name!r} is not a single value")
    return a


class Opener:
    """Opens units, called by the engine with (unit, address, how): puts a stream of Arrow there.

    how: 0, all of the unit as one record batch; 1, in parts; 2, in parts, on pyarrow's threads.
    """

    places = ()  # for messages: the unit's files

    def stream(self, unit, how):
        """An object with __arrow_c_stream__."""
        raise NotImplementedError

    def place(self, unit):
        """The name of its file."""
        return "?"

    def __call__(self, request):
        unit, address, how = (int(v) for v in request)
        try:
            _engine.export_stream(self.stream(unit, how), address)
        except OpError:
            raise
        except Exception as e:
            raise failure(self.place(unit), e) from e
        return []


def first_line(e):
    text = str(e).strip()
    return text.splitlines()[0] if text else type(e).__name__


def failure(place, e):
    """The error of a file that can't be read."""
    why = f"{place}: {first_line(e)}"
    if isinstance(e, FileNotFoundError):
        return NotFoundError(f"{place}: no such file")
    if isinstance(e, PermissionError):
        return PermissionDeniedError(why)
    if isinstance(e, (MemoryError, KeyboardInterrupt, ImportError)):
        return e
    pa = pyarrow()
    if isinstance(e, (pa.ArrowInvalid, pa.ArrowSerializationError, OSError, EOFError)):
        return DataLossError(f"{why}; the file is damaged, or cut short, or of another format")
    return e


@contextlib.contextmanager
def reading(place):
    """Around reading a file: any failure on a damaged one becomes an error that names the file."""
    try:
        yield
    except (OpError, MemoryError, ImportError):
        raise
    except Exception as e:
        error = failure(place, e)
        if error is e:  # such as a name that isn't text
            error = DataLossError(f"{place}: {first_line(e)}; the file is damaged")
        raise error from e


class Locked:
    """Mixin: a lock that isn't pickled."""

    def __init__(self):
        self.lock = threading.Lock()

    def __getstate__(self):
        return {k: v for k, v in self.__dict__.items() if k not in ("lock", *self.own)}

    def __setstate__(self, state):
        self.__dict__.update(state)
        self.lock = threading.Lock()
        for name in self.own:
            setattr(self, name, None)

    own = ()  # attributes recreated on demand


def sharded(units, shard):
    """The units of one of `count` shards: every count-th from `index` on."""
    if shard is None:
        return units
    try:
        count, index = (int(v) for v in shard)
    except (TypeError, ValueError):
        raise InvalidArgumentError(f"shard is (count, index), not {shard!r}") from None
    if count < 1 or not 0 <= index < count:
        raise InvalidArgumentError(f"shard: index {index} of {count}")
    return units[index::count]


def make(
    ds,
    schema,
    opener,
    names,
    units,
    unit_name="record batch",
    unit_bytes=0,
    nulls=None,
    shuffle=False,
    seed=None,
    is_private=False,
    is_mapped=False,
    maps=None,
    has_random_access=False,
    num_parallel_calls=None,
    prune=None,
):
    """Makes ds the dataset of the units, [(file, number in it, rows)].

    prune: takes the structure of leaves and returns the wanted part.
    """
    pa = pyarrow()
    wanted = structure(pa, schema)
    wanted = prune(wanted) if prune else wanted
    leaves = _spec.flatten(wanted)
    spec = _spec.map_structure(Leaf.spec, wanted)
    which, values = _fills(leaves, nulls)
    host = _function.Host(opener)
    args = {
        "filenames": ("texts", [os.fsencode(n) for n in names]),
        "opener": host,
        "specs": ("specs", _spec.engine_specs(spec)),
        "leaves": ("ints", [n for leaf in leaves for n in leaf.numbers()]),
        "names": ("texts", [leaf.name for leaf in leaves]),
        "units": ("ints", [int(v) for u in units for v in u]),
        "unit_name": unit_name,
        "unit_bytes": int(unit_bytes),
        "is_private": int(is_private),
        "is_mapped": int(is_mapped),
        "has_random_access": int(has_random_access),
        "shuffle": int(bool(shuffle)),
        "seed": seed,
        "num_parallel_calls": num_parallel_calls,
    }
    if maps is not None:
        args["maps"] = ("tensors", maps)
    if which:
        args.update(filled=("ints", which), fills=("tensors", values))
    ds._init("arrow", [], args, spec, [host])


def new(cls=Dataset):
    return cls.__new__(cls)
