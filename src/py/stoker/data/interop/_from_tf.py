# SPDX-License-Identifier: Apache-2.0
"""Imports a tf.data pipeline: the same stages with the same arguments, run by this engine.

TensorFlow's dataset objects know their input, their arguments and their function, so a pipeline is walked from its end
to its sources and rebuilt. Functions are imported in the best way that works: traced again, from TensorFlow's graph, or
by calling TensorFlow for each element, which explain() lists with its cost (_tf_functions.py). A stage whose object
isn't recognized is imported from the pipeline's serialized graph (_tf_datasets.py). Stages without an equivalent are
rejected, with all reasons, as are those whose element_spec differs from TensorFlow's.

Limits: TensorFlow stores all this in private attributes; a version with other names is rejected. Shuffle orders and
random bits are this engine's (docs/data/differences.md). list_files has the files found when the pipeline was made.
"""

import os

import numpy as np

from .. import io
from ..core import _spec
from ..core._dataset import Dataset
from ..core._options import Options
from ..errors import InvalidArgumentError
from ..files import _experimental, _sources
from . import _tf_datasets, _tf_functions, _tf_names, _tf_saved
from ._packages import need

_CARRIED = (
    "deterministic",
    "autotune.enabled",
    "autotune.cpu_budget",
    "autotune.ram_budget",
    "threading.private_threadpool_size",
)


_ENDLESS = -1  # TensorFlow's cardinality


class _Refused(Exception):
    """A pipeline can't be imported: args are the reasons, each with its stage."""


def _number(v):
    """An argument stored as a tensor in TensorFlow; None stays None."""
    return None if v is None else _tf_names.plain(v)


def _text(v):
    v = _number(v)
    return v.decode() if isinstance(v, bytes) else v


def _ordered(ds):
    """deterministic= of a stage."""
    said = getattr(ds, "_deterministic", None)
    return {"true": True, "false": False}.get(said, said if isinstance(said, bool) else None)


def _function_of(wrapped, spec, what):
    """The function of a stage; rejected if no way to import it works."""
    try:
        return _tf_functions.taken(wrapped, spec, what)
    except _tf_functions.Untaken as e:
        raise _Refused(str(e)) from e


def _tensors(ds):
    flat = iter([t.numpy() if hasattr(t, "numpy") else t for t in ds._tensors])  # scalars keep their dtype
    return _tf_names.structure(ds._structure, lambda _: next(flat))


def _files(ds):
    """The names of a reader's files: a Dataset, or their list if TensorFlow has no more."""
    names = ds._filenames
    if type(names).__name__.strip("_").startswith("TensorSliceDataset"):
        found = _tf_names.plain(names._tensors[0])
        return [n.decode() for n in found.reshape(-1)]
    return _build(names)


def _reader(make, ds, **more):
    reads = _number(getattr(ds, "_num_parallel_reads", None))
    if reads is not None:
        more["num_parallel_reads"] = reads
    files = _files(ds)
    kind = _text(ds._compression_type) or None
    return make(files, compression_type=kind, buffer_size=_number(ds._buffer_size), **more)


def _fixed(ds):
    sizes = {n: _number(getattr(ds, f"_{n}")) for n in ("header_bytes", "footer_bytes")}
    kind = _text(ds._compression_type) or None
    of = _sources.FixedLengthRecordDataset
    return of(
        _files(ds), _number(ds._record_bytes), buffer_size=_number(ds._buffer_size), compression_type=kind, **sizes
    )


def _map(ds, below):
    f = _function_of(ds._map_func, below.element_spec, "map")
    return below.map(f, _number(getattr(ds, "_num_parallel_calls", None)), _ordered(ds))


def _map_and_batch(ds, below):
    f = _function_of(ds._map_func, below.element_spec, "map")
    made = below.map(f, _number(ds._num_parallel_calls_t))
    return made.batch(_number(ds._batch_size_t), bool(_number(ds._drop_remainder_t)))


def _interleave(ds, below):
    f = _function_of(ds._map_func, below.element_spec, "interleave")
    cycle, calls = _number(ds._cycle_length), _number(getattr(ds, "_num_parallel_calls", None))
    is_legacy = hasattr(ds, "_buffer_output_elements")  # experimental.parallel_interleave: a thread for each
    more = {"cycle_length": _tf_names.cycle(cycle, calls), "block_length": _number(ds._block_length)}
    more["num_parallel_calls"] = cycle if is_legacy else calls
    return below.interleave(f, deterministic=_ordered(ds), **more)


def _shuffle(ds, below):
    seed = (_number(ds._seed), _number(ds._seed2))
    again = ds._reshuffle_each_iteration
    more = {} if again is None else {"reshuffle_each_iteration": bool(again)}
    return below.shuffle(_number(ds._buffer_size), seed=seed[1] if any(seed) else None, **more)


def _dims(shape):
    dims = _tf_names.plain(shape).tolist() if hasattr(shape, "numpy") else list(shape)
    return [None if d is None or d < 0 else int(d) for d in dims]


def _like(given, spec, leaf):
    """A structure of arguments with the elements' own containers; None stays None."""
    if given is None:
        return None
    made = iter([leaf(v) for v in _tf_names.leaves_like(given, spec)])
    return _tf_names.structure(spec, lambda _: next(made))


def _padded(ds, below):
    spec = ds._input_dataset.element_spec
    shapes, values = _like(ds._padded_shapes, spec, _dims), _like(ds._padding_values, spec, _number)
    return below.padded_batch(_number(ds._batch_size), shapes, values, bool(_number(ds._drop_remainder)))


def _window(ds, below):
    size, shift, stride = (_number(getattr(ds, f"_{n}")) for n in ("size", "shift", "stride"))
    return below.window(size, shift, stride, bool(_number(ds._drop_remainder)))


def _zip(ds):
    """zip; or enumerate, which TensorFlow stores as a zip with endless numbers."""
    parts = ds._datasets
    if type(parts) is tuple and len(parts) == 2 and _kind(parts[0]) == "VariantDataset":
        if _number(parts[0].cardinality()) == _ENDLESS:
            return _build(parts[1]).enumerate(_number(next(iter(parts[0]))))
    return Dataset.zip(_tf_names.structure(parts, _all(_flat_parts(parts)).pop))


def _flat_parts(parts):
    out = []
    _tf_names.structure(parts, out.append)
    return out


def _all(stages):
    """Pipelines for several stages, {stage's id: pipeline}.pop: rejected with the reasons of all."""
    made, reasons = {}, []
    for ds in stages:
        try:
            made[id(ds)] = _build(ds)
        except _Refused as e:
            reasons += e.args
    if reasons:
        raise _Refused(*reasons)
    return _Parts(made)


def _concatenated(ds):
    parts = _all([ds._input_dataset, ds._dataset_to_concatenate])
    return parts.pop(ds._input_dataset).concatenate(parts.pop(ds._dataset_to_concatenate))


class _Parts:
    def __init__(self, made):
        self.made = made

    def pop(self, ds):
        return self.made[id(ds)]


def _generator(ds):
    """The pipeline of from_generator; finds its Python generator in TensorFlow's functions."""
    state, arguments = _in_closure(ds._map_func._func, "generator_state"), _in_closure(ds._map_func._func, "args")
    if state is None:
        raise _Refused("from_generator: sd.Dataset.from_generator takes the same generator and output_signature")
    args = [_tf_names.plain(a) for a in arguments or ()]
    return Dataset.from_generator(state._generator, args=args, output_signature=_tf_names.spec_of(ds.element_spec))


def _in_closure(f, name, depth=3):
    """A variable with that name in a function's closure, or in that of a function it closes over, or None."""
    cells = dict(zip(f.__code__.co_freevars, f.__closure__ or ()))
    if name in cells:
        return cells[name].cell_contents
    inner = [c.cell_contents for c in cells.values() if depth and hasattr(c.cell_contents, "__code__")]
    return next((v for v in (_in_closure(g, name, depth - 1) for g in inner) if v is not None), None)


def _is_generator(wrapped):
    return (getattr(wrapped._func, "__module__", None) or "").endswith("from_generator_op")


def _flat_map(ds, below):
    return below.flat_map(_function_of(ds._map_func, below.element_spec, "flat_map"))


def _buckets(ds, below):
    """bucket_by_sequence_length, which TensorFlow stores as group_by_window: pads to a boundary that it computes."""
    f, spec = ds._reduce_func._func, ds._input_dataset.element_spec
    given = {n: _in_closure(f, n) for n in ("bucket_boundaries", "bucket_batch_sizes", "padded_shapes", "padding_values")}
    flags = {n: bool(_in_closure(f, n)) for n in ("pad_to_bucket_boundary", "no_padding", "drop_remainder")}
    length = type(ds._key_func)(
        _in_closure(ds._key_func._func, "element_length_func"), "bucket_by_sequence_length()", dataset=ds._input_dataset
    )
    return below.bucket_by_sequence_length(
        _function_of(length, below.element_spec, "bucket_by_sequence_length"),
        [int(_number(v)) for v in given["bucket_boundaries"]],
        [int(_number(v)) for v in given["bucket_batch_sizes"]],
        _like(given["padded_shapes"], spec, _dims),
        _like(given["padding_values"], spec, _number),
        **flags,
    )


def _is_of_buckets(ds):
    f, key = ds._reduce_func._func, ds._key_func._func
    return _in_closure(f, "bucket_boundaries") is not None and _in_closure(key, "element_length_func") is not None


def _group_by_window(ds, below):
    if _is_of_buckets(ds):
        return _buckets(ds, below)
    element = below.element_spec
    key = _function_of(ds._key_func, element, "group_by_window key_func")
    window = _spec.DatasetSpec(element)
    window.nested, window.keep = below._nested_specs(), below._keep
    reduce = _function_of(ds._reduce_func, (INT64, window), "group_by_window reduce_func")
    size = _function_of(ds._window_size_func, INT64, "group_by_window window_size_func")
    return below.group_by_window(key, reduce, window_size_func=size)


def _scan(ds, below):
    state = _tf_names.structure(ds._initial_state, lambda t: np.asarray(t.numpy()))
    spec = _tf_names.spec_of(ds._state_structure)
    return below.scan(state, _function_of(ds._scan_func, (spec, below.element_spec), "scan"))


def _parse_example(ds, below):
    features = {k: _tf_names.feature(v) for k, v in ds._features.items()}
    calls = _number(ds._num_parallel_calls)
    return below.map(lambda r: io.parse_example(r, features), calls, _ordered(ds))


def _interleaved(ds):
    parts = _all([ds._selector_input, *ds._data_inputs])
    stops = bool(getattr(ds, "_stop_on_empty_dataset", False))
    data = [parts.pop(d) for d in ds._data_inputs]
    return Dataset.choose_from_datasets(data, parts.pop(ds._selector_input), stop_on_empty_dataset=stops)


def _restructured(ds, below):
    """The same components in another structure."""
    spec = ds.element_spec
    if _tf_names.difference(spec, below.element_spec) is None:
        return below
    return below.map(lambda *e: _tf_datasets.shaped(_tf_datasets.of_element(e), spec))


def _csv(ds):
    defaults = [_tf_names.plain(v) for v in ds._record_defaults]
    made = [_csv_default(v, s) for v, s in zip(defaults, ds.element_spec)]
    columns = _number(ds._select_cols)
    more = {} if columns is None or not np.size(columns) else {"select_cols": list(np.ravel(columns))}
    files = [n.decode() for n in np.ravel(_tf_names.plain(ds._filenames))]
    return _sources.CsvDataset(
        files, made, _text(ds._compression_type) or None, _number(ds._buffer_size), bool(_number(ds._header)),
        _text(ds._field_delim), bool(_number(ds._use_quote_delim)), _text(ds._na_value), **more,
    )  # fmt: skip


def _csv_default(v, spec):
    """A column's default, or its type if required."""
    if np.size(v):
        return v if isinstance(v, bytes) else np.asarray(v).reshape(-1)[0]
    return "bytes" if spec.dtype.name == "string" else spec.dtype.name


def _batch(ds, below):
    size, drop = _number(ds._batch_size), bool(_number(ds._drop_remainder))
    parts = []
    _tf_names.structure(ds.element_spec, parts.append)
    splits = {s.row_splits_dtype.name for s in parts if type(s).__name__ == "RaggedTensorSpec"}
    if splits and _kind(ds._input_dataset) == "DenseToRaggedDataset":
        return below.ragged_batch(size, drop, splits.pop())
    if hasattr(ds, "_num_parallel_calls"):
        return below.batch(size, drop, _number(ds._num_parallel_calls), _ordered(ds))
    return below.batch(size, drop)


def _rebatched(ds, below):
    sizes = np.ravel(_number(ds._batch_sizes)).tolist()
    return below.rebatch(sizes if len(sizes) > 1 else sizes[0], bool(_number(ds._drop_remainder)))


def _asserted(ds, below):
    return _experimental.NAMES["assert_cardinality"](int(_number(ds._expected_cardinality)))(below)


_SOURCES = {
    "RangeDataset": lambda ds: Dataset.range(
        *[_number(v) for v in (ds._start, ds._stop, ds._step)], output_type=ds._output_type.name
    ),
    "TensorDataset": lambda ds: Dataset.from_tensors(_tensors(ds)),
    "TensorSliceDataset": lambda ds: Dataset.from_tensor_slices(_tensors(ds)),
    "TFRecordDataset": lambda ds: _reader(_sources.TFRecordDataset, ds),
    "TextLineDataset": lambda ds: _reader(_sources.TextLineDataset, ds),
    "FixedLengthRecordDataset": _fixed,
    "ZipDataset": _zip,
    "ConcatenateDataset": _concatenated,
    "DirectedInterleaveDataset": _interleaved,
    "CsvDataset": _csv,
    "LoadDataset": lambda ds: _tf_saved.loaded(_text(ds._path), ds.element_spec, _text(ds._compression), ds._reader_func),
    "GeneratorDataset": _generator,
    "DatasetAdapter": lambda ds: _build(ds._dataset),
}
_STAGES = {
    "MapDataset": _map,
    "ParallelMapDataset": _map,
    "MapAndBatchDataset": _map_and_batch,
    "FilterDataset": lambda ds, d: d.filter(_function_of(ds._predicate, d.element_spec, "filter")),
    "TakeWhileDataset": lambda ds, d: d.take_while(_function_of(ds._predicate, d.element_spec, "take_while")),
    "FlatMapDataset": _flat_map,
    "InterleaveDataset": _interleave,
    "ParallelInterleaveDataset": _interleave,
    "BatchDataset": _batch,
    "ParallelBatchDataset": _batch,
    "DenseToRaggedDataset": lambda ds, d: d,  # batch makes its values ragged
    "PaddedBatchDataset": _padded,
    "UnbatchDataset": lambda ds, d: d.unbatch(),
    "WindowDataset": _window,
    "ShuffleDataset": _shuffle,
    "PrefetchDataset": lambda ds, d: d.prefetch(_number(ds._buffer_size)),
    "CacheDataset": lambda ds, d: d.cache(_text(ds._filename) or ""),
    "RepeatDataset": lambda ds, d: d.repeat(_number(ds._count)),
    "TakeDataset": lambda ds, d: d.take(_number(ds._count)),
    "SkipDataset": lambda ds, d: d.skip(_number(ds._count)),
    "ShardDataset": lambda ds, d: d.shard(_number(ds._num_shards), _number(ds._index), remainder="keep"),
    "GroupByWindowDataset": _group_by_window,
    "ScanDataset": _scan,
    "ParseExampleDataset": _parse_example,
    "UniqueDataset": lambda ds, d: d.unique(),
    "RebatchDataset": _rebatched,
    "IgnoreErrorsDataset": lambda ds, d: d.ignore_errors(),
    "AssertCardinalityDataset": _asserted,
    "RestructuredDataset": _restructured,
    "CopyToDeviceDataset": lambda ds, d: d,  # to_device() or to_torch(device=) copies, at the end
    "OptionsDataset": lambda ds, d: d,  # the whole pipeline's options are read at its end
}


INT64 = _spec.TensorSpec((), "int64")


def _kind(ds):
    """TensorFlow's name of a stage without underscores and versions."""
    name = type(ds).__name__.strip("_").replace("V1Adapter", "Adapter")
    if name.endswith("V1") and hasattr(ds, "_dataset"):  # version 1's readers
        return "DatasetAdapter"
    name = name[:-2] if name.endswith(("V1", "V2")) else name
    is_generator = name == "FlatMapDataset" and _is_generator(ds._map_func)
    return "GeneratorDataset" if is_generator else name


def _build(ds):
    """The pipeline up to a TensorFlow stage."""
    kind = _kind(ds)
    is_source = kind in _SOURCES
    if not is_source and kind not in _STAGES:
        return _from_graph(ds, kind)
    below, reasons = (None, []) if is_source else _below(ds)
    try:
        made = _SOURCES[kind](ds) if is_source else _STAGES[kind](ds, below)
    except _Refused as e:
        reasons += [r if is_source and r.startswith(_PLACED) else f"{_PLACED}{kind}: {r}" for r in e.args]
    except Exception as e:  # attributes of another version, values without an equivalent, TensorFlow's own errors
        reasons.append(f"{_PLACED}{kind}: {(str(e).splitlines() or [repr(e)])[0]}")
    else:
        why = _tf_names.difference(ds.element_spec, made.element_spec)
        if why:
            reasons.append(f"{_PLACED}{kind} would give different elements: {why}")
    if reasons:
        raise _Refused(*reasons)
    return made


_PLACED = "stage "  # start of a reason that names its stage


def _below(ds):
    """The pipeline below a stage and no reasons; or the reasons, and a stand-in with its spec, so that the stage is
    examined too."""
    try:
        return _build(ds._input_dataset), []
    except _Refused as e:
        try:
            spec = _tf_names.spec_of(ds._input_dataset.element_spec)
            parts = iter(_spec.blank(spec))
            return Dataset.from_tensors(_spec.map_structure(lambda _: next(parts), spec)), list(e.args)
        except Exception:  # elements without a stand-in: report only these reasons
            raise e from None


def _from_graph(ds, kind):
    """A stage whose object doesn't describe it, with everything below it."""
    try:
        made = _tf_datasets.imported(ds)
    except Exception as e:
        why = f"{_PLACED}{kind} has no known equivalent here; in the pipeline's serialized graph: {e}"
        raise _Refused(why) from e
    why = _tf_names.difference(ds.element_spec, made.element_spec)
    if why:
        raise _Refused(f"{_PLACED}{kind} would give different elements: {why}")
    return made


def _with_options(ds, made):
    theirs, ours, is_any = ds.options(), Options(), False
    for path in _CARRIED:
        *groups, last = path.split(".")
        to, value = ours, theirs
        for name in groups:
            to, value = getattr(to, name), getattr(value, name, None)
        value = getattr(value, last, None)
        if value is not None:
            setattr(to, last, value)
            is_any = True
    return made.with_options(ours) if is_any else made


def from_tf(dataset):
    """A tf.data pipeline as a Dataset of this module: the same stages, with its functions translated.

    dataset: a tf.data.Dataset, or the folder written by its save(). A function that can't be translated runs in
    TensorFlow for each element; explain() names it, with the reason and the time of its calls. Raises
    InvalidArgumentError, with every stage and reason, if a stage has no equivalent here, or elements would have another
    structure, dtype or shape. Shuffle orders and random values are this module's.
    """
    if isinstance(dataset, (str, os.PathLike)):
        dataset = need("tensorflow").data.Dataset.load(os.fspath(dataset))
    if not hasattr(dataset, "element_spec") or not hasattr(dataset, "_variant_tensor"):
        raise InvalidArgumentError(f"from_tf: expected a tf.data.Dataset, not {type(dataset).__name__}")
    try:
        return _with_options(dataset, _build(dataset))
    except _Refused as e:
        reasons = [r.removeprefix(_PLACED) for r in dict.fromkeys(e.args)]
        text = reasons[0] if len(reasons) == 1 else "".join(f"\n  {r}" for r in reasons)
        raise InvalidArgumentError(f"from_tf: {text}") from e
