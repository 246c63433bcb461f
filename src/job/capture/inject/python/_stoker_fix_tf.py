# SPDX-License-Identifier: Apache-2.0
"""Fixes of tf.data pipelines: what map and interleave are called with by the program itself, and what stands behind the
last stage of a data set that is iterated or given to model.fit. And TensorFlow's own threads."""

import functools
import sys

import _stoker_core
from _stoker_tune import applied, fact, fixes, is_direct, knows, place, refused

MEMORY_SHARE = 0.25  # of what is free, for a cache


def patch_datasets(module):
    knows(module)
    cls = module.DatasetV2
    fact("tfdata", "used")
    _make_parallel(module, cls, "map", "tfdata.map")
    _make_parallel(module, cls, "interleave", "tfdata.interleave")
    for name in ("shuffle", "batch", "padded_batch", "repeat"):
        _cache_before(cls, name)
    plain = cls.__iter__

    @functools.wraps(plain)
    def __iter__(self):
        return plain(finish(module, self))

    cls.__iter__ = __iter__


def _make_parallel(module, cls, name, fix):
    plain = getattr(cls, name)

    @functools.wraps(plain)
    def call(self, *args, **kwargs):
        # num_parallel_calls: the second argument of map, the fourth of interleave.
        position = 1 if name == "map" else 3
        given = kwargs.get("num_parallel_calls", args[position] if len(args) > position else None)
        if is_direct():
            place(fix)
            fact(fix + ".num_parallel_calls", given)
            if fix in fixes and given is None and len(args) <= position:
                kwargs["num_parallel_calls"] = module.AUTOTUNE
                applied(fix)
        return plain(self, *args, **kwargs)

    setattr(cls, name, call)


def finish(module, dataset):
    """The data set with what the fixes put behind its last stage."""
    place("tfdata.last")
    last = dataset
    while type(last).__name__ == "_OptionsDataset":
        last = last._input_dataset
    fact("tfdata.last", type(last).__name__)
    data = _stoker_core.load("_stoker_fix_data")
    if data.is_asked(data.DATASET):
        dataset = data.of_dataset(dataset) or dataset
    made = dataset
    if "tfdata.prefetch" in fixes:
        if type(last).__name__ == "_PrefetchDataset":
            refused("tfdata.prefetch", "the data set ends in prefetch already")
        else:
            made = made.prefetch(module.AUTOTUNE)
            applied("tfdata.prefetch")
    if "tfdata.threads" in fixes or "tfdata.deterministic" in fixes:
        options = sys.modules["tensorflow.python.data.ops.options"].Options()
        if "tfdata.threads" in fixes:
            options.threading.private_threadpool_size = int(fixes["tfdata.threads"])
            applied("tfdata.threads")
        if "tfdata.deterministic" in fixes:
            options.deterministic = False
            applied("tfdata.deterministic")
        made = made.with_options(options)
    return made


# A cache behind the last map, before what shuffles, batches or repeats. What it must not change is which elements come:
# so nothing random, no function with state, and a known size that fits.

_SOURCES = {
    "_TensorSliceDataset", "_RangeDataset", "_TensorDataset", "_MapDataset", "_ParallelMapDataset", "TFRecordDatasetV2",
    "TextLineDatasetV2", "_ZipDataset", "FixedLengthRecordDatasetV2",
}  # fmt: skip


def _has_state(dataset):
    function = getattr(dataset, "_map_func", None)
    if function is None:
        return False
    graph = function.function.graph
    return any(op.op_def is not None and op.op_def.is_stateful for op in graph.get_operations())


def _why_no_cache(dataset):
    if type(dataset).__name__ not in ("_MapDataset", "_ParallelMapDataset"):
        return "nothing is computed before this stage"
    todo = [dataset]
    while todo:
        d = todo.pop()
        if type(d).__name__ not in _SOURCES:
            return f"{type(d).__name__.strip('_')} before it may give other elements each time"
        if _has_state(d):
            return "its function draws random numbers, or calls what has state"
        todo += d._inputs()
    count = int(dataset.cardinality())
    if count < 0:
        return "its size is not known before it was read"
    size = 0
    nest = sys.modules["tensorflow.python.data.util.nest"]
    for spec in nest.flatten(dataset.element_spec):
        number = spec.shape.num_elements() if spec.shape.rank is not None else None
        if number is None:
            return "its elements' size is not known"
        size += number * max(spec.dtype.size, 16 if spec.dtype.name == "string" else 1)
    with open("/proc/meminfo") as f:
        free = next(int(line.split()[1]) * 1024 for line in f if line.startswith("MemAvailable"))
    if count * size > MEMORY_SHARE * free:
        return f"its {count * size / 1e9:.1f} GB do not fit into a quarter of the free memory"
    return None


def _cache_before(cls, name):
    plain = getattr(cls, name)

    @functools.wraps(plain)
    def call(self, *args, **kwargs):
        if is_direct() and type(self).__name__ in ("_MapDataset", "_ParallelMapDataset"):
            why = _why_no_cache(self)
            place("tfdata.cache")
            fact("tfdata.cache", why or "fits")
            if "tfdata.cache" in fixes:
                if why:
                    refused("tfdata.cache", why)
                else:
                    self = self.cache()
                    applied("tfdata.cache")
        return plain(self, *args, **kwargs)

    setattr(cls, name, call)


def patch_config(module):
    """tensorflow.python.framework.config"""
    name = "set_intra_op_parallelism_threads"
    plain = getattr(module, name)

    @functools.wraps(plain)
    def call(num_threads):
        place("tf.threads")
        fact("tf.threads", num_threads)
        wanted = fixes.get("tf.threads")
        if wanted is not None and int(wanted) != num_threads:
            num_threads = int(wanted)
            applied("tf.threads")
        return plain(num_threads)

    setattr(module, name, call)


WATCHED = [
    ("tensorflow.python.data.ops.dataset_ops", patch_datasets),
    ("tensorflow.python.framework.config", patch_config),
]
