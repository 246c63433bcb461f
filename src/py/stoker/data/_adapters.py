# SPDX-License-Identifier: Apache-2.0
"""Elements for PyTorch, TensorFlow, JAX and devices. Their packages are imported when asked for."""

import numpy as np

from . import _dtypes, _spec
from ._spec import DatasetSpec, RaggedTensorSpec, SparseTensorSpec


def _need(name):
    import importlib

    try:
        return importlib.import_module(name)
    except ImportError as e:
        raise ImportError(
            f"this adapter needs the package {name}, which is not installed: {e}"
        ) from e


def map_leaves(f, element):
    """The element with f(leaf) for each array, scalar and bytes."""
    return _spec.map_structure(f, element)


def _torch_leaf(torch, device):
    def leaf(v):
        if isinstance(v, bytes) or isinstance(v, np.ndarray) and v.dtype.kind == "O":
            return v  # torch has no strings
        if isinstance(v, np.ndarray) and not v.flags.writeable or not isinstance(v, np.ndarray):
            v = np.array(v)
        if _dtypes.bfloat16 is not None and v.dtype == _dtypes.bfloat16:
            t = torch.from_numpy(v.view(np.int16)).view(torch.bfloat16)
        else:
            t = torch.from_numpy(v)
        return t if device is None else t.to(device, non_blocking=True)

    return leaf


def to_torch(dataset, device=None):
    """A torch.utils.data.IterableDataset; torch.utils.data.DataLoader(it, batch_size=None) takes it.

    In a DataLoader's worker processes each worker gets its part (shard). Batches are not copied.
    """
    torch = _need("torch")

    class StokerDataset(torch.utils.data.IterableDataset):
        """Elements as torch tensors (strings stay bytes)."""

        def __iter__(self):
            info = torch.utils.data.get_worker_info()
            ds = dataset if info is None else dataset.shard(info.num_workers, info.id)
            leaf = _torch_leaf(torch, device)
            return (map_leaves(leaf, e) for e in ds)

        def __len__(self):
            return len(dataset)

    return StokerDataset()


def _tf_spec(tf, s):
    if isinstance(s, (DatasetSpec, SparseTensorSpec, RaggedTensorSpec)):
        raise NotImplementedError(f"to_tf of {s!r}")
    return tf.TensorSpec(s.shape, tf.string if s.dtype == _dtypes.string else tf.as_dtype(s.dtype))


def to_tf(dataset):
    """A tf.data.Dataset, by from_generator."""
    tf = _need("tensorflow")
    signature = _spec.map_structure(lambda s: _tf_spec(tf, s), dataset.element_spec)
    out = tf.data.Dataset.from_generator(lambda: iter(dataset), output_signature=signature)
    n = dataset.cardinality()
    return out.apply(tf.data.experimental.assert_cardinality(n)) if n >= -1 else out


class _Adapted:
    """An iterable of a dataset's elements, each changed."""

    def __init__(self, dataset, f, depth=0):
        self.dataset, self.f, self.depth = dataset, f, depth

    def __iter__(self):
        import collections

        ahead = collections.deque()
        for e in self.dataset:
            ahead.append(self.f(e))
            if len(ahead) > self.depth:
                yield ahead.popleft()
        yield from ahead

    def __len__(self):
        return len(self.dataset)


def to_jax(dataset, device=None):
    """An iterable of jax arrays (strings stay bytes)."""
    jax = _need("jax")

    def leaf(v):
        if isinstance(v, bytes) or isinstance(v, np.ndarray) and v.dtype.kind == "O":
            return v
        return jax.device_put(np.asarray(v), device)

    return _Adapted(dataset, lambda e: map_leaves(leaf, e))


def to_device(dataset, device, depth=2):
    """An iterable whose elements lie on the device ("cuda:0", "cpu"), copied `depth` ahead.

    By torch, from pinned memory on a stream of its own. Without a GPU: host batches, with a warning.
    """
    import warnings

    name = str(device)
    if name.startswith("cpu"):
        return _Adapted(dataset, lambda e: e)
    try:
        import torch

        has_gpu = torch.cuda.is_available()
    except ImportError:
        has_gpu = False
    if not has_gpu:
        warnings.warn(
            f"to_device({name!r}): no GPU that torch can use; elements stay in host memory",
            stacklevel=3,
        )
        return _Adapted(dataset, lambda e: e)
    stream = torch.cuda.Stream(device=name)
    to_host = _torch_leaf(torch, None)

    def copy(v):
        t = to_host(v)
        return t if not isinstance(t, torch.Tensor) else t.pin_memory().to(name, non_blocking=True)

    def copied(element):
        with torch.cuda.stream(stream):
            out = map_leaves(copy, element)
            done = stream.record_event()
        return out, done

    class OnDevice(_Adapted):
        def __iter__(self):
            for out, done in super().__iter__():
                consumer = torch.cuda.current_stream(name)
                consumer.wait_event(done)
                for t in _spec.flatten(out):
                    if isinstance(t, torch.Tensor):
                        t.record_stream(consumer)
                yield out

    return OnDevice(dataset, copied, depth)
