# SPDX-License-Identifier: Apache-2.0
"""Reading and writing: TFRecord files, tf.train.Example, parsing."""

import collections
import os

import numpy as np

from .ops import _ops
from .core import _absent, _arguments, _call, _dtypes, _named, _spec
from . import _engine
from .core._sparse import RaggedTensor, SparseTensor
from .errors import InvalidArgumentError
from .files._gfile import gfile  # noqa: F401


class TFRecordOptions:
    """compression_type: "", "GZIP" or "ZLIB"; compression_level: 1 to 9. The others are accepted."""

    def __init__(
        self,
        compression_type=None,
        compression_level=None,
        flush_mode=None,
        input_buffer_size=None,
        output_buffer_size=None,
        window_bits=None,
        compression_method=None,
        mem_level=None,
        compression_strategy=None,
    ):
        self.compression_type, self.compression_level = compression_type, compression_level


class TFRecordWriter:
    """Writes TFRecord files: `with TFRecordWriter(path, options="GZIP") as w: w.write(record)`.

    The file is complete only after close() (or the end of `with`).
    """

    def __init__(self, path, options=None):
        if isinstance(options, str) or options is None:
            options = TFRecordOptions(options)
        self._writer = _engine.RecordWriter(
            _arguments.local(path), options.compression_type or "", options.compression_level or 0
        )

    def write(self, record):
        """record: bytes, or an Example."""
        if isinstance(record, (Example, SequenceExample)):
            record = record.SerializeToString()
        try:
            self._writer.write(record)
        except TypeError:
            raise TypeError(
                f"write takes bytes, a buffer or an Example, not {type(record).__name__}"
            ) from None

    def flush(self):
        """Accepted; blocks are written when full."""

    def close(self):
        """Writes the rest. Raises if the file can't be written."""
        self._writer.finish()

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.close()


def _feature(name, value):
    """int64, float32 or bytes values of a feature, 1-D."""
    if value is None:
        return None
    if isinstance(value, (str, bytes)):
        value = [value]
    if isinstance(value, (list, tuple)) and not value:
        return None  # without a type
    a = _dtypes.array(value)
    if a.dtype.kind in "SUO":
        return _dtypes.strings(a).reshape(-1)
    if a.dtype.kind in "biu":
        if a.dtype == np.uint64 and a.size and a.max() > 2**63 - 1:
            raise InvalidArgumentError(f"feature {name}: beyond int64")
        return a.astype(np.int64).reshape(-1)
    if a.dtype.kind == "f":
        return a.astype(np.float32).reshape(-1)
    raise InvalidArgumentError(
        f"feature {name}: values are integers, floats or bytes, not {a.dtype}"
    )


class Example:
    """tf.train.Example from a dict: numbers, arrays, bytes and lists of them; None: a feature without values. Integers
    become int64, floats float32; arrays are flattened."""

    def __init__(self, features=None, **more):
        self.features = dict(features or {}, **more)

    def SerializeToString(self):
        """The wire form."""
        items = sorted((str(k), v) for k, v in self.features.items())
        return _engine.encode([(k, _feature(k, v), None) for k, v in items], False)

    def __bytes__(self):
        return self.SerializeToString()

    def __repr__(self):
        return f"Example({self.features!r})"


class SequenceExample:
    """tf.train.SequenceExample: context as an Example's features, feature_lists: lists of them."""

    def __init__(self, context=None, feature_lists=None):
        self.context, self.feature_lists = dict(context or {}), dict(feature_lists or {})

    def SerializeToString(self):
        """The wire form."""
        context, lists = self.context, self.feature_lists
        lists = lists if isinstance(lists, dict) else lists.values()  # train.FeatureLists
        out = [(k, _feature(k, v), None) for k, v in sorted(context.items())]
        for name, steps in sorted(lists.items()):
            parts = [_feature(name, s) for s in steps]
            full = [p for p in parts if p is not None]
            flat = np.concatenate(full) if full else None
            out.append((name, flat, [0 if p is None else len(p) for p in parts]))
        return _engine.encode(out, True)

    def __bytes__(self):
        return self.SerializeToString()


FixedLenFeature = collections.namedtuple("FixedLenFeature", "shape dtype default_value")
FixedLenFeature.__new__.__defaults__ = (None,)
VarLenFeature = collections.namedtuple("VarLenFeature", "dtype")
FixedLenSequenceFeature = collections.namedtuple(
    "FixedLenSequenceFeature", "shape dtype allow_missing default_value"
)
FixedLenSequenceFeature.__new__.__defaults__ = (False, None)


class RaggedFeature(
    collections.namedtuple("RaggedFeature", "dtype value_key partitions row_splits_dtype validate")
):
    """Values of a feature whose number varies; partitions split them into rows."""

    RowSplits = collections.namedtuple("RowSplits", "key")
    RowLengths = collections.namedtuple("RowLengths", "key")
    RowStarts = collections.namedtuple("RowStarts", "key")
    UniformRowLength = collections.namedtuple("UniformRowLength", "length")

    def __new__(
        cls, dtype, value_key=None, partitions=(), row_splits_dtype="int32", validate=False
    ):
        return super().__new__(cls, dtype, value_key, tuple(partitions), row_splits_dtype, validate)


class SparseFeature(
    collections.namedtuple("SparseFeature", "index_key value_key dtype size already_sorted")
):
    """A sparse value: indices in one feature (or several), values in another."""

    def __new__(cls, index_key, value_key, dtype, size, already_sorted=False):
        return super().__new__(cls, index_key, value_key, dtype, size, already_sorted)


_KINDS = {FixedLenFeature: 0, VarLenFeature: 1, RaggedFeature: 2, FixedLenSequenceFeature: 3}
_KIND_OF = {c.__name__: kind for c, kind in _KINDS.items()}  # TensorFlow's own classes also work


def _description(features, prefix, attrs):
    """The features as attributes of the engine's operation, in sorted order."""
    names, kinds, dtypes, shapes, ranks, defaults, has_default, missing = (
        [],
        [],
        [],
        [],
        [],
        [],
        [],
        [],
    )
    for name in sorted(features):
        f = features[name]
        kind = _KIND_OF.get(type(f).__name__)
        if kind is None:
            raise TypeError(
                f"feature {name}: FixedLenFeature, VarLenFeature, FixedLenSequenceFeature, "
                f"RaggedFeature or SparseFeature is expected, not {f!r:.60}"
            )
        dtype = _dtypes.as_dtype(f.dtype)
        if dtype not in (np.dtype("int64"), np.dtype("float32"), _dtypes.string):
            raise InvalidArgumentError(
                f"feature {name}: dtype is int64, float32 or string, not {dtype}"
            )
        if getattr(f, "partitions", ()):
            raise NotImplementedError(f"feature {name}: partitions are not supported yet")
        shape = tuple(_spec.as_shape(getattr(f, "shape", ())) or ())
        if None in shape:
            raise InvalidArgumentError(f"feature {name}: its shape must be known, not {shape}")
        names.append(getattr(f, "value_key", None) or name)
        kinds.append(kind)
        dtypes.append(_dtypes.number(dtype))
        shapes.extend(shape)
        ranks.append(len(shape))
        missing.append(int(bool(getattr(f, "allow_missing", False))))
        default = getattr(f, "default_value", None)
        has_default.append(int(default is not None))
        if default is not None:
            defaults.append(_default(name, default, dtype, shape))
    attrs[prefix + "names"] = ("texts", names)
    for k, v in (("kinds", kinds), ("dtypes", dtypes), ("dims", shapes), ("ranks", ranks)):
        attrs[prefix + k] = ("ints", v)
    attrs[prefix + "has_default"], attrs[prefix + "allow_missing"] = ("ints", has_default), (
        "ints",
        missing,
    )
    if defaults:
        attrs[prefix + "defaults"] = ("tensors", defaults)


def _default(name, value, dtype, shape):
    a = _call.convert(value, dtype)
    if a.size != 1 and a.shape != shape:
        raise InvalidArgumentError(
            f"feature {name}: the default has shape {a.shape}, the feature {shape}"
        )
    return a


def _collect(features, results, is_batch):
    """Values of the features from the operation's results."""
    out, results = {}, iter(results)
    for name in sorted(features):
        f = features[name]
        if isinstance(f, VarLenFeature):
            out[name] = SparseTensor(
                next(results), next(results), next(results), (None,) * (1 + is_batch)
            )
        elif isinstance(f, RaggedFeature):
            values = next(results)
            splits = [
                _ops.cast(next(results), f.row_splits_dtype)
                for _ in range(int(is_batch))
            ]
            out[name] = RaggedTensor(values, splits) if splits else values
        else:
            out[name] = next(results)
    return {k: out[k] for k in _in_order(features)}


def _in_order(features):
    """Names in the order of TensorFlow's results: sparse ones, dense ones, ragged ones, those made from other features;
    each sorted."""

    def group(name):
        f = features[name]
        if isinstance(f, VarLenFeature):
            return 0
        if isinstance(f, RaggedFeature):
            return 2 if f.value_key in (None, name) else 3
        return 3 if isinstance(f, SparseFeature) else 1

    return sorted(features, key=lambda n: (group(n), n))


def _key(features, name):
    return getattr(features[name], "value_key", None) or name


def _parse(serialized, features, is_batch):
    """The features' values; features that share a key are read in rounds, because the engine takes each key once."""
    if not isinstance(features, dict) or not features:
        raise InvalidArgumentError("features must be a dict of at least one feature")
    if any(isinstance(f, SparseFeature) for f in features.values()):
        return _parse_sparse(serialized, features, is_batch)
    left, out = dict(features), {}
    while left:
        chosen = {_key(left, n): n for n in sorted(left, reverse=True)}
        now = {n: left.pop(n) for n in chosen.values()}
        attrs = {}
        _description(now, "", attrs)
        out.update(_collect(now, _call.run("parse_example", [serialized], attrs), is_batch))
    return {n: out[n] for n in _in_order(features)}


def _parse_sparse(serialized, features, is_batch):
    """_parse for SparseFeatures: parses indices and values separately."""
    plain = {n: f for n, f in features.items() if not isinstance(f, SparseFeature)}
    for n, f in features.items():
        if isinstance(f, SparseFeature):
            keys = [f.index_key] if isinstance(f.index_key, str) else list(f.index_key)
            sizes = np.atleast_1d(np.asarray(f.size, np.int64))
            if len(keys) != len(sizes):
                raise InvalidArgumentError(f"feature {n}: index_key and size differ in length")
            for i, k in enumerate(keys):
                plain[f"{n}\0{i}"] = RaggedFeature("int64", value_key=k, row_splits_dtype="int64")
            plain[f"{n}\0"] = RaggedFeature(f.dtype, value_key=f.value_key, row_splits_dtype="int64")
    parsed = _parse(serialized, plain, is_batch)
    out = {}
    for n, f in features.items():
        if not isinstance(f, SparseFeature):
            out[n] = parsed[n]
            continue
        sizes = np.atleast_1d(np.asarray(f.size, np.int64))
        places = [parsed[f"{n}\0{i}"] for i in range(len(sizes))]
        out[n] = _sparse_value(places, parsed[f"{n}\0"], sizes, is_batch, f.already_sorted)
    return {n: out[n] for n in _in_order(features)}


def _sparse_value(places, values, sizes, is_batch, already_sorted):
    """A SparseTensor from indices (one list for each dimension) and values; for a batch, from RaggedTensors."""
    run, do = _call.run, _ops.do
    shape = [np.int64(n) for n in sizes]
    if is_batch:
        rows = run("ragged_places", [values.row_splits], {})[0][:, 0]
        shape.insert(0, run("shape", [values.row_splits], {"out_type": _dtypes.number("int64")})[0][0] - 1)
        places, values = [rows] + [p.flat_values for p in places], values.flat_values
    n = run("shape", [values], {"out_type": _dtypes.number("int64")})[0][0]
    # Stacked with the values' numbers, lists of another length are an error.
    columns = do.stack(places + [do.range(n)], axis=1)[:, :-1]
    if not already_sorted:
        linear = places[0]
        for p, n in zip(places[1:], sizes if is_batch else sizes[1:]):
            linear = linear * np.int64(n) + p
        order = do.argsort(linear, stable=True)
        columns, values = do.gather(columns, order), do.gather(values, order)
    known = (None,) * is_batch + tuple(int(n) for n in sizes)
    return SparseTensor(columns, values, do.stack(shape), known)


def parse_single_example(serialized, features, example_names=None, name=None):
    """A dict of the features of one serialized Example (a string scalar).

    FixedLenFeature: a value with its shape; VarLenFeature: a SparseTensor; RaggedFeature: 1-D.
    """
    return _parse(_call.convert(serialized, _dtypes.string), features, False)


def parse_example(serialized, features, example_names=None, name=None):
    """The same for a vector of serialized Examples: the batch is each value's first dimension.

    VarLenFeature: a SparseTensor; RaggedFeature: a RaggedTensor.
    """
    serialized = _call.convert(serialized, _dtypes.string)
    is_batch = serialized.shape is None or len(serialized.shape) > 0
    return _parse(serialized, features, is_batch)


def _sequences(serialized, context_features, sequence_features):
    """[(feature's name, feature, its results)] for the context, and for the lists."""
    context, lists, attrs = context_features or {}, sequence_features or {}, {}
    for features, prefix in ((context, ""), (lists, "list_")):
        if features:
            _description(features, prefix, attrs)
            names = [_key(features, n) for n in sorted(features)]
            if len(set(names)) != len(names):
                raise NotImplementedError("several features with the same key in a SequenceExample")
    results = iter(_call.run("parse_sequence_example", [serialized], attrs))
    out = []
    for features, more in ((context, 0), (lists, 1)):
        part = {}
        for name in sorted(features):
            f = features[name]
            fixed = isinstance(f, (FixedLenFeature, FixedLenSequenceFeature))
            part[name] = [next(results) for _ in range((1 if fixed else 2) + more)]
        out.append({name: (features[name], part[name]) for name in _in_order(features)})
    return out


def _places(values, *splits):
    indices, shape = _call.run("ragged_places", list(splits), {})
    return SparseTensor(indices, values, shape, (None,) * (len(splits) + 1))


def _rows_of(f, splits):
    return [_ops.cast(s, f.row_splits_dtype) for s in splits]


def parse_single_sequence_example(
    serialized, context_features=None, sequence_features=None, example_name=None, name=None
):
    """(context, feature lists) of one serialized SequenceExample, as dicts.

    The context is as in parse_single_example. The lists, by step: FixedLenSequenceFeature: a value of (steps, shape);
    VarLenFeature: a SparseTensor; RaggedFeature: a RaggedTensor.
    """
    serialized = _call.convert(serialized, _dtypes.string)
    if serialized.shape is None or len(serialized.shape):
        raise InvalidArgumentError("parse_single_sequence_example takes one string")
    context, lists = _sequences(serialized, context_features, sequence_features)
    out = {}
    for n, (f, parts) in context.items():
        if isinstance(f, VarLenFeature):
            sparse = _places(parts[0], parts[1])
            out[n] = SparseTensor(
                sparse.indices[:, 1:], sparse.values, sparse.dense_shape[1:], (None,)
            )
        else:
            out[n] = parts[0]
    steps = {}
    for n, (f, parts) in lists.items():
        if isinstance(f, VarLenFeature):
            steps[n] = _places(parts[0], parts[1])
        elif isinstance(f, RaggedFeature):
            steps[n] = RaggedTensor(parts[0], _rows_of(f, [parts[1]]))
        else:
            steps[n] = parts[0]
    return out, steps


def parse_sequence_example(
    serialized, context_features=None, sequence_features=None, example_names=None, name=None
):
    """(context, feature lists, lengths) of a vector of serialized SequenceExamples, as dicts.

    Lists of FixedLenSequenceFeature are padded with zeros; lengths has the number of steps of each.
    """
    serialized = _call.convert(serialized, _dtypes.string)
    if serialized.shape is None or len(serialized.shape) != 1:
        raise InvalidArgumentError("parse_sequence_example takes a vector of strings")
    context, lists = _sequences(serialized, context_features, sequence_features)
    out, steps, lengths = {}, {}, {}
    for n, (f, parts) in context.items():
        if isinstance(f, VarLenFeature):
            out[n] = _places(parts[0], parts[1])
        elif isinstance(f, RaggedFeature):
            out[n] = RaggedTensor(parts[0], _rows_of(f, [parts[1]]))
        else:
            out[n] = parts[0]
    for n, (f, parts) in lists.items():
        if isinstance(f, VarLenFeature):
            steps[n] = _places(parts[0], parts[2], parts[1])
        elif isinstance(f, RaggedFeature):
            steps[n] = RaggedTensor(parts[0], _rows_of(f, [parts[2], parts[1]]))
        else:
            steps[n] = RaggedTensor(parts[0], [parts[1]]).to_tensor()
            lengths[n] = parts[1][1:] - parts[1][:-1]
    return out, steps, lengths


def decode_csv(
    records,
    record_defaults,
    field_delim=",",
    use_quote_delim=True,
    na_value="",
    select_cols=None,
    name=None,
):
    """Columns of CSV lines (strings), one value each; record_defaults: dtype or default of each."""
    dtypes, defaults = _arguments.csv_columns(record_defaults)
    attrs = {
        "dtypes": ("ints", [_dtypes.number(d) for d in dtypes]),
        "defaults": ("tensors", defaults),
        "field_delim": field_delim,
        "use_quote_delim": int(use_quote_delim),
        "na_value": na_value,
    }
    if select_cols is not None:
        attrs["select_cols"] = ("ints", [int(i) for i in select_cols])
    return _call.run("decode_csv", [_call.convert(records, _dtypes.string)], attrs)


def write_file(filename, contents, name=None):
    """Writes the bytes to a file, outside pipelines; creates missing folders."""
    filename = _arguments.local(filename)
    if os.path.dirname(filename):
        os.makedirs(os.path.dirname(filename), exist_ok=True)
    with open(filename, "wb") as f:
        f.write(contents.encode() if isinstance(contents, str) else bytes(contents))


for _n, _f in _ops.PUBLIC.items():
    if _n.startswith("io.") and not _n.endswith("_raw_csv"):
        globals().setdefault(_n.split(".")[1], _f)
__getattr__ = _absent.answers("io", __name__)
__dir__ = _named.surface(globals())
