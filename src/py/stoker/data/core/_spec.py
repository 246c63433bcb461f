# SPDX-License-Identifier: Apache-2.0
"""Specs: what is known about elements in advance, and their nested structure.

The engine only knows flat lists of components. Structures (tuples, dicts, named tuples, None, sparse and ragged values)
are handled here: leaves in TensorFlow's order, dicts by sorted key.
"""

import copyreg

import numpy as np

from .. import _engine
from . import _dtypes
from ._dtypes import as_dtype


class TensorShape(tuple):
    """Dimensions, None if unknown. A tuple that also behaves like TensorFlow's shapes. TensorShape(None), with unknown
    rank, is None."""

    __slots__ = ()

    def __new__(cls, dims=()):
        return None if dims is None else super().__new__(cls, dims)

    @property
    def rank(self):
        """Number of dimensions."""
        return len(self)

    ndims = rank

    @property
    def dims(self):
        """Dimensions as a list, None where unknown."""
        return list(self)

    def as_list(self):
        """Dimensions as a list, None where unknown."""
        return list(self)

    def is_fully_defined(self):
        """Are all dimensions known?"""
        return None not in self

    def num_elements(self):
        """The product of the dimensions; None: unknown."""
        return int(np.prod(self, dtype=np.int64)) if self.is_fully_defined() else None

    def with_rank(self, rank):
        """The shape. ValueError: its rank differs."""
        if len(self) != rank:
            raise ValueError(f"shape {tuple(self)} has rank {len(self)}, not {rank}")
        return self

    def with_rank_at_least(self, rank):
        """The shape. ValueError: it has fewer dimensions."""
        if len(self) < rank:
            raise ValueError(f"shape {tuple(self)} has rank {len(self)}, not at least {rank}")
        return self

    def with_rank_at_most(self, rank):
        """The shape. ValueError: it has more dimensions."""
        if len(self) > rank:
            raise ValueError(f"shape {tuple(self)} has rank {len(self)}, not at most {rank}")
        return self

    assert_has_rank = with_rank

    def is_compatible_with(self, other):
        """Could a value have both shapes?"""
        other = as_shape(other)
        return other is None or len(self) == len(other) and all(a == b or None in (a, b) for a, b in zip(self, other))

    def assert_is_compatible_with(self, other):
        """ValueError: no value could have both shapes."""
        if not self.is_compatible_with(other):
            raise ValueError(f"shapes {tuple(self)} and {other} do not fit")

    def assert_is_fully_defined(self):
        """ValueError: a dimension is unknown."""
        if not self.is_fully_defined():
            raise ValueError(f"shape {tuple(self)} is not fully known")

    def merge_with(self, other):
        """Combines what is known of both. ValueError: they differ."""
        self.assert_is_compatible_with(other)
        other = as_shape(other)
        return self if other is None else TensorShape(b if a is None else a for a, b in zip(self, other))

    def concatenate(self, other):
        """These dimensions followed by the other's."""
        return TensorShape(tuple(self) + tuple(as_shape(other)))

    def most_specific_compatible_shape(self, other):
        """What both have in common; None: not even the rank."""
        other = as_shape(other)
        if other is None or len(self) != len(other):
            return None
        return TensorShape(a if a == b else None for a, b in zip(self, other))

    def __getitem__(self, key):
        out = tuple.__getitem__(self, key)
        return TensorShape(out) if isinstance(key, slice) else out

    def __add__(self, other):
        return TensorShape(tuple.__add__(self, tuple(as_shape(other))))

    def __repr__(self):
        return tuple.__repr__(self)


def as_shape(shape):
    """TensorShape from a tuple, list, int or TensorFlow shape; None: even the rank is unknown."""
    if shape is None:
        return None
    if hasattr(shape, "as_list"):
        if getattr(shape, "rank", 0) is None:
            return None
        shape = shape.as_list()
    if isinstance(shape, (int, np.integer)):
        shape = (shape,)
    try:
        return TensorShape(None if d is None or d == -1 else int(d) for d in shape)
    except (TypeError, ValueError):
        raise TypeError(f"a shape must be integers, or None if unknown, not {shape!r:.60}") from None


class TensorSpec:
    """Shape (None where unknown) and dtype of a tensor."""

    def __init__(self, shape=None, dtype="float32", name=None):
        self.shape, self.dtype, self.name = as_shape(shape), _dtypes.as_public_dtype(dtype), name

    @classmethod
    def from_spec(cls, spec, name=None):
        """A spec like another one, with a name."""
        return cls(spec.shape, spec.dtype, name or spec.name)

    @classmethod
    def from_tensor(cls, tensor, name=None):
        """A value's shape and dtype."""
        a = (
            tensor
            if hasattr(tensor, "dtype") and hasattr(tensor, "shape")
            else _dtypes.array(tensor)
        )
        return cls(a.shape, a.dtype, name)

    def is_compatible_with(self, other):
        """Could a tensor of `other` (anything with shape and dtype) match this spec?"""
        a, b = self.shape, as_shape(other.shape)
        same = (
            a is None
            or b is None
            or len(a) == len(b)
            and all(x == y or None in (x, y) for x, y in zip(a, b))
        )
        return bool(same and self.dtype == as_dtype(other.dtype))

    def __eq__(self, other):
        return isinstance(other, TensorSpec) and (self.shape, self.dtype) == (
            other.shape,
            other.dtype,
        )

    def __hash__(self):
        return hash((self.shape, self.dtype))

    def __repr__(self):
        return f"TensorSpec(shape={self.shape}, dtype={self.dtype.name})"

    def engine(self):
        """For the engine: (number of the dtype, shape or None, None)."""
        return (_dtypes.number(self.dtype), None if self.shape is None else tuple(self.shape), None)


class DatasetSpec:
    """A component that is a dataset, as in windows."""

    def __init__(self, element_spec, dataset_shape=()):
        self.element_spec, self.nested, self.keep = element_spec, None, ()

    @property
    def shape(self):
        """The component's shape: a scalar."""
        return TensorShape(())

    def __eq__(self, other):
        return isinstance(other, DatasetSpec) and self.element_spec == other.element_spec

    def __hash__(self):
        return hash(repr(self))

    def __repr__(self):
        return f"DatasetSpec({self.element_spec!r})"

    def engine(self):
        """For the engine."""
        return (_dtypes.DATASET, (), self.nested)


class SparseTensorSpec:
    """A sparse value of a dense shape (None where unknown): indices, values, dense_shape."""

    def __init__(self, shape=None, dtype="float32"):
        self.shape, self.dtype = as_shape(shape), as_dtype(dtype)

    def parts(self):
        """Specs of indices (n, rank), values (n) and dense_shape (rank)."""
        rank = None if self.shape is None else len(self.shape)
        return [
            TensorSpec((None, rank), "int64"),
            TensorSpec((None,), self.dtype),
            TensorSpec((rank,), "int64"),
        ]

    def __eq__(self, other):
        return isinstance(other, SparseTensorSpec) and (self.shape, self.dtype) == (
            other.shape,
            other.dtype,
        )

    def __hash__(self):
        return hash((self.shape, self.dtype, 1))

    def __repr__(self):
        return f"SparseTensorSpec(shape={self.shape}, dtype={self.dtype.name})"


class RaggedTensorSpec:
    """Rows of different lengths: values, and row_splits for each ragged dimension."""

    def __init__(self, shape=None, dtype="float32", ragged_rank=1, row_splits_dtype="int64"):
        self.shape, self.dtype, self.ragged_rank = as_shape(shape), as_dtype(dtype), ragged_rank
        self.row_splits_dtype = as_dtype(row_splits_dtype)

    def parts(self):
        """Specs of the values and of each level of row splits."""
        inner = () if self.shape is None else tuple(self.shape[self.ragged_rank + 1 :])
        return [TensorSpec((None,) + inner, self.dtype)] + [
            TensorSpec((None,), self.row_splits_dtype)
        ] * self.ragged_rank

    def __eq__(self, other):
        return isinstance(other, RaggedTensorSpec) and repr(self) == repr(other)

    def __hash__(self):
        return hash(repr(self))

    def __repr__(self):
        return f"RaggedTensorSpec(shape={self.shape}, dtype={self.dtype.name}, ragged_rank={self.ragged_rank})"


class NoneTensorSpec:
    """Stands for None in a structure."""


def is_namedtuple(s):
    return isinstance(s, tuple) and hasattr(s, "_fields")


def sorted_keys(d):
    try:
        return sorted(d)
    except TypeError as e:
        raise TypeError("the keys of a dict must be sortable") from e


def flatten(structure):
    """Leaves in order. A list is a leaf."""
    if structure is None:
        return []
    if isinstance(structure, tuple):
        return [leaf for part in structure for leaf in flatten(part)]
    if isinstance(structure, dict):
        return [leaf for k in sorted_keys(structure) for leaf in flatten(structure[k])]
    return [structure]


def map_structure(f, structure):
    """The same structure with f(leaf) for each leaf, in order."""
    if structure is None:
        return None
    if is_namedtuple(structure):
        return type(structure)(*[map_structure(f, part) for part in structure])
    if isinstance(structure, tuple):
        return tuple(map_structure(f, part) for part in structure)
    if isinstance(structure, dict):
        made = {k: map_structure(f, structure[k]) for k in sorted_keys(structure)}
        return {k: made[k] for k in structure}
    return f(structure)


def places(spec, place=""):
    """(path, leaf) of each leaf."""
    if isinstance(spec, dict):
        for k in spec:
            yield from places(spec[k], f"{place}[{k!r}]")
    elif isinstance(spec, tuple):
        for i, s in enumerate(spec):
            yield from places(s, f"{place}[{i}]")
    else:
        yield place, spec


def components(spec):
    """Flat TensorSpecs and DatasetSpecs of a structure of specs."""
    out = []
    for leaf in flatten(spec):
        out.extend(leaf.parts() if hasattr(leaf, "parts") else [leaf])
    return out


def _specs_again(items):
    """The engine's Specs from a list, for a source that declares its elements."""
    return _engine.Dataset("generator", [], {"id": 0, "specs": ("specs", items)}, None).nested()


copyreg.pickle(_engine.Specs, lambda specs: (_specs_again, (specs.items(),)))


def engine_specs(spec):
    return [c.engine() for c in components(spec)]


def pack(spec, parts, make):
    """The structure with make(leaf spec, its parts) for each leaf; parts: all components."""
    it = iter(parts)
    return map_structure(
        lambda leaf: make(
            leaf, [next(it) for _ in range(len(leaf.parts()) if hasattr(leaf, "parts") else 1)]
        ),
        spec,
    )


def update(spec, engine_list):
    """The structure of specs, completed with what the engine knows about its components."""
    return pack(spec, engine_list, _updated)


def _ragged(leaf, parts):
    """A ragged spec, completed with what the engine knows about its components."""
    inner = parts[0][1]
    shape = (
        None
        if inner is None
        else (_rows(parts[1]),) + (None,) * (len(parts) - 1) + tuple(inner[1:])
    )
    return RaggedTensorSpec(
        shape, _dtypes.from_number(parts[0][0]), len(parts) - 1, _dtypes.from_number(parts[1][0])
    )


def _rows(part):
    return part[1][0] - 1 if part[1] and part[1][0] is not None else None


def _updated(leaf, parts):
    if hasattr(leaf, "make"):
        return leaf
    if isinstance(leaf, SparseTensorSpec):
        rank = parts[0][1][1] if parts[0][1] is not None else None
        same = leaf.shape is not None and len(leaf.shape) == rank
        return SparseTensorSpec(
            leaf.shape if same else None if rank is None else (None,) * rank,
            _dtypes.from_number(parts[1][0]),
        )
    if isinstance(leaf, RaggedTensorSpec):
        return _ragged(leaf, parts)
    dtype, shape, nested = parts[0]
    if dtype == _dtypes.DATASET:
        inner = leaf.element_spec if isinstance(leaf, DatasetSpec) else None
        out = DatasetSpec(
            update(inner, nested.items()) if nested is not None and inner is not None else inner
        )
        out.nested = nested
        out.keep = getattr(leaf, "keep", ())
        return out
    return TensorSpec(shape, _dtypes.from_number(dtype))


def type_spec(spec):
    """A structure of TensorSpecs from the user's specs: ours or TensorFlow's."""

    def leaf(s):
        if isinstance(s, (TensorSpec, DatasetSpec, SparseTensorSpec, RaggedTensorSpec)):
            return s
        if hasattr(s, "shape") and hasattr(s, "dtype"):
            return TensorSpec(s.shape, s.dtype)
        raise TypeError(f"expected a TensorSpec, not {s!r}")

    if isinstance(spec, list):
        spec = tuple(spec)
    return map_structure(leaf, spec)


def blank(spec):
    """Components that match the spec, with zeros and empty strings."""
    out = []
    for c in components(spec):
        shape = tuple(d or 1 for d in (c.shape or ()))
        a = (
            np.full(shape, b"", dtype=object)
            if c.dtype == _dtypes.string
            else np.zeros(shape, c.dtype)
        )
        out.append(a if shape else a[()])
    return tuple(out)
