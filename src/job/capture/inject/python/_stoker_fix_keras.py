# SPDX-License-Identifier: Apache-2.0
"""Fixes of Keras jobs: what model.compile is called with, the policy of precision, workers of a PyDataset. And the
losses: those of the logs that callbacks get."""

import functools
import inspect

from _stoker_tune import applied, fact, fixes, is_direct, knows, loss, place

_COMPILE = {
    "keras.steps_per_execution": ("steps_per_execution", int),
    "keras.jit_compile": ("jit_compile", lambda value: value == "True"),
    "keras.run_eagerly": ("run_eagerly", lambda value: value == "True"),
}


def patch_trainer(module):
    """keras.src.trainers.trainer"""
    knows(module)
    cls = module.Trainer
    plain = cls.compile
    signature = inspect.signature(plain)

    @functools.wraps(plain)
    def compile(self, *args, **kwargs):
        if not is_direct():  # a model that is loaded, or compiles another one
            return plain(self, *args, **kwargs)
        place("keras.compile")
        given = signature.bind(self, *args, **kwargs)
        given.apply_defaults()
        now = given.arguments
        for fix, (name, value_of) in _COMPILE.items():
            fact(fix, now.get(name))
            if fix in fixes and now.get(name) != value_of(fixes[fix]):
                now[name] = value_of(fixes[fix])
                applied(fix)
        return plain(*given.args, **given.kwargs)

    cls.compile = compile


def patch_policy(module):
    """keras.src.dtype_policies.dtype_policy: the policy of all layers that are made from here on."""
    policy = fixes.get("keras.mixed_precision")
    if policy:
        module.set_dtype_policy(policy)
        applied("keras.mixed_precision")


def patch_py_dataset(module):
    cls = module.PyDatasetAdapter
    plain = cls.__init__

    @functools.wraps(plain)
    def __init__(self, x, *args, **kwargs):
        place("keras.pydataset")
        fact("keras.pydataset.workers", x.workers)
        wanted = fixes.get("keras.pydataset.workers")
        if wanted is not None and x.workers != int(wanted):
            x.workers = int(wanted)
            x.max_queue_size = max(x.max_queue_size, 2 * int(wanted))
            applied("keras.pydataset.workers")
        plain(self, x, *args, **kwargs)

    cls.__init__ = __init__


def patch_losses(module):
    """keras.src.callbacks.callback_list"""
    cls = module.CallbackList
    plain = cls.on_train_batch_end
    state = {"before": 0, "last": -1}

    @functools.wraps(plain)
    def on_train_batch_end(self, batch, logs=None):
        if isinstance(batch, int):
            if batch <= state["last"]:
                state["before"] += state["last"] + 1
            state["last"] = batch
            if isinstance(logs, dict) and "loss" in logs:
                loss(state["before"] + batch + 1, logs["loss"])
            steps = (getattr(self, "params", None) or {}).get("steps")
            if steps:
                fact("keras.steps", steps)
        return plain(self, batch, logs)

    cls.on_train_batch_end = on_train_batch_end


WATCHED = [
    ("keras.src.trainers.trainer", patch_trainer),
    ("keras.src.dtype_policies.dtype_policy", patch_policy),
    ("keras.src.trainers.data_adapters.py_dataset_adapter", patch_py_dataset),
    ("keras.src.callbacks.callback_list", patch_losses),
]
