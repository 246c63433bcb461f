# SPDX-License-Identifier: Apache-2.0
"""Padded batches, buckets, running state, resampling: methods of Dataset that do more than pass on their arguments."""

import numpy as np

from ..core import _arguments as _arg
from ..core import _call, _dtypes, _function, _spec, _trace
from ..core._dataset import Dataset, method
from ..core._spec import DatasetSpec, TensorSpec
from ..core._value import Value
from ..errors import InvalidArgumentError
from . import _random as random
from ._ops import do


def _like(structure, spec, what):
    """Leaves of an argument given in the elements' structure, or one for all of them."""
    leaves = _spec.components(spec)
    if structure is None:
        return [None] * len(leaves)
    return _leaves(structure, spec, what)


def _leaves(structure, spec, what):
    if isinstance(spec, tuple):
        if not isinstance(structure, tuple) or len(structure) != len(spec):
            raise InvalidArgumentError(f"{what} must have the elements' structure, {spec}")
        return [leaf for a, b in zip(structure, spec) for leaf in _leaves(a, b, what)]
    if isinstance(spec, dict):
        if not isinstance(structure, dict) or set(structure) != set(spec):
            raise InvalidArgumentError(f"{what} must have the elements' keys, {list(spec)}")
        return [
            leaf for k in _spec.sorted_keys(spec) for leaf in _leaves(structure[k], spec[k], what)
        ]
    if spec is None:
        return []
    return [structure]


def _shapes(spec, padded_shapes):
    parts = _spec.components(spec)
    given = (
        _like(padded_shapes, spec, "padded_shapes")
        if padded_shapes is not None
        else [None] * len(parts)
    )
    out = []
    for part, shape in zip(parts, given):
        if shape is None and padded_shapes is None:
            shape = part.shape
        try:
            shape = _spec.as_shape(shape)
        except (TypeError, ValueError):
            raise InvalidArgumentError(f"{shape!r} is not a shape for {part}") from None
        if shape is None and part.shape is None:
            raise InvalidArgumentError(
                f"padded_batch: the rank of {part} isn't known; give padded_shapes, or in the map before it tf.ensure_shape or set_shape"
            )
        if shape is not None and part.shape is None:
            out.append(shape)
            continue
        if shape is None or len(shape) != len(part.shape):
            raise InvalidArgumentError(f"padded shape {shape} for {part}: ranks differ")
        if any(p is not None and d is not None and p > d for p, d in zip(part.shape, shape)):
            raise InvalidArgumentError(f"padded shape {shape} is smaller than {part.shape}")
        out.append(shape)
    return out


def _values(spec, padding_values):
    parts = _spec.components(spec)
    one = padding_values is not None and not isinstance(padding_values, (tuple, dict))
    given = [padding_values] * len(parts) if one else _like(padding_values, spec, "padding_values")
    out = []
    for part, v in zip(parts, given):
        if v is None:
            v = b"" if part.dtype == _dtypes.string else 0
            v = np.asarray(v, dtype=object if part.dtype == _dtypes.string else part.dtype)
        out.append(_call.convert(v, part.dtype))
    return out


def padding(spec, padded_shapes, padding_values):
    """(spec of the batches, attributes) of padded_batch."""
    if any(hasattr(s, "parts") for s in _spec.flatten(spec)):
        raise TypeError("padded_batch of sparse and ragged values is not possible")
    shapes, values = _shapes(spec, padded_shapes), _values(spec, padding_values)
    it = iter(shapes)
    out = _spec.map_structure(lambda s: TensorSpec((None,) + tuple(next(it)), s.dtype), spec)
    specs = [
        (_dtypes.number(p.dtype), tuple(s), None) for p, s in zip(_spec.components(spec), shapes)
    ]
    return out, {"padded_shapes": ("specs", specs), "padding_values": ("tensors", values)}


@method
def padded_batch(
    self, batch_size, padded_shapes=None, padding_values=None, drop_remainder=False, name=None
):
    """Combines batch_size elements, padded to padded_shapes (None: the longest of the batch)."""
    args = {
        "batch_size": _arg.count(batch_size, "batch_size", 1),
        "drop_remainder": int(bool(drop_remainder)),
    }
    spec, more = padding(self.element_spec, padded_shapes, padding_values)
    return _with_ranks(self, more["padded_shapes"][1])._then("padded_batch", dict(args, **more), spec)


def _with_ranks(dataset, padded):
    """The dataset, whose components of unknown rank must have the rank of their padded shape."""
    spec = dataset.element_spec
    parts = _spec.components(spec)
    if all(p.shape is not None for p in parts):
        return dataset
    ranks = [len(p.shape) if p.shape is not None else len(shape) for p, (_, shape, _) in zip(parts, padded)]

    def padded_batch_ranks(*element):
        values = iter(_spec.flatten(element if type(spec) is tuple else element[0]))
        made = iter([do.ensure_shape(v, (None,) * n) if v.shape is None else v for v, n in zip(values, ranks)])
        return _spec.map_structure(lambda _: next(made), spec)

    return dataset.map(padded_batch_ranks)


def _pad_to(value, length, fill):
    """value with its unknown dimensions padded to `length`."""
    shape = do.shape(value)
    rows = []
    for i, d in enumerate(value.shape):
        after = 0 if d is not None else do.cast(length, "int32") - shape[i]
        rows.append(
            do.stack([np.int32(0), after])
            if _call.is_symbolic(after)
            else np.zeros(2, np.int32)
        )
    return do.pad(value, do.stack(rows), constant_values=fill) if rows else value


@method
def bucket_by_sequence_length(
    self,
    element_length_func,
    bucket_boundaries,
    bucket_batch_sizes,
    padded_shapes=None,
    padding_values=None,
    pad_to_bucket_boundary=False,
    no_padding=False,
    drop_remainder=False,
    name=None,
):
    """Batches of elements of similar length, padded to the longest."""
    boundaries, batch_sizes = [int(b) for b in bucket_boundaries], [int(b) for b in bucket_batch_sizes]
    if len(batch_sizes) != len(boundaries) + 1:
        raise InvalidArgumentError(
            f"{len(boundaries)} boundaries need {len(boundaries) + 1} batch sizes, not {len(batch_sizes)}"
        )
    edges, sizes = np.asarray(boundaries, np.int32), np.asarray(batch_sizes, np.int64)

    def bucket(*element):
        n = do.cast(element_length_func(*element), "int32")
        return do.reduce_sum(
            do.cast(edges <= n if isinstance(n, np.ndarray) else n >= edges, "int64")
        )

    def batched(key, group):
        size = do.gather(sizes, key)
        if no_padding:
            return group.batch(size, drop_remainder)
        if not pad_to_bucket_boundary:
            return group.padded_batch(size, padded_shapes, padding_values, drop_remainder)
        limit = do.gather(edges - 1, do.minimum(key, len(boundaries) - 1))
        fills = iter(_values(group.element_spec, padding_values) * 2)
        spread = type(group.element_spec) is tuple

        def fill(*element):
            return _spec.map_structure(
                lambda v: _pad_to(v, limit, next(fills)), element if spread else element[0]
            )

        return group.map(fill).batch(size, drop_remainder)

    return self.group_by_window(
        bucket, batched, window_size_func=lambda key: do.gather(sizes, key)
    )


@method
def group_by_window(
    self, key_func, reduce_func, window_size=None, window_size_func=None, name=None
):
    """Groups elements by key (int64) into windows of window_size, each processed by reduce_func(key, window)."""
    if (window_size is None) == (window_size_func is None):
        raise InvalidArgumentError(
            "group_by_window takes one of window_size and window_size_func"
        )
    key = _function.function(
        lambda *e: _call.convert(do.cast(key_func(*e), "int64")),
        self.element_spec,
        "group_by_window key_func",
    )
    window = DatasetSpec(self.element_spec)
    window.nested, window.keep = self._nested_specs(), self._keep
    reduce = _function.function(
        reduce_func, (TensorSpec((), "int64"), window), "group_by_window reduce_func"
    )
    if not isinstance(reduce.spec, DatasetSpec):
        raise TypeError(f"group_by_window: reduce_func must give a Dataset, not {reduce.spec}")
    args = {"fn": key.fn, "reduce_fn": reduce.fn}
    functions = [key, reduce]
    if window_size_func is not None:
        size = _function.function(
            lambda k: do.cast(window_size_func(k), "int64"),
            TensorSpec((), "int64"),
            "group_by_window window_size_func",
        )
        args["window_size_fn"] = size.fn
        functions.append(size)
    else:
        args["window_size"] = _arg.count(window_size, "window_size", 1)
    if any(f.captures for f in functions):
        raise NotImplementedError("group_by_window inside of a function whose values it uses")
    keep = [k for f in functions for k in f.keep]
    return self._then(
        "group_by_window",
        args,
        reduce.spec.element_spec,
        keep,
        [n for f in functions for n in f.notes],
        reduce,
    )


def _state(initial_state):
    keep = []
    spec, values = _function.result_leaves(initial_state, keep)
    symbolic = any(_call.is_symbolic(v) for v in values)
    if symbolic:
        graph = _trace.current()
        values = [v if isinstance(v, Value) else Value(graph, graph.constant(v)) for v in values]
    return spec, values if symbolic else ("tensors", values)


def _relaxed(a, b):
    """The common spec of the state; None if types differ."""
    pa, pb = _spec.components(a), _spec.components(b)
    if len(pa) != len(pb) or repr(_spec.map_structure(lambda _: 0, a)) != repr(
        _spec.map_structure(lambda _: 0, b)
    ):
        return None
    if any(x.dtype != y.dtype for x, y in zip(pa, pb)):
        return None
    it = iter(pb)

    def leaf(x):
        y = next(it)
        if hasattr(x, "make"):  # a TensorArray, whose length is never fixed
            return x
        if x.shape is None or y.shape is None or len(x.shape) != len(y.shape):
            return TensorSpec(None, x.dtype)
        return TensorSpec([d if d == e else None for d, e in zip(x.shape, y.shape)], x.dtype)

    return _spec.map_structure(leaf, a)


def _stepping(ds, state_spec, f, what, state_of, sample=None):
    """The traced function, and the spec of the state it preserves."""
    for _ in range(4):
        out_spec = state_spec if what == "reduce" else None
        fn = _function.function(
            f, (state_spec, ds.element_spec), what, sample(state_spec) if sample else None, out_spec
        )
        have = state_of(fn.spec)
        wider = _relaxed(state_spec, have)
        if wider is None:
            raise TypeError(f"{what}: the state is {state_spec}, and the function gives {have}")
        if wider == state_spec:
            return fn, state_spec
        state_spec = wider
    raise TypeError(f"{what}: the state's shape keeps changing")


@method
def reduce(self, initial_state, reduce_func, name=None):
    """Runs reduce_func(state, element) for each element, starting with initial_state; returns NumPy values."""
    spec, values = _state(initial_state)
    fn, spec = _stepping(self, spec, reduce_func, "reduce", lambda s: s)
    source = self._beside(fn.captures)
    out = Dataset._make(
        "reduce", [source], {"initial_state": values, "fn": fn.fn}, spec, fn.keep, fn.notes, fn
    )
    return out.get_single_element()


@method
def scan(self, initial_state, scan_func, name=None):
    """scan_func(state, element) returns (state, output); yields the outputs."""
    spec, values = _state(initial_state)

    def check(state, element):
        result = scan_func(state, element)
        if not isinstance(result, tuple) or len(result) != 2:
            raise _trace.TraceError(
                f"scan: the function must give (state, output), not {result!r:.100}"
            )
        return result

    check.__qualname__ = _trace.name_of(scan_func)

    def sample(state_spec):
        def element():
            parts, element_spec = self._sample()
            first = values[1] if isinstance(values, tuple) else []
            return tuple(first) + tuple(parts), (state_spec, element_spec)

        return element

    fn, spec = _stepping(self, spec, check, "scan", lambda s: s[0], sample)
    return Dataset._make(
        "scan", [self._beside(fn.captures)], {"initial_state": values, "fn": fn.fn}, fn.spec[1], fn.keep, fn.notes, fn
    )


@method
def rejection_resample(self, class_func, target_dist, initial_dist=None, seed=None, name=None):
    """(class, element) pairs, dropped at random until classes are distributed as target_dist."""
    target = np.asarray(target_dist, np.float32)
    if target.ndim != 1 or (target < 0).any() or target.sum() <= 0:
        raise InvalidArgumentError("target_dist is a vector of shares, none negative")
    target = target / target.sum()
    spread = type(self.element_spec) is tuple

    def classed(*element):
        return class_func(*element), element if spread else element[0]

    pairs = self.map(classed)

    def accepted(share, cls):
        chance = do.gather(share, do.cast(cls, "int64"))
        return random.uniform((), seed=seed) < chance

    def shares(dist):
        ratio = target / np.maximum(dist, np.finfo(np.float32).tiny)
        return (ratio / ratio[dist > 0].max()).astype(np.float32)

    if initial_dist is not None:
        initial = np.asarray(initial_dist, np.float32)
        fixed = shares(initial / initial.sum())
        return pairs.filter(lambda cls, _: accepted(fixed, cls))

    def count(counts, pair):
        label = do.cast(pair[0], "int64")
        counts = counts + do.one_hot(label, len(target), dtype="float32")
        dist = counts / do.reduce_sum(counts)
        ratio = target / dist
        return counts, (ratio / do.reduce_max(ratio), pair)

    counted = pairs.scan(np.full(len(target), 16.0 / len(target), np.float32), count)
    return counted.filter(lambda share, pair: accepted(share, pair[0])).map(lambda _, pair: pair)


@method
def rebatch(self, batch_size, drop_remainder=False, name=None):
    """Batches of another size, or of several sizes alternating (a list)."""
    leaves = _spec.flatten(self.element_spec)
    if any(getattr(s, "shape", None) == () for s in leaves):
        raise InvalidArgumentError(
            f"rebatch takes batches, and there is a scalar in {self.element_spec}"
        )
    if isinstance(batch_size, (list, tuple, np.ndarray)) and np.ndim(batch_size):
        return _rebatched(self, batch_size, drop_remainder)
    size = _arg.count(batch_size, "batch_size", 1)
    is_ragged = any(hasattr(s, "ragged_rank") for s in leaves)
    one = self.unbatch()
    return (one.ragged_batch if is_ragged else one.batch)(size, drop_remainder)


def _rebatched(ds, sizes, drop_remainder):
    """Dataset.rebatch with several alternating sizes."""
    sizes = [int(n) for n in sizes]
    if not sizes or min(sizes) < 1:
        raise InvalidArgumentError(f"rebatch: sizes are at least 1, not {sizes}")
    spec = ds.element_spec
    if any(hasattr(s, "parts") for s in _spec.flatten(spec)):
        raise NotImplementedError("rebatch of sparse and ragged values to several sizes")

    def batches(*windows):
        whole = Dataset.zip(_again(spec, windows))
        first, out = 0, None
        for n in sizes:
            part = whole.skip(first).take(n).batch(n, drop_remainder)
            first, out = first + n, part if out is None else out.concatenate(part)
        return out

    return ds.unbatch().window(sum(sizes)).flat_map(batches)


def _again(spec, arguments):
    """An element of that spec from a function's positional arguments."""
    return arguments if type(spec) is tuple else arguments[0]


@method
@staticmethod
def sample_from_datasets(
    datasets,
    weights=None,
    seed=None,
    stop_on_empty_dataset=False,
    rerandomize_each_iteration=None,
):
    """Elements of datasets drawn at random by weight (equal by default)."""
    datasets = list(datasets)
    if not datasets:
        raise InvalidArgumentError("sample_from_datasets: no datasets")
    if isinstance(weights, Dataset):
        return _sampled_by(datasets, weights, seed, stop_on_empty_dataset)
    if _call.is_symbolic(weights):
        raise NotImplementedError("sample_from_datasets with weights of a function's argument")
    w = [1.0] * len(datasets) if weights is None else [float(v) for v in np.ravel(weights)]
    if len(w) != len(datasets) or min(w) < 0 or sum(w) <= 0:
        raise InvalidArgumentError(
            "sample_from_datasets: one weight for each dataset, none negative"
        )
    spec = _arg.joined(datasets)
    datasets, w = [d for d, v in zip(datasets, w) if v > 0], [v for v in w if v > 0]
    if len(datasets) == 1:
        return datasets[0]
    attrs = {
        "weights": ("floats", [v / sum(w) for v in w]),
        "seed": _arg.seed(seed),
        "stop_on_empty_dataset": int(stop_on_empty_dataset),
        "rerandomize_each_iteration": int(bool(rerandomize_each_iteration)),
    }
    return Dataset._make("sample_from_datasets", datasets, attrs, spec)


def _sampled_by(datasets, weights, seed, stop_on_empty_dataset):
    """Weights from a dataset, one vector for each element drawn."""
    def draw(w):
        ends = do.cumsum(do.cast(w, "float32"))
        at = random.uniform((), seed=seed) * ends[-1]
        passed = do.reduce_sum(do.cast(do.less_equal(ends, at), "int64"))
        return do.minimum(passed, np.int64(len(datasets) - 1))

    return Dataset.choose_from_datasets(datasets, weights.map(draw), stop_on_empty_dataset)


@method
def sample_by_weight(self, weights, num_samples=None, replacement=True, seed=None, name=None):
    """num_samples elements (as many as there are weights), each drawn with probability proportional to its weight, like
    torch's WeightedRandomSampler: different ones in each epoch.

    Needs random access, see pick(). Without replacement each occurs once.
    """
    w = np.asarray(weights, np.float64).ravel()
    n = self._cardinality_now()
    if n >= 0 and len(w) != n:
        raise InvalidArgumentError(f"sample_by_weight: {len(w)} weights for {n} elements")
    if not len(w) or (w < 0).any() or not np.isfinite(w).all() or w.sum() <= 0:
        raise InvalidArgumentError("sample_by_weight: weights are not negative, and some are positive")
    count = _arg.count(len(w) if num_samples is None else num_samples, "num_samples", 0)
    seed = _arg.seed(seed)
    if not replacement:
        if count > (w > 0).sum():
            raise InvalidArgumentError(
                f"sample_by_weight: {count} of {(w > 0).sum()} elements, without replacement"
            )
        # the largest of u ** (1 / weight): Efraimidis and Spirakis 2006
        keys = lambda _: do.truediv(
            do.log(random.uniform([len(w)], np.finfo("f4").tiny, 1.0, seed=seed)),
            np.maximum(w, 1e-300).astype(np.float32),
        )
        picked = lambda i: do.math.top_k(keys(i), max(count, 1)).indices
        places = Dataset.range(1).map(lambda i: do.cast(picked(i), "int64")).unbatch()
        return self.pick(places.take(count))
    ends = np.cumsum(w) / w.sum()

    def drawn(_):
        u = random.uniform([], 0.0, 1.0, "float64", seed)
        passed = do.reduce_sum(do.cast(do.less_equal(ends, u), "int64"))
        return do.minimum(passed, np.int64(len(w) - 1))

    return self.pick(Dataset.range(count).map(drawn))
