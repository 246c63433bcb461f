# SPDX-License-Identifier: Apache-2.0
"""tf.data iterators that Python iterates over, calls of tf.function, and the user's own tf.profiler."""

import functools

import _stoker_core
import _stoker_record


def patch_data_set(module):
    """Each data set remembers the job's line that created it."""
    here = _stoker_core.load("_stoker_places").here
    plain = module.DatasetV2.__init__

    @functools.wraps(plain)
    def __init__(self, *args, **kwargs):
        plain(self, *args, **kwargs)
        self._stoker_made = here()

    module.DatasetV2.__init__ = __init__


def patch_iterator(module):
    places = _stoker_core.load("_stoker_places").places
    plain = module.OwnedIterator.__init__

    @functools.wraps(plain)
    def __init__(self, *args, **kwargs):
        plain(self, *args, **kwargs)
        places.pipeline_begins(getattr(self, "_dataset", None))

    module.OwnedIterator.__init__ = __init__
    _stoker_core.load("_stoker_fetch").watch(
        module.OwnedIterator,
        "tf.data.input",
        lambda it: it._dataset,
        _data_set,
        _length,
        ("tensorflow", ""),
        has_steps_of_its_own=True,
    )
    _stoker_core.recorder.lives("tf.data", "tensorflow")


def _length(iterator):
    count = int(iterator._dataset.cardinality())
    return _stoker_core.load("_stoker_input").ENDLESS if count == -1 else count  # -2: unknown


def _data_set(iterator):
    """All iterators of one data set, epoch after epoch, have the same key."""
    return id(getattr(iterator, "_dataset", None) or getattr(iterator, "_element_spec", None))


def patch_function(module):
    """Calls of a tf.function end steps if nothing else does: loops over NumPy arrays."""
    r = _stoker_core.recorder
    calls = _stoker_core.load("_stoker_calls").Calls(r)
    plain = module.Function.__call__

    @functools.wraps(plain)
    def call(self, *args, **kwargs):
        if calls.inside or _stoker_record.ident() != r.thread:
            return plain(self, *args, **kwargs)
        calls.begins(id(self))
        calls.inside = True
        try:
            return plain(self, *args, **kwargs)
        finally:
            calls.inside = False

    module.Function.__call__ = call
    r.lives("tf.function", "tensorflow")


def patch_gradients(module):
    """A tape computes its gradient while a function is traced, or in each step."""
    r = _stoker_core.recorder
    plain = module.GradientTape.gradient

    @functools.wraps(plain)
    def gradient(self, *args, **kwargs):
        if not r.trains:
            r.trained()
        return plain(self, *args, **kwargs)

    module.GradientTape.gradient = gradient


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
