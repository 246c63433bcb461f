# SPDX-License-Identifier: Apache-2.0
"""PyTorch: fetches of every DataLoader (one method of all its iterators), steps of every optimizer (the hooks
that PyTorch has for this), and the user's own profiler, before which stoker steps back."""

import functools

import _stoker_core
import _stoker_record


def patch_loader(module):
    _stoker_core.load("_stoker_fetch").watch(
        module._BaseDataLoaderIter,
        "torch.input",
        lambda it: it._dataset,
        lambda it: id(it._dataset),
        len,
        ("pytorch", "enumerate(DataLoader)#"),
    )
    _stoker_core.recorder.lives("torch.dataloader", "pytorch")


def patch_optimizer(module):
    r = _stoker_core.recorder
    first = []  # the optimizer whose steps count where no loader is seen

    def ended(optimizer, args, kwargs):
        if r.source == _stoker_record.KERAS:
            return
        # Of several optimizers in a step the first ends it: the one behind a fetch.
        if r.fetches:
            r.fetches = 0
            first[:] = [id(optimizer)]
        elif first and first[0] != id(optimizer):
            return
        first[:] = [id(optimizer)]
        r.stepped(_stoker_record.OPTIMIZER)

    module.register_optimizer_step_post_hook(ended)
    r.lives("torch.optimizer", "pytorch")


def _watch(cls, name, begins):
    """The user's profiler begins, and ours ends; or it ends."""
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
