# SPDX-License-Identifier: Apache-2.0
"""Keras 3 and tf.keras: the class of the list that calls all callbacks tells batches and evaluations. No
callback is added: lists, and what callbacks see, are as without stoker."""

import functools
import sys

import _stoker_core
import _stoker_record
from _stoker_record import now


def _framework():
    config = sys.modules.get("keras.src.backend.config") or sys.modules.get("keras.backend")
    try:
        backend = config.backend()
    except Exception:
        backend = "tensorflow"
    return {"torch": "pytorch", "jax": "jax"}.get(backend, "tensorflow")


def patch_callbacks(module):
    cls = getattr(module, "CallbackList", None)
    if cls is None or "_stoker_is_here" in cls.__dict__:
        return
    r = _stoker_core.recorder
    state = {"begin": 0, "test": 0, "depth": 0}

    def batch_begins(batch):
        state["begin"] = batch if isinstance(batch, int) else 0
        if r.window is not None:
            r.window.step_begins()
        elif not r.last:
            r.begins(now())

    def batch_ended(batch):
        steps = batch - state["begin"] + 1 if isinstance(batch, int) else 1
        if r.source != _stoker_record.KERAS:
            r.framework = _framework()
        r.stepped(_stoker_record.KERAS, max(steps, 1))

    def test_begins():
        state["test"] = now()

    def test_ended():
        if state["test"] and r.source == _stoker_record.KERAS and r.last:
            r.left_aside(state["test"], now())
        state["test"] = 0

    def around(name, before=None, after=None):
        plain = getattr(cls, name)

        @functools.wraps(plain)
        def call(self, *args, **kwargs):
            if before:
                before(*args[:1])
            result = plain(self, *args, **kwargs)
            if after:
                after(*args[:1])
            return result

        setattr(cls, name, call)

    around("on_train_batch_begin", lambda batch=0: batch_begins(batch))
    around("on_train_batch_end", None, lambda batch=0: batch_ended(batch))
    around("on_test_begin", lambda logs=None: test_begins())
    around("on_test_end", None, lambda logs=None: test_ended())
    around("on_train_end", None, lambda logs=None: r.breaks())
    cls._stoker_is_here = True
    r.lives("keras.callbacks")
