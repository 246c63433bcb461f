# SPDX-License-Identifier: Apache-2.0
"""Data-parallel training: every rank gets its part, with the same number of batches, each element once.

Ranks must agree on three things, without communication: how many batches each has (shard's remainder), the order that
is split (a seed known to all), and the epoch (each counts its own passes, or is given it).
"""

import itertools
import warnings

from ..core import _arguments
from ..core._stages import is_split, remainder_number, stages

# Stages after which the number of elements depends on the elements.
_COUNTING = (
    "filter take_while ignore_errors flat_map interleave unbatch group_by_window unique"
).split()


def group(torch=None):
    """(ranks, this rank): from torch's process group, or from the environment; (1, 0) without them."""
    distributed = getattr(torch, "distributed", None)
    if distributed is not None and distributed.is_available() and distributed.is_initialized():
        return distributed.get_world_size(), distributed.get_rank()
    return _arguments.rank_of_environment()


_KEPT = ("_asserted", "_gives_lists", "_literal", "_loader", "_pinned_device")  # kept by a copy of a stage


def rebuilt(dataset, changed):
    """Rebuilds the dataset with the arguments from changed(stage) (None: unchanged)."""
    order, made = [], {}
    left = [(dataset, False)]
    while left:
        ds, is_behind_inputs = left.pop()
        if is_behind_inputs:
            order.append(ds)
        elif id(ds) not in made:
            made[id(ds)] = ds
            left.append((ds, True))
            left.extend((i, False) for i in ds._inputs)
    for ds in order:
        args, inputs = changed(ds), [made[id(i)] for i in ds._inputs]
        if args is None and all(a is b for a, b in zip(inputs, ds._inputs)):
            continue
        out = type(ds).__new__(type(ds))
        more = {k: v for k, v in ds.__dict__.items() if k in _KEPT}
        out._init(ds._kind, inputs, ds._args if args is None else args, ds.element_spec, ds._keep,
                  ds._notes, ds._function, ds._where)  # fmt: skip
        out.__dict__.update(more)
        out._options, out._first_epoch = ds._options, ds._first_epoch
        out._epochs = itertools.count(ds._first_epoch)
        made[id(ds)] = out
    return made[id(dataset)]


def _takes_of_endless(ds):
    """Does every rank get the same number of elements from it, regardless of the stages before it?"""
    count = ds._args.get("count")
    if ds._kind != "take" or not isinstance(count, int) or count < 0:
        return False
    return ds._inputs[0]._kind == "repeat" and ds._inputs[0]._args.get("count", -1) == -1


def _counting_after_shard(dataset):
    """A stage after the split that makes the ranks' element counts unequal again, without a later take of an endless
    repeat; or None."""
    even = {id(i) for ds in stages(dataset) if _takes_of_endless(ds) for i in stages(ds)}
    for ds in stages(dataset):
        if id(ds) not in even and ds._kind in _COUNTING and any(is_split(i) for i in stages(ds)):
            return ds
    return None


def for_group(dataset, torch, remainder):
    """The dataset for each rank of torch's process group: see Dataset.to_torch."""
    number = remainder_number("pad" if remainder is None else remainder)
    ranks, _ = group(torch)
    mine = [ds for ds in stages(dataset) if is_split(ds)]
    if remainder is None and (ranks == 1 or "remainder" in (a for ds in mine for a in ds._args)):
        return dataset
    if not mine:
        if remainder is None:
            warnings.warn(
                f"to_torch: each of {ranks} ranks gets all elements; ds.shard() before batch() gives each "
                'its part. If this is intended, use to_torch(remainder="keep")',
                RuntimeWarning,
                stacklevel=4,
            )
        return dataset
    uneven = _counting_after_shard(dataset) if number else None
    if uneven is not None:
        warnings.warn(
            f"to_torch: {uneven._kind}"
            + (f" [{uneven._where}]" if uneven._where else "")
            + " after shard() can give the ranks unequal numbers of batches, and then training "
            "hangs. Call shard() after it, or repeat().take(n), to make them equal",
            RuntimeWarning,
            stacklevel=4,
        )

    def changed(ds):
        return dict(ds._args, remainder=number) if is_split(ds) else None

    return rebuilt(dataset, changed)
