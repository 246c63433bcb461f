# SPDX-License-Identifier: Apache-2.0
"""Tables: values by key, like tf.lookup. In pipelines they are native code.

A function sees a table as it was when traced. Keys are integers or strings, values of any type.
"""

import numpy as np

from .ops import _ops
from .core import _absent, _arguments, _call, _dtypes, _named
from .errors import FailedPreconditionError, InvalidArgumentError, NotFoundError

_KEY_KINDS = "iuOS"
_GONE = object()  # marks a removed key


def _plain(a):
    return [v if isinstance(v, bytes) else v.item() for v in a.ravel()]


class KeyValueTensorInitializer:
    """Keys and their values: two vectors."""

    def __init__(self, keys, values, key_dtype=None, value_dtype=None, name=None):
        self.keys = np.array(_call.convert(keys, key_dtype and _dtypes.as_dtype(key_dtype)))
        self.values = np.array(_call.convert(values, value_dtype and _dtypes.as_dtype(value_dtype)))
        if self.keys.ndim != 1 or self.keys.shape != self.values.shape:
            raise InvalidArgumentError(
                f"keys and values are vectors of one length, not {self.keys.shape} and {self.values.shape}"
            )
        if self.keys.dtype.kind not in _KEY_KINDS:
            raise InvalidArgumentError(f"keys are whole numbers or strings, not {self.keys.dtype}")

    @property
    def key_dtype(self):
        """Dtype of the keys."""
        return _call.dtype_of(self.keys)

    @property
    def value_dtype(self):
        """Dtype of the values."""
        return _call.dtype_of(self.values)


class TextFileIndex:
    """The part of a line for key or value: its number (LINE_NUMBER), all of it (WHOLE_LINE), or a column."""

    WHOLE_LINE = -2
    LINE_NUMBER = -1


class TextFileInitializer(KeyValueTensorInitializer):
    """Keys and values from the lines of a text file."""

    def __init__(self, filename, key_dtype, key_index, value_dtype, value_index, vocab_size=None,
                 delimiter="\t", name=None, value_index_offset=0):  # fmt: skip
        path = _arguments.local(filename)
        try:
            with open(path, "rb") as f:
                lines = f.read().splitlines()[:vocab_size]
        except FileNotFoundError as e:
            raise NotFoundError(f"{path}: no such file") from e
        if vocab_size is not None and len(lines) < vocab_size:
            raise InvalidArgumentError(f"{path}: {len(lines)} lines, not {vocab_size}")
        keys = _column(lines, key_index, key_dtype, delimiter, value_index_offset)
        values = _column(lines, value_index, value_dtype, delimiter, value_index_offset)
        super().__init__(keys, values)


def _column(lines, index, dtype, delimiter, offset):
    dtype = _dtypes.as_dtype(dtype)
    if index == TextFileIndex.LINE_NUMBER:
        return np.arange(len(lines), dtype=dtype) + dtype.type(offset)
    parts = lines
    if index != TextFileIndex.WHOLE_LINE:
        split = [line.split(delimiter.encode()) for line in lines]
        short = next((i for i, p in enumerate(split) if len(p) <= index), None)
        if short is not None:
            raise InvalidArgumentError(f"line {short + 1} has no column {index}")
        parts = [p[index] for p in split]
    if dtype == _dtypes.string:
        return _dtypes.strings(np.array(parts, dtype=object))
    return np.array([dtype.type(p) for p in parts], dtype)


def _found(keys, index_of, x):
    """The index of each x among the keys, or -1."""
    if _call.is_symbolic(x):
        return _call.run("table_find", [x, keys], {})[0]
    numbers = [index_of.get(k, -1) for k in _plain(x)]
    return np.array(numbers, np.int64).reshape(x.shape)


class _Table:
    """Shared by the tables: keys and values as vectors, searched by key."""

    def _fill(self, keys, values):
        self._keys, self._values = keys, values
        self._index_of = {k: i for i, k in enumerate(_plain(keys))}

    @property
    def key_dtype(self):
        """Dtype of the keys."""
        return _call.dtype_of(self._keys)

    @property
    def value_dtype(self):
        """Dtype of the values."""
        return _call.dtype_of(self._values)

    def _keys_of(self, keys):
        if hasattr(keys, "flat_values"):
            raise TypeError("look up a RaggedTensor's flat_values; the row splits stay")
        keys = _call.convert(keys) if _call.is_typed(keys) else _call.convert(keys, self.key_dtype)
        if _call.dtype_of(keys) != self.key_dtype:
            raise TypeError(
                f"keys of this table are {self.key_dtype.name}, not {_call.dtype_of(keys).name}; sd.cast converts"
            )
        return keys

    def _values_at(self, at, default):
        if not len(self._values):
            return _ops.do.broadcast_to(default, _ops.do.shape(at))
        values = _ops.gather(self._values, _ops.maximum(at, np.int64(0)))
        return _ops.where(_ops.greater_equal(at, np.int64(0)), values, default)

    def __getitem__(self, keys):
        return self.lookup(keys)


class StaticHashTable(_Table):
    """Values by key, default_value for others."""

    def __init__(self, initializer, default_value, name=None, experimental_is_anonymous=False):
        self._fill(initializer.keys, initializer.values)
        seen = {}
        for k, v in zip(_plain(self._keys), _plain(self._values)):
            if seen.setdefault(k, v) != v:
                raise FailedPreconditionError(f"two values for the same key: {k!r}")
        self._default = _call.convert(default_value, self.value_dtype)
        self.name = name or "StaticHashTable"

    @property
    def default_value(self):
        """For missing keys."""
        return self._default

    def lookup(self, keys, name=None):
        """The value of each key."""
        keys = self._keys_of(keys)
        return self._values_at(_found(self._keys, self._index_of, keys), self._default)

    def size(self, name=None):
        """Number of keys: int64."""
        return _ops.constant(np.int64(len(self._index_of)))

    def export(self, name=None):
        """(keys, values)."""
        return self._keys.copy(), self._values.copy()


class StaticVocabularyTable(_Table):
    """Numbers by key; other strings (or numbers) are hashed to num_oov_buckets numbers after those."""

    def __init__(self, initializer, num_oov_buckets, lookup_key_dtype=None, name=None,
                 experimental_is_anonymous=False):  # fmt: skip
        self._buckets = _arguments.count(num_oov_buckets, "num_oov_buckets", 1)
        if initializer is None:
            keys, values = _dtypes.strings(np.empty(0, object)), np.empty(0, np.int64)
        else:
            keys, values = initializer.keys, initializer.values
        if values.dtype != np.int64:
            raise TypeError(f"values of a vocabulary are int64, not {values.dtype.name}")
        self._fill(keys, values)
        self.name = name or "StaticVocabularyTable"

    def lookup(self, keys, name=None):
        """The number of each key: int64."""
        keys = self._keys_of(keys)
        at = _found(self._keys, self._index_of, keys)
        text = keys if self.key_dtype == _dtypes.string else _ops.do.as_string(keys)
        bucket = _ops.do.strings.to_hash_bucket_fast(text, self._buckets)
        return self._values_at(at, _ops.add(bucket, np.int64(len(self._index_of))))

    def size(self, name=None):
        """Number of indices, including buckets: int64."""
        return _ops.constant(np.int64(len(self._index_of) + self._buckets))


class _MutableTable(StaticHashTable):
    """A table that can grow. A pipeline sees it as it was when the function was traced."""

    def __init__(self, key_dtype, value_dtype, default_value, name="MutableHashTable",
                 checkpoint=True, experimental_is_anonymous=False):  # fmt: skip
        key_dtype, value_dtype = _dtypes.as_dtype(key_dtype), _dtypes.as_dtype(value_dtype)
        empty = [np.empty(0, object if d == _dtypes.string else d) for d in (key_dtype, value_dtype)]
        super().__init__(KeyValueTensorInitializer(*empty), default_value, name)
        self._changes = {}  # since the vectors were made: key -> value, or _GONE

    def insert(self, keys, values, name=None):
        """Adds keys with their values, replacing existing ones."""
        keys = np.atleast_1d(self._keys_of(keys)).ravel()
        values = np.atleast_1d(_call.convert(values, self.value_dtype)).ravel()
        self._changes.update(zip(_plain(keys), _plain(values)))

    def remove(self, keys, name=None):
        """Removes these keys."""
        gone = _plain(np.atleast_1d(self._keys_of(keys)))
        self._changes.update((k, _GONE) for k in gone)

    def lookup(self, keys, name=None):
        """The value of each key."""
        self._settle()
        return super().lookup(keys)

    def size(self, name=None):
        """Number of keys: int64."""
        self._settle()
        return super().size()

    def export(self, name=None):
        """(keys, values)."""
        self._settle()
        return super().export()

    def _settle(self):
        """The vectors updated with pending changes: once for many of them."""
        if not self._changes:
            return
        table = dict(zip(_plain(self._keys), _plain(self._values)))
        table.update(self._changes)
        self._changes = {}
        kept = [(k, v) for k, v in table.items() if v is not _GONE]

        def column(items, dtype):
            if dtype == _dtypes.string:
                return _dtypes.strings(np.array(items, dtype=object))
            return np.array(items, dtype)

        self._fill(
            column([k for k, _ in kept], self.key_dtype), column([v for _, v in kept], self.value_dtype)
        )


class experimental:
    """Tables that grow."""

    MutableHashTable = _MutableTable

    class DenseHashTable(_MutableTable):
        """A table that grows; empty_key and deleted_key are accepted."""

        def __init__(self, key_dtype, value_dtype, default_value, empty_key=None, deleted_key=None, initial_num_buckets=None,
                     name="DenseHashTable", checkpoint=True, experimental_is_anonymous=False):  # fmt: skip
            super().__init__(key_dtype, value_dtype, default_value, name)
__getattr__ = _absent.answers("lookup", __name__)
__dir__ = _named.surface(globals())
