# SPDX-License-Identifier: Apache-2.0
"""Dataset: tf.data's surface over the engine's graph."""

import itertools
import types
import weakref

import numpy as np

from . import _arguments as _arg
from . import _call, _dtypes, _function, _labels, _spec, _trace
from ._iterator import Iterator, _NumpyIterator, template
from ._named import named_class
from ._node import _kinds, _Node
from ._options import AUTOTUNE, INFINITE_CARDINALITY, UNKNOWN_CARDINALITY, Options
from ._spec import DatasetSpec, TensorSpec
from ._value import Value
from ..errors import InvalidArgumentError


@named_class
class Dataset(_Node):
    """A pipeline: elements, each a structure (tensors, tuples, dicts) of one spec.

    Immutable; every method gives a new one. Iterating yields NumPy arrays, NumPy scalars and bytes.
    """

    _asserted = None  # its cardinality by experimental.assert_cardinality
    _gives_lists = False  # its tuples are lists where torch has them (_from_torch.py)
    _pinned_device = None  # its batches are made in memory that is pinned for that CUDA device

    __class_getitem__ = classmethod(types.GenericAlias)  # Dataset[int], for type checkers

    def __init__(self, variant_tensor=None):
        raise TypeError(
            "make datasets with Dataset.range, from_tensor_slices, ... or TFRecordDataset(...)"
        )

    def _then(self, kind, args=None, spec=None, keep=(), notes=(), function=None):
        return Dataset._make(
            kind,
            [self],
            args or {},
            self.element_spec if spec is None else spec,
            keep,
            notes,
            function,
        )

    # Sources

    @staticmethod
    def range(*args, output_type="int64", name=None):
        """range(stop), range(start, stop) or range(start, stop, step): int64 scalars."""
        if not 1 <= len(args) <= 3:
            raise InvalidArgumentError(f"range takes 1 to 3 numbers, not {len(args)}")
        args = [_arg.count(a, "range") for a in args]
        start, stop, step = (
            (0, args[0], 1) if len(args) == 1 else args + [1] if len(args) == 2 else args
        )
        dtype = _dtypes.as_dtype(output_type)
        return Dataset._make(
            "range",
            [],
            {"start": start, "stop": stop, "step": step, "dtype": _dtypes.number(dtype)},
            TensorSpec((), dtype),
        )

    @staticmethod
    def _of_tensors(kind, tensors, more=None):
        keep = []
        spec, values = _function.result_leaves(_datasets_as_is(tensors), keep)
        symbolic = any(isinstance(v, Value) for v in values)
        if symbolic:
            graph = _trace.current()
            values = [
                v if isinstance(v, Value) else Value(graph, graph.constant(v)) for v in values
            ]
        if kind == "tensor_slices":
            spec = _spec.map_structure(_arg.sliced, spec)
        components = values if symbolic else ("tensors", values)
        ds = Dataset._make(kind, [], dict(more or {}, components=components), spec, keep)
        ds._literal = _labels.literal_places(tensors)
        return ds

    @staticmethod
    def from_tensors(tensors, name=None):
        """One element: the structure of tensors (or datasets) given."""
        if any(isinstance(leaf, Dataset) for leaf in _spec.flatten(tensors)):
            return Dataset.range(1).map(lambda _: tensors)
        return Dataset._of_tensors("tensors", tensors)

    @staticmethod
    def from_tensor_slices(tensors, name=None):
        """One element for each slice along the first dimension, which all tensors share.

        NumPy arrays and other buffers are not copied: do not change them while the dataset lives.
        """
        for leaf in _spec.flatten(tensors):
            is_known = hasattr(leaf, "parts") or isinstance(leaf, (Value, list, tuple))
            if not is_known and np.ndim(leaf) == 0:
                _call.convert(leaf)  # says so where it is no value at all
                raise InvalidArgumentError("from_tensor_slices: a scalar cannot be cut into slices")
        if any(hasattr(leaf, "parts") for leaf in _spec.flatten(tensors)):
            return Dataset.from_tensors(tensors).unbatch()
        return Dataset._of_tensors("tensor_slices", tensors)

    @staticmethod
    def from_generator(
        generator,
        output_types=None,
        output_shapes=None,
        args=None,
        output_signature=None,
        name=None,
    ):
        """Elements of generator(*args), a callable that gives an iterable, as the signature says."""
        if not callable(generator):
            raise TypeError("from_generator takes a callable that gives an iterable")
        if output_signature is None:
            if output_types is None:
                raise TypeError("from_generator needs output_signature (or output_types)")
            output_signature = _arg.signature(output_types, output_shapes)
        spec = _spec.type_spec(output_signature)
        values = [_call.convert(a) for a in (args or ())]

        host = _function.Host(_arg.Generated(generator, spec))
        attrs = {"id": host, "specs": ("specs", _spec.engine_specs(spec))}
        if values:
            symbolic = any(isinstance(v, Value) for v in values)
            attrs["args"] = values if symbolic else ("tensors", values)
        return Dataset._make("generator", [], attrs, spec, [host])

    @staticmethod
    def random(seed=None, rerandomize_each_iteration=None, name=None):
        """int64 scalars of random bits without end."""
        attrs = {
            "seed": _arg.seed(seed),
            "rerandomize_each_iteration": int(bool(rerandomize_each_iteration)),
        }
        return Dataset._make("random", [], attrs, TensorSpec((), "int64"))

    @staticmethod
    def counter(start=0, step=1, dtype="int64", name=None):
        """start, start + step, ... without end."""
        stop = 2**63 - 1 if step > 0 else -(2**63) + 1
        return Dataset.range(start, stop, step, output_type=dtype)

    @staticmethod
    def list_files(file_pattern, shuffle=None, seed=None, name=None):
        """Names of files that match a glob pattern (or several), shuffled unless shuffle=False.

        NotFoundError: nothing matches.
        """
        import glob
        import os

        from ..errors import NotFoundError

        if isinstance(file_pattern, Value):
            return Dataset._make(
                "list_files", [], {"pattern": file_pattern}, TensorSpec((), "bytes")
            )
        patterns = np.ravel(_dtypes.strings(file_pattern))
        names = []
        for p in patterns:
            _arg.local(p)
            found = [f for f in sorted(glob.glob(os.fsdecode(p))) if os.path.isfile(f)]
            names.extend(os.fsencode(f) for f in found)
        if not names:
            raise NotFoundError(f"no files match {', '.join(os.fsdecode(p) for p in patterns)}")
        names = sorted(dict.fromkeys(names))
        ds = Dataset.from_tensor_slices(_dtypes.strings(names))
        return ds if shuffle is False else ds.shuffle(len(names), seed=seed)

    @staticmethod
    def zip(*args, datasets=None, name=None):
        """Elements of several datasets side by side, as long as all have some."""
        if not args and datasets is None or args and datasets is not None:
            raise TypeError("zip takes datasets")
        structure = datasets if datasets is not None else args[0] if len(args) == 1 else tuple(args)
        parts = _spec.flatten(structure)
        for p in parts:
            if not isinstance(p, Dataset):
                raise TypeError(
                    f"zip takes datasets, not {type(p).__name__}; lists are no structure here"
                )
        return Dataset._make(
            "zip", parts, {}, _spec.map_structure(lambda d: d.element_spec, structure)
        )

    @staticmethod
    def sample_from_datasets(
        datasets,
        weights=None,
        seed=None,
        stop_on_empty_dataset=False,
        rerandomize_each_iteration=None,
    ):
        """Elements of datasets drawn at random by weight (equal ones by default)."""
        from ..ops._groups import sampled

        again = rerandomize_each_iteration
        return sampled(list(datasets), weights, seed, stop_on_empty_dataset, again)

    @staticmethod
    def choose_from_datasets(datasets, choice_dataset, stop_on_empty_dataset=True):
        """Elements of the datasets whose numbers choice_dataset (int64 scalars) gives."""
        datasets = list(datasets)
        if not datasets:
            raise InvalidArgumentError("choose_from_datasets: no datasets")
        spec = choice_dataset.element_spec
        if (
            not isinstance(spec, TensorSpec)
            or spec.dtype != np.int64
            or spec.shape not in ((), None)
        ):
            raise TypeError(f"choice_dataset has int64 scalars, not {spec}")
        attrs = {"stop_on_empty_dataset": int(stop_on_empty_dataset)}
        return Dataset._make(
            "choose_from_datasets", [choice_dataset] + datasets, attrs, _arg.joined(datasets)
        )

    # Elements one by one

    def _mapped(self, kind, f, args=None, what=None, processes=None):
        fn = _function.function(f, self.element_spec, what or kind, self._sample)
        source = self._beside(fn.captures)
        return Dataset._make(
            kind, [source], dict(args or {}, fn=fn.fn), fn.spec, fn.keep, fn.notes, fn
        )

    def _beside(self, captures):
        """Elements together with values of the function around: for what an inner one captures."""
        if not captures:
            return self
        values = Dataset._of_tensors("tensors", tuple(captures)).repeat()
        return Dataset.zip((self, values))

    def map(
        self,
        map_func,
        num_parallel_calls=None,
        deterministic=None,
        synchronous=None,
        use_unbounded_threadpool=False,
        name=None,
        processes=None,
        timeout=None,
    ):
        """Each element through map_func.

        map_func is called once with symbolic elements and becomes native code; what cannot be
        traced runs as Python for each element (explain() says why), in `processes` processes.
        timeout: seconds that one of those may take for an element; then it is killed, and the
        element is an error. A process that dies costs its element, too, and is replaced. What
        map_func gives is learnt from one of the first elements, in the same time.
        """
        if processes:
            from . import _pool

            return _pool.mapped(self, map_func, processes, deterministic, timeout)
        if timeout is not None:
            raise InvalidArgumentError("timeout goes with processes")
        return self._mapped("map", map_func, _arg.parallel(num_parallel_calls, deterministic))

    def filter(self, predicate, name=None):
        """The elements for which predicate is true."""
        return self._chosen("filter", predicate)

    def take_while(self, predicate, name=None):
        """Elements up to the first for which predicate is false."""
        return self._chosen("take_while", predicate)

    def _chosen(self, kind, predicate):
        fn = _function.function(predicate, self.element_spec, kind, self._sample, None)
        parts = _spec.components(fn.spec)
        if len(parts) != 1 or parts[0].dtype != np.bool_ or parts[0].shape not in ((), None):
            raise TypeError(f"{kind}: the function must give one bool scalar, not {fn.spec}")
        source = self._beside(fn.captures)
        ds = Dataset._make(
            kind, [source], {"fn": fn.fn}, source.element_spec, fn.keep, fn.notes, fn
        )
        return ds if source is self else ds.map(lambda e, _: e)

    def flat_map(self, map_func, name=None):
        """The elements of the datasets that map_func gives, one dataset behind the other."""
        return self._nested("flat_map", map_func, {})

    def interleave(
        self,
        map_func,
        cycle_length=None,
        block_length=None,
        num_parallel_calls=None,
        deterministic=None,
        name=None,
    ):
        """block_length elements in turn of cycle_length datasets that map_func gives."""
        block = _arg.count(1 if block_length is None else block_length, "block_length", 1)
        cycle = AUTOTUNE if cycle_length is None else _arg.count(cycle_length, "cycle_length")
        if cycle == 0 or isinstance(cycle, int) and cycle < -1:
            raise InvalidArgumentError(f"cycle_length is positive or AUTOTUNE, not {cycle}")
        args = dict(
            _arg.parallel(num_parallel_calls, deterministic), cycle_length=cycle, block_length=block
        )
        return self._nested("interleave", map_func, args)

    def _nested(self, kind, map_func, args):
        fn = _function.function(map_func, self.element_spec, kind)
        if not isinstance(fn.spec, DatasetSpec):
            raise TypeError(f"{kind}: the function must give a Dataset, not {fn.spec}")
        source = self._beside(fn.captures)
        return Dataset._make(
            kind, [source], dict(args, fn=fn.fn), fn.spec.element_spec, fn.keep, fn.notes, fn
        )

    def enumerate(self, start=0, name=None):
        """(number, element), counted from start; int64."""
        return self._then(
            "enumerate",
            {"start": _arg.count(start, "start")},
            (TensorSpec((), "int64"), self.element_spec),
        )

    def repeat(self, count=None, name=None):
        """All elements `count` times; None or -1: without end."""
        return self._then("repeat", {"count": -1 if count is None else _arg.count(count, "count")})

    def take(self, count, name=None):
        """The first `count` elements; -1: all."""
        return self._then("take", {"count": _arg.count(count, "count")})

    def skip(self, count, name=None):
        """Without the first `count` elements; -1: none is left."""
        return self._then("skip", {"count": _arg.count(count, "count")})

    def shard(self, num_shards=None, index=None, name=None, remainder=None):
        """Every num_shards-th element from `index` on.

        Without numbers: this process' part, by RANK and WORLD_SIZE, SLURM's or Open MPI's
        environment.

        remainder: where the elements do not divide: "keep", some parts have one more (the default, as
        in TensorFlow); "pad", the others give their first element a second time, so that all ranks
        have as many batches (the default without numbers, and of to_torch in a process group);
        "drop", the last elements are left out.

        All parts must see one order: where a shuffle in front has no seed, and Options().seed and
        random.set_seed say none, the seed is 0 for every part; the epoch still changes the order.
        """
        from ..train import _ranks

        if num_shards is None:
            num_shards, index = _arg.rank_of_environment()
            remainder = "pad" if remainder is None else remainder
        n, i = _arg.count(num_shards, "num_shards", 1), _arg.count(index, "index", 0)
        if isinstance(n, int) and isinstance(i, int) and i >= n:
            raise InvalidArgumentError(f"shard: index {i} of {n} shards")
        args = {"num_shards": n, "index": i}
        if remainder is not None:
            args["remainder"] = _ranks.remainder_number(remainder)
        return self._then("shard", args)

    def elastic_shard(self, past=(), num_shards=None, index=None, batch_size=1):
        """This process' part, as shard() splits, of an epoch that other numbers of ranks began.

        past: for each earlier run of the epoch, oldest first, the states of all its ranks' iterators
        over elastic_shard(...).batch(batch_size) (1: not batched). What those gave is left out and
        the rest split anew: nothing is lost or given twice. Give shuffles a seed of their own, and
        batch behind. Sources by position (arrays, indexed files) pass over what was given at no
        cost, others by reading it. The next epoch begins without `past`.
        """
        from ..train._elastic import elastic_shard

        return elastic_shard(self, past, num_shards, index, batch_size)

    def pick(self, positions, name=None):
        """The elements at these positions (int64 scalars of a dataset, or a list), in that order and as
        often as they come. For elements that can be had by position: of arrays, saved and NPY files."""
        if not isinstance(positions, Dataset):
            positions = Dataset.from_tensor_slices(np.asarray(positions, np.int64))
        return Dataset._make("pick", [self, positions], {}, self.element_spec)

    def sample_by_weight(self, weights, num_samples=None, replacement=True, seed=None, name=None):
        """num_samples elements (as many as there are weights), each drawn with a chance in proportion
        to its weight, as torch's WeightedRandomSampler: others in each epoch.

        For elements that can be had by position, see pick(). Without replacement each comes once.
        """
        from ..ops._groups import weighted

        return weighted(self, weights, num_samples, replacement, seed)

    def concatenate(self, dataset, name=None):
        """These elements, then those of another dataset of the same structure."""
        return Dataset._make("concatenate", [self, dataset], {}, _arg.joined([self, dataset]))

    def ignore_errors(self, log_warning=False, name=None):
        """Without elements that cannot be made. stats() counts them."""
        return self._then("ignore_errors", {"log_warning": int(log_warning)})

    def shuffle(self, buffer_size, seed=None, reshuffle_each_iteration=True, name=None):
        """In random order: each element drawn from a buffer of buffer_size elements.

        reshuffle_each_iteration=False: one order for every pass, and for every dataset made of this
        one: take(n) and skip(n) then have no element in common.
        """
        size = _arg.count(buffer_size, "buffer_size")
        if isinstance(size, int) and size < 1 and size != -1:
            raise InvalidArgumentError(f"buffer_size is positive, not {size}")
        if size == -1:
            n = self._cardinality_now()
            size = n if n > 0 else 2**31
        again = True if reshuffle_each_iteration is None else reshuffle_each_iteration
        args = {
            "buffer_size": size,
            "seed": _arg.seed(seed),
            "reshuffle_each_iteration": int(again),
        }
        if seed is None and not again:  # every pipeline made of it has this order
            from .. import random

            args["order"] = random.next_order()
        return self._then("shuffle", args)

    def prefetch(self, buffer_size, name=None):
        """Up to buffer_size elements made ahead of their use, by a thread of its own."""
        return self._then("prefetch", {"buffer_size": _arg.count(buffer_size, "buffer_size", -1)})

    def cache(self, filename="", name=None):
        """Kept after the first complete pass: in memory, or in a file.

        Every pass gives the elements of the first, with random stages before it, too: also where
        nothing is kept yet since that pass was left early, or failed, or memory is short.
        """
        return self._then("cache", {"filename": _arg.local(filename) if filename else None})

    def snapshot(self, path, compression="AUTO", reader_func=None, shard_func=None, name=None):
        """Kept in the folder `path` after the first pass, for later runs as well.

        compression: "GZIP" makes smaller files, which take longer to write and read; "NONE", None
        and "AUTO" do not compress. InvalidArgumentError: another one, such as "SNAPPY".
        """
        if reader_func is not None or shard_func is not None:
            raise NotImplementedError("snapshot with reader_func or shard_func")
        return self._then(
            "snapshot", {"path": _arg.local(path), "compression": compression or "NONE"}
        )

    # Groups

    def batch(
        self,
        batch_size,
        drop_remainder=False,
        num_parallel_calls=None,
        deterministic=None,
        name=None,
    ):
        """batch_size elements as one, with a new first dimension. Shapes must be equal.

        num_parallel_calls and deterministic are accepted, and change nothing.
        """
        _arg.parallel(num_parallel_calls, deterministic)
        args = {
            "batch_size": _arg.count(batch_size, "batch_size", 1),
            "drop_remainder": int(bool(drop_remainder)),
        }
        if any(hasattr(s, "parts") for s in _spec.flatten(self.element_spec)):
            from ..ops._ragged import batched

            return batched(self, args)
        spec = _spec.map_structure(lambda s: _arg.batched(s, None), self.element_spec)
        return self._then("batch", args, spec)

    def padded_batch(
        self, batch_size, padded_shapes=None, padding_values=None, drop_remainder=False, name=None
    ):
        """batch_size elements as one, filled up to padded_shapes (None: the longest of the batch)."""
        from ..ops._groups import padding

        args = {
            "batch_size": _arg.count(batch_size, "batch_size", 1),
            "drop_remainder": int(bool(drop_remainder)),
        }
        spec, more = padding(self.element_spec, padded_shapes, padding_values)
        return self._then("padded_batch", dict(args, **more), spec)

    def ragged_batch(self, batch_size, drop_remainder=False, row_splits_dtype="int64", name=None):
        """batch_size elements as one; components of a shape that is not known in full become
        RaggedTensors."""
        from ..ops._ragged import batched

        args = {
            "batch_size": _arg.count(batch_size, "batch_size", 1),
            "drop_remainder": int(bool(drop_remainder)),
        }
        return batched(self, args, _dtypes.as_dtype(row_splits_dtype))

    def sparse_batch(self, batch_size, row_shape, name=None):
        """batch_size elements of any shape within row_shape as one SparseTensor."""
        from ..ops._ragged import sparse_batched

        return sparse_batched(self, _arg.count(batch_size, "batch_size", 1), row_shape)

    def unbatch(self, name=None):
        """The slices of each element along the first dimension."""
        if any(hasattr(s, "parts") for s in _spec.flatten(self.element_spec)):
            from ..ops._ragged import unbatched

            return unbatched(self)
        return self._then("unbatch", {}, _spec.map_structure(_arg.sliced, self.element_spec))

    def rebatch(self, batch_size, drop_remainder=False, name=None):
        """Batches of another size, or of several in turn (a list)."""
        leaves = _spec.flatten(self.element_spec)
        if any(getattr(s, "shape", None) == () for s in leaves):
            raise InvalidArgumentError(
                f"rebatch takes batches, and there is a scalar in {self.element_spec}"
            )
        if isinstance(batch_size, (list, tuple, np.ndarray)) and np.ndim(batch_size):
            from ..ops._groups import rebatched

            return rebatched(self, batch_size, drop_remainder)
        size = _arg.count(batch_size, "batch_size", 1)
        is_ragged = any(hasattr(s, "ragged_rank") for s in leaves)
        one = self.unbatch()
        return (one.ragged_batch if is_ragged else one.batch)(size, drop_remainder)

    def window(self, size, shift=None, stride=1, drop_remainder=False, name=None):
        """Datasets of `size` elements, `stride` apart, each window `shift` behind the last."""
        size = _arg.count(size, "size", 1)
        args = {
            "size": size,
            "shift": size if shift is None else _arg.count(shift, "shift", 1),
            "stride": _arg.count(stride, "stride", 1),
            "drop_remainder": int(bool(drop_remainder)),
        }

        def leaf(s):
            spec = DatasetSpec(s)
            spec.keep = self._keep
            return spec

        return self._then("window", args, _spec.map_structure(leaf, self.element_spec))

    def group_by_window(
        self, key_func, reduce_func, window_size=None, window_size_func=None, name=None
    ):
        """Elements of one key (int64) in windows of window_size, each through reduce_func(key, window)."""
        if (window_size is None) == (window_size_func is None):
            raise InvalidArgumentError(
                "group_by_window takes one of window_size and window_size_func"
            )
        key = _function.function(
            lambda *e: _call.convert(_as_int64(key_func(*e))),
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
                lambda k: _as_int64(window_size_func(k)),
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
        from ..ops._groups import bucketed

        return bucketed(
            self,
            element_length_func,
            bucket_boundaries,
            bucket_batch_sizes,
            padded_shapes,
            padding_values,
            pad_to_bucket_boundary,
            no_padding,
            drop_remainder,
        )

    def scan(self, initial_state, scan_func, name=None):
        """scan_func(state, element) gives (state, output); the outputs."""
        from ..ops._groups import scanned

        return scanned(self, initial_state, scan_func)

    def unique(self, name=None):
        """Each value once, where it comes first. Elements: one component of int32, int64 or string.

        Python remembers the values; memory grows with their number.
        """
        if "unique" in _kinds:
            return self._then("unique")
        spec = self.element_spec
        if not isinstance(spec, TensorSpec) or spec.dtype.name not in ("int32", "int64", "bytes"):
            raise TypeError(f"unique is for elements of one int32, int64 or string, not {spec!r}")
        if self._engine is None:
            raise NotImplementedError("unique of a dataset that depends on a function's argument")

        return Dataset.from_generator(_arg.Unique(self), output_signature=spec)

    def rejection_resample(self, class_func, target_dist, initial_dist=None, seed=None, name=None):
        """(class, element) pairs, left out at random until classes are distributed as target_dist."""
        from ..ops._groups import resampled

        return resampled(self, class_func, target_dist, initial_dist, seed)

    def apply(self, transformation_func):
        """transformation_func(self)."""
        from ..train._device import OnDevice

        ds = transformation_func(self)
        if not isinstance(ds, (Dataset, OnDevice)):
            raise TypeError(f"apply: the function must give a Dataset, not {type(ds).__name__}")
        return ds

    def reduce(self, initial_state, reduce_func, name=None):
        """reduce_func(state, element) for each element, from initial_state on; NumPy values."""
        from ..ops._groups import reduced

        return reduced(self, initial_state, reduce_func)

    def get_single_element(self, name=None):
        """The only element. InvalidArgumentError: there are none, or more."""
        if self._engine is None:
            graph = _trace.current()
            number = _trace.number_in(graph, self._as_value())
            values = graph.add("single_element", [number], {}, _trace.place())
            graph.keep.extend(self._keep)
            return _spec.pack(
                self.element_spec, [Value(graph, i) for i in values], _function.make_leaf
            )
        it = iter(self)
        try:
            element = next(it)
        except StopIteration:
            raise InvalidArgumentError("get_single_element: the dataset is empty") from None
        for _ in it:
            raise InvalidArgumentError("get_single_element: the dataset has more than one element")
        return element

    # Running

    def with_options(self, options, name=None):
        """The same elements, run with these options."""
        if not isinstance(options, Options):
            raise TypeError(f"with_options takes Options, not {type(options).__name__}")
        out = Dataset.__new__(type(self))
        out.__dict__.update(self.__dict__)
        out._options, out._epochs = (
            self._options.merged(options),
            itertools.count(self._first_epoch),
        )
        out._last = out._past = None
        return out

    def options(self):
        """The options set so far."""
        return self._options

    def save(self, path, compression=None, shard_func=None, checkpoint_args=None):
        """Writes all elements into the folder `path`, for Dataset.load: one indexed file, and the
        elements' structure. Returns how many there were."""
        from ..files._saved import save

        if compression is not None or shard_func is not None or checkpoint_args is not None:
            raise NotImplementedError("save with compression, shard_func or checkpoint_args")
        return save(self, path)

    @staticmethod
    def load(path, element_spec=None, compression=None, reader_func=None, wait=False):
        """The elements that save() wrote."""
        from ..files._saved import load

        if compression is not None or reader_func is not None:
            raise NotImplementedError("load with compression or reader_func")
        return load(path, element_spec)

    def _has_order(self):
        """Is there a shuffle with one order, without a seed of its own?"""
        from ..train import _ranks

        return any("order" in ds._args for ds in _ranks.stages(self))

    def _known_seed(self):
        """The seed that its iterators have if the options say none; None: each draws its own."""
        from ..train import _ranks
        from .. import random

        seed = random.get_seed()
        if seed is None and _ranks.shares_order(self):
            seed = _ranks.SHARED_SEED
        return random.process_seed() if seed is None and self._has_order() else seed

    def _run_options(self, state):
        out = self._options.run_options()
        if out["seed"] is None:
            out["seed"] = self._known_seed()
        out["epoch"] = next(self._epochs) if state is None else 0
        out["pinned_device"] = self._pinned_device
        return out

    def iterator(self, state=None):
        """An iterator; with the state() of another one, from where that one stood."""
        return self._iterator(state, False)

    def _plain(self, state=None):
        """The same, whose values are NumPy's own and plain bytes, without numpy()."""
        return self._iterator(state, True)

    def _iterator(self, state, is_plain):
        if self._engine is None:
            raise TypeError(
                "a dataset that depends on a function's argument has elements only when the function runs; "
                "return it from flat_map, interleave or group_by_window"
            )
        it = Iterator(
            self._engine,
            (self, self._keep),
            template(self.element_spec, self._keep),
            dict(self._run_options(state), is_plain=is_plain),
            state,
        )
        it._dataset, self._last, self._past = self, weakref.ref(it), None
        return it

    def __iter__(self):
        return self.iterator()

    def as_numpy_iterator(self):
        """Iterates over NumPy's own values and bytes: as iter(), without their numpy()."""
        return _NumpyIterator(self._plain())

    def _cardinality_now(self):
        n = UNKNOWN_CARDINALITY if self._engine is None else self._engine.cardinality()
        return self._asserted if n == UNKNOWN_CARDINALITY and self._asserted is not None else n

    def cardinality(self, name=None):
        """How many elements: an int, INFINITE_CARDINALITY or UNKNOWN_CARDINALITY."""
        return self._cardinality_now()

    def fingerprint(self):
        """A uint64 that tells datasets apart by what they are made of, the same in every process.

        It does not see what is in files, nor what Python functions do.
        """
        if self._engine is None:
            raise TypeError("a dataset that depends on a function's argument has no fingerprint")
        return np.uint64(self._engine.fingerprint())

    def __len__(self):
        n = self._cardinality_now()
        if n == INFINITE_CARDINALITY:
            raise TypeError("the dataset is infinite and has no length")
        if n == UNKNOWN_CARDINALITY:
            raise TypeError(
                "the length of the dataset is unknown; cardinality() says so without raising"
            )
        return n

    def __bool__(self):
        return True

    def __repr__(self):
        return (
            f"<{type(self).__name__} {self._kind or 'window'} element_spec={self.element_spec!r}>"
        )

    def _repr_html_(self):
        """For notebooks: repr() and the elements' structure, as text."""
        import html

        lines = [f"{type(self).__name__} {self._kind or 'window'}", f"elements: {self._cardinality_text()}"]
        lines += [f"{place or 'element'}: {leaf!r}" for place, leaf in _spec.places(self.element_spec)]
        return f"<pre>{html.escape(chr(10).join(lines))}</pre>"

    def _cardinality_text(self):
        n = self._cardinality_now()
        return {INFINITE_CARDINALITY: "without end", UNKNOWN_CARDINALITY: "not known"}.get(n, f"{n:,}")

    # Copies

    def __copy__(self):
        out = type(self).__new__(type(self))
        out.__dict__.update(self.__dict__)
        return out

    def __deepcopy__(self, memo):
        return self.__copy__()

    def __reduce__(self):
        from ._pickled import reduced

        return reduced(self)

    # Insight

    def explain(self):
        """The plan as text: stages, which functions are native and why not, warnings."""
        from ._explain import explain

        return explain(self)

    def stats(self):
        """Counts of the last iterator's stages and the limiting one: see Stats."""
        from ._explain import stats

        return stats(self._last() if self._last else None, self._past)

    # Neighbours

    def to_torch(self, device=None, pin_memory=False, normalize=None, remainder=None):
        """Elements as torch tensors, strings as bytes: an IterableDataset with a DataLoader's surface.

        For a loop as it is: `for x, y in ds.to_torch(): ...`, again for each epoch; len(),
        set_epoch(n), state_dict() and load_state_dict() do what they do elsewhere. In
        torch.utils.data.DataLoader(it, batch_size=None, num_workers=n) each worker gets its part of
        the elements. Batches are not copied and may be written to; read-only views are copied.

        device: "cuda:0": tensors there, copied ahead (see to_device) and taken over by DLPack; they
        are for the stream that was current when they were given. pin_memory: tensors in pinned host
        memory, for your own `.to(device, non_blocking=True)`; NotFoundError without a CUDA driver.
        normalize: see to_device; without a device the host does it.

        remainder: what shard() in the pipeline does where the elements do not divide between ranks;
        by default, in a process group of torch.distributed or a launcher's, "pad", so that all ranks
        have as many batches. "keep": as shard() says. A pipeline without shard() gets a RuntimeWarning
        there, unless this is "keep".

        Without a seed of its own the dataset draws one for each pass from torch's generator, as a
        DataLoader does: torch.manual_seed makes it repeatable.
        """
        from ..interop._adapters import to_torch

        return to_torch(self, device, pin_memory, normalize, remainder)

    def to_tf(self):
        """A tf.data.Dataset of this, with its element_spec and cardinality, by from_generator.

        Each element is a call and a copy: give it batches. Sparse and ragged values become
        TensorFlow's.
        """
        from ..interop._adapters import to_tf

        return to_tf(self)

    def to_keras(self, num_batches=None):
        """A keras.utils.PyDataset of this, for model.fit, evaluate and predict with any backend.

        Elements are batches: (x, y), (x, y, sample_weight) or x. num_batches: of an epoch; needed
        where the length is unknown (InvalidArgumentError).
        """
        from ..interop._adapters import to_keras

        return to_keras(self, num_batches)

    def to_jax(self, device=None, depth=1):
        """An iterable of jax arrays, strings as bytes.

        device: a jax.Device or Sharding; jax copies asynchronously, `depth` elements ahead.
        """
        from ..interop._adapters import to_jax

        return to_jax(self, device, depth)

    def to_device(self, device, depth=2, keep=False, normalize=None):
        """An iterable whose numbers lie on the device ("cuda:0"), copied `depth` elements ahead.

        The pipeline's batches are made in pinned memory and copied asynchronously on a stream of
        their own, which the consumer's stream waits for: see sd.DeviceArray. Needs the CUDA driver
        and nothing else; without it ("cpu" too) elements are NumPy arrays on the host, after a
        RuntimeWarning. keep: what the first pass gives stays on the device and is what all later
        ones give, in that order (do not write into it); where it does not fit, a RuntimeWarning,
        and elements are made anew. ResourceExhaustedError: the device is full; let elements go, and
        the next call goes on.

        normalize: (mean, std) of values from 0 to 1, numbers or one for each channel, for elements
        with one uint8 component: it is copied as bytes and becomes float32 on the device,
        (x / 255 - mean) / std as x * scale + offset, with the same bits as on the host. An
        sd.Normalize says more (planar, max_value); a dict of them, by key, number or tuple of
        those, says of which components.
        """
        from ..interop._adapters import to_device

        return to_device(self, device, depth, keep, normalize)


def _datasets_as_is(structure):
    if isinstance(structure, Dataset):
        raise TypeError("a dataset is no tensor; use zip or concatenate")
    return structure


def _as_int64(v):
    from ..ops._ops import cast

    return cast(v, "int64")
