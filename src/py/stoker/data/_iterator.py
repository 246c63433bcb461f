# SPDX-License-Identifier: Apache-2.0
"""Iterators as Python sees them, over the engine's."""

from . import _engine
from .errors import OutOfRangeError


class Iterator(_engine.Iterator):
    """Elements one by one. state() and Dataset.iterator(state=) resume exactly."""

    __slots__ = ("_dataset", "__weakref__")

    def __del__(self):
        if getattr(self, "_dataset", None) is not None:
            self._dataset._past = (self.stages(), self.memory())

    def get_next(self):
        """The next element. Raises OutOfRangeError at the end."""
        try:
            return next(self)
        except StopIteration:
            raise OutOfRangeError("End of sequence") from None


class _NumpyIterator:
    """as_numpy_iterator's: an iterator of a Dataset, under TensorFlow's name."""

    def __init__(self, iterator):
        self._iterator = iterator

    def __iter__(self):
        return self

    def __next__(self):
        return next(self._iterator)
