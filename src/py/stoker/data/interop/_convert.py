# SPDX-License-Identifier: Apache-2.0
"""`stoker data convert` from and to Parquet, Arrow and Hugging Face folders.

Between those, record batches are copied unchanged. To an indexed file, the engine writes a dataset's rows, with columns
sorted by name. From TFRecords and indexed files, rows become columns: "record", or those of the elements' structure.
The program passes the name to write to, and renames the output when it is complete; in a folder, state.json is written
last.
"""

import json
import os

import numpy as np

from ..core import _spec
from ..core._spec import RaggedTensorSpec
from ..errors import DataLossError, InvalidArgumentError, NotFoundError, UnimplementedError
from ..files import _arrow, _arrow_files, _parquet, _saved
from ..files._sources import IndexedDataset, TFRecordDataset
from . import _from_hugging_face as _hf

_ROWS = 1024  # rows of a record batch built from elements
_GROUP_BYTES = 64 << 20  # bytes of a row group written


def kind_of(path):
    """The type of a file, by its first bytes, or of a folder."""
    if os.path.isdir(path):
        return "saved" if os.path.isfile(os.path.join(path, "structure.json")) else "folder"
    with _arrow.reading(path), open(path, "rb") as f:
        head = f.read(8)
    if head[:4] == b"PAR1":
        return "parquet"
    if head[:6] == b"ARROW1" or head[:4] == b"\xff\xff\xff\xff":
        return "arrow"
    return "indexed" if head == b"stkidx\0\1" else "records"


def dataset_of(paths, kind):
    """The rows of the inputs."""
    if kind == "parquet":
        return _parquet.ParquetDataset(paths)
    if kind == "arrow":
        return _arrow_files.ArrowDataset(paths)
    if kind == "saved":
        return _saved.load(paths[0])
    if kind == "folder":
        return _hf.from_huggingface(paths[0], decode=False)
    if kind == "indexed":
        return IndexedDataset(paths)
    return TFRecordDataset(paths).map(lambda r: {"record": r})


def _groups(pq, path):
    with _arrow.reading(path):
        yield from pq.ParquetFile(path).iter_batches()


def _batches_of_files(pa, paths, kind):
    """(schema, record batches) of Parquet and Arrow files, unchanged."""
    if kind == "folder":
        folder = paths[0]
        paths, places = _hf._files_of(folder, None)
        if places:
            raise UnimplementedError(f"{folder}: a selection of rows can only go into an indexed file")
    if kind == "parquet":
        pq = _arrow.need("pyarrow.parquet", "reading Parquet files")
        with _arrow.reading(paths[0]):
            schema = pq.ParquetFile(paths[0]).schema_arrow
        return schema, (b for p in paths for b in _groups(pq, p))
    found = [_arrow_files._Found(p) for p in paths]

    def batches():
        for f in found:
            yield from (f.batch(k) for k in range(f.count))
            if f.why:
                raise DataLossError(f.why)

    return found[0].schema, batches()


def _column(pa, values, spec):
    """An array of a component's values in a list of elements."""
    if isinstance(spec, RaggedTensorSpec):
        return pa.array([_nested(v) for v in values])
    if spec.dtype.name == "bytes":
        return pa.array([v.tolist() if isinstance(v, np.ndarray) else bytes(v) for v in values])
    dims = tuple(spec.shape or ())
    if spec.shape is not None and None not in dims and values:
        flat = pa.array(np.stack([np.asarray(v) for v in values]).reshape(-1))
        for d in reversed(dims):
            flat = pa.FixedSizeListArray.from_arrays(flat, d)
        return flat
    return pa.array([np.asarray(v).tolist() for v in values])


def _nested(ragged):
    rows = np.asarray(ragged.flat_values).tolist()
    for splits in reversed([np.asarray(s) for s in ragged.nested_row_splits]):
        rows = [rows[a:b] for a, b in zip(splits[:-1], splits[1:])]
    return rows


def _leaves(spec, place=""):
    """(name, leaf) of each leaf, in the engine's order."""
    if isinstance(spec, dict):
        return [x for k in sorted(spec) for x in _leaves(spec[k], f"{place}.{k}" if place else str(k))]
    if isinstance(spec, tuple):
        return [x for i, s in enumerate(spec) for x in _leaves(s, f"{place}.{i}" if place else f"c{i}")]
    return [(place or "value", spec)]


def _named(spec):
    """(names of the leaves, their specs) of a structure."""
    leaves = _leaves(spec)
    return [n for n, _ in leaves], [leaf for _, leaf in leaves]


def _batches_of_elements(pa, ds):
    """(schema, record batches) of any dataset. The first batch determines the schema."""
    names, specs = _named(ds.element_spec)

    def batches():
        rows = []
        for e in ds.as_numpy_iterator():
            rows.append(_spec.flatten(e))
            if len(rows) == _ROWS:
                yield _batch(pa, names, specs, rows)
                rows = []
        if rows:
            yield _batch(pa, names, specs, rows)

    made = batches()
    first = next(made, None)
    if first is None:
        raise InvalidArgumentError("there are no rows, so their types are unknown")
    return first.schema, (b for part in ([first], made) for b in part)


def _batch(pa, names, specs, rows):
    return pa.record_batch([_column(pa, list(v), s) for v, s in zip(zip(*rows), specs)], names)


def _write_parquet(path, schema, batches):
    pq = _arrow.need("pyarrow.parquet", "writing Parquet files")
    pa = _arrow.pyarrow()
    count, held, size = 0, [], 0
    with pq.ParquetWriter(path, schema) as w:
        for b in batches:
            held.append(b)
            size, count = size + b.nbytes, count + len(b)
            if size >= _GROUP_BYTES:
                w.write_table(pa.Table.from_batches(held, schema))
                held, size = [], 0
        if held:
            w.write_table(pa.Table.from_batches(held, schema))
    return count


def _write_arrow(path, schema, batches, is_stream):
    pa = _arrow.pyarrow()
    count = 0
    with pa.OSFile(path, "wb") as f, (pa.ipc.new_stream if is_stream else pa.ipc.new_file)(f, schema) as w:
        for b in batches:
            w.write_batch(b)
            count += len(b)
    return count


def _write_folder(path, schema, batches):
    """Writes a folder for datasets.load_from_disk."""
    name = "data-00000-of-00001.arrow"
    features = _hf._features(schema)
    count = _write_arrow(os.path.join(path, name), schema, batches, True)
    state = {
        "_data_files": [{"filename": name}],
        "_fingerprint": f"{count:016x}",
        "_format_columns": None,
        "_format_kwargs": {},
        "_format_type": None,
        "_output_all_columns": False,
        "_split": None,
    }
    info = {"features": features} if features else {}
    for file, value in (("dataset_info.json", info), ("state.json", state)):
        with open(os.path.join(path, file), "w") as f:
            json.dump(value, f, indent=2)
    return count


def convert(paths, output, target, threads=None):
    """Writes the rows of the inputs; returns how many. OSError: the output can't be written."""
    kinds = {kind_of(p) for p in paths}
    if len(kinds) > 1:
        raise InvalidArgumentError(f"the inputs are of several kinds: {', '.join(sorted(kinds))}")
    kind = kinds.pop()
    if kind in ("folder", "saved") and len(paths) > 1:
        raise InvalidArgumentError("one folder at a time")
    if target == "folder":
        os.makedirs(output, exist_ok=True)
        if os.listdir(output):
            raise FileExistsError(f"{output}: the folder isn't empty, and nothing in it is replaced")
    return _write(paths, kind, target, output, threads)


def _write(paths, kind, target, made, threads):
    if target == "indexed":
        ds = dataset_of(paths, kind)
        options = ds._run_options(None)
        options.update({} if not threads else {"threads": threads})
        return ds._engine.write(made, options)
    pa = _arrow.pyarrow()
    if kind in ("parquet", "arrow", "folder"):
        schema, batches = _batches_of_files(pa, paths, kind)
    else:
        schema, batches = _batches_of_elements(pa, dataset_of(paths, kind))
    if target == "parquet":
        return _write_parquet(made, schema, batches)
    if target == "folder":
        return _write_folder(made, schema, batches)
    return _write_arrow(made, schema, batches, target == "stream")


def main(words):
    """TARGET OUTPUT THREADS FILE..., as passed by the program; returns the number of rows."""
    target, output, threads, *paths = words
    for p in paths:
        if not os.path.exists(p):
            raise NotFoundError(f"{p}: no such file")
    return convert(paths, output, target, int(threads))
