# SPDX-License-Identifier: Apache-2.0
"""ray_source: a pipeline as a source of Ray Data, for Ray Train and anything else that reads a ray.data.Dataset.

A read task makes one shard of one epoch; it is a pure function of the pipeline, seed, epoch and shard, so Ray's
reconstruction of a lost block gives the same bits. An element, which is a batch, becomes one Arrow table.

Limits. Ray joins and cuts blocks to get close to its target size, unless the target is set as `read` does. The tasks'
order is Ray's: ask Ray to keep it (preserve_order), or use `distribute` where the order or a resume matters."""

import contextlib
import functools
import warnings

import numpy as np

from ..core import _limits, _spec
from ..core._spec import TensorSpec
from ..errors import DataLossError, InvalidArgumentError
from . import _adapters, _maker
from ._packages import need

LEAST_BYTES, MOST_BYTES = 1 << 20, 128 << 20  # of a block that Ray handles well
_TARGET = 0.9  # of a batch's bytes: Ray then ends a block at each batch; it cuts blocks from 1.5 times its target


def _names(spec, prefix=""):
    """A column's name for each leaf, in the order of _spec.flatten: keys and numbers, joined with dots."""
    if isinstance(spec, dict):
        parts = [(k, spec[k]) for k in _spec.sorted_keys(spec)]
    elif isinstance(spec, tuple):
        parts = enumerate(spec)
    else:
        return [] if spec is None else [prefix or "data"]
    return [n for k, part in parts for n in _names(part, f"{prefix}.{k}" if prefix else str(k))]


def _column(pa, name, values):
    if values.dtype.kind != "O":
        return values
    if values.ndim != 1:
        raise InvalidArgumentError(f"ray_source: '{name}' holds strings in {values.ndim} dimensions, and a column has one")
    return pa.array(values.tolist(), pa.binary())


def table_of(names, element):
    """The Arrow table of a batch. InvalidArgumentError: its arrays have different lengths."""
    block, pa = need("ray.data.block"), need("pyarrow")
    leaves = [np.asarray(v) for v in _spec.flatten(element)]
    lengths = {v.shape[0] if v.ndim else None for v in leaves}
    if len(lengths) != 1 or None in lengths:
        raise InvalidArgumentError(
            f"ray_source: an element is a batch, whose arrays have the same length; here: {[v.shape for v in leaves]}"
        )
    columns = {n: _column(pa, n, v) for n, v in zip(names, leaves)}
    return block.BlockAccessor.batch_to_arrow_block(columns)


def _bytes_of(dataset):
    """Of an element: by its spec, or of the first one."""
    specs = _spec.components(dataset.element_spec)
    if all(s.shape is not None and None not in s.shape[1:] and s.dtype.kind != "O" for s in specs):
        rows = [s.shape[0] if s.shape else None for s in specs]
        rows = [_adapters._batch_size(dataset) if r is None else r for r in rows]
        if all(isinstance(r, int) for r in rows):
            return sum(r * int(np.prod(s.shape[1:], dtype=np.int64)) * s.dtype.itemsize for r, s in zip(rows, specs))
    first = next(_maker.shard_of(dataset, 0, 0, 1, 0)._plain(), None)
    return 0 if first is None else sum(np.asarray(v).nbytes for v in _spec.flatten(first))


def _read(dataset, names, seed, epoch, shards, shard, fingerprint):
    """The tables of a shard. Runs in a task of Ray."""
    ray = need("ray")
    dataset = ray.get(dataset)
    with contextlib.suppress(AssertionError):  # the driver itself, which has no resources assigned
        _limits.set_limits(cpus=max(1, round(ray.get_runtime_context().get_assigned_resources().get("CPU", 1))))
    if int(dataset.fingerprint()) != fingerprint:
        raise DataLossError("ray_source: this node rebuilds another pipeline from the pickle: install the same stoker on all nodes")
    for element in _maker.shard_of(dataset, seed, epoch, shards, shard)._plain():
        yield table_of(names, element)


def _check(dataset):
    _adapters.refuse(dataset, "ray_source")
    for place, leaf in _spec.places(dataset.element_spec):
        if isinstance(leaf, TensorSpec) and leaf.shape == ():
            raise InvalidArgumentError(f"ray_source: element{place} is a scalar; call batch(n) first: an element becomes a block")
    if dataset.cardinality() == -1:
        raise InvalidArgumentError("ray_source: the dataset is infinite; take(n) ends it")


def ray_source(dataset, epoch=0):
    """The dataset as a ray.data.Datasource: `ray_source(ds).read()` is a ray.data.Dataset with one block for each element.

    Elements must be batches; a batch of 1 to 128 MiB suits Ray best. Columns have the names of an element's keys, of a tuple
    its numbers, "data" without either. epoch: of the first execution; each further one of the same Ray dataset is the next
    epoch. `for batch in rd.iter_torch_batches(batch_size=None)` then gives the pipeline's batches, neither cut nor joined.
    """
    _check(dataset)
    ray_data, datasource = need("ray.data"), need("ray.data.datasource")
    block = need("ray.data.block")
    names, seed, size = _names(dataset.element_spec), _maker.seed_of(dataset), _bytes_of(dataset)
    if size and not LEAST_BYTES <= size <= MOST_BYTES:
        warnings.warn(
            f"ray_source: batches of {size:,} bytes; Ray handles blocks of 1 to 128 MiB well, so change batch(n)",
            RuntimeWarning,
            stacklevel=3,
        )

    class StokerSource(ray_data.Datasource):
        """A pipeline of stoker.data."""

        def get_name(self):
            return "Stoker"

        def estimate_inmemory_data_size(self):
            n = dataset.cardinality()
            return n * size if n >= 0 else None

        def get_read_tasks(self, parallelism, per_task_row_limit=None, data_context=None):
            n = dataset.cardinality()
            shards = max(1, min(parallelism, n) if n >= 0 else parallelism)
            now = epoch + getattr(data_context, "_execution_idx", 0)
            ref, fingerprint = need("ray").put(dataset), int(dataset.fingerprint())
            out = []
            for i in range(shards):
                share = size * -(-max(n - i, 0) // shards) if n >= 0 else None
                metadata = block.BlockMetadata(num_rows=None, size_bytes=share, exec_stats=None, input_files=None)
                read = functools.partial(_read, ref, names, seed, now, shards, i, fingerprint)
                functools.update_wrapper(read, _read)
                out.append(datasource.ReadTask(read, metadata, per_task_row_limit=per_task_row_limit))
            return out

        def read(self, **options):
            """ray.data.read_datasource(self, **options), told to end a block at each batch."""
            context = ray_data.DataContext.get_current()
            before = context.target_max_block_size
            context.target_max_block_size = max(1, int(_TARGET * size))
            try:
                return ray_data.read_datasource(self, **options)
            finally:
                context.target_max_block_size = before

    return StokerSource()
