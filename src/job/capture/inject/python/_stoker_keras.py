# SPDX-License-Identifier: Apache-2.0
"""Keras 3 and tf.keras: the class that calls all callbacks reports batches and evaluations. No callback is added, so
lists of callbacks, and what callbacks see, are the same as without stoker."""

import functools
import sys

import _stoker_core
from _stoker_record import KERAS, now


def _framework():
    config = sys.modules.get("keras.src.backend.config") or sys.modules.get("keras.backend")
    try:
        backend = config.backend()
    except Exception:
        backend = "tensorflow"
    return {"torch": "pytorch", "jax": "jax"}.get(backend, "tensorflow")


def _steps(first, last):
    """For a call that ran several steps (steps_per_execution), Keras reports the number of the last one at the end."""
    if not isinstance(last, int):
        return 1
    return max(last - (first if isinstance(first, int) else 0) + 1, 1)


def patch_callbacks(module):
    cls = getattr(module, "CallbackList", None)
    if cls is None or "_stoker_is_here" in cls.__dict__:
        return
    r = _stoker_core.recorder
    begin, end = cls.on_train_batch_begin, cls.on_train_batch_end
    first = test = 0  # the batch's number at its start; when an evaluation began

    # Called for each batch: no call more than every batch needs.
    @functools.wraps(begin)
    def on_train_batch_begin(self, batch=0, *args, **kwargs):
        nonlocal first
        first, window = batch, r.window
        if window is not None and window.is_open:
            window.step_begins()
        if not r.last:
            r.begins(now())
        return begin(self, batch, *args, **kwargs)

    @functools.wraps(end)
    def on_train_batch_end(self, batch=0, *args, **kwargs):
        result = end(self, batch, *args, **kwargs)
        if r.source != KERAS:
            r.framework = _framework()
        r.stepped(KERAS, 1 if batch == first else _steps(first, batch))
        return result

    def test_begins():
        nonlocal test
        test = now()

    def test_ended():
        nonlocal test
        if test and r.source == KERAS and r.last:
            r.left_aside(test, now())
        test = 0

    def around(name, before=None, after=None):
        plain = getattr(cls, name)

        @functools.wraps(plain)
        def call(self, *args, **kwargs):
            if before:
                before()
            result = plain(self, *args, **kwargs)
            if after:
                after()
            return result

        setattr(cls, name, call)

    cls.on_train_batch_begin, cls.on_train_batch_end = on_train_batch_begin, on_train_batch_end
    around("on_test_begin", before=test_begins)
    around("on_test_end", after=test_ended)
    around("on_train_end", after=r.breaks)
    cls._stoker_is_here = True
    r.lives("keras.callbacks")
