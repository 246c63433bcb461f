# SPDX-License-Identifier: Apache-2.0
"""Grain, the loader of JAX programs: fetches of every grain.DataLoader. Iterators that a program makes of Grain's
datasets (MapDataset, IterDataset) are many classes within one another, and are not seen."""

import functools

import _stoker_core
import _stoker_record
from _stoker_record import now


def _length(iterator):
    """Batches are a matter of the loader's operations: only a sampler without an end tells how many."""
    sampler = iterator._data_loader._sampler
    return _stoker_core.load("_stoker_input").ENDLESS if sampler._num_epochs is None else -1


def patch_loader(module):
    r = _stoker_core.recorder
    cls = module.DataLoaderIterator
    plain = cls.__next__
    ident = _stoker_record.ident
    inputs = None
    if _stoker_core.load("_stoker_input").is_asked():
        inputs = _stoker_core.load("_stoker_input").Inputs(r, "grain.input", _length)

    @functools.wraps(plain)
    def __next__(self):
        if ident() != r.thread:
            return plain(self)
        key = id(self._data_loader)
        r.fetch_begins(key)
        start = now()
        try:
            batch = inputs.next(key, self._data_loader, self, lambda: plain(self)) if inputs else plain(self)
        except BaseException:
            r.fetched(key, start, now())
            r.fetch_failed()
            raise
        r.fetched(key, start, now())
        return batch

    cls.__next__ = __next__
    r.lives("grain.dataloader")
