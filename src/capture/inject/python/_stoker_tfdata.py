# SPDX-License-Identifier: Apache-2.0
"""tf.data iterators that Python steps through, and the user's own tf.profiler."""

import functools

import _stoker_core
import _stoker_record
from _stoker_record import now


def patch_iterator(module):
    r = _stoker_core.recorder
    cls = module.OwnedIterator
    plain = cls.__next__
    ident = _stoker_record.ident
    inputs = None
    if _stoker_core.load("_stoker_input").is_asked():
        inputs = _stoker_core.load("_stoker_input").Inputs(r, "tf.data.input", _length)

    @functools.wraps(plain)
    def __next__(self):
        if ident() != r.thread or r.source == _stoker_record.KERAS:
            return plain(self)
        key = _data_set(self)
        r.fetch_begins(key)
        start = now()
        try:
            batch = inputs.next(key, self._dataset, self, lambda: plain(self)) if inputs else plain(self)
        except BaseException:
            r.fetched(key, start, now())
            r.fetch_failed()
            raise
        r.fetched(key, start, now())
        return batch

    cls.__next__ = __next__
    r.lives("tf.data", "tensorflow")


def _length(iterator):
    count = int(iterator._dataset.cardinality())
    return _stoker_core.load("_stoker_input").ENDLESS if count == -1 else count  # -2: unknown


def _data_set(iterator):
    """Iterators of one data set, epoch by epoch, are alike."""
    return id(getattr(iterator, "_dataset", None) or getattr(iterator, "_element_spec", None))


def patch_profiler(module):
    plain_start, plain_stop = module.start, module.stop

    @functools.wraps(plain_start)
    def start(*args, **kwargs):
        _stoker_core.recorder.user_profiles(True)
        return plain_start(*args, **kwargs)

    @functools.wraps(plain_stop)
    def stop(*args, **kwargs):
        _stoker_core.recorder.user_profiles(False)
        return plain_stop(*args, **kwargs)

    module._stoker_start, module._stoker_stop = plain_start, plain_stop
    module.start, module.stop = start, stop
