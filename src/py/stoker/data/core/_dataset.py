# SPDX-License-Identifier: Apache-2.0
"""Dataset: tf.data's interface to the engine's graph. Methods that need operations, files, devices or other frameworks
are added by those packages (see method)."""

import itertools
import types
import weakref

import numpy as np

from . import _arguments as _arg
from . import _call, _dtypes, _explain, _function, _labels, _pickled, _pool, _seeds, _spec, _stages, _trace
from ._iterator import Iterator, _NumpyIterator, template
from ._named import named_class, wrapped
from ._node import _Node
from ._options import AUTOTUNE, INFINITE_CARDINALITY, UNKNOWN_CARDINALITY, Options
from ._spec import DatasetSpec, TensorSpec
from ._value import Value, number_in
from ..errors import InvalidArgumentError, NotFoundError


@named_class
class Dataset(_Node):
    """A pipeline of elements. Each is a structure (tensors, tuples, dicts) with the same spec.

    Immutable: every method returns a new one. Iterating yields NumPy arrays, NumPy scalars and bytes.
    """

    _asserted = None  # its cardinality set by experimental.assert_cardinality
    _gives_lists = False  # its tuples are lists in torch (_from_torch.py)
    _loader = None  # the torch loader that makes its elements (_torch_own.py)
    _pinned_device = None  # its batches are in memory pinned for this CUDA device

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

        NumPy arrays and other buffers are not copied: don't change them while the dataset lives.
        """
        for leaf in _spec.flatten(tensors):
            is_known = hasattr(leaf, "parts") or isinstance(leaf, (Value, list, tuple))
            if not is_known and np.ndim(leaf) == 0:
                _call.convert(leaf)  # raises if it isn't a value
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
        """Elements of generator(*args), a callable that returns an iterable, with the given signature."""
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
        """An infinite dataset of random int64 scalars."""
        attrs = {
            "seed": _arg.seed(seed),
            "rerandomize_each_iteration": int(bool(rerandomize_each_iteration)),
        }
        return Dataset._make("random", [], attrs, TensorSpec((), "int64"))

    @staticmethod
    def counter(start=0, step=1, dtype="int64", name=None):
        """start, start + step, ..., infinitely."""
        stop = 2**63 - 1 if step > 0 else -(2**63) + 1
        return Dataset.range(start, stop, step, output_type=dtype)

    @staticmethod
    def list_files(file_pattern, shuffle=None, seed=None, name=None):
        """Names of files that match a glob pattern (or several), shuffled unless shuffle=False. A remote
        pattern (s3://bucket/*.tfrecord) lists objects.

        NotFoundError: nothing matches.
        """
        import glob
        import os

        if isinstance(file_pattern, Value):
            return Dataset._make(
                "list_files", [], {"pattern": file_pattern}, TensorSpec((), "bytes")
            )
        patterns = np.ravel(_dtypes.strings(file_pattern))
        names = []
        for p in patterns:
            if _arg.scheme_of(p):
                names.extend(os.fsencode(f) for f in _arg.remote_glob(p))
                continue
            found = [f for f in sorted(glob.glob(os.fsdecode(p))) if os.path.isfile(f)]
            names.extend(os.fsencode(f) for f in found)
        if not names:
            raise NotFoundError(f"no files match {', '.join(os.fsdecode(p) for p in patterns)}")
        names = sorted(dict.fromkeys(names))
        ds = Dataset.from_tensor_slices(_dtypes.strings(names))
        return ds if shuffle is False else ds.shuffle(len(names), seed=seed)

    @staticmethod
    def zip(*args, datasets=None, name=None):
        """Tuples of one element from each dataset, until the first one ends."""
        if not args and datasets is None or args and datasets is not None:
            raise TypeError("zip takes datasets")
        structure = datasets if datasets is not None else args[0] if len(args) == 1 else tuple(args)
        parts = _spec.flatten(structure)
        for p in parts:
            if not isinstance(p, Dataset):
                raise TypeError(
                    f"zip takes datasets, not {type(p).__name__}; lists are not structures here"
                )
        return Dataset._make(
            "zip", parts, {}, _spec.map_structure(lambda d: d.element_spec, structure)
        )

    @staticmethod
    def choose_from_datasets(datasets, choice_dataset, stop_on_empty_dataset=True):
        """Elements from the datasets that choice_dataset selects by number (int64 scalars)."""
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
        """Elements with values of the enclosing function, for an inner function that captures them."""
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

        map_func is called once with symbolic elements and becomes native code. If it can't be traced, it runs as Python
        for each element (explain() says why), in `processes` processes. timeout: seconds per element for such a
        process. If it takes longer, it is killed and its element becomes an error. A process that dies also loses its
        element, and is replaced.
        The result's spec is learned from one of the first elements, within the same timeout: map_func runs on it in a
        worker process when the dataset is made. That call also has the function's side effects, such as writing a file.
        """
        if processes:
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
        """The elements of the datasets that map_func returns, one dataset after another."""
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
        """Interleaves cycle_length datasets from map_func, block_length elements at a time."""
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
        """All elements `count` times; None or -1: infinitely."""
        return self._then("repeat", {"count": -1 if count is None else _arg.count(count, "count")})

    def take(self, count, name=None):
        """The first `count` elements; -1: all."""
        return self._then("take", {"count": _arg.count(count, "count")})

    def skip(self, count, name=None):
        """Without the first `count` elements; -1: skips all."""
        return self._then("skip", {"count": _arg.count(count, "count")})

    def shard(self, num_shards=None, index=None, name=None, remainder=None):
        """Every num_shards-th element from `index` on.

        Without numbers: this process's part, from RANK and WORLD_SIZE, or the environment of SLURM
        or Open MPI.

        remainder: what to do if the elements don't divide evenly. "keep" gives some parts one more (the default, as in
        TensorFlow). "pad" makes short parts repeat their first element, so that all ranks have the
        same number of batches (the default without numbers, and for to_torch in a process group).
        "drop" skips the last elements.

        All parts must see the same order. If an earlier shuffle has no seed, and neither Options().seed
        nor random.set_seed gives one, every part uses seed 0. The epoch still changes the order.
        """
        if num_shards is None:
            num_shards, index = _arg.rank_of_environment()
            remainder = "pad" if remainder is None else remainder
        n, i = _arg.count(num_shards, "num_shards", 1), _arg.count(index, "index", 0)
        if isinstance(n, int) and isinstance(i, int) and i >= n:
            raise InvalidArgumentError(f"shard: index {i} of {n} shards")
        args = {"num_shards": n, "index": i}
        if remainder is not None:
            args["remainder"] = _stages.remainder_number(remainder)
        return self._then("shard", args)

    def pick(self, positions, name=None):
        """The elements at these positions (a dataset of int64 scalars, or a list), in that order, with repeats. For
        random-access elements: from arrays, saved and NPY files."""
        if not isinstance(positions, Dataset):
            positions = Dataset.from_tensor_slices(np.asarray(positions, np.int64))
        return Dataset._make("pick", [self, positions], {}, self.element_spec)

    def concatenate(self, dataset, name=None):
        """These elements, then those of another dataset of the same structure."""
        return Dataset._make("concatenate", [self, dataset], {}, _arg.joined([self, dataset]))

    def ignore_errors(self, log_warning=False, name=None):
        """Skips elements that fail. stats() counts them."""
        return self._then("ignore_errors", {"log_warning": int(log_warning)})

    def shuffle(self, buffer_size, seed=None, reshuffle_each_iteration=True, name=None):
        """In random order: each element is drawn from a buffer of buffer_size elements.

        reshuffle_each_iteration=False: the same order in every pass, and in every dataset made from
        this one: take(n) and skip(n) then share no element.
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
        if seed is None and not again:  # the order of every pipeline made from it
            args["order"] = _seeds.next_order()
        return self._then("shuffle", args)

    def prefetch(self, buffer_size, name=None):
        """Prepares up to buffer_size elements ahead of time, on a separate thread."""
        return self._then("prefetch", {"buffer_size": _arg.count(buffer_size, "buffer_size", -1)})

    def cache(self, filename="", name=None):
        """Keeps the elements of the first complete pass, in memory or in a file.

        Every pass gives the elements of the first, even with random stages before it, and even if
        nothing was kept because that pass stopped early, failed, or ran out of memory.
        """
        return self._then("cache", {"filename": _arg.local(filename) if filename else None})

    def snapshot(self, path, compression="AUTO", reader_func=None, shard_func=None, name=None):
        """Keeps the elements of the first pass in the folder `path`, also for later runs.

        compression: "GZIP" makes smaller files that take longer to write and read. "NONE", None
        and "AUTO" don't compress. InvalidArgumentError: any other, such as "SNAPPY".
        """
        if reader_func is not None or shard_func is not None:
            raise NotImplementedError("snapshot with reader_func or shard_func")
        return self._then(
            "snapshot", {"path": _arg.local(path), "compression": compression or "NONE"}
        )

    # Groups

    def window(self, size, shift=None, stride=1, drop_remainder=False, name=None):
        """Datasets of `size` elements, `stride` apart; each window starts `shift` after the previous one."""
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

    def unique(self, name=None):
        """Each value once, at its first occurrence. Elements: one component of int32, int64 or string.

        Python remembers the values, so memory grows with their number.
        """
        spec = self.element_spec
        if not isinstance(spec, TensorSpec) or spec.dtype.name not in ("int32", "int64", "bytes"):
            raise TypeError(f"unique is for elements of one int32, int64 or string, not {spec!r}")
        if self._engine is None:
            raise NotImplementedError("unique of a dataset that depends on a function's argument")

        return Dataset.from_generator(_arg.Unique(self), output_signature=spec)

    def apply(self, transformation_func):
        """transformation_func(self)."""
        ds = transformation_func(self)
        if not hasattr(ds, "element_spec"):
            raise TypeError(f"apply: the function must give a Dataset, not {type(ds).__name__}")
        return ds

    def get_single_element(self, name=None):
        """The only element. InvalidArgumentError if the dataset is empty or has several."""
        if self._engine is None:
            graph = _trace.current()
            number = number_in(graph, self._as_value())
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

    def _run_options(self, state):
        out = self._options.run_options()
        if out["seed"] is None:
            out["seed"] = _stages.known_seed(self)
        out["epoch"] = next(self._epochs) if state is None else 0
        out["pinned_device"] = self._pinned_device
        return out

    def iterator(self, state=None):
        """An iterator; with another iterator's state(), it continues from that position."""
        return self._iterator(state, False)

    def _plain(self, state=None):
        """The same, with plain NumPy values and bytes, which have no numpy() method."""
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
        """Iterates over plain NumPy values and bytes: like iter(), but without numpy() methods."""
        return _NumpyIterator(self._plain())

    def _cardinality_now(self):
        n = UNKNOWN_CARDINALITY if self._engine is None else self._engine.cardinality()
        return self._asserted if n == UNKNOWN_CARDINALITY and self._asserted is not None else n

    def cardinality(self, name=None):
        """The number of elements: an int, INFINITE_CARDINALITY or UNKNOWN_CARDINALITY."""
        return self._cardinality_now()

    def fingerprint(self):
        """A uint64 that identifies a dataset by its structure, the same in every process.

        It doesn't cover the contents of files or what Python functions do.
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
                "the length of the dataset is unknown; cardinality() returns that without raising"
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
        return {INFINITE_CARDINALITY: "without end", UNKNOWN_CARDINALITY: "unknown"}.get(n, f"{n:,}")

    # Copies

    def __copy__(self):
        out = type(self).__new__(type(self))
        out.__dict__.update(self.__dict__)
        return out

    def __deepcopy__(self, memo):
        return self.__copy__()

    def __reduce__(self):
        return _pickled.reduced(self)

    # Insight

    def explain(self):
        """The plan as text: stages, which functions are native or why not, warnings."""
        return _explain.explain(self)

    def stats(self):
        """Counts of the last iterator's stages, and the limiting one: see Stats."""
        return _explain.stats(self._last() if self._last else None, self._past)

_Node._whole = Dataset


def method(f):
    """Decorator for other packages: makes the function a method of Dataset (a staticmethod stays static)."""
    function = getattr(f, "__func__", f)
    function.__qualname__ = f"Dataset.{function.__name__}"
    setattr(Dataset, function.__name__, wrapped(f))
    return function


def _datasets_as_is(structure):
    if isinstance(structure, Dataset):
        raise TypeError("a dataset is not a tensor; use zip or concatenate")
    return structure


