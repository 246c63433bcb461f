# SPDX-License-Identifier: Apache-2.0
"""Parquet files. A row group is a unit: workers decode several in parallel; a large one is read in parts. Footers are
read when the dataset is made."""

import os

from ..core import _arguments
from ..core._named import named_class
from ..errors import InvalidArgumentError
from . import _arrow
from ._sources import _FileDataset

_OPEN_MOST = 64  # most files kept open


def sources(filenames, kind):
    """[(name for messages, path or file-like object)]."""
    if hasattr(filenames, "read") or isinstance(filenames, (str, bytes, os.PathLike)):
        filenames = [filenames]
    try:
        filenames = list(filenames)
    except TypeError:
        filenames = None
    if filenames is None or not all(
        hasattr(f, "read") or isinstance(f, (str, bytes, os.PathLike)) for f in filenames
    ):
        raise TypeError(f"{kind} takes a name, a list of names, or files that are open")
    if not filenames:
        raise InvalidArgumentError(f"{kind}: no names of files")
    out = []
    for f in filenames:
        if hasattr(f, "read"):
            out.append((str(getattr(f, "name", None) or getattr(f, "path", None) or f), f))
        else:
            name = _arguments.local(f)
            out.append((name, name))
    return out


class _RowGroups(_arrow.Opener, _arrow.Locked):
    """Opens row groups. Files stay open, one for each thread that reads it."""

    own = ("idle", "footers")

    def __init__(self, files, groups, columns):
        super().__init__()
        self.files, self.groups, self.columns = files, groups, columns
        self.idle = self.footers = None

    def place(self, unit):
        return self.files[self.groups[unit][0]][0]

    def _take(self, file):
        """An open file that no other thread is using."""
        with self.lock:
            self.idle = self.idle or {}
            self.footers = self.footers or {}
            if self.idle.get(file):
                return self.idle[file].pop()
        pq = _arrow.need("pyarrow.parquet", "reading Parquet files")
        opened = pq.ParquetFile(self.files[file][1], metadata=self.footers.get(file))
        with self.lock:
            self.footers[file] = opened.metadata
        return opened

    def _give(self, file, opened):
        with self.lock:
            # a file-like object has a single position
            if sum(map(len, self.idle.values())) < _OPEN_MOST:
                self.idle.setdefault(file, []).append(opened)
                return
        opened.close()

    def stream(self, unit, how):
        file, group, rows, size = self.groups[unit]
        if hasattr(self.files[file][1], "read"):
            return self._alone(file, group)
        opened = self._take(file)
        if how == 0:
            table = opened.read_row_group(group, columns=self.columns, use_threads=False)
            self._give(file, opened)
            return table.select(self.columns)
        return self._parts(opened, file, group, rows, size, how == 2)

    def _alone(self, file, group):
        """For a file-like object, which has a single position for all threads."""
        pq = _arrow.need("pyarrow.parquet", "reading Parquet files")
        with self.lock:
            opened = pq.ParquetFile(self.files[file][1])
            table = opened.read_row_group(group, columns=self.columns, use_threads=False)
        return table.select(self.columns)

    def _parts(self, opened, file, group, rows, size, threads):
        pa = _arrow.pyarrow()
        count = max(1, min(65536, rows * _arrow.PART_BYTES // max(size, 1)))
        batches = opened.iter_batches(
            count, row_groups=[group], columns=self.columns, use_threads=threads
        )

        def selected():
            for batch in batches:
                yield batch.select(self.columns)
            self._give(file, opened)

        schema = opened.schema_arrow
        schema = pa.schema([schema.field(c) for c in self.columns])
        return pa.RecordBatchReader.from_batches(schema, selected())


def _bytes_of(footer, group, columns):
    """Approximate bytes of a row group in memory: dictionary-encoded text grows."""
    g, size = footer.row_group(group), 0
    for i in range(g.num_columns):
        c = g.column(i)
        if c.path_in_schema.split(".")[0] in columns:
            each = {"BYTE_ARRAY": 16, "INT32": 4, "FLOAT": 4, "BOOLEAN": 1, "INT96": 12}
            size += max(c.total_uncompressed_size, c.num_values * each.get(c.physical_type, 8))
    return size


def look(files, columns):
    """(schema of the columns, names of columns, [(file, group, rows, bytes)]) from all footers."""
    pq = _arrow.need("pyarrow.parquet", "reading Parquet files")
    pa = _arrow.pyarrow()
    schema, wanted, groups = None, None, []
    for k, (name, source) in enumerate(files):
        with _arrow.reading(name):
            opened = pq.ParquetFile(source)
            names = _arrow.select(opened.schema_arrow, columns if schema is None else wanted, name)
            own = pa.schema([opened.schema_arrow.field(c) for c in names])
            found = _groups(opened.metadata, k, set(names))
        if schema is None:
            schema, wanted = own, names
        elif own.types != schema.types:
            at = next(c for c, a, b in zip(names, own.types, schema.types) if a != b)
            raise InvalidArgumentError(
                f"{name}: column {at!r} is {own.field(at).type} there, and {schema.field(at).type} in "
                f"{files[0][0]}; files agree in their columns' types"
            )
        groups += found
    return schema, wanted, groups


def _groups(footer, file, columns):
    """Row groups that have rows. Their bytes are estimated from the file's largest."""
    all_bytes = [footer.row_group(g).total_byte_size for g in range(footer.num_row_groups)]
    largest = max(range(len(all_bytes)), key=all_bytes.__getitem__, default=None)
    if largest is None:
        return []
    share = _bytes_of(footer, largest, columns) / max(all_bytes[largest], 1)
    rows = [footer.row_group(g).num_rows for g in range(footer.num_row_groups)]
    return [(file, g, n, int(all_bytes[g] * share)) for g, n in enumerate(rows) if n]


@named_class
class ParquetDataset(_FileDataset):
    """Rows of Parquet files as dicts of columns, one file after another. Needs pyarrow.

    columns: names to read; by default all. nulls: "zero", or a dict of columns and their values for nulls; otherwise a
    row with a null is an error. shuffle: row groups in random order, different in each pass. shard: (count, index),
    every count-th row group. random_access: rows by position (pick, a full shuffle); jumping to another row group
    decodes it.
    """

    _of_files = "arrow"

    def __init__(
        self,
        filenames,
        columns=None,
        nulls=None,
        shuffle=False,
        seed=None,
        shard=None,
        random_access=False,
        num_parallel_calls=None,
        name=None,
    ):
        files = sources(filenames, "ParquetDataset")
        schema, wanted, groups = look(files, columns)
        groups = _arrow.sharded(groups, shard)
        _arrow.make(
            self,
            schema,
            _RowGroups(files, groups, wanted),
            [n for n, _ in files],
            [g[:3] for g in groups],
            unit_name="row group",
            unit_bytes=max((g[3] for g in groups), default=0),
            nulls=nulls,
            shuffle=shuffle,
            seed=None if seed is None else _arguments.seed(seed),
            is_private=True,
            has_random_access=random_access,
            num_parallel_calls=None
            if num_parallel_calls is None
            else _arguments.count(num_parallel_calls, "num_parallel_calls", -1),
        )
