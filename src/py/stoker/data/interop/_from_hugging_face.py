# SPDX-License-Identifier: Apache-2.0
"""Hugging Face `datasets`: folders written by save_to_disk or load_dataset, and live objects.

A dataset's rows are in Arrow streams, which are mapped. After shuffle, select or filter, a list of positions
(`_indices`) says which rows remain. An Image is its file's bytes, or decoded; an Audio is its file's bytes. Folders are
read without the package `datasets`.

Limits: a format with a Python function (with_transform, set_transform) is rejected: use map instead. A streaming
dataset with map or filter runs those in Python, example by example.
"""

import glob
import json
import os
import re

import numpy as np

from ..core import _arguments
from ..core._dataset import Dataset
from ..core._options import AUTOTUNE
from ..errors import DataLossError, InvalidArgumentError, NotFoundError, UnimplementedError
from ..files import _arrow, _arrow_files
from ..ops import image as _image, strings as _strings
from ..core._function import cond
from .. import io as _io

_FILES = ("Image", "Audio", "Video", "Pdf")  # features whose values are files: structs of bytes and path


def _is_file(feature):
    return isinstance(feature, dict) and feature.get("_type") in _FILES


def _features(schema):
    """{column: feature} from a schema's metadata, as written by `datasets`."""
    text = (schema.metadata or {}).get(b"huggingface")
    try:
        features = json.loads(text)["info"]["features"] if text else {}
    except (ValueError, KeyError, TypeError):
        return {}
    return features if isinstance(features, dict) else {}


def _children(feature):
    """The features of a struct's fields, of a list's values as {None: feature}, or nothing."""
    if isinstance(feature, list):
        return {None: feature[0]} if feature else {}
    if not isinstance(feature, dict):
        return {}
    kind = feature.get("_type")
    if kind is None:
        return feature
    return {None: feature["feature"]} if isinstance(feature.get("feature"), (dict, list)) else {}


def _prune(structure, feature):
    """The structure without a file column's fields other than bytes and path, and the fill values for nulls."""
    if _is_file(feature):
        if not isinstance(structure, dict):
            return structure  # only paths or bytes, with decode=False in some versions
        return {k: structure[k] for k in ("bytes", "path") if k in structure}
    below = _children(feature)
    if None in below:
        return _prune(structure, below[None])
    if isinstance(structure, dict):
        return {k: _prune(v, below.get(k)) for k, v in structure.items()}
    return structure


def _file_leaves(structure, feature):
    """Names of file leaves, in which a null is empty."""
    if _is_file(feature) and isinstance(structure, dict):
        return [leaf.name for leaf in structure.values() if isinstance(leaf, _arrow.Leaf)]
    below = _children(feature)
    if None in below:
        return _file_leaves(structure, below[None])
    if isinstance(structure, dict):
        return [n for k, v in structure.items() for n in _file_leaves(v, below.get(k))]
    return []


def _reads_files(features):
    return any(_is_file(f) or _reads_files(_children(f)) for f in features.values())


def _bytes_of(value):
    """A file's bytes, from the column or from the file it names."""
    if not isinstance(value, dict) or "bytes" not in value:
        return value
    if "path" not in value:
        return value["bytes"]
    size = _strings.length(value["bytes"])
    is_named = _strings.length(value["path"]) > 0
    read = (size == 0) & is_named
    return cond(read, lambda: _io.read_file(value["path"]), lambda: value["bytes"])


def _as_file(value, feature, decode):
    data = _bytes_of(value)
    if decode and feature.get("_type") == "Image":
        return _image.decode_image(data, channels=3, expand_animations=False)
    return data


class _Finish:
    """The map function that turns structs of files into bytes or images."""

    def __init__(self, features, decode):
        self.features, self.decode = features, decode

    def __call__(self, row):
        return self._of(row, self.features)

    def _of(self, value, features):
        out = {}
        for name, v in value.items():
            feature = features.get(name)
            is_scalar = isinstance(v, dict) and "bytes" in v and getattr(v["bytes"], "shape", ()) == ()
            if _is_file(feature) and (is_scalar or not isinstance(v, dict)):
                out[name] = _as_file(v, feature, self.decode)
            elif _is_file(feature):  # a list of files
                out[name] = v["bytes"]
            elif isinstance(v, dict):
                below = _children(feature)
                out[name] = self._of(v, _children(below[None]) if None in below else below)
            else:
                out[name] = v
        return out


def _finished(ds, features, decode):
    if not _reads_files(features):
        return ds
    return ds.map(_Finish(features, decode), num_parallel_calls=AUTOTUNE)


def _nulls(pa, schema, features, nulls):
    """nulls, plus empty texts for files."""
    if nulls == "zero":
        return nulls
    leaves = []
    for name, structure in _arrow.structure(pa, schema).items():
        leaves += _file_leaves(structure, features.get(name))
    return {**dict.fromkeys(leaves, b""), **(nulls or {})} or None


def _more(pa, schema, nulls, shuffle, seed):
    features = _features(schema)
    return features, {
        "nulls": _nulls(pa, schema, features, nulls),
        "shuffle": shuffle,
        "seed": _arguments.seed(seed),
        "prune": lambda wanted: {k: _prune(v, features.get(k)) for k, v in wanted.items()},
    }


# Folders


def _load(path, name):
    try:
        with open(os.path.join(path, name)) as f:
            return json.load(f)
    except FileNotFoundError:
        return None
    except ValueError as e:
        raise DataLossError(f"{os.path.join(path, name)}: {e}") from e


def _split_of(name):
    """The split of a cache file: "train" for "food-train-00000-of-00002.arrow"."""
    stem = re.sub(r"-\d{5}-of-\d{5}$", "", os.path.basename(name)[: -len(".arrow")])
    return stem.rpartition("-")[2]


def _files_of(path, split):
    """(data files, files of indices or []) of a folder."""
    splits = _load(path, "dataset_dict.json")
    if splits is not None:
        names = splits.get("splits", [])
        if split not in names:
            given = "split= is missing" if split is None else f"there is no split {split!r}"
            raise InvalidArgumentError(f"{path}: {given}; it has {', '.join(map(repr, names))}")
        return _files_of(os.path.join(path, split), None)
    state = _load(path, "state.json")
    if state is not None:
        if split is not None and state.get("_split") not in (None, split):
            raise InvalidArgumentError(f"{path}: this is split {state['_split']!r}, not {split!r}")
        places = state.get("_indices_data_files") or state.get("_indices_files") or []
        return tuple(
            [os.path.join(path, f["filename"]) for f in files or []]
            for files in (state.get("_data_files"), places)
        )
    names = [n for n in sorted(glob.glob(os.path.join(glob.escape(path), "*.arrow")))]
    names = [n for n in names if not os.path.basename(n).startswith("cache-")]
    if not names:
        raise NotFoundError(
            f"{path}: no dataset: neither state.json or dataset_dict.json (save_to_disk), nor Arrow files "
            "(the cache of load_dataset)"
        )
    found = sorted({_split_of(n) for n in names})
    if split is None and len(found) > 1 or split is not None and split not in found:
        given = "split= is missing" if split is None else f"there is no split {split!r}"
        raise InvalidArgumentError(f"{path}: {given}; it has {', '.join(map(repr, found))}")
    return [n for n in names if split is None or _split_of(n) == split], []


def _places(pa, files):
    tables = [pa.ipc.open_stream(pa.memory_map(f)).read_all() for f in files]
    return np.concatenate([_numbers(t) for t in tables])


def _numbers(table):
    """The rows' indices: int64."""
    return table.column(0).to_numpy().astype(np.int64)


def _of_folder(path, split, columns, nulls, shuffle, seed, shard, decode):
    pa = _arrow.pyarrow()
    files, places = _files_of(path, split)
    if not files:
        raise InvalidArgumentError(f"{path}: the dataset has no files, and no rows")
    for f in files:
        if not os.path.isfile(f):
            raise NotFoundError(f"{f}: no such file, which {path} names")
    ds = _arrow.new()
    schema = _arrow_files.of_files(
        ds,
        files,
        columns,
        None if places else shard,
        lambda schema: _more(pa, schema, nulls, shuffle and not places, seed)[1],
    )
    if places:
        ds = _picked(ds, _places(pa, places), shuffle, seed, shard)
    return _finished(ds, _features(schema), decode)


def _picked(ds, places, shuffle, seed, shard):
    places = places if shard is None else _arrow.sharded(places, shard)
    numbers = Dataset.from_tensor_slices(np.ascontiguousarray(places))
    if shuffle:
        numbers = numbers.shuffle(max(len(places), 1), seed=seed)
    return ds.pick(numbers)


# Live objects


class _Live(_arrow_files.Table):
    """Opens record batches of a live dataset, which is pickled as its files' names."""

    def table(self):
        return _plain_table(self.source).select(self.columns)


def _plain_table(dataset):
    return getattr(dataset.data, "table", dataset.data)


def _check_format(dataset):
    kind = dataset.format.get("type") if isinstance(dataset.format, dict) else None
    if kind == "custom":
        raise UnimplementedError(
            "the dataset has a transform in Python (set_transform, with_transform): reset it with "
            "dataset.reset_format(), and give what it does to map"
        )


def _of_dataset(dataset, columns, nulls, shuffle, seed, shard, decode):
    pa = _arrow.pyarrow()
    _check_format(dataset)
    table = _plain_table(dataset)
    if columns is None and isinstance(dataset.format, dict):
        columns = [c for c in table.schema.names if c in (dataset.format.get("columns") or [c])]
    what = "the dataset"
    wanted = _arrow.select(table.schema, columns, what)
    own = table.select(wanted)
    places = getattr(dataset, "_indices", None)
    schema = dataset.features.arrow_schema
    schema = pa.schema([schema.field(c) for c in wanted], schema.metadata)
    features, more = _more(pa, schema, nulls, shuffle and places is None and shard is None, seed)
    ds = _arrow.new()
    _arrow_files.of_table(ds, own, _Live(dataset, wanted, what), what, **more)
    if places is not None:
        ds = _picked(ds, _numbers(_plain_indices(places)), shuffle, seed, shard)
    elif shard is not None:
        ds = _picked(ds, np.arange(len(own)), shuffle, seed, shard)
    return _finished(ds, features, decode)


def _plain_indices(places):
    return getattr(places, "table", places)


class _Iterable:
    """Streams of a streaming dataset: as Arrow tables without Python per row if it has no functions; otherwise by its
    examples."""

    def __init__(self, dataset, columns, rows=1000):
        self.dataset, self.columns, self.rows = dataset, columns, rows

    def tables(self):
        if self.dataset._ex_iterable.iter_arrow:
            yield from self.dataset.with_format("arrow").iter(batch_size=self.rows)
            return
        datasets = _arrow.need("datasets", "a streaming dataset")
        features = self.dataset.features
        for batch in self.dataset.with_format(None).iter(batch_size=self.rows):
            yield _plain_table(datasets.Dataset.from_dict(batch, features=features))

    def __call__(self):
        pa = _arrow.pyarrow()
        schema = self.dataset.features.arrow_schema
        schema = pa.schema([schema.field(c) for c in self.columns])
        batches = (
            b for t in self.tables() for b in t.select(self.columns).cast(schema).to_batches()
        )
        return pa.RecordBatchReader.from_batches(schema, batches)


def _of_iterable(dataset, columns, nulls, decode):
    pa = _arrow.pyarrow()
    if dataset.features is None:
        raise InvalidArgumentError(
            "the streaming dataset doesn't know its features: give map(..., features=...) those of its "
            "results, or name them with dataset.cast(features)"
        )
    schema = dataset.features.arrow_schema
    wanted = _arrow.select(schema, columns, "the streaming dataset")
    schema = pa.schema([schema.field(c) for c in wanted], schema.metadata)
    features, more = _more(pa, schema, nulls, False, None)
    opener = _arrow_files._Stream(_Iterable(dataset, wanted), wanted, "the streaming dataset")
    ds = _arrow.new()
    size = _arrow.UNKNOWN_BYTES
    _arrow.make(ds, schema, opener, [opener.what], [(0, 0, -1)], unit_bytes=size, **more)
    return _finished(ds, features, decode)


def from_huggingface(
    dataset,
    split=None,
    columns=None,
    nulls=None,
    shuffle=False,
    seed=None,
    shard=None,
    decode=True,
):
    """Rows of a Hugging Face dataset as dicts of columns: from a live Dataset, DatasetDict (with split=) or
    IterableDataset, or from a folder written by save_to_disk or load_dataset. Needs pyarrow.

    decode: images as uint8 (height, width, 3); False: their files' bytes, for decoding with a crop.
    columns, nulls, shuffle, shard: as in ParquetDataset; after a selection, shards consist of single rows.
    """
    if isinstance(dataset, (str, bytes, os.PathLike)):
        path = _arguments.local(dataset)
        if not os.path.isdir(path):
            raise NotFoundError(f"{path}: no such folder")
        return _of_folder(path, split, columns, nulls, shuffle, seed, shard, decode)
    package = type(dataset).__module__.split(".")[0]
    if package == "datasets" and isinstance(dataset, dict):
        if split not in dataset:
            names = ", ".join(map(repr, dataset))
            raise InvalidArgumentError(f"split is one of {names}, not {split!r}")
        dataset = dataset[split]
    if package == "datasets" and hasattr(dataset, "_ex_iterable"):
        if shuffle or shard is not None:
            raise UnimplementedError(
                "a streaming dataset shuffles and shards itself: dataset.shuffle(...), dataset.shard(...)"
            )
        return _of_iterable(dataset, columns, nulls, decode)
    if package != "datasets" or not hasattr(dataset, "data"):
        raise TypeError(
            "from_huggingface takes a Dataset of the package datasets, or the folder of one, not "
            f"{type(dataset).__name__}"
        )
    return _of_dataset(dataset, columns, nulls, shuffle, seed, shard, decode)
