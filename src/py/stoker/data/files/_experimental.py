# SPDX-License-Identifier: Apache-2.0
"""tf.data.experimental: whole pipelines from files, and older names of Dataset's methods as functions for
Dataset.apply."""

import csv as _csv
import enum
import gzip
import inspect
import io as _io
import zlib

import numpy as np

from ..core._dataset import Dataset
from ..core._named import hint
from ..core._options import (
    AUTOTUNE,
    UNKNOWN_CARDINALITY,
    AutotuneOptions,
    DistributeOptions,
    OptimizationOptions,
    ServiceOptions,
    ThreadingOptions,
)
from ._sources import CsvDataset, TFRecordDataset
from ..errors import FailedPreconditionError, InvalidArgumentError, NotFoundError
from ..io import TFRecordWriter as _Writer
from ..io import parse_example

_KINDS = ("int32", "int64", "float32", "float64", "bytes")


class AutoShardPolicy(enum.IntEnum):
    """How TensorFlow's strategies split a dataset; stored but unused: shard() does it here."""

    OFF = -1
    AUTO = 0
    FILE = 1
    DATA = 2
    HINT = 3


def _files(pattern):
    names = []
    for p in [pattern] if isinstance(pattern, (str, bytes)) else list(pattern):
        try:
            names += [f.decode() for f in Dataset.list_files(p, shuffle=False)]
        except NotFoundError as e:  # like TensorFlow's
            raise InvalidArgumentError(str(e)) from e
    return sorted(names)


def _rows(name, compression_type, field_delim, use_quote_delim, encoding):
    with open(name, "rb") as f:
        data = f.read() if compression_type else None
        if compression_type:
            data = gzip.decompress(data) if compression_type == "GZIP" else zlib.decompress(data)
        text = _io.TextIOWrapper(_io.BytesIO(data) if data is not None else f, encoding, newline="")
        quoting = _csv.QUOTE_MINIMAL if use_quote_delim else _csv.QUOTE_NONE
        yield from _csv.reader(text, delimiter=field_delim, quoting=quoting)


def _fits(text, kind):
    if kind == "bytes":
        return True
    try:
        value = int(text) if kind.startswith("int") else float(text)
    except ValueError:
        return False
    if kind.startswith("int"):
        return np.iinfo(kind).min <= value <= np.iinfo(kind).max
    return abs(value) <= float(np.finfo(kind).max) or not np.isfinite(value)


def _defaults(rows, columns, na_value, names):
    """0 or "" of the narrowest type that holds each column's values."""
    kinds = [None] * len(columns)
    for row in rows:
        if len(row) != names:
            raise InvalidArgumentError(f"a row of {len(row)} columns where there are {names}")
        for i, column in enumerate(columns):
            if row[column] in ("", na_value):
                continue
            first = _KINDS.index(kinds[i]) if kinds[i] else 0
            kinds[i] = next(k for k in _KINDS[first:] if _fits(row[column], k))
    return ["" if k in (None, "bytes") else np.zeros(1, k) for k in kinds]


def _shuffled_and_repeated(ds, num_epochs, shuffle, buffer_size, seed):
    ds = ds.shuffle(buffer_size, seed) if shuffle else ds
    return ds if num_epochs == 1 else ds.repeat(num_epochs)


def make_csv_dataset(
    file_pattern,
    batch_size,
    column_names=None,
    column_defaults=None,
    label_name=None,
    select_columns=None,
    field_delim=",",
    use_quote_delim=True,
    na_value="",
    header=True,
    num_epochs=None,
    shuffle=True,
    shuffle_buffer_size=10000,
    shuffle_seed=None,
    prefetch_buffer_size=None,
    num_parallel_reads=None,
    sloppy=False,
    num_rows_for_inference=100,
    compression_type=None,
    ignore_errors=False,
    encoding="utf-8",
):
    """Batches of CSV files with a header: dicts of columns, with label_name (columns, labels).

    Types are learned from the first rows. num_epochs None: endless, and whole batches only.
    """
    from itertools import islice

    files = _files(file_pattern)
    reading = (compression_type, field_delim, use_quote_delim, encoding)
    if column_names is None:
        if not header:
            raise ValueError("make_csv_dataset: without a header, column_names are needed")
        column_names = next(_rows(files[0], *reading))
    if len(set(column_names)) != len(column_names):
        raise ValueError("make_csv_dataset: two columns with the same name")
    names = list(column_names)
    columns = list(range(len(names)))
    if select_columns is not None:
        columns = sorted(names.index(c) if isinstance(c, str) else int(c) for c in select_columns)
        if any(not 0 <= c < len(names) for c in columns) or len(set(columns)) != len(columns):
            raise ValueError(f"make_csv_dataset: select_columns must be distinct names from {names}")
    if column_defaults is None:
        rows = (r for f in files for r in islice(_rows(f, *reading), int(bool(header)), None))
        rows = rows if num_rows_for_inference is None else islice(rows, num_rows_for_inference)
        column_defaults = _defaults(rows, columns, na_value, len(names))
    chosen = [names[c] for c in columns]
    if label_name is not None and label_name not in chosen:
        raise ValueError(f"make_csv_dataset: there is no column {label_name!r}")

    def lines(file):
        ds = CsvDataset(
            file,
            column_defaults,
            compression_type,
            header=header,
            field_delim=field_delim,
            use_quote_delim=use_quote_delim,
            na_value=na_value,
            select_cols=columns if select_columns is not None else None,
        )
        return ds.ignore_errors() if ignore_errors else ds

    def features(*values):
        out = dict(zip(chosen, values))
        return out if label_name is None else (out, out.pop(label_name))

    ds = Dataset.from_tensor_slices(files)
    ds = ds.shuffle(len(files), shuffle_seed) if shuffle else ds
    ds = ds.interleave(lines, num_parallel_reads or 1, deterministic=not sloppy)
    ds = _shuffled_and_repeated(ds, num_epochs, shuffle, shuffle_buffer_size, shuffle_seed)
    ds = ds.batch(batch_size, num_epochs is None).map(features)
    return ds.prefetch(AUTOTUNE if prefetch_buffer_size is None else prefetch_buffer_size)


def make_batched_features_dataset(
    file_pattern,
    batch_size,
    features,
    reader=None,
    label_key=None,
    reader_args=None,
    num_epochs=None,
    shuffle=True,
    shuffle_buffer_size=10000,
    shuffle_seed=None,
    prefetch_buffer_size=None,
    reader_num_threads=None,
    parser_num_threads=None,
    sloppy_ordering=False,
    drop_final_batch=False,
):
    """Batches of parsed Examples from TFRecord files: dicts; with label_key (features, label)."""
    files = _files(file_pattern)
    open_file = reader or TFRecordDataset
    ds = Dataset.from_tensor_slices(files)
    ds = ds.shuffle(len(files), shuffle_seed) if shuffle else ds
    ds = ds.interleave(
        lambda f: open_file(f, *(reader_args or ())),
        reader_num_threads or 1,
        deterministic=not sloppy_ordering,
    )
    ds = _shuffled_and_repeated(ds, num_epochs, shuffle, shuffle_buffer_size, shuffle_seed)

    def parsed(records):
        out = parse_example(records, features)
        return out if label_key is None else (out, out.pop(label_key))

    ds = ds.batch(batch_size, drop_final_batch or num_epochs is None)
    ds = ds.map(parsed, parser_num_threads or 2)
    return ds.prefetch(AUTOTUNE if prefetch_buffer_size is None else prefetch_buffer_size)


def parse_example_dataset(features, num_parallel_calls=1, deterministic=None):
    """For Dataset.apply: parses vectors of Examples."""
    return lambda ds: ds.map(lambda r: parse_example(r, features), num_parallel_calls, deterministic)


def assert_cardinality(expected_cardinality):
    """For Dataset.apply: sets cardinality(), if it is unknown. Nothing checks the count, and later stages don't know
    it: put it last."""

    def apply(ds):
        have = ds.cardinality()
        if have not in (UNKNOWN_CARDINALITY, expected_cardinality):
            raise FailedPreconditionError(f"{have} elements, not {expected_cardinality}")
        out = ds.with_options(ds.options())
        out._asserted = expected_cardinality
        return out

    return apply


def shuffle_and_repeat(buffer_size, count=None, seed=None):
    """For Dataset.apply: shuffle(buffer_size, seed).repeat(count)."""
    return lambda ds: ds.shuffle(buffer_size, seed).repeat(count)


def map_and_batch(
    map_func,
    batch_size,
    num_parallel_batches=None,
    drop_remainder=False,
    num_parallel_calls=None,
):
    """For Dataset.apply: map(map_func, ...).batch(batch_size, ...)."""
    calls = num_parallel_calls or AUTOTUNE
    return lambda ds: ds.map(map_func, calls).batch(batch_size, drop_remainder)


def parallel_interleave(
    map_func,
    cycle_length,
    block_length=1,
    sloppy=False,
    buffer_output_elements=None,
    prefetch_input_elements=None,
):
    """For Dataset.apply: interleave(map_func, ...) with as many threads."""
    return lambda ds: ds.interleave(
        map_func, cycle_length, block_length, cycle_length, deterministic=not sloppy
    )


def copy_to_device(target_device, source_device="/cpu:0"):
    """For Dataset.apply: to_device(target_device), which must be the last."""
    return lambda ds: ds.to_device(target_device)


class TFRecordWriter:
    """Writes a dataset of strings: TFRecordWriter(filename, compression_type).write(dataset)."""

    def __init__(self, filename, compression_type=None):
        self._of = (filename, compression_type)

    def write(self, dataset):
        """Each element as a record."""
        with _Writer(*self._of) as w:
            for record in dataset:
                w.write(record)


def _applied(name):
    method = getattr(Dataset, name)
    signature = inspect.signature(method)

    def f(*args, **kwargs):
        try:
            signature.bind(None, *args, **kwargs)
        except TypeError as e:
            raise TypeError(f"{name}(): {e}{hint(str(e), signature.parameters)}") from None
        return lambda ds: getattr(ds, name)(*args, **kwargs)

    f.__name__ = f.__qualname__ = name
    f.__doc__ = f"For Dataset.apply: {name}(...)."
    return f


NAMES = {
    name: _applied(name)
    for name in (
        "bucket_by_sequence_length",
        "group_by_window",
        "rejection_resample",
        "scan",
        "snapshot",
        "take_while",
        "unique",
    )
}
NAMES.update(
    Counter=Dataset.counter,
    choose_from_datasets=Dataset.choose_from_datasets,
    sample_from_datasets=Dataset.sample_from_datasets,
    load=Dataset.load,
)


def enumerate_dataset(start=0):
    """For Dataset.apply: enumerate(start)."""
    return lambda ds: ds.enumerate(start)


def from_list(elements, name=None):
    """Dataset.from_tensor_slices(elements)."""
    return Dataset.from_tensor_slices(elements, name)


def save(dataset, path, compression=None, shard_func=None, checkpoint_args=None):
    """dataset.save(path, ...)."""
    return dataset.save(path, compression, shard_func, checkpoint_args)


def at(dataset, index):
    """The element at a position, by random access or by iterating up to it."""
    return next(iter(dataset.skip(int(index)).take(1)))


class Reducer:
    """init_func(key), reduce_func(state, element) and finalize_func(state), for group_by_reducer."""

    def __init__(self, init_func, reduce_func, finalize_func):
        self.init_func, self.reduce_func, self.finalize_func = init_func, reduce_func, finalize_func


def get_structure(dataset_or_iterator):
    """element_spec."""
    return dataset_or_iterator.element_spec


for _f in (
    at,
    Reducer,
    get_structure,
    AutotuneOptions,
    DistributeOptions,
    OptimizationOptions,
    ServiceOptions,
    ThreadingOptions,
    AutoShardPolicy,
    TFRecordWriter,
    assert_cardinality,
    copy_to_device,
    enumerate_dataset,
    from_list,
    make_batched_features_dataset,
    make_csv_dataset,
    map_and_batch,
    parallel_interleave,
    parse_example_dataset,
    save,
    shuffle_and_repeat,
):
    NAMES[_f.__name__] = _f
