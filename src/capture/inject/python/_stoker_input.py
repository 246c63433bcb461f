# SPDX-License-Identifier: Apache-2.0
"""The synthetic-input test (stoker run --input cached|synthetic): behind the first batches of a data set, fetches give
these batches again, or ones of the same shapes and types with random numbers, as many in an epoch as without.
What is trained so is worth nothing: torch.save to a file writes nothing, unless the run allows it."""

import functools
import os
import sys

import _stoker_core

KEPT = 10  # batches of a data set: enough that no cache of the processor holds them all
SETS = 8  # data sets whose batches are kept: of a program that builds one each epoch the last ones


def is_asked():
    return _stoker_core.plan["input"] != "as-is"


def _random_like(value):
    """The same shapes and types: normal numbers for floats, other tensors' elements in another order. What it does not know
    stays. The program's own random numbers are as without."""
    if isinstance(value, dict):
        return {k: _random_like(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        made = [_random_like(v) for v in value]
        return type(value)(*made) if hasattr(value, "_fields") else type(value)(made)
    torch = sys.modules.get("torch")
    if torch is None or not isinstance(getattr(torch, "Tensor", None), type) or not isinstance(value, torch.Tensor):
        return value
    with torch.random.fork_rng(devices=[]):
        if value.is_floating_point():
            return torch.randn(value.shape, dtype=value.dtype)
        return value[torch.randperm(value.shape[0])] if value.dim() else value


class Inputs:
    """The batches that are kept, by data set, and how far each iterator is."""

    def __init__(self, recorder):
        self.recorder = recorder
        self.sets = {}  # key -> (data set, batches): while it is held here, nothing else has its id
        self.is_random = _stoker_core.plan["input"] == "synthetic"

    def next(self, key, iterator, fetch):
        """The iterator's next batch: fetched, or handed out again."""
        length = getattr(iterator, "_stoker_length", None)
        if length is None:
            length = iterator._stoker_length = self._length(iterator)
            iterator._stoker_given = 0
        if key not in self.sets:
            while len(self.sets) >= SETS:
                self.sets.pop(next(iter(self.sets)))
            self.sets[key] = (iterator._dataset, [])
        kept = self.sets[key][1]
        if length < 0 or len(kept) < KEPT:
            batch = fetch()
            if length >= 0:
                kept.append(_random_like(batch) if self.is_random else batch)
        elif iterator._stoker_given >= length:
            raise StopIteration
        else:
            batch = kept[iterator._stoker_given % KEPT]
        iterator._stoker_given += 1
        return batch

    def _length(self, iterator):
        try:
            return len(iterator)
        except Exception:
            self.recorder.note("--input: a data set does not tell its length, and its batches are as they were")
            return -1


def _is_file(f):
    try:
        return f.fileno() >= 0
    except Exception:  # bytes in memory, for another process or a copy
        return False


def patch_save(module):
    """torch.serialization"""
    if not is_asked() or _stoker_core.plan["saves"]:
        return
    plain = module.save

    @functools.wraps(plain)
    def save(obj, f, *args, **kwargs):
        if isinstance(f, (str, os.PathLike)) or _is_file(f):
            _stoker_core.recorder.note("torch.save wrote nothing: the job trained on batches that are not its own")
            return None
        return plain(obj, f, *args, **kwargs)

    module.save = save
