# SPDX-License-Identifier: Apache-2.0
"""Arrow's files and streams, tables in memory, other exporters of Arrow streams, and Lance.

Files are mapped: an uncompressed record batch is viewed in place. A stream's record batches are found by reading
through it once, touching only their headers.
"""

import os
import weakref

import numpy as np

from ..core import _arguments
from ..core._named import named_class
from ..errors import DataLossError, InvalidArgumentError, UnimplementedError
from . import _arrow
from ._parquet import sources
from ._sources import _FileDataset

_MAGIC = b"ARROW1"


def _lies_in(batch, array):
    """Are all values of a record batch in the mapped file? Not if compressed."""
    start = array.__array_interface__["data"][0]
    buffers = [b for column in batch.columns for b in column.buffers() if b is not None and b.size]
    return all(start <= b.address and b.address + b.size <= start + array.size for b in buffers)


class Batches(_arrow.Opener, _arrow.Locked):
    """Opens record batches of mapped files. It reads the same mappings that the engine guards: the argument `maps`,
    which pickles as the same arrays."""

    own = ("found",)

    def __init__(self, found, units, columns, damage):
        super().__init__()
        self.files, self.maps = [f.path for f in found], [f.array for f in found]
        self.units, self.columns, self.damage = units, columns, damage
        self.found = dict(enumerate(found))

    def place(self, unit):
        return self.files[self.units[unit][0]]

    def stream(self, unit, how):
        pa = _arrow.pyarrow()
        file, number, _ = self.units[unit]
        if (file, number) in self.damage:
            raise DataLossError(self.damage[file, number])
        with self.lock:
            self.found = self.found or {}
            if file not in self.found:
                self.found[file] = _Found(self.files[file], self.maps[file])
            batch = self.found[file].batch(number).select(self.columns)
        batch.validate()
        return pa.RecordBatchReader.from_batches(batch.schema, [batch])


def _map(path):
    with _arrow.reading(path):
        if os.path.getsize(path) == 0:
            raise DataLossError(f"{path}: the file is empty: not an Arrow file or stream")
        return np.memmap(path, np.uint8, "r")


class _Found:
    """The record batches of a mapped file."""

    def __init__(self, path, array=None):
        pa = _arrow.pyarrow()
        self.path, self.why, self.batches, self.reader = path, None, [], None
        self.array = _map(path) if array is None else array
        buffer = pa.py_buffer(self.array)
        with _arrow.reading(path):
            if self.array[: len(_MAGIC)].tobytes() == _MAGIC:
                self.reader = pa.ipc.open_file(buffer)
                self.schema, self.count = self.reader.schema, self.reader.num_record_batches
            else:
                self._read_stream(pa, buffer)

    def _read_stream(self, pa, buffer):
        reader = pa.ipc.open_stream(buffer)
        self.schema = reader.schema
        while True:
            try:
                self.batches.append(reader.read_next_batch())
            except StopIteration:
                break
            except Exception as e:  # damage can raise anything
                n = len(self.batches)
                self.why = (
                    f"{self.path}: damaged or cut short at record batch {n}: {_arrow.first_line(e)}; "
                    "the rows before it are whole"
                )
                break
        self.count = len(self.batches)

    def batch(self, number):
        if number >= self.count:
            raise DataLossError(
                f"{self.path}: it has {self.count} record batches, fewer than when the dataset was made"
            )
        return self.reader.get_batch(number) if self.reader else self.batches[number]

    def is_mapped(self):
        try:
            return not self.count or _lies_in(self.batch(0), self.array)
        except Exception:  # damaged: its unit will report it
            return False


def of_files(ds, files, columns, shard=None, more=lambda schema: {}):
    """Makes ds the dataset of the files' record batches. more: arguments, from the schema. Returns the schema."""
    pa = _arrow.pyarrow()
    schema, wanted, units, damage, all_found = None, None, [], {}, []
    for k, path in enumerate(files):
        with _arrow.reading(path):
            found = _Found(path)
            wanted = _arrow.select(found.schema, columns if wanted is None else wanted, path)
            own = pa.schema([found.schema.field(c) for c in wanted], found.schema.metadata)
            rows, end = _units(found, k)
        if schema is not None and own.types != schema.types:
            raise InvalidArgumentError(f"{path}: its columns' types are not those of {files[0]}")
        schema = own if schema is None else schema
        units += rows
        damage.update(end)
        all_found.append(found)
    units = _arrow.sharded(units, shard)
    _arrow.make(
        ds,
        schema,
        Batches(all_found, units, wanted, damage),
        files,
        units,
        is_mapped=all(f.is_mapped() for f in all_found),
        maps=[f.array for f in all_found],
        has_random_access=True,
        **more(schema),
    )
    return schema


def _units(found, file):
    """Record batches with rows, and where the file is damaged."""
    units, damage = [], {}
    for n in range(found.count):
        try:
            rows = found.batch(n).num_rows
        except Exception as e:
            damage[file, n] = f"{found.path}: record batch {n} can't be read: {_arrow.first_line(e)}"
            rows = 0
        if rows or (file, n) in damage:
            units.append((file, n, rows))
    if found.why:
        units.append((file, found.count, 0))
        damage[file, found.count] = found.why
    return units, damage


class Table(_arrow.Opener):
    """Opens record batches of a table in memory, or of an object that returns one (a live dataset)."""

    def __init__(self, source, columns, what):
        self.source, self.columns, self.what, self.batches = source, columns, what, None

    def __getstate__(self):
        return dict(self.__dict__, batches=None)

    def place(self, unit):
        return self.what

    def stream(self, unit, how):
        pa = _arrow.pyarrow()
        batches = self.batches
        if batches is None:
            batches = self.batches = self.table().to_batches()
        return pa.RecordBatchReader.from_batches(batches[unit].schema, [batches[unit]])

    def table(self):
        return self.source.select(self.columns)


class _Stream(_arrow.Opener):
    """Opens a stream again for each pass."""

    def __init__(self, source, columns, what):
        self.source, self.columns, self.what = source, columns, what
        self.first = None  # a reader that nothing has been read from
        self.last = None  # weak reference to the last pass's reader

    def __getstate__(self):
        return dict(self.__dict__, first=None, last=None)

    def place(self, unit):
        return self.what

    def reader(self):
        pa = _arrow.pyarrow()
        made, self.first = self.first, None
        if made is None:
            made = self.source() if callable(self.source) else self.source
        if isinstance(made, pa.RecordBatchReader):
            if self.last is not None and self.last() is made:
                raise InvalidArgumentError(
                    f"{self.what}: the function gave the same reader twice, which gives its rows once: "
                    "make a reader for each pass"
                )
            self.last = weakref.ref(made)
        return made if isinstance(made, pa.RecordBatchReader) else pa.RecordBatchReader.from_stream(made)

    def stream(self, unit, how):
        pa = _arrow.pyarrow()
        reader = self.reader()
        if list(reader.schema.names) == self.columns:
            return reader
        schema = pa.schema([reader.schema.field(c) for c in self.columns])
        return pa.RecordBatchReader.from_batches(schema, (b.select(self.columns) for b in reader))


def of_table(ds, table, opener, what, **more):
    """Makes ds the dataset of a table's record batches, in memory or in mapped files."""
    units = [(0, n, len(b)) for n, b in enumerate(table.to_batches())]
    _arrow.make(
        ds, table.schema, opener, [what], units, is_mapped=True, has_random_access=True, **more
    )


@named_class
class ArrowDataset(_FileDataset):
    """Rows of Arrow data as dicts of columns. Needs pyarrow.

    source: names of Arrow files or streams (Feather 2, Hugging Face's cache), which are mapped; a table; or a function
    that returns an Arrow stream for each pass (an object with __arrow_c_stream__). columns, nulls, shuffle, shard: as
    in ParquetDataset, for record batches.
    """

    _of_files = "arrow"

    def __init__(
        self, source, columns=None, nulls=None, shuffle=False, seed=None, shard=None, name=None
    ):
        more = {"nulls": nulls, "shuffle": shuffle, "seed": _arguments.seed(seed)}
        pa = _arrow.pyarrow()
        if isinstance(source, pa.RecordBatchReader):
            raise InvalidArgumentError(
                "a RecordBatchReader gives its rows once: give a function that makes one for each pass"
            )
        if isinstance(source, pa.RecordBatch):
            source = pa.Table.from_batches([source])
        if not isinstance(source, pa.Table) and hasattr(source, "to_arrow"):  # polars
            source = source.to_arrow()
        if isinstance(source, pa.Table):
            self._of_table(source, columns, shard, more)
        elif callable(source) or hasattr(source, "__arrow_c_stream__"):
            self._of_stream(pa, source, columns, shard, more)
        else:
            self._of_names(source, columns, shard, more)

    def _of_table(self, table, columns, shard, more):
        what = "a table"
        table = table.select(_arrow.select(table.schema, columns, what))
        if shard is not None:
            pa = _arrow.pyarrow()
            table = pa.Table.from_batches(_arrow.sharded(table.to_batches(), shard), table.schema)
        of_table(self, table, Table(table, list(table.schema.names), what), what, **more)

    def _of_stream(self, pa, source, columns, shard, more):
        what = "an Arrow stream"
        if shard is not None:
            raise UnimplementedError("a stream has no shards: use Dataset.shard, or a stream for each")
        opener = _Stream(source, None, what)
        first = opener.reader()
        schema, opener.first, opener.last = first.schema, first, None
        opener.columns = _arrow.select(schema, columns, what)
        schema = pa.schema([schema.field(c) for c in opener.columns])
        size = _arrow.UNKNOWN_BYTES
        _arrow.make(self, schema, opener, [what], [(0, 0, -1)], unit_bytes=size, **more)

    def _of_names(self, source, columns, shard, more):
        files = [path for _, path in sources(source, "ArrowDataset")]
        if any(hasattr(f, "read") for f in files):
            raise UnimplementedError(
                "ArrowDataset maps files, so it takes names; for an open file, give a function: "
                "lambda: pyarrow.ipc.open_stream(open(name, 'rb'))"
            )
        of_files(self, [os.fspath(f) for f in files], columns, shard, lambda schema: more)


class _Fragments(_arrow.Opener):
    """Opens fragments of a Lance dataset."""

    def __init__(self, uri, numbers, columns, options):
        self.uri, self.numbers, self.columns, self.options = uri, numbers, columns, options
        self.opened = None

    def __getstate__(self):
        return dict(self.__dict__, opened=None)

    def place(self, unit):
        return self.uri

    def stream(self, unit, how):
        pa = _arrow.pyarrow()
        if self.opened is None:
            lance = _arrow.need("lance", "reading Lance datasets")
            fragments = lance.dataset(self.uri, **self.options).get_fragments()
            self.opened = {f.fragment_id: f for f in fragments}
        scanner = self.opened[self.numbers[unit]].scanner(columns=self.columns)
        reader = scanner.to_reader()
        return reader if how else pa.Table.from_batches(list(reader), reader.schema)


@named_class
class LanceDataset(_FileDataset):
    """Rows of a Lance dataset as dicts of columns. Needs pylance. A fragment is a unit.

    options: keyword arguments of lance.dataset, such as version. Others as in ParquetDataset.
    """

    _of_files = "arrow"

    def __init__(
        self,
        uri,
        columns=None,
        nulls=None,
        shuffle=False,
        seed=None,
        shard=None,
        options=None,
        name=None,
    ):
        lance = _arrow.need("lance", "reading Lance datasets")
        uri = _arguments.local(uri)
        with _arrow.reading(uri):
            source = lance.dataset(uri, **(options or {}))
            fragments = _arrow.sharded(source.get_fragments(), shard)
            rows = [f.count_rows() for f in fragments]
        wanted = _arrow.select(source.schema, columns, uri)
        schema = _arrow.pyarrow().schema([source.schema.field(c) for c in wanted])
        numbers = [f.fragment_id for f in fragments]
        _arrow.make(
            self,
            schema,
            _Fragments(uri, numbers, wanted, options or {}),
            [uri],
            [(0, n, r) for n, r in zip(numbers, rows)],
            unit_name="fragment",
            unit_bytes=_arrow.UNKNOWN_BYTES,
            nulls=nulls,
            shuffle=shuffle,
            seed=_arguments.seed(seed),
        )
