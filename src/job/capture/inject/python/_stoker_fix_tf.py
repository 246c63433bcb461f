# SPDX-License-Identifier: Apache-2.0
"""Fixes of tf.data pipelines: arguments of the program's own map and interleave calls, and stages after the last one of
a data set that is iterated or passed to model.fit. Also TensorFlow's own threads."""

import functools
import sys

from _stoker_tune import apply, change, fact, fix, is_direct, knows, place

MEMORY_SHARE = 0.25  # of what is free, for a cache


def patch_datasets(module):
    knows(module)
    cls = module.DatasetV2
    fact("tfdata", "used")
    _watch_calls(module, cls, "map", 1, "tfdata.map", "tfdata.map.num_parallel_calls")
    _watch_calls(module, cls, "interleave", 3, "tfdata.interleave", "tfdata.interleave.num_parallel_calls")
    for name in ("shuffle", "batch", "padded_batch", "repeat"):
        _cache_before(cls, name)
    plain = cls.__iter__

    @functools.wraps(plain)
    def __iter__(self):
        return plain(finish(module, self))

    cls.__iter__ = __iter__


def _watch_calls(module, cls, name, position, at, called):
    """num_parallel_calls is at this position among the arguments."""
    plain = getattr(cls, name)

    @functools.wraps(plain)
    def call(self, *args, **kwargs):
        given = kwargs.get("num_parallel_calls", args[position] if len(args) > position else None)
        if is_direct():
            place(at)
            fact(called, given)
            if given is None and len(args) <= position:
                now = {"num_parallel_calls": None, "autotune": module.AUTOTUNE}
                apply(at, now)
                kwargs["num_parallel_calls"] = now["num_parallel_calls"]
        return plain(self, *args, **kwargs)

    setattr(cls, name, call)


@fix("tfdata.map")
def tfdata_map(value, now):
    now["num_parallel_calls"] = now["autotune"]
    return True


@fix("tfdata.interleave")
def tfdata_interleave(value, now):
    now["num_parallel_calls"] = now["autotune"]
    return True


def finish(module, dataset):
    """The data set with the stages that the fixes append."""
    place("tfdata.last")
    last = dataset
    while type(last).__name__ == "_OptionsDataset":
        last = last._input_dataset
    fact("tfdata.last", type(last).__name__)
    now = {"dataset": dataset, "last": type(last).__name__, "autotune": module.AUTOTUNE}
    apply("tfdata.last", now)
    return now["dataset"]


@fix("tfdata.last")
def tfdata_prefetch(value, now):
    if now["last"] == "_PrefetchDataset":
        return "ends_in_prefetch"
    now["dataset"] = now["dataset"].prefetch(now["autotune"])
    return True


def _options():
    return sys.modules["tensorflow.python.data.ops.options"].Options()


@fix("tfdata.last")
def tfdata_threads(value, now):
    options = _options()
    options.threading.private_threadpool_size = int(value)
    now["dataset"] = now["dataset"].with_options(options)
    return True


@fix("tfdata.last")
def tfdata_deterministic(value, now):
    options = _options()
    options.deterministic = False
    now["dataset"] = now["dataset"].with_options(options)
    return True


# A cache after the last map, before shuffle, batch or repeat. It must not change the elements: so nothing random, no
# function with state, and a known size that fits.

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
            return f"{type(d).__name__.strip('_')} before it may give different elements each time"
        if _has_state(d):
            return "its function uses random numbers or state"
        todo += d._inputs()
    count = int(dataset.cardinality())
    if count < 0:
        return "its size is unknown until it is read"
    size = 0
    nest = sys.modules["tensorflow.python.data.util.nest"]
    for spec in nest.flatten(dataset.element_spec):
        number = spec.shape.num_elements() if spec.shape.rank is not None else None
        if number is None:
            return "the size of its elements is unknown"
        size += number * max(spec.dtype.size, 16 if spec.dtype.name == "string" else 1)
    with open("/proc/meminfo") as f:
        free = next(int(line.split()[1]) * 1024 for line in f if line.startswith("MemAvailable"))
    if count * size > MEMORY_SHARE * free:
        return f"its {count * size / 1e9:.1f} GB don't fit in a quarter of the free memory"
    return None


def _cache_before(cls, name):
    plain = getattr(cls, name)

    @functools.wraps(plain)
    def call(self, *args, **kwargs):
        if is_direct() and type(self).__name__ in ("_MapDataset", "_ParallelMapDataset"):
            now = {"dataset": self, "why": _why_no_cache(self)}
            place("tfdata.cache")
            fact("tfdata.cache", now["why"] or "fits")
            apply("tfdata.cache", now)
            self = now["dataset"]
        return plain(self, *args, **kwargs)

    setattr(cls, name, call)


@fix("tfdata.cache")
def tfdata_cache(value, now):
    if now["why"]:
        return now["why"]
    now["dataset"] = now["dataset"].cache()
    return True


def patch_config(module):
    """tensorflow.python.framework.config"""
    name = "set_intra_op_parallelism_threads"
    plain = getattr(module, name)

    @functools.wraps(plain)
    def call(num_threads):
        place("tf.threads")
        fact("tf.threads", num_threads)
        now = {"threads": num_threads}
        apply("tf.threads", now)
        return plain(now["threads"])

    setattr(module, name, call)


@fix("tf.threads")
def tf_threads(value, now):
    return change(now, "threads", int(value))


WATCHED = [
    ("tensorflow.python.data.ops.dataset_ops", patch_datasets),
    ("tensorflow.python.framework.config", patch_config),
]
