# SPDX-License-Identifier: Apache-2.0
"""Fixes of Keras jobs: arguments of model.compile, the precision policy, workers of a PyDataset. Losses come from the
logs that callbacks get."""

import functools
import inspect

from _stoker_tune import apply, change, fact, fix, is_direct, knows, loss, place


@fix("keras.compile")
def keras_steps_per_execution(value, now):
    return change(now, "steps_per_execution", int(value))


@fix("keras.compile")
def keras_jit_compile(value, now):
    return change(now, "jit_compile", value == "True")


@fix("keras.compile")
def keras_run_eagerly(value, now):
    return change(now, "run_eagerly", value == "True")


def patch_trainer(module):
    """keras.src.trainers.trainer"""
    knows(module)
    cls = module.Trainer
    plain = cls.compile
    signature = inspect.signature(plain)

    @functools.wraps(plain)
    def compile(self, *args, **kwargs):
        if not is_direct():  # a model that is loaded, or that compiles another one
            return plain(self, *args, **kwargs)
        place("keras.compile")
        given = signature.bind(self, *args, **kwargs)
        given.apply_defaults()
        now = given.arguments
        fact("keras.steps_per_execution", now.get("steps_per_execution"))
        fact("keras.jit_compile", now.get("jit_compile"))
        fact("keras.run_eagerly", now.get("run_eagerly"))
        apply("keras.compile", now)
        return plain(*given.args, **given.kwargs)

    cls.compile = compile


def patch_policy(module):
    """keras.src.dtype_policies.dtype_policy"""
    apply("keras.policies", {"policies": module})


@fix("keras.policies")
def keras_mixed_precision(value, now):
    now["policies"].set_dtype_policy(value)  # of all layers created from here on
    return True


def patch_py_dataset(module):
    cls = module.PyDatasetAdapter
    plain = cls.__init__

    @functools.wraps(plain)
    def __init__(self, x, *args, **kwargs):
        place("keras.pydataset")
        fact("keras.pydataset.workers", x.workers)
        apply("keras.pydataset", {"dataset": x})
        plain(self, x, *args, **kwargs)

    cls.__init__ = __init__


@fix("keras.pydataset")
def keras_pydataset_workers(value, now):
    dataset, workers = now["dataset"], int(value)
    if dataset.workers == workers:
        return False
    dataset.workers = workers
    dataset.max_queue_size = max(dataset.max_queue_size, 2 * workers)
    return True


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
