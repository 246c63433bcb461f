# SPDX-License-Identifier: Apache-2.0
"""A source for folders written by tf.data.Dataset.save: TFRecord files of serialized tensors.

The folder has snapshot.metadata (a protobuf message: the run's number, the format's version, the number of elements)
and a folder for the run with one folder per shard. Each component of an element is one record. Without a reader_func,
shards are read alternately, as in TensorFlow.

Limits: version 2, uncompressed or GZIP; dense components. Others are rejected.
"""

import os

import numpy as np

from ..core import _spec
from ..core._dataset import Dataset
from ..files import _sources
from ..ops._ops import do
from . import _tf_names
from ._tf_graph import Unsupported

_METADATA_MAX = 1 << 20  # bytes; it has a number for each component


def _metadata(folder):
    """The SnapshotMetadataRecord of a folder."""
    from tensorflow.core.protobuf import snapshot_pb2

    path = os.path.join(folder, "snapshot.metadata")
    try:
        with open(path, "rb") as f:
            data = f.read(_METADATA_MAX + 1)
    except OSError as e:
        raise Unsupported(f"{path}: {e.strerror}; was the dataset saved there?") from e
    found = snapshot_pb2.SnapshotMetadataRecord()
    try:
        if len(data) > _METADATA_MAX:
            raise ValueError
        found.ParseFromString(data)
    except Exception as e:
        raise Unsupported(f"{path} is damaged") from e
    if found.version != 2 or not found.run_id or os.sep in found.run_id or not found.finalized:
        raise Unsupported(f"{path}: version {found.version}, or not complete; complete ones of version 2 are read")
    return found


def _shards(folder):
    """The files of each shard, in order."""
    out = []
    for shard in sorted(os.listdir(folder)):
        inside = os.path.join(folder, shard)
        if os.path.isdir(inside) and not os.path.islink(inside):
            out.append([os.path.join(inside, f) for f in sorted(os.listdir(inside)) if f.endswith(".snapshot")])
    if not any(out):
        raise Unsupported(f"{folder} has no .snapshot files")
    return [files for files in out if files]


def loaded(folder, element_spec, compression, reader):
    """The saved elements of a folder."""
    compression = None if compression in (None, "", "NONE") else compression
    if compression not in (None, "GZIP"):
        raise Unsupported(f"compression {compression}; save it with None or GZIP")
    spec = _tf_names.spec_of(element_spec)
    leaves = _spec.flatten(spec)
    if not leaves or not all(type(s) is _spec.TensorSpec for s in leaves):
        raise Unsupported("saved elements with sparse or ragged values, or datasets")
    found = _metadata(folder)
    files = _shards(os.path.join(folder, found.run_id))
    name = getattr(getattr(reader, "_func", None), "__qualname__", "")
    if len(files) > 1 and "_load.<locals>" not in name:
        raise Unsupported("a reader_func of several shards; load without one, and map or interleave after from_tf")

    def element(records):
        parts = iter([_parsed(records[i], s) for i, s in enumerate(leaves)])
        return _spec.map_structure(lambda _: next(parts), spec)

    def shard(names):
        return _sources.TFRecordDataset(names, compression).batch(len(leaves), drop_remainder=True)

    if len(files) == 1:
        return shard(files[0]).map(element)
    width = max(map(len, files))
    if width > 1:
        raise Unsupported("several shards with several files each")
    names = Dataset.from_tensor_slices([f for (f,) in files])
    return names.interleave(shard, cycle_length=os.cpu_count() or 1, block_length=1).map(element)


def _header(spec):
    """The bytes before the values in a record of a component with known shape and type: TensorProto's fields, up to the
    length of tensor_content."""
    import tensorflow as tf

    count = int(np.prod(spec.shape, dtype=np.int64))
    shape = tf.TensorShape(spec.shape).as_proto().SerializeToString()
    dtype = tf.as_dtype(spec.dtype.name).as_datatype_enum
    size = _varint(count * spec.dtype.itemsize)
    return b"\x08" + _varint(dtype) + b"\x12" + _varint(len(shape)) + shape + b"\x22" + size


def _varint(n):
    out = b""
    while n > 127:
        out, n = out + bytes([n & 127 | 128]), n >> 7
    return out + bytes([n])


def _parsed(record, spec):
    """The value of a record: native if its bytes follow a known header."""
    is_known = spec.shape is not None and None not in spec.shape and spec.dtype.kind in "iufb"
    if not is_known or not np.prod(spec.shape, dtype=np.int64):
        value = do.io.parse_tensor(record, spec.dtype)
        return value if spec.shape is None else do.ensure_shape(value, spec.shape)
    header = _header(spec)
    size = int(np.prod(spec.shape, dtype=np.int64)) * spec.dtype.itemsize
    is_whole = do.logical_and(
        do.equal(do.strings.substr(record, 0, len(header)), header),
        do.equal(do.strings.length(record), np.int32(len(header) + size)),
    )
    do.debugging.Assert(is_whole, ["a saved element is damaged: its type, shape or length differs"])
    raw = do.io.decode_raw(do.strings.substr(record, len(header), size), "uint8" if spec.dtype == bool else spec.dtype)
    raw = do.cast(raw, "bool") if spec.dtype == bool else raw
    return do.reshape(raw, spec.shape)
