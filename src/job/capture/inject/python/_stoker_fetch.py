# SPDX-License-Identifier: Apache-2.0
"""Fetches of the next batch: times every __next__ of a framework's iterator class. In a run with free input it returns
kept batches instead of new ones. Nothing is recorded in threads that don't drive the steps."""

import functools

import _stoker_core
import _stoker_record
from _stoker_record import now


def watch(cls, name, data_of, key_of, length, told, has_steps_of_its_own=False):
    """name: what `stoker run` calls this kind of free input. data_of(iterator): the data set that it iterates over.
    key_of(iterator): the same for all iterators of one data set. length(iterator): batches per epoch, as
    _stoker_input.Inputs takes it. told: the framework, and the prefix that its own profiler puts before the iterator's
    class, for windows of level 1. has_steps_of_its_own: Keras fetches through this class too, and reports its steps
    itself."""
    framework, before = told
    r = _stoker_core.recorder
    plain = cls.__next__
    ident = _stoker_record.ident
    inputs = None
    if _stoker_core.load("_stoker_input").is_asked():
        inputs = _stoker_core.load("_stoker_input").Inputs(r, name, length)

    @functools.wraps(plain)
    def __next__(self):
        if ident() != r.thread or (has_steps_of_its_own and r.source == _stoker_record.KERAS):
            return plain(self)
        key = key_of(self)
        r.fetch_begins(key)
        start = now()
        try:
            batch = inputs.next(key, data_of(self), self, lambda: plain(self)) if inputs else plain(self)
        except BaseException:
            r.fetched(key, start, now())
            r.fetch_failed()
            raise
        end = now()
        r.fetched(key, start, end)
        if r.gpu is not None:
            r.gpu.fetched(framework, f"{before}{type(self).__name__}.__next__", start, end)
        return batch

    cls.__next__ = __next__
