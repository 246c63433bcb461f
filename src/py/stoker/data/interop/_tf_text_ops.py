# SPDX-License-Identifier: Apache-2.0
"""Translates operations of TensorFlow graphs: strings, Examples, sparse and ragged values."""

import numpy as np

from .. import io
from ..core._sparse import RaggedTensor, SparseTensor, to_dense
from ..ops._ops import do
from ._tf_graph import operation
from ._tf_ops import as_known, ints, scalar

@operation("StringLower", "StringUpper")
def _case_of(at, x):
    f = do.strings.lower if at.op.type == "StringLower" else do.strings.upper
    return f(x, encoding=at.text("encoding"))


@operation("Substr")
def _substr(at, x, pos, length):
    return do.strings.substr(x, pos, length, unit=at.text("unit"))


@operation("StringLength")
def _length(at, x):
    return do.strings.length(x, unit=at.text("unit"))


@operation("StringToNumber")
def _to_number(at, x):
    return do.strings.to_number(x, out_type=at.dtype("out_type"))


@operation("AsString")
def _as_string(at, x):
    names = ("precision", "scientific", "shortest", "width")
    return do.as_string(x, **{n: at.attr(n) for n in names}, fill=at.text("fill"))


@operation("StringJoin")
def _join(at, *xs):
    return do.strings.join(list(xs), separator=at.text("separator"))


@operation("ReduceJoin")
def _reduce_join(at, x, axis):
    known = ints(at, axis, "the axis")
    return do.strings.reduce_join(x, axis=known, keepdims=at.attr("keep_dims"), separator=at.text("separator"))


@operation("StringSplitV2")
def _split_text(at, x, separator):
    sep = scalar(at, separator, "the separator")
    parts = do.strings.split(x, sep=sep or None, maxsplit=at.attr("maxsplit"))
    return _as_sparse(parts)


def _as_sparse(ragged):
    """[indices, values, shape] of rows, as in StringSplit."""
    values, splits = ragged.flat_values, do.cast(ragged.row_splits, "int64")
    places = do.range(do.size(values, out_type="int64"))
    rows = do.searchsorted(splits[1:], places, side="right", out_type="int64")
    columns = do.subtract(places, do.gather(splits, rows))
    lengths = do.subtract(splits[1:], splits[:-1])
    widest = do.reduce_max(do.concat([lengths, np.zeros(1, np.int64)], 0))
    shape = do.stack([do.size(lengths, out_type="int64"), widest])
    return [do.stack([rows, columns], axis=1), values, shape]


@operation("StaticRegexReplace")
def _regex(at, x):
    more = at.attr("replace_global")
    return do.strings.regex_replace(x, at.text("pattern"), at.text("rewrite"), replace_global=more)


@operation("StaticRegexFullMatch")
def _full_match(at, x):
    return do.strings.regex_full_match(x, at.text("pattern"))


@operation("StringToHashBucketFast", "StringToHashBucket", "StringToHashBucketStrong")
def _bucket(at, x):
    n = at.attr("num_buckets")
    if at.op.type == "StringToHashBucketStrong":
        return do.strings.to_hash_bucket_strong(x, n, list(at.attr("key")))
    f = do.strings.to_hash_bucket_fast if at.op.type.endswith("Fast") else do.strings.to_hash_bucket
    return f(x, n)


@operation("DecodeRaw")
def _raw(at, x):
    return do.io.decode_raw(x, at.dtype("out_type"), little_endian=at.attr("little_endian"))


@operation("DecodeCompressed")
def _inflated(at, x):
    return do.io.decode_compressed(x, at.text("compression_type"))


@operation("DecodeBase64")
def _base64(at, x):
    return do.io.decode_base64(x)


@operation("DecodeCSV")
def _csv(at, records, *defaults):
    more = {"field_delim": at.text("field_delim"), "use_quote_delim": at.attr("use_quote_delim")}
    columns = list(at.attr("select_cols")) or None
    return list(io.decode_csv(records, list(defaults), na_value=at.text("na_value"), select_cols=columns, **more))


# Examples


def features_of(at, names, defaults, shapes=None, kinds=None):
    """{key: feature} in the order of the keys of ParseExample: sparse, dense, ragged."""
    sparse, dense, ragged = names
    out = {k: io.VarLenFeature(t) for k, t in zip(sparse, at.dtypes("sparse_types"))}
    if len(out) != len(sparse) or len(set(sparse) | set(dense) | set(ragged)) != len(sparse) + len(dense) + len(ragged):
        at.refuse("a feature that is parsed twice")
    for key, dtype, shape, default in zip(dense, at.dtypes("Tdense"), at.attr("dense_shapes"), defaults):
        dims = [None if d.size < 0 else d.size for d in shape.dim]
        has_default = np.size(default) > 0
        if dims and dims[0] is None:
            fill = np.asarray(default).reshape(-1)[0] if has_default else None
            out[key] = io.FixedLenSequenceFeature(dims[1:], dtype, allow_missing=True, default_value=fill)
        else:
            out[key] = io.FixedLenFeature(dims, dtype, default if has_default else None)
    for key, dtype, splits in zip(ragged, at.dtypes("ragged_value_types"), at.dtypes("ragged_split_types")):
        out[key] = io.RaggedFeature(dtype, row_splits_dtype=splits)
    return out


def _texts(at, v):
    if hasattr(v, "constant"):
        v = v.constant()
        if v is None:
            at.refuse("the keys are computed for each element")
    return [k.decode() if isinstance(k, bytes) else str(k) for k in np.ravel(np.asarray(v, object))]


def _parsed(found, names, is_ragged_batch=True):
    """The results of ParseExample, by kind."""
    sparse, dense, ragged = [[found[k] for k in part] for part in names]
    out = [s.indices for s in sparse] + [s.values for s in sparse] + [s.dense_shape for s in sparse] + dense
    return out + [r.flat_values for r in ragged] + [r.row_splits for r in ragged]


@operation("ParseExampleV2")
def _parse_example(at, serialized, _, sparse, dense, ragged, *defaults):
    names = [_texts(at, v) for v in (sparse, dense, ragged)]
    features = features_of(at, names, defaults)
    is_batch = np.ndim(serialized) if not hasattr(serialized, "shape") else len(serialized.shape or ())
    found = (io.parse_example if is_batch else io.parse_single_example)(serialized, features)
    if names[2] and not is_batch:
        at.refuse("ragged features of a single Example")
    return _parsed(found, names)


@operation("ParseSingleExample")
def _parse_single(at, serialized, *defaults):
    names = [[k.decode() for k in at.attr(n)] for n in ("sparse_keys", "dense_keys")] + [[]]
    return _parsed(io.parse_single_example(serialized, features_of(at, names, defaults)), names)


# Sparse and ragged values


@operation("SerializeSparse")
def _to_sparse(at, indices, values, shape):
    return SparseTensor(indices, values, shape)


@operation("DeserializeSparse")
def _from_sparse(at, v):
    if not isinstance(v, SparseTensor):
        at.refuse("of a value that is not sparse")
    return v.parts()


@operation("SparseToDense")
def _dense(at, indices, shape, values, default):
    if len(getattr(values, "shape", ())) != 1 or len(getattr(indices, "shape", ()) or ()) != 2:
        at.refuse("with one value for all places, or places of one dimension")
    return to_dense(SparseTensor(do.cast(indices, "int64"), values, do.cast(shape, "int64")), as_known(default))


@operation("RaggedTensorToVariant")
def _to_ragged(at, *parts):
    return RaggedTensor(parts[-1], list(parts[:-1])) if len(parts) > 1 else parts[-1]


@operation("RaggedTensorFromVariant")
def _from_ragged(at, v):
    depth = at.attr("output_ragged_rank")
    if not isinstance(v, RaggedTensor) or v.ragged_rank != depth:
        at.refuse("of a value that is not ragged in as many dimensions")
    return list(v.nested_row_splits) + [v.flat_values]


@operation("RaggedTensorToTensor")
def _ragged_dense(at, shape, values, default, *partitions):
    kinds = [k.decode() for k in at.attr("row_partition_types")]
    if kinds == ["FIRST_DIM_SIZE", "VALUE_ROWIDS"]:
        rows = do.range(do.add(do.cast(partitions[0], "int64"), np.int64(1)))
        splits = do.searchsorted(do.cast(partitions[1], "int64"), rows, side="left", out_type="int64")
    elif kinds == ["ROW_SPLITS"]:
        splits = do.cast(partitions[0], "int64")
    else:
        at.refuse(f"of partitions {', '.join(kinds)}")
    if any(d != -1 for d in ints(at, shape, "the shape")):
        at.refuse("to a given shape")
    return RaggedTensor(values, [splits]).to_tensor(as_known(default))
