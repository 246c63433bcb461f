# SPDX-License-Identifier: Apache-2.0
"""Python iterators over the engine's."""

import itertools
import types

from .. import _engine
from . import _function, _spec
from ._node import _Node
from ._spec import DatasetSpec
from ..errors import OutOfRangeError


class Iterator(_engine.Iterator):
    """Returns elements one by one. state() and Dataset.iterator(state=) resume exactly."""

    __slots__ = ("_dataset", "__weakref__")
    __class_getitem__ = classmethod(types.GenericAlias)

    def __del__(self):
        if getattr(self, "_dataset", None) is not None:
            self._dataset._past = (self.stages(), self.memory())

    def __repr__(self):
        return f"<Iterator of {self._dataset!r}>"

    def __reduce__(self):
        raise TypeError(
            "an iterator can't be pickled: its threads belong to this process. "
            "Pickle the dataset and the iterator's state(); dataset.iterator(state=...) continues there"
        )

    def get_next(self):
        """The next element. Raises OutOfRangeError at the end."""
        try:
            return next(self)
        except StopIteration:
            raise OutOfRangeError("End of sequence") from None


class _NumpyIterator:
    """as_numpy_iterator's: a Dataset's iterator, under TensorFlow's name."""

    def __init__(self, iterator):
        self._iterator = iterator

    def __iter__(self):
        return self

    def __next__(self):
        return next(self._iterator)


def template(spec, keep):
    """The structure from which _engine.Iterator builds elements."""
    count = itertools.count()

    def leaf(s):
        numbers = [next(count) for _ in range(len(s.parts()) if hasattr(s, "parts") else 1)]
        if isinstance(s, DatasetSpec):
            return [lambda ds: _Node._of_engine(ds, s.element_spec, s.keep or keep), numbers[0]]
        if hasattr(s, "parts"):
            return [lambda *parts: _function.make_leaf(s, list(parts))] + numbers
        return numbers[0]

    def build(s):
        if s is None:
            return None
        if isinstance(s, tuple):
            parts = [build(p) for p in s]
            return [type(s)] + parts if _spec.is_namedtuple(s) else tuple(parts)
        if isinstance(s, dict):
            made = {k: build(s[k]) for k in _spec.sorted_keys(s)}
            return {k: made[k] for k in s}
        return leaf(s)

    return build(spec)
