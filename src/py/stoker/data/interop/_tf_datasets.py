# SPDX-License-Identifier: Apache-2.0
"""Translates operations of TensorFlow graphs: those that make datasets.

They occur in functions that make a dataset from each element, and in a whole pipeline's serialized graph, which is used
for stages whose Python objects aren't recognized. Elements of these datasets are flat: tuples of components, or a
single component, as in TensorFlow's graphs. `flat` and `shaped` convert from and to structures.
"""

import numpy as np

from .. import io, lookup
from ..core import _call, _spec
from ..core._dataset import Dataset
from ..files import _sources
from . import _tf_names
from ._tf_graph import NODES_MAX, Program, Resource, Unsupported, _Body, operation
from ._tf_ops import ints, scalar
from ._tf_text_ops import features_of

BYTES_MAX = 1 << 30  # of a serialized graph, with its constants


def _is_flat(spec):
    return not isinstance(spec, dict) and (
        not isinstance(spec, tuple) or len(spec) > 1 and all(not isinstance(s, (tuple, dict)) and s is not None for s in spec)
    )


def joined(values):
    """Components as one element: a tuple, or the only one."""
    return values[0] if len(values) == 1 else tuple(values)


def of_element(parts):
    """The components of a function's positional arguments."""
    return [leaf for p in parts for leaf in _spec.flatten(p)]


def flat(ds):
    """The dataset with flat elements."""
    if _is_flat(ds.element_spec):
        return ds
    return ds.map(lambda *e: joined(of_element(e)))


def shaped(values, spec):
    """Components in the form of TensorFlow's spec: tuples, dicts, None, and datasets."""
    left = iter(values)

    def leaf(s):
        kind = type(s).__name__
        if s is None or kind == "NoneTensorSpec":
            return None
        v = next(left)
        return shaped_dataset(v, s.element_spec) if kind == "DatasetSpec" else v

    return _tf_names.structure(spec, leaf)


def shaped_dataset(ds, spec):
    """A flat dataset with elements of TensorFlow's spec."""
    if type(spec).__name__ in ("TensorSpec", "RaggedTensorSpec", "SparseTensorSpec"):
        return ds
    if type(spec) is tuple and len(spec) > 1 and all(type(s).__name__ == "TensorSpec" for s in spec):
        return ds
    return ds.map(lambda *e: shaped(of_element(e), spec))


def _call_of(at, name, more):
    """The function of an attribute, for elements, including what it captured."""
    f = at.function(name)

    def function(*element):
        return joined(f(*of_element(element), *more))

    function.__name__ = function.__qualname__ = at.attr(name).name
    return function


def _n(v):
    """A count: an int if it is known now."""
    known = _call.static_ints(v)
    return v if known is None else known[0]


def _said(at, name="deterministic"):
    """deterministic= of a stage."""
    v = at.attr(name)
    v = v.decode() if isinstance(v, bytes) else v
    return {"true": True, "false": False}.get(v)


# Sources


@operation("RangeDataset")
def _range(at, start, stop, step):
    dtype = at.dtypes("output_types")[0]
    return Dataset.range(*[_n(v) for v in (start, stop, step)], output_type=dtype)


@operation("TensorDataset")
def _tensors(at, *components):
    return Dataset.from_tensors(joined(components))


@operation("TensorSliceDataset")
def _slices(at, *components):
    return Dataset.from_tensor_slices(joined(components))


def _files(names):
    return names if _call.is_symbolic(names) else [n for n in np.ravel(np.asarray(names, object))]


def _kind(at, v):
    return scalar(at, v, "the compression").decode() or None


def _bytes(buffer):
    """A reader's buffer; None: TensorFlow's graph leaves its size open."""
    return _n(buffer) if _n(buffer) >= 0 else None


@operation("TFRecordDataset", "TFRecordDatasetV2")
def _records(at, names, compression, buffer, *_):
    return _sources.TFRecordDataset(_files(names), _kind(at, compression), _bytes(buffer))


@operation("TextLineDataset")
def _lines(at, names, compression, buffer):
    return _sources.TextLineDataset(_files(names), _kind(at, compression), _bytes(buffer))


@operation("FixedLengthRecordDatasetV2")
def _fixed(at, names, header, size, footer, buffer, compression):
    of = _sources.FixedLengthRecordDataset
    return of(_files(names), _n(size), _n(header), _n(footer), _bytes(buffer), _kind(at, compression))


@operation("MatchingFilesDataset")
def _matching(at, patterns):
    return Dataset.list_files(patterns, shuffle=False)


@operation("RandomDataset", "RandomDatasetV2")
def _random(at, seed, seed2, *_):
    seeds = _n(seed), _n(seed2)
    return Dataset.random(seed=seeds[1] if any(seeds) else None)


# Element by element


@operation("MapDataset", "ParallelMapDataset", "ParallelMapDatasetV2")
def _map(at, ds, *more):
    calls = None
    if at.op.type != "MapDataset":
        *more, calls = more
    return ds.map(_call_of(at, "f", more), None if calls is None else _n(calls), _said(at))


@operation("MapAndBatchDataset")
def _map_and_batch(at, ds, *more):
    *more, size, calls, drop = more
    return ds.map(_call_of(at, "f", more), _n(calls)).batch(_n(size), bool(scalar(at, drop)))


@operation("FilterDataset", "ParallelFilterDataset")
def _filter(at, ds, *more):
    more = more[:-1] if at.op.type == "ParallelFilterDataset" else more
    return ds.filter(_call_of(at, "predicate", more))


@operation("TakeWhileDataset")
def _take_while(at, ds, *more):
    return ds.take_while(_call_of(at, "predicate", more))


@operation("FlatMapDataset")
def _flat_map(at, ds, *more):
    return ds.flat_map(_call_of(at, "f", more))


@operation("InterleaveDataset")
def _interleave(at, ds, *more):
    *more, cycle, block = more
    return ds.interleave(_call_of(at, "f", more), _tf_names.cycle(_n(cycle), None), _n(block))


@operation("ParallelInterleaveDatasetV4")
def _parallel_interleave(at, ds, *more):
    *more, cycle, block, _, _, calls = more
    return ds.interleave(_call_of(at, "f", more), _tf_names.cycle(_n(cycle), _n(calls)), _n(block), _n(calls), _said(at))


@operation("LegacyParallelInterleaveDatasetV2")
def _legacy_interleave(at, ds, *more):
    *more, cycle, block, _, _ = more
    return ds.interleave(_call_of(at, "f", more), _n(cycle), _n(block), _n(cycle), _said(at))


@operation("ParseExampleDatasetV2", "ParseExampleDataset")
def _parse(at, ds, calls, *defaults):
    dense = [k.decode() for k in at.attr("dense_keys")]
    sparse = [k.decode() for k in at.attr("sparse_keys")]
    ragged = [k.decode() for k in at.attr("ragged_keys")]
    features = features_of(at, (sparse, dense, ragged), defaults)
    keys = sorted(features)
    return ds.map(lambda r: joined([io.parse_example(r, features)[k] for k in keys]), _n(calls), _said(at))


# Groups and order


@operation("BatchDatasetV2")
def _batch(at, ds, size, drop):
    return ds.batch(_n(size), bool(scalar(at, drop)))


@operation("ParallelBatchDataset")
def _parallel_batch(at, ds, size, calls, drop):
    return ds.batch(_n(size), bool(scalar(at, drop)), _n(calls), _said(at))


@operation("PaddedBatchDatasetV2")
def _padded(at, ds, size, *rest):
    *rest, drop = rest
    n = len(rest) // 2
    shapes = [[None if d < 0 else d for d in ints(at, s, "a padded shape")] for s in rest[:n]]
    values = list(rest[n:])
    return ds.padded_batch(_n(size), joined(shapes), joined(values), bool(scalar(at, drop)))


@operation("UnbatchDataset")
def _unbatch(at, ds):
    return ds.unbatch()


@operation("WindowDataset")
def _window(at, ds, size, shift, stride, drop):
    return ds.window(_n(size), _n(shift), _n(stride), bool(scalar(at, drop)))


@operation("ShuffleDataset", "ShuffleDatasetV2", "ShuffleDatasetV3")
def _shuffle(at, ds, size, *seeds):
    known = [_n(s) for s in seeds[:2] if not isinstance(s, Resource)] if at.op.type != "ShuffleDatasetV2" else []
    again = at.attr("reshuffle_each_iteration", True)
    return ds.shuffle(_n(size), seed=known[-1] if any(known) else None, reshuffle_each_iteration=bool(again))


@operation("ShuffleAndRepeatDataset", "ShuffleAndRepeatDatasetV2")
def _shuffle_and_repeat(at, ds, size, seed, seed2, count, *_):
    known = _n(seed), _n(seed2)
    return ds.shuffle(_n(size), seed=known[1] if any(known) else None).repeat(_n(count))


@operation("DummySeedGenerator", "AnonymousSeedGenerator", "DummyMemoryCache", "AnonymousMemoryCache")
def _generator(at, *_):
    return [Resource(None), None][: len(at.op.outputs)]


@operation("PrefetchDataset")
def _prefetch(at, ds, size):
    return ds.prefetch(_n(size))


@operation("CacheDataset", "CacheDatasetV2")
def _cache(at, ds, name, *_):
    return ds.cache(scalar(at, name, "the file's name").decode())


@operation("RepeatDataset")
def _repeat(at, ds, count):
    return ds.repeat(_n(count))


@operation("TakeDataset")
def _take(at, ds, count):
    return ds.take(_n(count))


@operation("SkipDataset")
def _skip(at, ds, count):
    return ds.skip(_n(count))


@operation("ShardDataset")
def _shard(at, ds, shards, index):
    return ds.shard(_n(shards), _n(index), remainder="keep")


@operation("ZipDataset")
def _zip(at, *parts):
    return flat(Dataset.zip(tuple(parts)))


@operation("ConcatenateDataset")
def _concatenate(at, a, b):
    return a.concatenate(b)


@operation("DirectedInterleaveDataset")
def _directed(at, selector, *parts):
    stops = bool(at.attr("stop_on_empty_dataset"))
    return Dataset.choose_from_datasets(list(parts), selector, stop_on_empty_dataset=stops)


@operation("UniqueDataset")
def _unique(at, ds):
    return ds.unique()


@operation("RebatchDatasetV2")
def _rebatch(at, ds, sizes, drop):
    return ds.rebatch(ints(at, sizes, "the sizes"), bool(scalar(at, drop)))


@operation("IgnoreErrorsDataset")
def _ignore(at, ds):
    return ds.ignore_errors(log_warning=bool(at.attr("log_warning")))


@operation(
    "OptionsDataset", "ModelDataset", "MaxIntraOpParallelismDataset", "PrivateThreadPoolDataset",
    "AssertNextDataset", "NonSerializableDataset", "FinalizeDataset", "WrapDatasetVariant", "UnwrapDatasetVariant",
)  # fmt: skip
def _as_it_is(at, ds, *_):
    return ds


@operation("AssertCardinalityDataset")
def _asserted(at, ds, count):
    from ..files._experimental import NAMES

    return NAMES["assert_cardinality"](_n(count))(ds)


# With a state


def _split(parts, *counts):
    out, at = [], 0
    for n in counts:
        out.append(list(parts[at : at + n]))
        at += n
    return out


@operation("ScanDataset")
def _scan(at, ds, *more):
    n = len(at.attr("Tstate"))
    state, captured = list(more[:n]), more[n:]
    f = at.function("f")

    def step(before, *element):
        out = f(*of_element((before,)), *of_element(element), *captured)
        return joined(out[:n]), joined(out[n:])

    return ds.scan(joined(state), step)


@operation("GroupByWindowDataset")
def _group(at, ds, *more):
    names = ("key_func", "reduce_func", "window_size_func")
    counts = [len(at.attr(f"T{n}_other_arguments")) for n in names]
    key, reduce, size = [_call_of(at, n, part) for n, part in zip(names, _split(more, *counts))]
    return ds.group_by_window(key, reduce, window_size_func=size)


@operation("ReduceDataset")
def _reduce(at, ds, *more):
    n = len(at.attr("Tstate"))
    state, captured = list(more[:n]), more[n:]
    f = at.function("f")

    def step(before, *element):
        return joined(f(*of_element((before,)), *of_element(element), *captured))

    out = ds.reduce(joined(state), step)
    return list(out) if isinstance(out, tuple) else [out]


@operation("DatasetToSingleElement")
def _single(at, ds):
    return of_element((ds.get_single_element(),))


# Whole pipelines


@operation("HashTableV2", "AnonymousHashTable")
def _hash_table(at):
    """A table in a serialized graph, filled by another operation."""
    fills = [op for op in at.op.outputs[0].consumers() if op.type == "LookupTableImportV2"]
    if len(fills) != 1 or any(t.op.type != "Const" for t in fills[0].inputs[1:]):
        at.refuse("a table whose content is not in the graph")
    keys, values = [at.program.results(t.op, {}, at.depth)[0] for t in fills[0].inputs[1:]]
    default = b"" if np.asarray(values).dtype == object else np.asarray(values).dtype.type(0)
    return lookup.StaticHashTable(lookup.KeyValueTensorInitializer(keys, values), default)


def imported(ds):
    """The pipeline up to a TensorFlow stage, from its serialized graph. Unsupported: why not."""
    import tensorflow as tf

    policy = tf.data.experimental.ExternalStatePolicy.IGNORE
    try:
        data = ds._as_serialized_graph(external_state_policy=policy).numpy()
    except Exception as e:
        raise Unsupported(f"TensorFlow cannot serialize it: {str(e).splitlines()[0] if str(e) else e!r}") from e
    return shaped_dataset(from_bytes(data), ds.element_spec)


def from_bytes(data):
    """The dataset of a serialized graph, with flat elements."""
    import tensorflow as tf

    if len(data) > BYTES_MAX:
        raise Unsupported(f"its serialized graph has {len(data):,} bytes; {BYTES_MAX:,} are read at most")
    definition = tf.compat.v1.GraphDef()
    try:
        definition.ParseFromString(data)
    except Exception as e:
        raise Unsupported("its serialized graph is damaged") from e
    ends = [n for n in definition.node if n.op == "_Retval"]
    if len(ends) != 1 or len(ends[0].input) != 1 or len(definition.node) > NODES_MAX:
        raise Unsupported("its serialized graph has no result, several, or too many operations")
    result = ends[0].input[0]
    definition.node.remove(ends[0])
    with tf.Graph().as_default() as graph:
        try:
            tf.graph_util.import_graph_def(definition, name="")
            end = graph.as_graph_element(result if ":" in result else f"{result}:0")
        except Exception as e:
            raise Unsupported(f"its serialized graph: {str(e).splitlines()[0] if str(e) else e!r}") from e
    program = Program(definition.library.function, graph)
    out = program.run(_Body(graph, [], [end]), [])[0]
    if not isinstance(out, Dataset):
        raise Unsupported("its serialized graph gives no dataset")
    return out
