# SPDX-License-Identifier: Apache-2.0
"""A tf.data pipeline, taken over: the same stages with the same arguments, run by this engine.

TensorFlow's dataset objects know the dataset below them, their arguments and the Python function
that they were given, so a pipeline is walked from its end to its sources and built anew. Functions
are traced again: a copy of each, in which the module tensorflow, what was imported from it, and
eager tensors are this module, its names, and arrays (`_tf_names.py`). Anything without an equivalent here is refused with
its name and the reason, and so is a stage whose element_spec comes out otherwise than TensorFlow's:
nothing runs as Python for each element unnoticed.

Limits: TensorFlow keeps all this in attributes that are not public; a version that has them under
other names is refused. Orders of shuffles and random bits are this engine's (docs/data/differences.md).
What list_files found is what it found when the pipeline was made.
"""

from ..files import _sources
from ..core import _function
from . import _tf_names
from ..core._dataset import Dataset
from ..core._options import Options
from ..errors import InvalidArgumentError

_CARRIED = (
    "deterministic",
    "autotune.enabled",
    "autotune.cpu_budget",
    "autotune.ram_budget",
    "threading.private_threadpool_size",
)


_ENDLESS = -1  # TensorFlow's cardinality


class _Refused(Exception):
    pass


def _number(v):
    """An argument that TensorFlow keeps as a tensor; None stays None."""
    return None if v is None else _tf_names.plain(v)


def _text(v):
    v = _number(v)
    return v.decode() if isinstance(v, bytes) else v


def _ordered(ds):
    """deterministic= of a stage."""
    said = getattr(ds, "_deterministic", None)
    return {"true": True, "false": False}.get(said, said if isinstance(said, bool) else None)


def _function_of(wrapped, spec, what):
    """The function of a stage, over this module's names; refused where it cannot be traced."""
    if (getattr(wrapped._func, "__module__", None) or "").endswith("from_generator_op"):
        raise _Refused("from_generator: sd.Dataset.from_generator takes the same generator and output_signature")
    f = _tf_names.function(wrapped._func)
    try:
        _function.function(f, spec, what)
    except TypeError as e:
        raise _Refused(str(e)) from e
    return f


def _tensors(ds):
    flat = iter([_tf_names.plain(t) for t in ds._tensors])
    return _tf_names.structure(ds._structure, lambda _: next(flat))


def _files(ds):
    """The names of a reader's files: a Dataset, or their list where TensorFlow has no more."""
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


def _interleave(ds, below):
    f = _function_of(ds._map_func, below.element_spec, "interleave")
    more = {"cycle_length": _number(ds._cycle_length), "block_length": _number(ds._block_length)}
    more["num_parallel_calls"] = _number(getattr(ds, "_num_parallel_calls", None))
    return below.interleave(f, deterministic=_ordered(ds), **more)


def _shuffle(ds, below):
    seed = (_number(ds._seed), _number(ds._seed2))
    again = ds._reshuffle_each_iteration
    more = {} if again is None else {"reshuffle_each_iteration": bool(again)}
    return below.shuffle(_number(ds._buffer_size), seed=seed[1] if any(seed) else None, **more)


def _padded(ds, below):
    def shape(s):
        dims = _tf_names.plain(s).tolist() if hasattr(s, "numpy") else list(s)
        return [None if d is None or d < 0 else int(d) for d in dims]

    spec = ds._input_dataset.element_spec
    shapes = iter([shape(s) for s in _tf_names.leaves_like(ds._padded_shapes, spec)])
    values = iter([_number(v) for v in _tf_names.leaves_like(ds._padding_values, spec)])
    return below.padded_batch(
        _number(ds._batch_size),
        _tf_names.structure(spec, lambda _: next(shapes)),
        _tf_names.structure(spec, lambda _: next(values)),
        bool(_number(ds._drop_remainder)),
    )


def _window(ds, below):
    size, shift, stride = (_number(getattr(ds, f"_{n}")) for n in ("size", "shift", "stride"))
    return below.window(size, shift, stride, bool(_number(ds._drop_remainder)))


def _zip(ds):
    """zip; or enumerate, of which TensorFlow keeps numbers without an end and nothing else."""
    parts = ds._datasets
    if type(parts) is tuple and len(parts) == 2 and _kind(parts[0]) == "VariantDataset":
        if _number(parts[0].cardinality()) == _ENDLESS:
            return _build(parts[1]).enumerate(_number(next(iter(parts[0]))))
    return Dataset.zip(_tf_names.structure(parts, _build))


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
    "ConcatenateDataset": lambda ds: _build(ds._input_dataset).concatenate(_build(ds._dataset_to_concatenate)),
}
_STAGES = {
    "MapDataset": _map,
    "ParallelMapDataset": _map,
    "FilterDataset": lambda ds, d: d.filter(_function_of(ds._predicate, d.element_spec, "filter")),
    "TakeWhileDataset": lambda ds, d: d.take_while(_function_of(ds._predicate, d.element_spec, "take_while")),
    "FlatMapDataset": lambda ds, d: d.flat_map(_function_of(ds._map_func, d.element_spec, "flat_map")),
    "InterleaveDataset": _interleave,
    "ParallelInterleaveDataset": _interleave,
    "BatchDataset": lambda ds, d: d.batch(_number(ds._batch_size), bool(_number(ds._drop_remainder))),
    "ParallelBatchDataset": lambda ds, d: d.batch(
        _number(ds._batch_size), bool(_number(ds._drop_remainder)), _number(ds._num_parallel_calls), _ordered(ds)
    ),
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
    "OptionsDataset": lambda ds, d: d,  # those of the whole pipeline are read at its end
}


def _kind(ds):
    """TensorFlow's name of a stage without underscores and versions."""
    name = type(ds).__name__.strip("_")
    return name[:-2] if name.endswith(("V1", "V2")) else name


def _build(ds):
    """The pipeline up to a stage of TensorFlow's."""
    kind = _kind(ds)
    is_source = kind in _SOURCES
    if not is_source and kind not in _STAGES:
        raise _Refused(f"{kind} has no known equivalent here")
    below = None if is_source else _build(ds._input_dataset)
    try:
        made = _SOURCES[kind](ds) if is_source else _STAGES[kind](ds, below)
    except _Refused as e:
        raise (e if e.args[1:] else _Refused(f"{kind}: {e}", True)) from e.__cause__
    except (AttributeError, TypeError, ValueError, NotImplementedError) as e:
        raise _Refused(f"{kind}: {e}", True) from e
    why = _tf_names.difference(ds.element_spec, made.element_spec)
    if why:
        raise _Refused(f"{kind} would give different elements: {why}", True)
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
    """A tf.data pipeline as a Dataset of this module: the same stages, with its functions traced again.

    Raises InvalidArgumentError, with the stage and the reason, if a stage has no equivalent here, a
    function can't be traced (explain() of a map written with `sd` would name the line), or elements
    would have another structure, dtype or shape. Shuffle orders and random values are this
    module's.
    """
    if not hasattr(dataset, "element_spec") or not hasattr(dataset, "_variant_tensor"):
        raise InvalidArgumentError(f"from_tf: expected a tf.data.Dataset, not {type(dataset).__name__}")
    try:
        return _with_options(dataset, _build(dataset))
    except _Refused as e:
        raise InvalidArgumentError(f"from_tf: {e.args[0]}") from e
