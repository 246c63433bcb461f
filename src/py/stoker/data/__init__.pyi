# SPDX-License-Identifier: Apache-2.0
# Written by tools/py-stubs.
from builtins import bool as _bool
from collections.abc import Callable as _Callable, Iterator as _Iterator, Sequence as _Sequence
from typing import Any, overload as _overload

import numpy as np

from ._op_types import Array as _Array, Int64 as _Int64, Bytes as _Bytes, Value as _Value, Symbolic as _Symbolic, Plain as _Plain, Tensor as _Tensor, Int as _Int, Flag as _Flag, Float as _Float, Ints as _Ints, PlainInt as _PlainInt, PlainInts as _PlainInts, DType as _DType, U as _U, Drawn as _Drawn, Unique as _Unique, UniqueWithCounts as _UniqueWithCounts, TopK as _TopK
from typing import Generic, TypeVar

_T = TypeVar("_T", covariant=True)  # an element

from . import io as io, random as random, errors as errors, train as train, lookup as lookup
from ._groups_of_ops import math as math, strings as strings, image as image, nn as nn, linalg as linalg, bitwise as bitwise, sparse as sparse, dtypes as dtypes, debugging as debugging, audio as audio, signal as signal, ragged as ragged

__version__: str

class Dataset(Generic[_T]):
    """A pipeline: elements, each a structure (tensors, tuples, dicts) of one spec."""
    def __init__(self, variant_tensor: Any = None) -> None:
        ...
    @staticmethod
    def range(*args: Any, output_type: Any = 'int64', name: str | None = None) -> "Dataset[_Int64]":
        """range(stop), range(start, stop) or range(start, stop, step): int64 scalars."""
    @staticmethod
    def from_tensors(tensors: Any, name: str | None = None) -> "Dataset[Any]":
        """One element: the structure of tensors (or datasets) given."""
    @staticmethod
    def from_tensor_slices(tensors: Any, name: str | None = None) -> "Dataset[Any]":
        """One element for each slice along the first dimension, which all tensors share."""
    @staticmethod
    def from_generator(generator: Any, output_types: Any = None, output_shapes: Any = None, args: Any = None, output_signature: Any = None, name: str | None = None) -> "Dataset[Any]":
        """Elements of generator(*args), a callable that gives an iterable, as the signature says."""
    @staticmethod
    def random(seed: int | None = None, rerandomize_each_iteration: Any = None, name: str | None = None) -> "Dataset[_Int64]":
        """int64 scalars of random bits without end."""
    @staticmethod
    def counter(start: _Int = 0, step: Any = 1, dtype: Any = 'int64', name: str | None = None) -> "Dataset[Any]":
        """start, start + step, ... without end."""
    @staticmethod
    def list_files(file_pattern: Any, shuffle: Any = None, seed: int | None = None, name: str | None = None) -> "Dataset[_Bytes]":
        """Names of files that match a glob pattern (or several), shuffled unless shuffle=False."""
    @staticmethod
    def zip(*args: Any, datasets: Any = None, name: str | None = None) -> "Dataset[Any]":
        """Elements of several datasets side by side, as long as all have some."""
    @staticmethod
    def choose_from_datasets(datasets: Any, choice_dataset: Any, stop_on_empty_dataset: Any = True) -> "Dataset[Any]":
        """Elements of the datasets whose numbers choice_dataset (int64 scalars) gives."""
    @_overload
    def map(self, map_func: _Callable[..., _Drawn], num_parallel_calls: int | None = None, deterministic: _bool | None = None, synchronous: Any = None, use_unbounded_threadpool: Any = False, name: str | None = None, processes: int | None = None, timeout: float | None = None) -> "Dataset[_Array]":
        """Each element through map_func."""
    @_overload
    def map(self, map_func: _Callable[..., tuple[_Drawn, _Drawn]], num_parallel_calls: int | None = None, deterministic: _bool | None = None, synchronous: Any = None, use_unbounded_threadpool: Any = False, name: str | None = None, processes: int | None = None, timeout: float | None = None) -> "Dataset[tuple[_Array, _Array]]":
        """Each element through map_func."""
    @_overload
    def map(self, map_func: _Callable[..., tuple[_Drawn, _Drawn, _Drawn]], num_parallel_calls: int | None = None, deterministic: _bool | None = None, synchronous: Any = None, use_unbounded_threadpool: Any = False, name: str | None = None, processes: int | None = None, timeout: float | None = None) -> "Dataset[tuple[_Array, _Array, _Array]]":
        """Each element through map_func."""
    @_overload
    def map(self, map_func: _Callable[..., dict[str, Value]], num_parallel_calls: int | None = None, deterministic: _bool | None = None, synchronous: Any = None, use_unbounded_threadpool: Any = False, name: str | None = None, processes: int | None = None, timeout: float | None = None) -> "Dataset[dict[str, _Array]]":
        """Each element through map_func."""
    @_overload
    def map(self, map_func: _Callable[..., _U], num_parallel_calls: int | None = None, deterministic: _bool | None = None, synchronous: Any = None, use_unbounded_threadpool: Any = False, name: str | None = None, processes: int | None = None, timeout: float | None = None) -> "Dataset[_U]":
        """Each element through map_func."""
    def filter(self, predicate: _Callable[..., Any], name: str | None = None) -> "Dataset[_T]":
        """The elements for which predicate is true."""
    def take_while(self, predicate: _Callable[..., Any], name: str | None = None) -> "Dataset[_T]":
        """Elements up to the first for which predicate is false."""
    def flat_map(self, map_func: _Callable[..., Dataset[_U]], name: str | None = None) -> "Dataset[_U]":
        """The elements of the datasets that map_func gives, one dataset behind the other."""
    def interleave(self, map_func: _Callable[..., Dataset[_U]], cycle_length: Any = None, block_length: Any = None, num_parallel_calls: int | None = None, deterministic: _bool | None = None, name: str | None = None) -> "Dataset[_U]":
        """block_length elements in turn of cycle_length datasets that map_func gives."""
    def enumerate(self, start: _Int = 0, name: str | None = None) -> "Dataset[tuple[_Int64, _T]]":
        """(number, element), counted from start; int64."""
    def repeat(self, count: _Int | None = None, name: str | None = None) -> "Dataset[_T]":
        """All elements `count` times; None or -1: without end."""
    def take(self, count: _Int, name: str | None = None) -> "Dataset[_T]":
        """The first `count` elements; -1: all."""
    def skip(self, count: _Int, name: str | None = None) -> "Dataset[_T]":
        """Without the first `count` elements; -1: none is left."""
    def shard(self, num_shards: _Int | None = None, index: _Int | None = None, name: str | None = None, remainder: str | None = None) -> "Dataset[_T]":
        """Every num_shards-th element from `index` on."""
    def pick(self, positions: Any, name: str | None = None) -> "Dataset[_T]":
        """The elements at these positions (int64 scalars of a dataset, or a list), in that order and as"""
    def concatenate(self, dataset: Any, name: str | None = None) -> "Dataset[Any]":
        """These elements, then those of another dataset of the same structure."""
    def ignore_errors(self, log_warning: _bool = False, name: str | None = None) -> "Dataset[_T]":
        """Without elements that cannot be made. stats() counts them."""
    def shuffle(self, buffer_size: _Int, seed: int | None = None, reshuffle_each_iteration: _bool | None = True, name: str | None = None) -> "Dataset[_T]":
        """In random order: each element drawn from a buffer of buffer_size elements."""
    def prefetch(self, buffer_size: _Int, name: str | None = None) -> "Dataset[_T]":
        """Up to buffer_size elements made ahead of their use, by a thread of its own."""
    def cache(self, filename: Any = '', name: str | None = None) -> "Dataset[_T]":
        """Kept after the first complete pass: in memory, or in a file."""
    def snapshot(self, path: Any, compression: Any = 'AUTO', reader_func: Any = None, shard_func: Any = None, name: str | None = None) -> "Dataset[_T]":
        """Kept in the folder `path` after the first pass, for later runs as well."""
    def window(self, size: _Int, shift: _Int | None = None, stride: _Int = 1, drop_remainder: _Flag = False, name: str | None = None) -> "Dataset[Any]":
        """Datasets of `size` elements, `stride` apart, each window `shift` behind the last."""
    def unique(self, name: str | None = None) -> "Dataset[Any]":
        """Each value once, where it comes first. Elements: one component of int32, int64 or string."""
    def apply(self, transformation_func: _Callable[[Dataset[_T]], _U]) -> _U:
        """transformation_func(self)."""
    def get_single_element(self, name: str | None = None) -> _T:
        """The only element. InvalidArgumentError: there are none, or more."""
    def with_options(self, options: Any, name: str | None = None) -> "Dataset[_T]":
        """The same elements, run with these options."""
    def options(self) -> Options:
        """The options set so far."""
    def iterator(self, state: Any = None) -> "Iterator[_T]":
        """An iterator; with the state() of another one, from where that one stood."""
    def __iter__(self) -> "Iterator[_T]":
        ...
    def as_numpy_iterator(self) -> _Iterator[_T]:
        """Iterates over NumPy's own values and bytes: as iter(), without their numpy()."""
    def cardinality(self, name: str | None = None) -> int:
        """How many elements: an int, INFINITE_CARDINALITY or UNKNOWN_CARDINALITY."""
    def fingerprint(self) -> int:
        """A uint64 that tells datasets apart by what they are made of, the same in every process."""
    def __len__(self) -> int:
        ...
    def explain(self) -> str:
        """The plan as text: stages, which functions are native and why not, warnings."""
    def stats(self) -> Any:
        """Counts of the last iterator's stages and the limiting one: see Stats."""
    def padded_batch(self, batch_size: _Int, padded_shapes: Any = None, padding_values: Any = None, drop_remainder: _Flag = False, name: str | None = None) -> "Dataset[Any]":
        """batch_size elements as one, filled up to padded_shapes (None: the longest of the batch)."""
    def bucket_by_sequence_length(self, element_length_func: Any, bucket_boundaries: Any, bucket_batch_sizes: Any, padded_shapes: Any = None, padding_values: Any = None, pad_to_bucket_boundary: Any = False, no_padding: Any = False, drop_remainder: _Flag = False, name: str | None = None) -> "Dataset[Any]":
        """Batches of elements of similar length, padded to the longest."""
    def group_by_window(self, key_func: Any, reduce_func: Any, window_size: Any = None, window_size_func: Any = None, name: str | None = None) -> "Dataset[Any]":
        """Elements of one key (int64) in windows of window_size, each through reduce_func(key, window)."""
    def reduce(self, initial_state: _U, reduce_func: Any, name: str | None = None) -> _U:
        """reduce_func(state, element) for each element, from initial_state on; NumPy values."""
    def scan(self, initial_state: _U, scan_func: Any, name: str | None = None) -> "Dataset[Any]":
        """scan_func(state, element) gives (state, output); the outputs."""
    def rejection_resample(self, class_func: Any, target_dist: Any, initial_dist: Any = None, seed: int | None = None, name: str | None = None) -> "Dataset[Any]":
        """(class, element) pairs, left out at random until classes are distributed as target_dist."""
    def rebatch(self, batch_size: _Int, drop_remainder: _Flag = False, name: str | None = None) -> "Dataset[Any]":
        """Batches of another size, or of several in turn (a list)."""
    @staticmethod
    def sample_from_datasets(datasets: Any, weights: Any = None, seed: int | None = None, stop_on_empty_dataset: Any = False, rerandomize_each_iteration: Any = None) -> "Dataset[Any]":
        """Elements of datasets drawn at random by weight (equal ones by default)."""
    def sample_by_weight(self, weights: Any, num_samples: Any = None, replacement: Any = True, seed: int | None = None, name: str | None = None) -> "Dataset[_T]":
        """num_samples elements (as many as there are weights), each drawn with a chance in proportion"""
    def sparse_batch(self, batch_size: _Int, row_shape: Any, name: str | None = None) -> "Dataset[Any]":
        """batch_size elements of any shape within row_shape as one SparseTensor."""
    def batch(self, batch_size: _Int, drop_remainder: _Flag = False, num_parallel_calls: int | None = None, deterministic: _bool | None = None, name: str | None = None) -> "Dataset[Any]":
        """batch_size elements as one, with a new first dimension. Shapes must be equal."""
    def ragged_batch(self, batch_size: _Int, drop_remainder: _Flag = False, row_splits_dtype: Any = 'int64', name: str | None = None) -> "Dataset[Any]":
        """batch_size elements as one; components of a shape that is not known in full become"""
    def unbatch(self, name: str | None = None) -> "Dataset[Any]":
        """The slices of each element along the first dimension."""
    def elastic_shard(self, past: Any = ..., num_shards: _Int | None = None, index: _Int | None = None, batch_size: _Int = 1) -> "Dataset[_T]":
        """This process' part, as shard() splits, of an epoch that other numbers of ranks began."""
    def save(self, path: Any, compression: Any = None, shard_func: Any = None, checkpoint_args: Any = None) -> int:
        """Writes all elements into the folder `path`, for Dataset.load: one indexed file, and the"""
    @staticmethod
    def load(path: Any, element_spec: Any = None, compression: Any = None, reader_func: Any = None, wait: Any = False) -> "Dataset[Any]":
        """The elements that save() wrote."""
    def to_torch(self, device: Any = None, pin_memory: Any = False, normalize: Any = None, remainder: str | None = None) -> Any:
        """Elements as torch tensors, strings as bytes: an IterableDataset with a DataLoader's surface."""
    def to_tf(self) -> Any:
        """A tf.data.Dataset of this, with its element_spec and cardinality, by from_generator."""
    def to_keras(self, num_batches: Any = None) -> Any:
        """A keras.utils.PyDataset of this, for model.fit, evaluate and predict with any backend."""
    def to_jax(self, device: Any = None, depth: Any = 1) -> Any:
        """An iterable of jax arrays, strings as bytes."""
    def to_device(self, device: Any, depth: Any = 2, keep: Any = False, normalize: Any = None) -> Any:
        """An iterable whose numbers lie on the device ("cuda:0"), copied `depth` elements ahead."""
    element_spec: Any
class DatasetSpec:
    """A component that is a dataset, as windows have them."""
    def __init__(self, element_spec: Any, dataset_shape: Any = ...) -> None:
        ...
    @property
    def shape(self) -> Any:
        """Of the component: a scalar."""
    def engine(self) -> Any:
        """As the engine takes it."""
    element_spec: Any
    nested: Any
    keep: Any
class DeviceArray:
    """Values on a CUDA device. torch.from_dlpack(a), jax.dlpack.from_dlpack(a) and cupy.from_dlpack(a) take them without a copy; a.numpy() copies them to the host."""
    def __len__(self) -> int:
        """Return len(self)."""
    def numpy(*args: Any, **kwargs: Any) -> Any:
        """A copy on the host."""
    shape: Any
    dtype: Any
    ndim: Any
    size: Any
    nbytes: Any
    device: Any
class Normalize:
    """(x / max_value - mean) / std of uint8 values in float32; a number, or one for each channel."""
    def __init__(self, mean: Any, std: Any, max_value: Any = 255.0, planar: Any = False) -> None:
        ...
    @property
    def channels(self) -> Any:
        """How many there are; 1: the same for any number of them."""
    def table(self) -> Any:
        """What each byte becomes: (channels, 256) float32."""
    def of_array(self, x: Any) -> Any:
        """A uint8 array, normalised by NumPy."""
    def of_value(self, x: Any) -> Any:
        """The same of a symbolic value of known rank."""
    def check(self, what: Any, spec: Any) -> Any:
        """InvalidArgumentError: a component with that spec cannot be normalised so."""
    def spec_of(self, spec: Any) -> Any:
        """The TensorSpec of what comes out."""
    max_value: Any
    planar: Any
    mean: Any
    std: Any
    scale: Any
    offset: Any
class RaggedTensor:
    """Rows of different lengths: values, and row_splits (rows + 1 places in the values) for each"""
    def __init__(self, values: Any, nested_row_splits: Any) -> None:
        ...
    @classmethod
    def from_row_splits(cls, values: Any, row_splits: Any) -> Any:
        """Of values (n, ...) and where each row begins and ends (rows + 1)."""
    @property
    def row_splits(self) -> Any:
        """Where the outermost rows begin and end: int64 (rows + 1)."""
    @property
    def values(self) -> Any:
        """What the outermost rows are made of: an array, or a RaggedTensor."""
    @property
    def dtype(self) -> Any:
        """Of the values."""
    @property
    def ragged_rank(self) -> Any:
        """How many dimensions are ragged."""
    @property
    def shape(self) -> Any:
        """Dimensions, None where ragged: TensorShape."""
    def parts(self) -> Any:
        """(flat values, row splits of each level)."""
    def spec(self) -> Any:
        """Its RaggedTensorSpec."""
    def row_lengths(self) -> Any:
        """How many values each row has."""
    def __len__(self) -> int:
        ...
    def to_list(self) -> Any:
        """Nested Python lists."""
    def to_tensor(self, default_value: Any = None, name: Any = None, shape: Any = None) -> Any:
        """Dense, short rows filled up with default_value (0, empty strings)."""
    flat_values: Any
    nested_row_splits: Any
class RaggedTensorSpec:
    """Rows of different lengths: values, and row_splits for each ragged dimension."""
    def __init__(self, shape: Any = None, dtype: Any = 'float32', ragged_rank: Any = 1, row_splits_dtype: Any = 'int64') -> None:
        ...
    def parts(self) -> Any:
        """Specs of the values and of each level of row splits."""
    row_splits_dtype: Any
    shape: Any
    dtype: Any
    ragged_rank: Any
class SparseTensor:
    """Values at places: indices (n, rank) int64, values (n,), dense_shape (rank,) int64."""
    def __init__(self, indices: Any, values: Any, dense_shape: Any, shape: Any = None) -> None:
        ...
    @property
    def dtype(self) -> Any:
        """Of the values."""
    @property
    def shape(self) -> Any:
        """Dimensions, None where unknown: TensorShape."""
    def parts(self) -> Any:
        """(indices, values, dense_shape)."""
    def spec(self) -> Any:
        """Its SparseTensorSpec."""
    indices: Any
    values: Any
    dense_shape: Any
class SparseTensorSpec:
    """A sparse value of a dense shape (None where unknown): indices, values, dense_shape."""
    def __init__(self, shape: Any = None, dtype: Any = 'float32') -> None:
        ...
    def parts(self) -> Any:
        """Specs of indices (n, rank), values (n) and dense_shape (rank)."""
    shape: Any
    dtype: Any
class TFRecordWriter:
    """Writes TFRecord files: `with TFRecordWriter(path, options="GZIP") as w: w.write(record)`."""
    def __init__(self, path: Any, options: Any = None) -> None:
        ...
    def write(self, record: Any) -> Any:
        """record: bytes, or an Example."""
    def flush(self) -> Any:
        """Accepted; blocks are written as they fill."""
    def close(self) -> Any:
        """Writes what is left. Raises where the file cannot be written."""
class TensorSpec:
    """Shape (None where unknown) and dtype of a tensor."""
    def __init__(self, shape: Any = None, dtype: Any = 'float32', name: Any = None) -> None:
        ...
    @classmethod
    def from_spec(cls, spec: Any, name: Any = None) -> Any:
        """A spec like another one, under a name."""
    @classmethod
    def from_tensor(cls, tensor: Any, name: Any = None) -> Any:
        """A value's shape and dtype."""
    def is_compatible_with(self, other: Any) -> Any:
        """Could a tensor of `other` (anything with shape and dtype) be one of this spec?"""
    def engine(self) -> Any:
        """As the engine takes it: (number of the dtype, shape or None, None)."""
    shape: Any
    dtype: Any
    name: Any
class Value:
    """A value that a function will have for each element. Takes operators, comparison, indexing."""
    def __add__(self, other: _Tensor, /) -> Value:
        ...
    def __radd__(self, other: _Tensor, /) -> Value:
        ...
    def __sub__(self, other: _Tensor, /) -> Value:
        ...
    def __rsub__(self, other: _Tensor, /) -> Value:
        ...
    def __mul__(self, other: _Tensor, /) -> Value:
        ...
    def __rmul__(self, other: _Tensor, /) -> Value:
        ...
    def __truediv__(self, other: _Tensor, /) -> Value:
        ...
    def __rtruediv__(self, other: _Tensor, /) -> Value:
        ...
    def __floordiv__(self, other: _Tensor, /) -> Value:
        ...
    def __rfloordiv__(self, other: _Tensor, /) -> Value:
        ...
    def __mod__(self, other: _Tensor, /) -> Value:
        ...
    def __rmod__(self, other: _Tensor, /) -> Value:
        ...
    def __pow__(self, other: _Tensor, /) -> Value:
        ...
    def __rpow__(self, other: _Tensor, /) -> Value:
        ...
    def __matmul__(self, other: _Tensor, /) -> Value:
        ...
    def __rmatmul__(self, other: _Tensor, /) -> Value:
        ...
    def __and__(self, other: _Tensor, /) -> Value:
        ...
    def __rand__(self, other: _Tensor, /) -> Value:
        ...
    def __or__(self, other: _Tensor, /) -> Value:
        ...
    def __ror__(self, other: _Tensor, /) -> Value:
        ...
    def __xor__(self, other: _Tensor, /) -> Value:
        ...
    def __rxor__(self, other: _Tensor, /) -> Value:
        ...
    def __lt__(self, other: _Tensor, /) -> Value:
        ...
    def __le__(self, other: _Tensor, /) -> Value:
        ...
    def __gt__(self, other: _Tensor, /) -> Value:
        ...
    def __ge__(self, other: _Tensor, /) -> Value:
        ...
    def __eq__(self, other: object, /) -> Value:  # type: ignore[override]
        ...
    def __ne__(self, other: object, /) -> Value:  # type: ignore[override]
        ...
    def __neg__(self) -> Value:
        ...
    def __abs__(self) -> Value:
        ...
    def __invert__(self) -> Value:
        ...
    def __pos__(self) -> Value:
        ...
    def __getitem__(self, key: Any, /) -> Value:
        ...
    def __int__(self) -> int:
        ...
    def __index__(self) -> int:
        ...
    def __float__(self) -> float:
        ...
    def __hash__(self) -> int:
        ...
    def __init__(self, graph: Any, i: Any) -> None:
        ...
    def engine_spec(self) -> Any:
        """As the engine sees it: (number of the dtype, shape or None, nested)."""
    @property
    def dtype(self) -> np.dtype[Any]:
        """NumPy's dtype; strings are "bytes"."""
    @property
    def shape(self) -> TensorShape:
        """Dimensions, None where unknown: TensorShape; None: not even the rank is known."""
    def get_shape(self) -> TensorShape:
        """The shape."""
    @property
    def ndim(self) -> int | None:
        """The rank; None: unknown."""
    @property
    def rank(self) -> int | None:
        """The rank; None: unknown."""
    @property
    def name(self) -> str:
        """A name for messages."""
    def constant(self) -> Any:
        """The value if it is known already, else None."""
    def numpy(self) -> np.ndarray[Any, Any]:
        """The array itself: there is none while tracing."""
    def __bytes__(self) -> bytes:
        ...
    def decode(self, *args: Any) -> Any:
        """Not for symbolic strings: TraceError, and the function runs as Python."""
    def __len__(self) -> int:
        ...
    def __iter__(self) -> _Iterator[Any]:
        ...
    graph: Any
    i: Any
    def set_shape(self, shape: Any) -> None:
        """States what is known about the shape; checked when it runs."""
    @property
    def T(self) -> Value:
        """Transposed."""
class Variable:
    """A value with assign(). A function that uses one takes the value that it has when the function is"""
    def __init__(self, initial_value: Any, trainable: Any = None, validate_shape: Any = True, caching_device: Any = None, name: Any = None, variable_def: Any = None, dtype: Any = None, import_scope: Any = None, constraint: Any = None, synchronization: Any = 0, aggregation: Any = 0, shape: Any = None) -> None:
        ...
    @property
    def dtype(self) -> Any:
        """NumPy's dtype."""
    @property
    def shape(self) -> Any:
        """Sizes of the dimensions."""
    def numpy(self) -> Any:
        """The value: an array, or a scalar."""
    def value(self) -> Any:
        """The value."""
    def read_value(self) -> Any:
        """The value."""
    def assign(self, value: Any, use_locking: Any = False, name: Any = None, read_value: Any = True) -> Any:
        """Another value of the same shape and type."""
    def assign_add(self, delta: Any, use_locking: Any = False, name: Any = None, read_value: Any = True) -> Any:
        """The sum becomes the value."""
    def assign_sub(self, delta: Any, use_locking: Any = False, name: Any = None, read_value: Any = True) -> Any:
        """The difference becomes the value."""
    def __len__(self) -> int:
        ...
    name: Any
    trainable: Any
class Iterator(Generic[_T]):
    """Elements one by one. state() and Dataset.iterator(state=) resume exactly."""
    def __iter__(self) -> "Iterator[_T]":
        ...
    def __next__(self) -> _T:
        ...
    def state(self, *args: Any) -> Any:
        """Where it stands, as bytes for Dataset.iterator(state=)."""
    def stages(self, *args: Any) -> Any:
        """Counts of each stage, parents first: list of dicts."""
    def memory(self, *args: Any) -> Any:
        """Bytes in use, at the peak, allowed: dict."""
    def is_ready(self, *args: Any) -> Any:
        """Whether next() would return without waiting."""
    def cancel(self, *args: Any) -> Any:
        """Ends waits, from any thread."""
    def close(self, *args: Any) -> Any:
        """Ends it now. Arrays given out stay valid."""
    def get_next(self) -> _T:
        """The next element. Raises OutOfRangeError at the end."""
class Options:
    """Options of a dataset, given with `with_options`."""
    def __init__(self) -> None:
        ...
    def merged(self, other: Any) -> Any:
        """These, with what the other says in their place."""
    @property
    def experimental_deterministic(self) -> Any:
        """deterministic, under its old name."""
    def run_options(self) -> Any:
        """The engine's options: a dict."""
    autotune: Any
    deterministic: Any
    threading: Any
    experimental_optimization: Any
    experimental_distribute: Any
    experimental_slack: Any
    experimental_warm_start: Any
    experimental_symbolic_checkpoint: Any
    experimental_external_state_policy: Any
    dataset_name: Any
    framework_type: Any
    seed: Any
    on_error: Any
    rewrites: Any
class TensorShape(tuple[Any, ...]):
    """Dimensions, None where unknown. A tuple that also answers as TensorFlow's shapes do."""
    @property
    def rank(self) -> Any:
        """How many dimensions."""
    @property
    def ndims(self) -> Any:
        """How many dimensions."""
    @property
    def dims(self) -> Any:
        """Dimensions as a list, None where unknown."""
    def as_list(self) -> Any:
        """Dimensions as a list, None where unknown."""
    def is_fully_defined(self) -> Any:
        """Are all dimensions known?"""
    def num_elements(self) -> Any:
        """The product of the dimensions; None: not known."""
class CsvDataset(Dataset[Any]):
    """Rows of CSV files: tuples of scalars, as record_defaults (dtypes or defaults) say."""
    def __init__(self, filenames: Any, record_defaults: Any, compression_type: str | None = None, buffer_size: _Int | None = None, header: Any = False, field_delim: Any = ',', use_quote_delim: Any = True, na_value: Any = '', select_cols: Any = None, exclude_cols: Any = None) -> None:
        ...
class FixedLengthRecordDataset(Dataset[_Bytes]):
    """Records of record_bytes bytes between header_bytes and footer_bytes of each file."""
    def __init__(self, filenames: Any, record_bytes: Any, header_bytes: Any = None, footer_bytes: Any = None, buffer_size: _Int | None = None, compression_type: str | None = None, num_parallel_reads: Any = None, name: str | None = None) -> None:
        ...
class IndexedDataset(Dataset[Any]):
    """Elements of files in the engine's own format (Dataset.save, `stoker data convert`), at random"""
    def __init__(self, filenames: Any, element_spec: Any = None, name: str | None = None) -> None:
        ...
class NpyDataset(Dataset[Any]):
    """Rows of .npy files, one file behind the other, at random access. Memory-mapped: only what is"""
    def __init__(self, filenames: Any, name: str | None = None) -> None:
        ...
class TarDataset(Dataset[Any]):
    """Samples of tar files (WebDataset shards): dicts of bytes by suffix, and "__key__"."""
    def __init__(self, filenames: Any, suffixes: Any = None, num_parallel_reads: Any = None, name: str | None = None) -> None:
        ...
class TFRecordDataset(Dataset[_Bytes]):
    """Records of TFRecord files: bytes scalars. With num_parallel_reads, files in turn."""
    def __init__(self, filenames: Any, compression_type: str | None = None, buffer_size: _Int | None = None, num_parallel_reads: Any = None, name: str | None = None) -> None:
        ...
class TextLineDataset(Dataset[_Bytes]):
    """Lines of text files, without their ends: bytes scalars. With num_parallel_reads, in turn."""
    def __init__(self, filenames: Any, compression_type: str | None = None, buffer_size: _Int | None = None, num_parallel_reads: Any = None, name: str | None = None) -> None:
        ...
AUTOTUNE: int
def Assert(condition: _Tensor, data: Any = None, summarize: Any = None, name: str | None = None) -> Any:
    """An element for which the condition (bools, all of them) does not hold is an error."""
INFINITE_CARDINALITY: int
UNKNOWN_CARDINALITY: int
@_overload
def abs(x: _Symbolic, name: str | None = None) -> _Value:
    """The amount of each value, of complex ones as well."""
@_overload
def abs(x: _Plain, name: str | None = None) -> _Array:
    """The amount of each value, of complex ones as well."""
@_overload
def acos(x: _Symbolic, *, name: str | None = None) -> _Value:
    """Arc cosine."""
@_overload
def acos(x: _Plain, *, name: str | None = None) -> _Array:
    """Arc cosine."""
@_overload
def acosh(x: _Symbolic, name: str | None = None) -> _Value:
    """Inverse hyperbolic cosine."""
@_overload
def acosh(x: _Plain, name: str | None = None) -> _Array:
    """Inverse hyperbolic cosine."""
@_overload
def add(x: _Symbolic, y: _Tensor, *, name: str | None = None) -> _Value:
    """x + y; strings one behind the other."""
@_overload
def add(x: _Tensor, y: _Symbolic, *, name: str | None = None) -> _Value:
    """x + y; strings one behind the other."""
@_overload
def add(x: _Plain, y: _Plain, *, name: str | None = None) -> _Array:
    """x + y; strings one behind the other."""
@_overload
def add_n(inputs: _Plain, name: str | None = None) -> _Array:  # type: ignore[overload-overlap]
    """The sum of a list of values."""
@_overload
def add_n(inputs: _Value | _Sequence[_Tensor], name: str | None = None) -> _Value:
    """The sum of a list of values."""
@_overload
def argmax(input: _Symbolic, axis: _Int | None = None, output_type: _DType = 'int64', name: str | None = None) -> _Value:
    """Where the largest value along an axis is, the first of equal ones."""
@_overload
def argmax(input: _Plain, axis: _Int | None = None, output_type: _DType = 'int64', name: str | None = None) -> _Array:
    """Where the largest value along an axis is, the first of equal ones."""
@_overload
def argmin(input: _Symbolic, axis: _Int | None = None, output_type: _DType = 'int64', name: str | None = None) -> _Value:
    """Where the smallest value along an axis is, the first of equal ones."""
@_overload
def argmin(input: _Plain, axis: _Int | None = None, output_type: _DType = 'int64', name: str | None = None) -> _Array:
    """Where the smallest value along an axis is, the first of equal ones."""
@_overload
def argsort(values: _Symbolic, axis: _Ints = -1, direction: str = 'ASCENDING', stable: _Flag = False, name: str | None = None) -> _Value:
    """The places that would put the values in order, int32."""
@_overload
def argsort(values: _Plain, axis: _Ints = -1, direction: str = 'ASCENDING', stable: _Flag = False, name: str | None = None) -> _Array:
    """The places that would put the values in order, int32."""
def as_dtype(value: _Tensor) -> Any:
    """The dtype that a name, NumPy or TensorFlow dtype or Python type stands for."""
@_overload
def as_string(input: _Symbolic, precision: _Int = -1, scientific: _Flag = False, shortest: _Flag = False, width: _Int = -1, fill: str = '', name: str | None = None) -> _Value:
    """Numbers as text; strings as they are."""
@_overload
def as_string(input: _Plain, precision: _Int = -1, scientific: _Flag = False, shortest: _Flag = False, width: _Int = -1, fill: str = '', name: str | None = None) -> _Array:
    """Numbers as text; strings as they are."""
@_overload
def asin(x: _Symbolic, *, name: str | None = None) -> _Value:
    """Arc sine."""
@_overload
def asin(x: _Plain, *, name: str | None = None) -> _Array:
    """Arc sine."""
@_overload
def asinh(x: _Symbolic, name: str | None = None) -> _Value:
    """Inverse hyperbolic sine."""
@_overload
def asinh(x: _Plain, name: str | None = None) -> _Array:
    """Inverse hyperbolic sine."""
@_overload
def assert_equal(x: _Symbolic, y: _Tensor, message: str | None = None, summarize: Any = None, name: str | None = None) -> _Value:
    """An element for which x == y does not hold everywhere is an error."""
@_overload
def assert_equal(x: _Tensor, y: _Symbolic, message: str | None = None, summarize: Any = None, name: str | None = None) -> _Value:
    """An element for which x == y does not hold everywhere is an error."""
@_overload
def assert_equal(x: _Plain, y: _Plain, message: str | None = None, summarize: Any = None, name: str | None = None) -> _Array:
    """An element for which x == y does not hold everywhere is an error."""
@_overload
def assert_greater(x: _Symbolic, y: _Tensor, message: str | None = None, summarize: Any = None, name: str | None = None) -> _Value:
    """An element for which x > y does not hold everywhere is an error."""
@_overload
def assert_greater(x: _Tensor, y: _Symbolic, message: str | None = None, summarize: Any = None, name: str | None = None) -> _Value:
    """An element for which x > y does not hold everywhere is an error."""
@_overload
def assert_greater(x: _Plain, y: _Plain, message: str | None = None, summarize: Any = None, name: str | None = None) -> _Array:
    """An element for which x > y does not hold everywhere is an error."""
@_overload
def assert_less(x: _Symbolic, y: _Tensor, message: str | None = None, summarize: Any = None, name: str | None = None) -> _Value:
    """An element for which x < y does not hold everywhere is an error."""
@_overload
def assert_less(x: _Tensor, y: _Symbolic, message: str | None = None, summarize: Any = None, name: str | None = None) -> _Value:
    """An element for which x < y does not hold everywhere is an error."""
@_overload
def assert_less(x: _Plain, y: _Plain, message: str | None = None, summarize: Any = None, name: str | None = None) -> _Array:
    """An element for which x < y does not hold everywhere is an error."""
@_overload
def atan(x: _Symbolic, *, name: str | None = None) -> _Value:
    """Arc tangent."""
@_overload
def atan(x: _Plain, *, name: str | None = None) -> _Array:
    """Arc tangent."""
@_overload
def atan2(y: _Symbolic, x: _Tensor, *, name: str | None = None) -> _Value:
    """Angle of the point (y, x)."""
@_overload
def atan2(y: _Tensor, x: _Symbolic, *, name: str | None = None) -> _Value:
    """Angle of the point (y, x)."""
@_overload
def atan2(y: _Plain, x: _Plain, *, name: str | None = None) -> _Array:
    """Angle of the point (y, x)."""
@_overload
def atanh(x: _Symbolic, name: str | None = None) -> _Value:
    """Inverse hyperbolic tangent."""
@_overload
def atanh(x: _Plain, name: str | None = None) -> _Array:
    """Inverse hyperbolic tangent."""
bfloat16: Any
@_overload
def bitcast(input: _Symbolic, type: _DType, *, name: str | None = None) -> _Value:
    """The same bytes as another type."""
@_overload
def bitcast(input: _Plain, type: _DType, *, name: str | None = None) -> _Array:
    """The same bytes as another type."""
bool: np.dtype[Any]
@_overload
def boolean_mask(tensor: _Symbolic, mask: _Tensor, axis: Any = None, name: str | None = 'boolean_mask') -> _Value:
    """The slices where the mask is true, along the axes from `axis` (0) on that the mask covers."""
@_overload
def boolean_mask(tensor: _Tensor, mask: _Symbolic, axis: Any = None, name: str | None = 'boolean_mask') -> _Value:
    """The slices where the mask is true, along the axes from `axis` (0) on that the mask covers."""
@_overload
def boolean_mask(tensor: _Plain, mask: _Plain, axis: Any = None, name: str | None = 'boolean_mask') -> _Array:
    """The slices where the mask is true, along the axes from `axis` (0) on that the mask covers."""
@_overload
def broadcast_to(input: _Symbolic, shape: _Ints, name: str | None = None) -> _Value:
    """Values repeated along new dimensions and along those of length 1."""
@_overload
def broadcast_to(input: _Plain, shape: _Ints, name: str | None = None) -> _Array:
    """Values repeated along new dimensions and along those of length 1."""
def case(pred_fn_pairs: _Sequence[tuple[Any, _Callable[[], _U]]], default: _Callable[[], _U] | None = None, exclusive: Any = False, strict: Any = False, name: str | None = 'case') -> _U:
    """The function of the first pair (bool scalar, function) whose bool is true; else default()."""
@_overload
def cast(x: _Symbolic, dtype: _DType, name: str | None = None) -> _Value:
    """The values as another dtype. Floats are cut towards 0."""
@_overload
def cast(x: _Plain, dtype: _DType, name: str | None = None) -> _Array:
    """The values as another dtype. Floats are cut towards 0."""
@_overload
def ceil(x: _Symbolic, *, name: str | None = None) -> _Value:
    """Up to an integer."""
@_overload
def ceil(x: _Plain, *, name: str | None = None) -> _Array:
    """Up to an integer."""
@_overload
def clip_by_value(t: _Symbolic, clip_value_min: _Tensor, clip_value_max: _Tensor, *, name: str | None = None) -> _Value:
    """Kept between two bounds."""
@_overload
def clip_by_value(t: _Tensor, clip_value_min: _Symbolic, clip_value_max: _Tensor, *, name: str | None = None) -> _Value:
    """Kept between two bounds."""
@_overload
def clip_by_value(t: _Tensor, clip_value_min: _Tensor, clip_value_max: _Symbolic, *, name: str | None = None) -> _Value:
    """Kept between two bounds."""
@_overload
def clip_by_value(t: _Plain, clip_value_min: _Plain, clip_value_max: _Plain, *, name: str | None = None) -> _Array:
    """Kept between two bounds."""
@_overload
def concat(values: _Plain, axis: _Int, *, name: str | None = None) -> _Array:  # type: ignore[overload-overlap]
    """Values one behind the other along `axis`."""
@_overload
def concat(values: _Value | _Sequence[_Tensor], axis: _Int, *, name: str | None = None) -> _Value:
    """Values one behind the other along `axis`."""
def cond(pred: Any, true_fn: _Callable[[], _U] | None = None, false_fn: _Callable[[], _U] | None = None, name: str | None = None) -> _U:
    """true_fn() where pred holds, else false_fn(): of each element, one is computed."""
@_overload
def constant(value: _Symbolic, dtype: _DType | None = None, shape: _Ints | None = None, name: str | None = 'Const', dtype_hint: Any = None) -> _Value:
    """An array: of a Python value int32 or float32, unless dtype says otherwise."""
@_overload
def constant(value: _Plain, dtype: _DType | None = None, shape: _Ints | None = None, name: str | None = 'Const', dtype_hint: Any = None) -> _Array:
    """An array: of a Python value int32 or float32, unless dtype says otherwise."""
@_overload
def convert_to_tensor(value: _Symbolic, dtype: _DType | None = None, shape: _Ints | None = None, name: str | None = 'Const', dtype_hint: Any = None) -> _Value:
    """An array: of a Python value int32 or float32, unless dtype says otherwise."""
@_overload
def convert_to_tensor(value: _Plain, dtype: _DType | None = None, shape: _Ints | None = None, name: str | None = 'Const', dtype_hint: Any = None) -> _Array:
    """An array: of a Python value int32 or float32, unless dtype says otherwise."""
@_overload
def cos(x: _Symbolic, *, name: str | None = None) -> _Value:
    """Cosine."""
@_overload
def cos(x: _Plain, *, name: str | None = None) -> _Array:
    """Cosine."""
@_overload
def cosh(x: _Symbolic, *, name: str | None = None) -> _Value:
    """Hyperbolic cosine."""
@_overload
def cosh(x: _Plain, *, name: str | None = None) -> _Array:
    """Hyperbolic cosine."""
@_overload
def cumsum(x: _Symbolic, axis: _Int = 0, exclusive: _Flag = False, reverse: _Flag = False, *, name: str | None = None) -> _Value:
    """Sums up to each place along `axis`."""
@_overload
def cumsum(x: _Plain, axis: _Int = 0, exclusive: _Flag = False, reverse: _Flag = False, *, name: str | None = None) -> _Array:
    """Sums up to each place along `axis`."""
@_overload
def divide(x: _Symbolic, y: _Tensor, *, name: str | None = None) -> _Value:
    """x / y; integers give floats."""
@_overload
def divide(x: _Tensor, y: _Symbolic, *, name: str | None = None) -> _Value:
    """x / y; integers give floats."""
@_overload
def divide(x: _Plain, y: _Plain, *, name: str | None = None) -> _Array:
    """x / y; integers give floats."""
double: np.dtype[Any]
@_overload
def ensure_shape(x: _Symbolic, shape: _Ints, name: str | None = None) -> _Value:
    """x, whose shape must fit; unknown dimensions become known."""
@_overload
def ensure_shape(x: _Plain, shape: _Ints, name: str | None = None) -> _Array:
    """x, whose shape must fit; unknown dimensions become known."""
@_overload
def equal(x: _Symbolic, y: _Tensor, *, name: str | None = None) -> _Value:
    """x == y."""
@_overload
def equal(x: _Tensor, y: _Symbolic, *, name: str | None = None) -> _Value:
    """x == y."""
@_overload
def equal(x: _Plain, y: _Plain, *, name: str | None = None) -> _Array:
    """x == y."""
def executing_eagerly() -> _bool:
    """Not while a function is traced."""
@_overload
def exp(x: _Symbolic, *, name: str | None = None) -> _Value:
    """e to the power x."""
@_overload
def exp(x: _Plain, *, name: str | None = None) -> _Array:
    """e to the power x."""
@_overload
def expand_dims(input: _Symbolic, axis: _Int, *, name: str | None = None) -> _Value:
    """A dimension of 1 at `axis`."""
@_overload
def expand_dims(input: _Plain, axis: _Int, *, name: str | None = None) -> _Array:
    """A dimension of 1 at `axis`."""
experimental: Any
def eye(num_rows: Any, num_columns: Any = None, batch_shape: Any = None, dtype: Any = 'float32', name: Any = None) -> Any:
    """A matrix with ones on its diagonal."""
@_overload
def fill(dims: _Ints, value: _Symbolic, name: str | None = None) -> _Value:
    """One value everywhere."""
@_overload
def fill(dims: _Ints, value: _Plain, name: str | None = None) -> _Array:
    """One value everywhere."""
float16: np.dtype[Any]
float32: np.dtype[Any]
float64: np.dtype[Any]
@_overload
def floor(x: _Symbolic, *, name: str | None = None) -> _Value:
    """Down to an integer."""
@_overload
def floor(x: _Plain, *, name: str | None = None) -> _Array:
    """Down to an integer."""
@_overload
def floordiv(x: _Symbolic, y: _Tensor, *, name: str | None = None) -> _Value:
    """x // y, rounded down."""
@_overload
def floordiv(x: _Tensor, y: _Symbolic, *, name: str | None = None) -> _Value:
    """x // y, rounded down."""
@_overload
def floordiv(x: _Plain, y: _Plain, *, name: str | None = None) -> _Array:
    """x // y, rounded down."""
@_overload
def floormod(x: _Symbolic, y: _Tensor, *, name: str | None = None) -> _Value:
    """x % y, of the sign of y."""
@_overload
def floormod(x: _Tensor, y: _Symbolic, *, name: str | None = None) -> _Value:
    """x % y, of the sign of y."""
@_overload
def floormod(x: _Plain, y: _Plain, *, name: str | None = None) -> _Array:
    """x % y, of the sign of y."""
def foldl(fn: _Callable[..., _U], elems: Any, initializer: _U | None = None, parallel_iterations: Any = 10, back_prop: Any = True, swap_memory: Any = False, name: str | None = None) -> _U:
    """fn(accumulated, slice) over the slices of elems from the first on; by default from the first."""
def foldr(fn: _Callable[..., _U], elems: Any, initializer: _U | None = None, parallel_iterations: Any = 10, back_prop: Any = True, swap_memory: Any = False, name: str | None = None) -> _U:
    """The same from the last slice on."""
def from_tf(dataset: Any) -> "Dataset[Any]":
    """A tf.data pipeline as a Dataset of this module: the same stages, its functions traced anew."""
def from_torch(loader: Any, processes: int | None = None, threads: int | None = None) -> "Dataset[Any]":
    """The batches of a torch DataLoader with a map-style dataset, in its order, as a Dataset."""
def function(func: Any = None, input_signature: Any = None, autograph: Any = True, jit_compile: Any = None, reduce_retracing: Any = False, experimental_implements: Any = None, experimental_autograph_options: Any = None, experimental_attributes: Any = None, experimental_relax_shapes: Any = None, experimental_compile: Any = None, experimental_follow_type_hints: Any = None) -> Any:
    """Accepted as a decorator, with its arguments: functions are traced where a dataset gets them."""
@_overload
def gather(params: _Symbolic, indices: _Tensor, validate_indices: Any = None, axis: _Int | None = None, batch_dims: Any = 0, name: str | None = None) -> _Value:
    """Slices along an axis, by default the first behind the batch_dims leading ones that both share."""
@_overload
def gather(params: _Tensor, indices: _Symbolic, validate_indices: Any = None, axis: _Int | None = None, batch_dims: Any = 0, name: str | None = None) -> _Value:
    """Slices along an axis, by default the first behind the batch_dims leading ones that both share."""
@_overload
def gather(params: _Plain, indices: _Plain, validate_indices: Any = None, axis: _Int | None = None, batch_dims: Any = 0, name: str | None = None) -> _Array:
    """Slices along an axis, by default the first behind the batch_dims leading ones that both share."""
@_overload
def gather_nd(params: _Symbolic, indices: _Tensor, batch_dims: Any = 0, name: str | None = None) -> _Value:
    """Slices of params at places of several dimensions: the last one of indices."""
@_overload
def gather_nd(params: _Tensor, indices: _Symbolic, batch_dims: Any = 0, name: str | None = None) -> _Value:
    """Slices of params at places of several dimensions: the last one of indices."""
@_overload
def gather_nd(params: _Plain, indices: _Plain, batch_dims: Any = 0, name: str | None = None) -> _Array:
    """Slices of params at places of several dimensions: the last one of indices."""
def get_include() -> str:
    """The folder of the headers that plug-ins are built with: cc -shared -fPIC -I<it> ..."""
@_overload
def greater(x: _Symbolic, y: _Tensor, *, name: str | None = None) -> _Value:
    """x > y."""
@_overload
def greater(x: _Tensor, y: _Symbolic, *, name: str | None = None) -> _Value:
    """x > y."""
@_overload
def greater(x: _Plain, y: _Plain, *, name: str | None = None) -> _Array:
    """x > y."""
@_overload
def greater_equal(x: _Symbolic, y: _Tensor, *, name: str | None = None) -> _Value:
    """x >= y."""
@_overload
def greater_equal(x: _Tensor, y: _Symbolic, *, name: str | None = None) -> _Value:
    """x >= y."""
@_overload
def greater_equal(x: _Plain, y: _Plain, *, name: str | None = None) -> _Array:
    """x >= y."""
half: np.dtype[Any]
@_overload
def identity(input: _Symbolic, *, name: str | None = None) -> _Value:
    """Its input."""
@_overload
def identity(input: _Plain, *, name: str | None = None) -> _Array:
    """Its input."""
int16: np.dtype[Any]
int32: np.dtype[Any]
int64: np.dtype[Any]
int8: np.dtype[Any]
def is_tensor(x: _Tensor) -> _bool:
    """Is it a symbolic value or an array?"""
@_overload
def less(x: _Symbolic, y: _Tensor, *, name: str | None = None) -> _Value:
    """x < y."""
@_overload
def less(x: _Tensor, y: _Symbolic, *, name: str | None = None) -> _Value:
    """x < y."""
@_overload
def less(x: _Plain, y: _Plain, *, name: str | None = None) -> _Array:
    """x < y."""
@_overload
def less_equal(x: _Symbolic, y: _Tensor, *, name: str | None = None) -> _Value:
    """x <= y."""
@_overload
def less_equal(x: _Tensor, y: _Symbolic, *, name: str | None = None) -> _Value:
    """x <= y."""
@_overload
def less_equal(x: _Plain, y: _Plain, *, name: str | None = None) -> _Array:
    """x <= y."""
def limits() -> dict[str, int]:
    """The limits (0: none), and what all pipelines use of them now and used at most: a dict."""
@_overload
def linspace(start: _Symbolic, stop: _Tensor, num: _Ints, name: str | None = None, axis: _Ints = 0) -> _Value:
    """num values from start to stop, both included."""
@_overload
def linspace(start: _Tensor, stop: _Symbolic, num: _Ints, name: str | None = None, axis: _Ints = 0) -> _Value:
    """num values from start to stop, both included."""
@_overload
def linspace(start: _Plain, stop: _Plain, num: _Ints, name: str | None = None, axis: _Ints = 0) -> _Array:
    """num values from start to stop, both included."""
def load_op_library(library_filename: Any) -> Any:
    """The operations of a plug-in (a shared library, see stoker/plugin.h), as a module of functions."""
@_overload
def log(x: _Symbolic, *, name: str | None = None) -> _Value:
    """Natural logarithm."""
@_overload
def log(x: _Plain, *, name: str | None = None) -> _Array:
    """Natural logarithm."""
@_overload
def logical_and(x: _Symbolic, y: _Tensor, *, name: str | None = None) -> _Value:
    """Both are true."""
@_overload
def logical_and(x: _Tensor, y: _Symbolic, *, name: str | None = None) -> _Value:
    """Both are true."""
@_overload
def logical_and(x: _Plain, y: _Plain, *, name: str | None = None) -> _Array:
    """Both are true."""
@_overload
def logical_not(x: _Symbolic, *, name: str | None = None) -> _Value:
    """True becomes false."""
@_overload
def logical_not(x: _Plain, *, name: str | None = None) -> _Array:
    """True becomes false."""
@_overload
def logical_or(x: _Symbolic, y: _Tensor, *, name: str | None = None) -> _Value:
    """One is true."""
@_overload
def logical_or(x: _Tensor, y: _Symbolic, *, name: str | None = None) -> _Value:
    """One is true."""
@_overload
def logical_or(x: _Plain, y: _Plain, *, name: str | None = None) -> _Array:
    """One is true."""
def map_fn(fn: _Callable[..., _U], elems: Any, dtype: _DType | None = None, parallel_iterations: Any = None, back_prop: Any = True, swap_memory: Any = False, infer_shape: Any = True, name: str | None = None, fn_output_signature: Any = None) -> _U:
    """fn of each slice of elems (a value, or a structure of them) along the first dimension, stacked."""
@_overload
def matmul(a: _Symbolic, b: _Tensor, transpose_a: _Flag = False, transpose_b: _Flag = False, *, name: str | None = None) -> _Value:
    """Matrix product."""
@_overload
def matmul(a: _Tensor, b: _Symbolic, transpose_a: _Flag = False, transpose_b: _Flag = False, *, name: str | None = None) -> _Value:
    """Matrix product."""
@_overload
def matmul(a: _Plain, b: _Plain, transpose_a: _Flag = False, transpose_b: _Flag = False, *, name: str | None = None) -> _Array:
    """Matrix product."""
@_overload
def maximum(x: _Symbolic, y: _Tensor, *, name: str | None = None) -> _Value:
    """the larger of two."""
@_overload
def maximum(x: _Tensor, y: _Symbolic, *, name: str | None = None) -> _Value:
    """the larger of two."""
@_overload
def maximum(x: _Plain, y: _Plain, *, name: str | None = None) -> _Array:
    """the larger of two."""
def meshgrid(*args: Any, indexing: Any = 'xy', name: str | None = None) -> list[_Drawn]:
    """Coordinates of a grid: for each vector an array of as many dimensions as there are vectors."""
@_overload
def minimum(x: _Symbolic, y: _Tensor, *, name: str | None = None) -> _Value:
    """the smaller of two."""
@_overload
def minimum(x: _Tensor, y: _Symbolic, *, name: str | None = None) -> _Value:
    """the smaller of two."""
@_overload
def minimum(x: _Plain, y: _Plain, *, name: str | None = None) -> _Array:
    """the smaller of two."""
@_overload
def mod(x: _Symbolic, y: _Tensor, *, name: str | None = None) -> _Value:
    """x % y, of the sign of y."""
@_overload
def mod(x: _Tensor, y: _Symbolic, *, name: str | None = None) -> _Value:
    """x % y, of the sign of y."""
@_overload
def mod(x: _Plain, y: _Plain, *, name: str | None = None) -> _Array:
    """x % y, of the sign of y."""
@_overload
def multiply(x: _Symbolic, y: _Tensor, *, name: str | None = None) -> _Value:
    """x * y."""
@_overload
def multiply(x: _Tensor, y: _Symbolic, *, name: str | None = None) -> _Value:
    """x * y."""
@_overload
def multiply(x: _Plain, y: _Plain, *, name: str | None = None) -> _Array:
    """x * y."""
@_overload
def negative(x: _Symbolic, *, name: str | None = None) -> _Value:
    """-x."""
@_overload
def negative(x: _Plain, *, name: str | None = None) -> _Array:
    """-x."""
newaxis: Any
@_overload
def norm(tensor: _Symbolic, ord: Any = 'euclidean', axis: _Ints | None = None, keepdims: _Flag | None = None, name: str | None = None) -> _Value:
    """Length of vectors: the root of the sum of squares along the axes (ord 1: sum of amounts)."""
@_overload
def norm(tensor: _Plain, ord: Any = 'euclidean', axis: _Ints | None = None, keepdims: _Flag | None = None, name: str | None = None) -> _Array:
    """Length of vectors: the root of the sum of squares along the axes (ord 1: sum of amounts)."""
@_overload
def not_equal(x: _Symbolic, y: _Tensor, *, name: str | None = None) -> _Value:
    """x != y."""
@_overload
def not_equal(x: _Tensor, y: _Symbolic, *, name: str | None = None) -> _Value:
    """x != y."""
@_overload
def not_equal(x: _Plain, y: _Plain, *, name: str | None = None) -> _Array:
    """x != y."""
def numpy_function(func: Any = None, inp: Any = None, Tout: Any = None, stateful: Any = True, name: Any = None) -> Any:
    """The same, with NumPy arrays, scalars and bytes."""
@_overload
def one_hot(indices: _Symbolic, depth: Any, on_value: Any = None, off_value: Any = None, axis: _Ints | None = None, dtype: _DType | None = None, name: str | None = None) -> _Value:
    """Vectors of `depth` values with on_value at the index, else off_value (1 and 0, float32)."""
@_overload
def one_hot(indices: _Plain, depth: Any, on_value: Any = None, off_value: Any = None, axis: _Ints | None = None, dtype: _DType | None = None, name: str | None = None) -> _Array:
    """Vectors of `depth` values with on_value at the index, else off_value (1 and 0, float32)."""
@_overload
def ones(shape: _Value, dtype: _DType = 'float32', name: str | None = None) -> _Value:
    """Ones."""
@_overload
def ones(shape: _PlainInts, dtype: _DType = 'float32', name: str | None = None) -> _Array:  # type: ignore[overload-overlap]
    """Ones."""
@_overload
def ones(shape: _Ints, dtype: _DType = 'float32', name: str | None = None) -> _Value:
    """Ones."""
@_overload
def ones_like(input: _Symbolic, dtype: _DType | None = None, *, name: str | None = None) -> _Value:
    """Ones of its shape."""
@_overload
def ones_like(input: _Plain, dtype: _DType | None = None, *, name: str | None = None) -> _Array:
    """Ones of its shape."""
@_overload
def pad(tensor: _Symbolic, paddings: Any, mode: Any = 'CONSTANT', constant_values: Any = 0, name: str | None = None) -> _Value:
    """Wider by paddings, (rank, 2): values before and after each dimension."""
@_overload
def pad(tensor: _Plain, paddings: Any, mode: Any = 'CONSTANT', constant_values: Any = 0, name: str | None = None) -> _Array:
    """Wider by paddings, (rank, 2): values before and after each dimension."""
@_overload
def pow(x: _Symbolic, y: _Tensor, *, name: str | None = None) -> _Value:
    """x to the power y."""
@_overload
def pow(x: _Tensor, y: _Symbolic, *, name: str | None = None) -> _Value:
    """x to the power y."""
@_overload
def pow(x: _Plain, y: _Plain, *, name: str | None = None) -> _Array:
    """x to the power y."""
def print(*inputs: _Tensor, output_stream: Any = None, summarize: Any = 3, sep: Any = ' ', end: Any = '\n', name: str | None = None) -> Any:
    """Prints values, to sys.stderr; inside of a traced function those of each element, as it is made."""
def py_function(func: Any = None, inp: Any = None, Tout: Any = None, name: Any = None) -> Any:
    """Python for each element, in the middle of a traced function."""
@_overload
def range(start: _Symbolic, limit: _Tensor | None = None, delta: _Tensor = 1, dtype: _DType | None = None, name: str | None = 'range') -> _Value:
    """start, start + delta, ... below limit; range(limit) starts at 0."""
@_overload
def range(start: _Tensor, limit: _Symbolic, delta: _Tensor = 1, dtype: _DType | None = None, name: str | None = 'range') -> _Value:
    """start, start + delta, ... below limit; range(limit) starts at 0."""
@_overload
def range(start: _Tensor, limit: _Tensor, delta: _Symbolic, dtype: _DType | None = None, name: str | None = 'range') -> _Value:
    """start, start + delta, ... below limit; range(limit) starts at 0."""
@_overload
def range(start: _Plain, limit: _Plain | None = None, delta: _Plain = 1, dtype: _DType | None = None, name: str | None = 'range') -> _Array:
    """start, start + delta, ... below limit; range(limit) starts at 0."""
@_overload
def rank(input: _Symbolic, *, name: str | None = None) -> _Value:
    """How many dimensions there are."""
@_overload
def rank(input: _Plain, *, name: str | None = None) -> _Array:
    """How many dimensions there are."""
@_overload
def reduce_all(input_tensor: _Symbolic, axis: _Ints | None = None, keepdims: _Flag = False, *, name: str | None = None) -> _Value:
    """Are all true, along axes."""
@_overload
def reduce_all(input_tensor: _Plain, axis: _Ints | None = None, keepdims: _Flag = False, *, name: str | None = None) -> _Array:
    """Are all true, along axes."""
@_overload
def reduce_any(input_tensor: _Symbolic, axis: _Ints | None = None, keepdims: _Flag = False, *, name: str | None = None) -> _Value:
    """Is any true, along axes."""
@_overload
def reduce_any(input_tensor: _Plain, axis: _Ints | None = None, keepdims: _Flag = False, *, name: str | None = None) -> _Array:
    """Is any true, along axes."""
@_overload
def reduce_logsumexp(input_tensor: _Symbolic, axis: _Ints | None = None, keepdims: _Flag = False, name: str | None = None) -> _Value:
    """log of the sum of exp along axes, whatever the size of the values."""
@_overload
def reduce_logsumexp(input_tensor: _Plain, axis: _Ints | None = None, keepdims: _Flag = False, name: str | None = None) -> _Array:
    """log of the sum of exp along axes, whatever the size of the values."""
@_overload
def reduce_max(input_tensor: _Symbolic, axis: _Ints | None = None, keepdims: _Flag = False, *, name: str | None = None) -> _Value:
    """Largest along axes."""
@_overload
def reduce_max(input_tensor: _Plain, axis: _Ints | None = None, keepdims: _Flag = False, *, name: str | None = None) -> _Array:
    """Largest along axes."""
@_overload
def reduce_mean(input_tensor: _Symbolic, axis: _Ints | None = None, keepdims: _Flag = False, *, name: str | None = None) -> _Value:
    """Mean along axes."""
@_overload
def reduce_mean(input_tensor: _Plain, axis: _Ints | None = None, keepdims: _Flag = False, *, name: str | None = None) -> _Array:
    """Mean along axes."""
@_overload
def reduce_min(input_tensor: _Symbolic, axis: _Ints | None = None, keepdims: _Flag = False, *, name: str | None = None) -> _Value:
    """Smallest along axes."""
@_overload
def reduce_min(input_tensor: _Plain, axis: _Ints | None = None, keepdims: _Flag = False, *, name: str | None = None) -> _Array:
    """Smallest along axes."""
@_overload
def reduce_prod(input_tensor: _Symbolic, axis: _Ints | None = None, keepdims: _Flag = False, *, name: str | None = None) -> _Value:
    """Product along axes."""
@_overload
def reduce_prod(input_tensor: _Plain, axis: _Ints | None = None, keepdims: _Flag = False, *, name: str | None = None) -> _Array:
    """Product along axes."""
@_overload
def reduce_sum(input_tensor: _Symbolic, axis: _Ints | None = None, keepdims: _Flag = False, *, name: str | None = None) -> _Value:
    """Sum along axes."""
@_overload
def reduce_sum(input_tensor: _Plain, axis: _Ints | None = None, keepdims: _Flag = False, *, name: str | None = None) -> _Array:
    """Sum along axes."""
@_overload
def repeat(input: _Symbolic, repeats: Any, axis: _Ints | None = None, name: str | None = None) -> _Value:
    """Each value `repeats` times (a number, or one for each), along an axis, or of all in one row."""
@_overload
def repeat(input: _Plain, repeats: Any, axis: _Ints | None = None, name: str | None = None) -> _Array:
    """Each value `repeats` times (a number, or one for each), along an axis, or of all in one row."""
@_overload
def reshape(tensor: _Symbolic, shape: _Ints, name: str | None = None) -> _Value:
    """The same values in another shape; -1 stands for what is left."""
@_overload
def reshape(tensor: _Tensor, shape: _Value, name: str | None = None) -> _Value:
    """The same values in another shape; -1 stands for what is left."""
@_overload
def reshape(tensor: _Plain, shape: _PlainInts, name: str | None = None) -> _Array:  # type: ignore[overload-overlap]
    """The same values in another shape; -1 stands for what is left."""
@_overload
def reshape(tensor: _Tensor, shape: _Ints, name: str | None = None) -> _Value:
    """The same values in another shape; -1 stands for what is left."""
@_overload
def reverse(tensor: _Symbolic, axis: _Ints, *, name: str | None = None) -> _Value:
    """Back to front along axes."""
@_overload
def reverse(tensor: _Plain, axis: _Ints, *, name: str | None = None) -> _Array:
    """Back to front along axes."""
@_overload
def roll(input: _Symbolic, shift: Any, axis: _Ints, name: str | None = None) -> _Value:
    """Values moved along axes, those beyond the end to the start."""
@_overload
def roll(input: _Plain, shift: Any, axis: _Ints, name: str | None = None) -> _Array:
    """Values moved along axes, those beyond the end to the start."""
@_overload
def round(x: _Symbolic, *, name: str | None = None) -> _Value:
    """To the nearest integer, ties to even."""
@_overload
def round(x: _Plain, *, name: str | None = None) -> _Array:
    """To the nearest integer, ties to even."""
@_overload
def saturate_cast(value: _Symbolic, dtype: _DType, name: str | None = None) -> _Value:
    """The values as another dtype; those beyond its range become its ends."""
@_overload
def saturate_cast(value: _Plain, dtype: _DType, name: str | None = None) -> _Array:
    """The values as another dtype; those beyond its range become its ends."""
@_overload
def scalar_mul(scalar: _Symbolic, x: _Tensor, name: str | None = None) -> _Value:
    """x times a scalar."""
@_overload
def scalar_mul(scalar: _Tensor, x: _Symbolic, name: str | None = None) -> _Value:
    """x times a scalar."""
@_overload
def scalar_mul(scalar: _Plain, x: _Plain, name: str | None = None) -> _Array:
    """x times a scalar."""
def scan(fn: _Callable[..., _U], elems: Any, initializer: _U | None = None, parallel_iterations: Any = 10, back_prop: Any = True, swap_memory: Any = False, infer_shape: Any = True, reverse: Any = False, name: str | None = None) -> _U:
    """What fn(accumulated, slice) gives for each slice in turn, stacked. Without an initializer the"""
@_overload
def searchsorted(sorted_sequence: _Symbolic, values: _Tensor, side: Any = 'left', out_type: _DType = 'int32', name: str | None = None) -> _Value:
    """Where values would be put into a sorted vector, or into sorted rows, to keep its order."""
@_overload
def searchsorted(sorted_sequence: _Tensor, values: _Symbolic, side: Any = 'left', out_type: _DType = 'int32', name: str | None = None) -> _Value:
    """Where values would be put into a sorted vector, or into sorted rows, to keep its order."""
@_overload
def searchsorted(sorted_sequence: _Plain, values: _Plain, side: Any = 'left', out_type: _DType = 'int32', name: str | None = None) -> _Array:
    """Where values would be put into a sorted vector, or into sorted rows, to keep its order."""
@_overload
def sequence_mask(lengths: _Symbolic, maxlen: Any = None, dtype: _DType = 'bool', name: str | None = None) -> _Value:
    """True at the first `lengths` places, of maxlen (the largest length)."""
@_overload
def sequence_mask(lengths: _Plain, maxlen: Any = None, dtype: _DType = 'bool', name: str | None = None) -> _Array:
    """True at the first `lengths` places, of maxlen (the largest length)."""
def set_limits(cpus: int | None = None, threads: int | None = None, ram_bytes: int | None = None) -> None:
    """Limits of this process, over all pipelines that run in it, beside those of each one's Options."""
@_overload
def shape(input: _Symbolic, out_type: _DType = 'int32', name: str | None = None) -> _Value:
    """The sizes: an array where all are known, so that results' shapes are known as well."""
@_overload
def shape(input: _Plain, out_type: _DType = 'int32', name: str | None = None) -> _Array:
    """The sizes: an array where all are known, so that results' shapes are known as well."""
@_overload
def sigmoid(x: _Symbolic, *, name: str | None = None) -> _Value:
    """1 / (1 + exp(-x))."""
@_overload
def sigmoid(x: _Plain, *, name: str | None = None) -> _Array:
    """1 / (1 + exp(-x))."""
@_overload
def sign(x: _Symbolic, *, name: str | None = None) -> _Value:
    """-1, 0 or 1."""
@_overload
def sign(x: _Plain, *, name: str | None = None) -> _Array:
    """-1, 0 or 1."""
@_overload
def sin(x: _Symbolic, *, name: str | None = None) -> _Value:
    """Sine."""
@_overload
def sin(x: _Plain, *, name: str | None = None) -> _Array:
    """Sine."""
@_overload
def sinh(x: _Symbolic, *, name: str | None = None) -> _Value:
    """Hyperbolic sine."""
@_overload
def sinh(x: _Plain, *, name: str | None = None) -> _Array:
    """Hyperbolic sine."""
@_overload
def size(input: _Symbolic, out_type: _DType = 'int32', *, name: str | None = None) -> _Value:
    """How many values there are."""
@_overload
def size(input: _Plain, out_type: _DType = 'int32', *, name: str | None = None) -> _Array:
    """How many values there are."""
@_overload
def slice(input_: _Symbolic, begin: _Ints, size: _Ints, *, name: str | None = None) -> _Value:
    """`size` values from `begin` on."""
@_overload
def slice(input_: _Tensor, begin: _Value, size: _Ints, *, name: str | None = None) -> _Value:
    """`size` values from `begin` on."""
@_overload
def slice(input_: _Tensor, begin: _Ints, size: _Value, *, name: str | None = None) -> _Value:
    """`size` values from `begin` on."""
@_overload
def slice(input_: _Plain, begin: _PlainInts, size: _PlainInts, *, name: str | None = None) -> _Array:  # type: ignore[overload-overlap]
    """`size` values from `begin` on."""
@_overload
def slice(input_: _Tensor, begin: _Ints, size: _Ints, *, name: str | None = None) -> _Value:
    """`size` values from `begin` on."""
@_overload
def sort(values: _Symbolic, axis: _Ints = -1, direction: str = 'ASCENDING', name: str | None = None) -> _Value:
    """The values in order along an axis."""
@_overload
def sort(values: _Plain, axis: _Ints = -1, direction: str = 'ASCENDING', name: str | None = None) -> _Array:
    """The values in order along an axis."""
@_overload
def split(value: _Symbolic, num_or_size_splits: Any, axis: _Ints = 0, num: _Ints | None = None, name: str | None = 'split') -> list[_Value]:
    """Parts along an axis: that many equal ones, or of the sizes given."""
@_overload
def split(value: _Plain, num_or_size_splits: Any, axis: _Ints = 0, num: _Ints | None = None, name: str | None = 'split') -> list[_Array]:
    """Parts along an axis: that many equal ones, or of the sizes given."""
@_overload
def sqrt(x: _Symbolic, *, name: str | None = None) -> _Value:
    """Square root."""
@_overload
def sqrt(x: _Plain, *, name: str | None = None) -> _Array:
    """Square root."""
@_overload
def square(x: _Symbolic, *, name: str | None = None) -> _Value:
    """x * x."""
@_overload
def square(x: _Plain, *, name: str | None = None) -> _Array:
    """x * x."""
@_overload
def squeeze(input: _Symbolic, axis: _Ints | None = None, *, name: str | None = None) -> _Value:
    """Without dimensions of 1."""
@_overload
def squeeze(input: _Plain, axis: _Ints | None = None, *, name: str | None = None) -> _Array:
    """Without dimensions of 1."""
@_overload
def stack(values: _Plain, axis: _Int = 0, *, name: str | None = None) -> _Array:  # type: ignore[overload-overlap]
    """Values side by side along a new `axis`."""
@_overload
def stack(values: _Value | _Sequence[_Tensor], axis: _Int = 0, *, name: str | None = None) -> _Value:
    """Values side by side along a new `axis`."""
@_overload
def stop_gradient(input: _Symbolic, name: str | None = None) -> _Value:
    """The values: there are no gradients here."""
@_overload
def stop_gradient(input: _Plain, name: str | None = None) -> _Array:
    """The values: there are no gradients here."""
string: np.dtype[Any]
@_overload
def subtract(x: _Symbolic, y: _Tensor, *, name: str | None = None) -> _Value:
    """x - y."""
@_overload
def subtract(x: _Tensor, y: _Symbolic, *, name: str | None = None) -> _Value:
    """x - y."""
@_overload
def subtract(x: _Plain, y: _Plain, *, name: str | None = None) -> _Array:
    """x - y."""
def switch_case(branch_index: Any, branch_fns: _Sequence[_Callable[[], _U]] | _Sequence[tuple[int, _Callable[[], _U]]] | dict[int, _Callable[[], _U]], default: _Callable[[], _U] | None = None, name: str | None = 'switch_case') -> _U:
    """branch_fns[branch_index](); where there is none with that number default(), or the last one."""
@_overload
def tan(x: _Symbolic, *, name: str | None = None) -> _Value:
    """Tangent."""
@_overload
def tan(x: _Plain, *, name: str | None = None) -> _Array:
    """Tangent."""
@_overload
def tanh(x: _Symbolic, *, name: str | None = None) -> _Value:
    """Hyperbolic tangent."""
@_overload
def tanh(x: _Plain, *, name: str | None = None) -> _Array:
    """Hyperbolic tangent."""
@_overload
def tile(input: _Symbolic, multiples: _Ints, *, name: str | None = None) -> _Value:
    """Repeated along each dimension."""
@_overload
def tile(input: _Tensor, multiples: _Value, *, name: str | None = None) -> _Value:
    """Repeated along each dimension."""
@_overload
def tile(input: _Plain, multiples: _PlainInts, *, name: str | None = None) -> _Array:  # type: ignore[overload-overlap]
    """Repeated along each dimension."""
@_overload
def tile(input: _Tensor, multiples: _Ints, *, name: str | None = None) -> _Value:
    """Repeated along each dimension."""
@_overload
def transpose(a: _Symbolic, perm: _Ints | None = None, conjugate: Any = False, *, name: str | None = None) -> _Value:
    """Dimensions in another order."""
@_overload
def transpose(a: _Plain, perm: _Ints | None = None, conjugate: Any = False, *, name: str | None = None) -> _Array:
    """Dimensions in another order."""
@_overload
def truediv(x: _Symbolic, y: _Tensor, *, name: str | None = None) -> _Value:
    """x / y; integers give floats."""
@_overload
def truediv(x: _Tensor, y: _Symbolic, *, name: str | None = None) -> _Value:
    """x / y; integers give floats."""
@_overload
def truediv(x: _Plain, y: _Plain, *, name: str | None = None) -> _Array:
    """x / y; integers give floats."""
uint16: np.dtype[Any]
uint32: np.dtype[Any]
uint64: np.dtype[Any]
uint8: np.dtype[Any]
@_overload
def unique(x: _Symbolic, out_idx: _DType = 'int32', name: str | None = None) -> _Unique[_Value]:
    """(y, idx): a vector's values, each once, as they come; and for each value its place in y."""
@_overload
def unique(x: _Plain, out_idx: _DType = 'int32', name: str | None = None) -> _Unique[_Array]:
    """(y, idx): a vector's values, each once, as they come; and for each value its place in y."""
@_overload
def unique_with_counts(x: _Symbolic, out_idx: _DType = 'int32', name: str | None = None) -> _UniqueWithCounts[_Value]:
    """(y, idx, count): the same, and how often each of y comes."""
@_overload
def unique_with_counts(x: _Plain, out_idx: _DType = 'int32', name: str | None = None) -> _UniqueWithCounts[_Array]:
    """(y, idx, count): the same, and how often each of y comes."""
@_overload
def unstack(value: _Symbolic, num: _Ints | None = None, axis: _Ints = 0, name: str | None = 'unstack') -> list[_Value]:
    """The slices along an axis, as a list."""
@_overload
def unstack(value: _Plain, num: _Ints | None = None, axis: _Ints = 0, name: str | None = 'unstack') -> list[_Array]:
    """The slices along an axis, as a list."""
def vectorized_map(fn: _Callable[..., _U], elems: Any, dtype: _DType | None = None, parallel_iterations: Any = None, back_prop: Any = True, swap_memory: Any = False, infer_shape: Any = True, name: str | None = None, fn_output_signature: Any = None) -> _U:
    """fn of each slice of elems (a value, or a structure of them) along the first dimension, stacked."""
@_overload
def where(condition: _Symbolic, x: _Tensor | None = None, y: _Tensor | None = None, name: str | None = None) -> _Value:
    """x where the condition holds, else y; with the condition alone, where it holds (where numbers"""
@_overload
def where(condition: _Tensor, x: _Symbolic, y: _Tensor | None = None, name: str | None = None) -> _Value:
    """x where the condition holds, else y; with the condition alone, where it holds (where numbers"""
@_overload
def where(condition: _Tensor, x: _Tensor, y: _Symbolic, name: str | None = None) -> _Value:
    """x where the condition holds, else y; with the condition alone, where it holds (where numbers"""
@_overload
def where(condition: _Plain, x: _Plain | None = None, y: _Plain | None = None, name: str | None = None) -> _Array:
    """x where the condition holds, else y; with the condition alone, where it holds (where numbers"""
def while_loop(cond: _Callable[..., Any], body: _Callable[..., _U], loop_vars: _U, shape_invariants: Any = None, parallel_iterations: Any = 10, back_prop: Any = True, swap_memory: Any = False, maximum_iterations: Any = None, name: str | None = None) -> _U:
    """body(*loop_vars) as long as cond(*loop_vars) holds: the variables then, in a list or tuple as"""
@_overload
def zeros(shape: _Value, dtype: _DType = 'float32', name: str | None = None) -> _Value:
    """Zeros (empty strings, False)."""
@_overload
def zeros(shape: _PlainInts, dtype: _DType = 'float32', name: str | None = None) -> _Array:  # type: ignore[overload-overlap]
    """Zeros (empty strings, False)."""
@_overload
def zeros(shape: _Ints, dtype: _DType = 'float32', name: str | None = None) -> _Value:
    """Zeros (empty strings, False)."""
@_overload
def zeros_like(input: _Symbolic, dtype: _DType | None = None, *, name: str | None = None) -> _Value:
    """Zeros of its shape."""
@_overload
def zeros_like(input: _Plain, dtype: _DType | None = None, *, name: str | None = None) -> _Array:
    """Zeros of its shape."""
