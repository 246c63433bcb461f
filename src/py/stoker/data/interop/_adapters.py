# SPDX-License-Identifier: Apache-2.0
"""Elements for PyTorch, TensorFlow, Keras and JAX. Their packages are imported on demand."""

import collections
import itertools
import mmap
import threading

import numpy as np

from .. import _engine
from ..core import _dtypes, _labels, _spec, _stages
from ..core._dataset import method
from ..core._options import Options
from ..core._sparse import RaggedTensor, SparseTensor
from ..core._spec import DatasetSpec, RaggedTensorSpec, SparseTensorSpec
from ..errors import InvalidArgumentError
from ..train import _device, _elastic, _normalize, _ranks
from . import _from_torch, _torch_own
from ._packages import need

_WITH_EPOCHS = ("dataset", "sampler", "batch_sampler")  # parts of a loader that may have set_epoch
PEEKS_MAX = 4  # batches that Keras may request before an epoch starts


def map_leaves(f, element):
    """The element with f(leaf) for each array, scalar and bytes."""
    return _spec.map_structure(f, element)


_WAYS = (
    (SparseTensorSpec, "sparse", "sd.sparse.to_dense(x) in a map makes it dense"),
    (RaggedTensorSpec, "ragged", "x.to_tensor() in a map makes it dense"),
    (DatasetSpec, "a dataset", "flat_map(lambda w: w.batch(n)) makes windows batches"),
)


def refuse(dataset, target, kinds=(SparseTensorSpec, RaggedTensorSpec, DatasetSpec)):
    """TypeError: an element has a kind of value that the target doesn't support."""
    for place, leaf in _spec.places(dataset.element_spec):
        for kind, name, way in _WAYS:
            if isinstance(leaf, kind) and kind in kinds:
                where = f"element{place}" if place else "the element"
                raise TypeError(f"{target}: {where} is {name}, which it has no values for; {way}")


def _is_text(v):
    return isinstance(v, (bytes, str)) or isinstance(v, np.ndarray) and v.dtype.kind == "O"


def _torch_leaf(torch):
    def leaf(v):
        if _is_text(v):
            return v  # torch has no strings
        if not isinstance(v, np.ndarray):
            if hasattr(v, "__dlpack__") and not isinstance(v, np.generic):
                return torch.from_dlpack(v)
            v = np.array(v)
        elif not v.flags.writeable:
            v = np.array(v)
        if _dtypes.bfloat16 is not None and v.dtype == _dtypes.bfloat16:
            return torch.from_numpy(v.view(np.int16)).view(torch.bfloat16)
        return torch.from_numpy(v)

    return leaf


def _torch_element(torch, dataset):
    """The function that converts elements to tensors."""
    leaf, wide = _torch_leaf(torch), _labels.widened(dataset)

    def element(e):
        is_wide = iter(wide)
        return map_leaves(lambda v: leaf(v).long() if next(is_wide) else leaf(v), e)

    made = element if any(wide) else lambda e: map_leaves(leaf, e)
    if not _from_torch.gives_lists(dataset):
        return made
    return lambda e: _from_torch.as_lists(made(e))


def _at_epoch(dataset, epoch, seed):
    """The dataset with that epoch for the next pass; seed: if it has none of its own."""
    options = Options()
    if dataset._options.seed is None:
        known = _stages.known_seed(dataset)
        options.seed = seed if known is None else known
    out = dataset.with_options(options)
    out._epochs = itertools.count(epoch)
    return out


def _drawn(torch):
    """A seed from torch's generator, drawn like a DataLoader does for each pass."""
    return int(torch.empty((), dtype=torch.int64).random_())


def _batch_size(dataset):
    """The first dimension of elements that are batches, for DataLoader.batch_size; else None."""
    ds = dataset
    while ds._kind in ("prefetch", "take", "skip", "shard", "repeat", "map", "cache") and ds._inputs:
        ds = ds._inputs[0]
    return ds._args.get("batch_size") if ds._kind in ("batch", "padded_batch") else None


_BEHIND_WORKERS = (
    "state_dict: a DataLoader's workers, or a copy of the loader, make the elements, and their "
    "positions are unknown here. Loop over to_torch() itself (its threads need no workers), or use torchdata's "
    "StatefulDataLoader, which asks each worker"
)


class _Board:
    """What a loader shares with its copies in forked workers: the epoch that was set, and how many passes each worker
    started. Spawned workers see none of it."""

    _WORKERS = 1022

    def __init__(self):
        self.words = memoryview(mmap.mmap(-1, 8 * (2 + self._WORKERS))).cast("q")
        self.words[0] = -1
        self.is_copied = False  # copied to processes that can't write here

    @property
    def epoch(self):
        return None if self.words[0] < 0 else self.words[0]

    @epoch.setter
    def epoch(self, value):
        self.words[0] = value

    @property
    def has_workers(self):
        return self.is_copied or self.words[1] != 0

    def begun(self, worker):
        """Starts another pass of that worker: returns its number, from 0; None: no room to count."""
        self.words[1] = 1
        if worker >= self._WORKERS:
            return None
        self.words[2 + worker] += 1
        return self.words[2 + worker] - 1


@method
def to_torch(self, device=None, pin_memory=False, normalize=None, remainder=None):
    """Elements as torch tensors, strings as bytes: an IterableDataset with a DataLoader's interface.

    Loop over it directly: `for x, y in ds.to_torch(): ...`, again for each epoch. len(),
    set_epoch(n), state_dict() and load_state_dict() work as usual. In
    torch.utils.data.DataLoader(it, batch_size=None, num_workers=n) each worker gets its part of
    the elements. Batches are writable and not copied; read-only views are copied.

    device: "cuda:0": tensors on the GPU, copied ahead of time (see to_device), without a copy through
    DLPack. Use them on the stream that was current when you got them. pin_memory: tensors in pinned
    memory, for your own `.to(device, non_blocking=True)`; NotFoundError without a CUDA driver.
    normalize: see to_device; without a device, the CPU does it.

    remainder: what shard() in the pipeline does if the elements don't divide evenly between ranks.
    In a process group of torch.distributed or a launcher the default is "pad", so that all ranks have the same number
    of batches. "keep": as in shard(). In such a group, a pipeline without shard() gives a RuntimeWarning, unless this
    is "keep".

    Without its own seed, the dataset draws one from torch's generator for each pass, like a
    DataLoader: torch.manual_seed makes it repeatable.
    """
    refuse(self, "to_torch")
    torch = need("torch")
    dataset = _ranks.for_group(self, torch, remainder)

    number = None if device is None else _device.number_of(device)
    staged = _device.OnDevice(dataset, device, normalize=normalize) if number is not None else None
    on_host = _normalize.on_host(dataset, _normalize.rules(normalize, dataset.element_spec))
    if staged is not None and staged.device == "cpu":
        staged = None
    if pin_memory and staged is None:
        _engine.devices()  # NotFoundError: no device to pin memory for

    own = None
    if device is None and not pin_memory and normalize is None:
        own = _torch_own.passes(self)

    class StokerLoader(torch.utils.data.IterableDataset):
        """An IterableDataset with a DataLoader's interface: works directly in for loops; or in a DataLoader with
        batch_size=None, whose workers then divide the elements."""

        sampler = batch_sampler = collate_fn = worker_init_fn = generator = None
        num_workers, timeout, drop_last, persistent_workers = 0, 0, False, False
        prefetch_factor = multiprocessing_context = None

        def __init__(self):
            super().__init__()
            self.batch_size, self.pin_memory = _batch_size(dataset), bool(pin_memory)
            self._state = self._iterator = None
            self._own = own  # the passes of an imported loader that makes its own batches
            self._next_epoch = dataset._first_epoch
            self._board, self._is_copy = _Board(), False  # a copy: unpickled, with its own board

        @property
        def dataset(self):
            """Its stoker.data.Dataset."""
            return dataset

        def set_epoch(self, epoch):
            """Sets the epoch of the next pass: for shuffles, random values, and samplers of imported loaders."""
            self._board.epoch = int(epoch)
            for loader in _from_torch.orders(dataset):
                for part in (loader, *(getattr(loader, name, None) for name in _WITH_EPOCHS)):
                    if hasattr(part, "set_epoch"):
                        part.set_epoch(int(epoch))

        def state_dict(self):
            """The position in the current pass, for load_state_dict of an identical loader; {} before the first one."""
            if staged is not None:
                raise NotImplementedError("state_dict of a loader on a device: elements are ahead")
            why = None if self._own is not None and self._own.has_state else _from_torch.why_no_state(dataset)
            if why is not None:
                raise RuntimeError(f"state_dict: {why}")
            if self._own is not None:
                return self._own.state_dict()
            if self._state is not None:  # loaded, and not resumed yet
                return {"state": self._state}
            if self._iterator is None and self._board.has_workers:
                raise RuntimeError(_BEHIND_WORKERS)
            return {} if self._iterator is None else {"state": self._iterator.state()}

        def load_state_dict(self, state):
            """The next pass continues where the other loader stopped; later passes are the epochs after that.
            InvalidArgumentError (in that pass): it was a loader of another pipeline."""
            if self._own is not None:
                return self._own.load_state_dict(state)
            self._state = state.get("state")
            if self._state is not None:
                self._next_epoch = _elastic.read_parts(self._state)[1]

        def _worker_epoch(self, info, base):
            """The epoch of a worker's pass: all workers must agree, including those of other ranks."""
            passes = None if self._is_copy else self._board.begun(info.id)
            if self._board.epoch is not None:
                return self._board.epoch
            if passes is None and _stages.shares_order(dataset):
                raise RuntimeError(
                    "spawned workers don't know the epoch, and ranks that draw one "
                    "order must agree on it: call set_epoch(n) before each epoch"
                )
            return self._next_epoch + (base if passes is None else passes)

        def _elements(self):
            info = torch.utils.data.get_worker_info()
            is_staged = staged is not None and info is None
            ds, state, self._state = dataset if is_staged else on_host, self._state, None
            if info is not None:
                base = (info.seed - info.id) & (2**62 - 1)  # the same in all workers
                epoch = self._worker_epoch(info, base)
                ds = _at_epoch(ds, epoch, base).shard(info.num_workers, info.id)
                ds._epochs = itertools.count(epoch)
            else:
                is_set = self._board.epoch is not None and state is None
                epoch = self._board.epoch if is_set else self._next_epoch
                self._next_epoch = epoch + 1
                # An imported loader draws for the pass itself; nothing else must.
                ds = _at_epoch(ds, epoch, 0 if _from_torch.orders(dataset) else _drawn(torch))
                if pin_memory:
                    ds._pinned_device = 0
            if is_staged:
                return iter(_device.OnDevice(ds, staged.device, staged.depth, False, normalize))
            self._iterator = ds._plain(state)
            return self._iterator

        def __iter__(self):
            if self._own is not None and torch.utils.data.get_worker_info() is None:
                return iter(self._own)
            return map(_torch_element(torch, dataset), self._elements())

        def __len__(self):
            return len(dataset if self._own is None else self._own.loader)

        def __reduce__(self):
            own = ("_state", "_next_epoch", "batch_size", "pin_memory")
            kept = {k: v for k, v in self.__dict__.items() if k in own}
            self._board.is_copied = True
            return _copied, (dataset, device, pin_memory, normalize, self._board.epoch), kept

    return StokerLoader()


def _copied(dataset, device, pin_memory, normalize, epoch):
    """Unpickles a loader, for instance in a spawned worker."""
    out = to_torch(dataset, device, pin_memory, normalize, "keep")
    out._is_copy = True
    if epoch is not None:
        out.set_epoch(epoch)
    return out


def _tf_spec(tf, s):
    dtype = tf.string if s.dtype == _dtypes.string else tf.as_dtype(s.dtype)
    if isinstance(s, SparseTensorSpec):
        return tf.SparseTensorSpec(s.shape, dtype)
    if isinstance(s, RaggedTensorSpec):
        splits = tf.as_dtype(s.row_splits_dtype)
        return tf.RaggedTensorSpec(s.shape, dtype, s.ragged_rank, splits)
    return tf.TensorSpec(s.shape, dtype)


def _tf_leaf(tf):
    def leaf(v):
        if isinstance(v, SparseTensor):
            return tf.SparseTensor(v.indices, v.values, v.dense_shape)
        if isinstance(v, RaggedTensor):
            return tf.RaggedTensor.from_nested_row_splits(
                v.flat_values, v.nested_row_splits, validate=False
            )
        return v

    return leaf


@method
def to_tf(self):
    """A tf.data.Dataset with the same element_spec and cardinality, through from_generator.

    Each element costs a call and a copy, so use batches. Sparse and ragged values become
    TensorFlow's.
    """
    refuse(self, "to_tf", (DatasetSpec,))
    tf = need("tensorflow")
    signature = _spec.map_structure(lambda s: _tf_spec(tf, s), self.element_spec)
    leaf = _tf_leaf(tf)
    composite = (SparseTensorSpec, RaggedTensorSpec)
    has_composite = any(isinstance(s, composite) for s in _spec.flatten(self.element_spec))

    def generate():
        it = self._plain()
        return map(lambda e: map_leaves(leaf, e), it) if has_composite else it

    out = tf.data.Dataset.from_generator(generate, output_signature=signature)
    n = self.cardinality()
    return out.apply(tf.data.experimental.assert_cardinality(n)) if n >= -1 else out


@method
def to_keras(self, num_batches=None):
    """A keras.utils.PyDataset for model.fit, evaluate and predict with any backend.

    Elements are batches: (x, y), (x, y, sample_weight) or x. num_batches: per epoch; required if the length is unknown
    (InvalidArgumentError).
    """
    refuse(self, "to_keras")
    keras = need("keras")
    if num_batches is None:
        num_batches = self.cardinality()
        if num_batches == -2:
            raise InvalidArgumentError(
                "the dataset's length is unknown: give num_batches, or use to_tf()"
            )
    dataset, endless = self, num_batches == -1

    class StokerPyDataset(keras.utils.PyDataset):
        """Batches in the pipeline's order, ignoring their numbers: Keras's shuffling of numbers changes nothing. Each
        pass over all numbers is a pass over the dataset.

        Keras asks for the first few batches twice, to inspect them: these are remembered.
        """

        def __init__(self):
            super().__init__()
            self._lock, self._iterator = threading.Lock(), None
            self._asked, self._first = set(), {}  # numbers requested in this pass; its first batches

        @property
        def num_batches(self):
            """Batches per epoch; None: endless (fit then needs steps_per_epoch)."""
            return None if endless else num_batches

        def __len__(self):
            if endless:
                raise TypeError("the dataset is infinite and has no length")
            return num_batches

        def __getitem__(self, index):
            with self._lock:
                is_over = len(self._asked) == num_batches
                if not is_over and index in self._first:
                    return self._first.pop(index)
                if self._iterator is None or is_over or index in self._asked:
                    self._iterator, self._asked, self._first = dataset._plain(), set(), {}
                try:
                    batch = next(self._iterator)
                except StopIteration:
                    self._iterator = None
                    raise InvalidArgumentError(
                        f"the dataset ended after {len(self._asked)} batches of {num_batches}"
                    ) from None
                if len(self._asked) < PEEKS_MAX:
                    self._first[index] = batch
                if not endless or len(self._asked) < PEEKS_MAX:
                    self._asked.add(index)
                return batch

    return StokerPyDataset()


class _Adapted:
    """An iterable of a dataset's elements, each changed."""

    def __init__(self, dataset, f, depth=0):
        self.dataset, self.f, self.depth = dataset, f, depth

    def __iter__(self):
        ahead = collections.deque()
        for e in self.dataset._plain():
            ahead.append(self.f(e))
            if len(ahead) > self.depth:
                yield ahead.popleft()
        yield from ahead

    def __len__(self):
        return len(self.dataset)

    @property
    def element_spec(self):
        return self.dataset.element_spec


@method
def to_jax(self, device=None, depth=1):
    """An iterable of jax arrays, strings as bytes.

    device: a jax.Device or Sharding; jax copies asynchronously, `depth` elements ahead.
    """
    refuse(self, "to_jax")
    jax = need("jax")

    def leaf(v):
        return v if _is_text(v) else jax.device_put(np.asarray(v), device)

    return _Adapted(self, lambda e: map_leaves(leaf, e), depth)


@method
def to_device(self, device, depth=2, keep=False, normalize=None):
    """An iterable whose numbers are on the device ("cuda:0"), copied `depth` elements ahead.

    Batches are made in pinned memory and copied asynchronously on a separate stream, which the
    consumer's stream waits for: see sd.DeviceArray. Needs only the CUDA driver. Without it
    (or with "cpu"), elements are NumPy arrays in CPU memory, after a RuntimeWarning.
    keep: the first pass's elements stay on the device, and later passes give them in the same
    order (don't write to them). If they don't fit, there is a RuntimeWarning, and elements are
    made again. ResourceExhaustedError: the device is full; release elements, and the next call
    continues.

    normalize: (mean, std) of values from 0 to 1, numbers or one for each channel, for elements
    with one uint8 component: it is copied as bytes and becomes float32 on the device,
    (x / 255 - mean) / std as x * scale + offset, with the same bits as on the CPU. An
    sd.Normalize has more options (planar, max_value). A dict of them, by key, number or tuple of
    those, selects components.
    """
    refuse(self, "to_device")
    return _device.OnDevice(self, device, depth, keep, normalize)
