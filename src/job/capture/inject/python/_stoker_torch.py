# SPDX-License-Identifier: Apache-2.0
"""PyTorch: fetches of every DataLoader (one method of all its iterators), steps of every optimizer, or backward passes
without one, and the user's own profiler, which has priority over stoker's."""

import functools
import sys

import _stoker_core
import _stoker_record


def patch_loader(module):
    places = _stoker_core.load("_stoker_places").places
    _behind_init(module.DataLoader, places.loader_made)
    _behind_init(module._BaseDataLoaderIter, places.loop_begins)
    _stoker_core.load("_stoker_fetch").watch(
        module._BaseDataLoaderIter,
        "torch.input",
        lambda it: it._dataset,
        lambda it: id(it._dataset),
        len,
        ("pytorch", "enumerate(DataLoader)#"),
    )
    _stoker_core.recorder.lives("torch.dataloader", "pytorch")


def _behind_init(cls, made):
    plain = cls.__init__

    @functools.wraps(plain)
    def __init__(self, *args, **kwargs):
        plain(self, *args, **kwargs)
        made(self)

    cls.__init__ = __init__


BACKWARDS = 3  # backward passes without an optimizer's step; from here on, each one ends a step
ACCUMULATED = 1024  # the same if the job made an optimizer: gradients of many passes may be one step's


def patch_optimizer(module):
    r = _stoker_core.recorder
    places = _stoker_core.load("_stoker_places").places
    first = []  # the optimizer whose steps count if no loader is seen

    def ended(optimizer, *_):
        if r.source == _stoker_record.KERAS:
            return
        places.begin()
        # With several optimizers in a step, the first one after a fetch ends it.
        if r.fetches:
            r.fetches = 0
            first[:] = [id(optimizer)]
        elif first and first[0] != id(optimizer):
            return
        first[:] = [id(optimizer)]
        r.stepped(_stoker_record.OPTIMIZER)

    _behind_init(module.Optimizer, lambda optimizer: setattr(module.Optimizer, "_stoker_made", True))
    _behind_step(module, ended)
    r.lives("torch.optimizer", "pytorch")


def _behind_step(module, ended):
    """Calls ended(optimizer) when a step is over and its record is closed. PyTorch's own hook runs inside that record,
    where the profiler's step would begin too early."""
    plain = getattr(module.Optimizer, "profile_hook_step", None)
    if plain is None:
        module.register_optimizer_step_post_hook(ended)
        return

    def profile_hook_step(function):
        step = plain(function)

        @functools.wraps(step)
        def call(self, *args, **kwargs):
            result = step(self, *args, **kwargs)
            ended(self)
            return result

        return call

    module.Optimizer.profile_hook_step = staticmethod(profile_hook_step)


def patch_backward(module):
    """Loops that update their parameters by hand have no optimizer."""
    r = _stoker_core.recorder
    places = _stoker_core.load("_stoker_places").places
    plain = getattr(module, "backward", None)
    count = [0]
    optimizers = []  # the module, once it is imported

    def most():
        if not optimizers:
            optimizers.extend(filter(None, [sys.modules.get("torch.optim.optimizer")]))
        return ACCUMULATED if optimizers and getattr(optimizers[0].Optimizer, "_stoker_made", False) else BACKWARDS
    if plain is None:
        return

    @functools.wraps(plain)
    def backward(*args, **kwargs):
        plain(*args, **kwargs)
        if places.evaluating:
            places.trains()
        if not r.trains:
            r.trained()
            places.begin()
        if r.source in (_stoker_record.OPTIMIZER, _stoker_record.KERAS, _stoker_record.FETCHES):
            return
        count[0] += 1
        if count[0] > BACKWARDS and count[0] > most() and _stoker_record.ident() == r.thread:
            r.stepped(_stoker_record.CALLS)

    module.backward = backward


def patch_module(module):
    """model.eval() and model.train(), which also call themselves on the model's parts."""
    places = _stoker_core.load("_stoker_places").places
    plain = module.Module.train
    inside = [False]

    @functools.wraps(plain)
    def train(self, mode=True):
        if inside[0]:
            return plain(self, mode)
        inside[0] = True
        try:
            result = plain(self, mode)
        finally:
            inside[0] = False
        places.evaluates(not mode)
        return result

    module.Module.train = train


def _watch(cls, name, begins):
    """The user's profiler starts, and ours stops; or the user's stops."""
    plain = getattr(cls, name)

    @functools.wraps(plain)
    def call(self, *args, **kwargs):
        r = _stoker_core.recorder
        if r.window is None or not r.window.is_mine(self):
            r.user_profiles(begins)
        return plain(self, *args, **kwargs)

    setattr(cls, name, call)


def patch_profiler(module):
    for name in ("prepare_trace", "start_trace"):
        _watch(module._KinetoProfile, name, True)
    _watch(module._KinetoProfile, "stop_trace", False)


def patch_autograd_profiler(module):
    _watch(module.profile, "__enter__", True)
    _watch(module.profile, "__exit__", False)
