# SPDX-License-Identifier: Apache-2.0
"""Fixes of JAX jobs: threads and workers of Grain's loaders. Losses come from the first jitted function whose result
has a floating-point scalar: the first such scalar."""

import functools
import inspect
import sys

import _stoker_core
from _stoker_tune import apply, fact, fix, is_direct, knows, loss, place

THREADS, BUFFER = 16, 64  # of Grain's reading: the defaults; with the fix


def patch_jax(module):
    knows(module)
    r = _stoker_core.recorder
    state = {"function": None, "count": 0, "step": 0}

    def number_of(made):
        for leaf in module.tree_util.tree_leaves(made):
            if getattr(leaf, "ndim", None) == 0 and str(getattr(leaf, "dtype", "")).startswith(("float", "bfloat")):
                return leaf
        return None

    def see(function, made):
        if state["function"] is None:
            if number_of(made) is None:
                return
            state["function"] = function
        if function == state["function"]:
            state["step"] += 1
            loss(state["step"], number_of(made))

    _stoker_core.load("_stoker_jax").results.append(see)
    fact("jax.hooks", r.framework or "jax")


def _options():
    return sys.modules["grain._src.python.options"]


@fix("grain")
def grain_threads(value, now):
    now["read_options"] = _options().ReadOptions(num_threads=int(value), prefetch_buffer_size=BUFFER)
    return True


@fix("grain")
def grain_workers(value, now):
    if now.get("worker_count"):
        return False
    now["worker_count"] = int(value)
    _parse_flags()
    return True


def _parse_flags():
    """Grain's processes read absl flags, which a program not started by absl.app never parsed."""
    flags = sys.modules.get("absl.flags")
    if flags is not None and not flags.FLAGS.is_parsed():
        flags.FLAGS.mark_as_parsed()


def patch_grain_loader(module):
    knows(module)
    cls = module.DataLoader
    plain = cls.__init__
    signature = inspect.signature(plain)

    @functools.wraps(plain)
    def __init__(self, *args, **kwargs):
        place("grain.dataloader")
        given = signature.bind(self, *args, **kwargs)
        given.apply_defaults()
        now = given.arguments
        read = now.get("read_options")
        fact("grain.workers", now.get("worker_count"))
        fact("grain.threads", getattr(read, "num_threads", THREADS) if read is not None else THREADS)
        apply("grain", now)
        plain(*given.args, **given.kwargs)

    cls.__init__ = __init__


def patch_grain_dataset(module):
    knows(module)
    cls = module.MapDataset
    plain = cls.to_iter_dataset

    @functools.wraps(plain)
    def to_iter_dataset(self, read_options=None, **kwargs):
        if not is_direct():  # a DataLoader's own
            return plain(self, read_options, **kwargs)
        place("grain.to_iter_dataset")
        fact("grain.workers", 0)
        fact("grain.threads", read_options.num_threads if read_options is not None else THREADS)
        now = {"read_options": read_options, "worker_count": 0}
        apply("grain", now)
        made = plain(self, now["read_options"], **kwargs)
        workers = now["worker_count"]
        return made.mp_prefetch(_options().MultiprocessingOptions(num_workers=workers)) if workers else made

    cls.to_iter_dataset = to_iter_dataset


WATCHED = [
    ("jax", patch_jax),
    ("grain._src.python.data_loader", patch_grain_loader),
    ("grain._src.python.dataset.dataset", patch_grain_dataset),
]
