# SPDX-License-Identifier: Apache-2.0
"""Fixes of PyTorch jobs: arguments of each DataLoader that the program makes, threads, zero_grad, and the modules that
it calls itself (compiled, under autocast). And the losses: scalars whose backward() is called."""

import functools
import inspect
import os
import sys

import _stoker_core
from _stoker_tune import applied, ends, fact, fixes, is_own, knows, loss, place, refused

CALLS = 64  # calls of modules in which those that the program calls itself are found


def patch_loader(module):
    knows(module)
    cls = module.DataLoader
    plain = cls.__init__
    signature = inspect.signature(plain)
    iterable = getattr(module, "IterableDataset", ())
    main = os.getpid()

    @functools.wraps(plain)
    def __init__(self, *args, **kwargs):
        if os.getpid() != main:
            return plain(self, *args, **kwargs)
        place("torch.dataloader")
        given = signature.bind(self, *args, **kwargs)
        given.apply_defaults()
        now = given.arguments
        for name in ("batch_size", "num_workers", "prefetch_factor", "persistent_workers", "pin_memory"):
            fact("torch.dataloader." + name, now.get(name))
        is_iterable = bool(iterable) and isinstance(now["dataset"], iterable)
        fact("torch.dataloader.kind", "iterable" if is_iterable else "map")
        _change(now, is_iterable)
        plain(*given.args, **given.kwargs)
        try:
            fact("torch.dataloader.batches", len(self))
        except Exception:
            pass

    cls.__init__ = __init__
    _take_over(cls, main)


def _take_over(cls, main):
    """Its batches by stoker.data, where that is asked for; where it cannot be, the loader's own."""
    data = _stoker_core.load("_stoker_fix_data")
    if not data.is_asked(data.LOADER):
        return
    plain = cls.__iter__

    @functools.wraps(plain)
    def __iter__(self):
        made = data.of_loader(self) if os.getpid() == main else None
        return plain(self) if made is None else iter(made)

    cls.__iter__ = __iter__


def _change(now, is_iterable):
    """The loader's arguments, as the fixes have them."""
    workers = fixes.get("torch.dataloader.num_workers")
    if workers is not None and now.get("num_workers") != int(workers):
        if is_iterable and not now.get("num_workers"):
            refused("torch.dataloader.num_workers", "an IterableDataset would give all of its elements in each worker")
        else:
            now["num_workers"] = int(workers)
            applied("torch.dataloader.num_workers")
    for name, number in (("persistent_workers", True), ("prefetch_factor", 0)):
        value = fixes.get("torch.dataloader." + name)
        if value is None:
            continue
        value = number or int(value)
        if not now.get("num_workers"):
            refused("torch.dataloader." + name, "it needs workers, and the loader has none")
        elif now.get(name) != value:
            now[name] = value
            applied("torch.dataloader." + name)
    if "torch.dataloader.pin_memory" in fixes and not now.get("pin_memory"):
        now["pin_memory"] = True
        applied("torch.dataloader.pin_memory")


def patch_torch(module):
    knows(module)
    plain = getattr(module, "set_num_threads", None)
    if plain is None:
        return
    wanted = int(fixes.get("torch.threads", 0))
    main = os.getpid()
    changed = []  # by the fix, from what it would be

    @functools.wraps(plain)
    def set_num_threads(number):
        if os.getpid() == main and is_own(sys._getframe(1).f_code.co_filename):
            place("torch.set_num_threads")
            fact("torch.threads.set", number)
            changed[:] = [number] if wanted and number != wanted else []
            number = wanted or number
        return plain(number)

    def at_end():
        fact("torch.threads", module.get_num_threads())
        if changed and module.get_num_threads() == wanted:
            applied("torch.threads")

    if wanted and module.get_num_threads() != wanted:
        changed.append(module.get_num_threads())
        plain(wanted)
    module.set_num_threads = set_num_threads
    ends.append(at_end)
    if "torch.tf32" in fixes:
        module.set_float32_matmul_precision("high")
        module.backends.cudnn.allow_tf32 = True
        applied("torch.tf32")
    if "torch.cudnn_benchmark" in fixes:
        module.backends.cudnn.benchmark = True
        applied("torch.cudnn_benchmark")


def patch_zero_grad(module):
    cls = module.Optimizer
    plain = getattr(cls, "zero_grad", None)
    if plain is None:
        return

    @functools.wraps(plain)
    def zero_grad(self, set_to_none=True):
        if not set_to_none:
            place("torch.zero_grad")
            fact("torch.zero_grad.set_to_none", False)
            if "torch.zero_grad" in fixes:
                applied("torch.zero_grad")
                set_to_none = True
        return plain(self, set_to_none)

    cls.zero_grad = zero_grad


def patch_tensor(module):
    r = _stoker_core.recorder
    plain = module.Tensor.backward

    @functools.wraps(plain)
    def backward(self, *args, **kwargs):
        if self.dim() == 0:
            loss(r.count + 1, self.detach())
        return plain(self, *args, **kwargs)

    module.Tensor.backward = backward


def patch_module(module):
    """torch.nn.modules.module: the first calls of modules from the program's own lines, while they train."""
    asked = {"torch.compile", "torch.autocast"} & set(fixes)
    cls = module.Module
    plain = cls.__call__
    seen, state = [], {"left": CALLS, "inside": False}

    def change(top):
        if "torch.autocast" in asked:
            torch = sys.modules["torch"]
            tensor = next(top.parameters(), None)
            device = tensor.device.type if tensor is not None else "cpu"
            top.forward = torch.autocast(device, dtype=torch.bfloat16)(top.forward)
            applied("torch.autocast")
        if "torch.compile" in asked:
            top.compile()
            applied("torch.compile")

    @functools.wraps(plain)
    def __call__(self, *args, **kwargs):
        if state["inside"]:
            return plain(self, *args, **kwargs)
        state["left"] -= 1
        if state["left"] < 0:
            cls.__call__ = plain
        elif self.training and next(self.parameters(), None) is not None and not any(self is s for s in seen):
            place("torch.model")
            seen.append(self)
            change(self)
        state["inside"] = True
        try:
            return plain(self, *args, **kwargs)
        finally:
            state["inside"] = False

    cls.__call__ = __call__


WATCHED = [
    ("torch", patch_torch),
    ("torch.utils.data.dataloader", patch_loader),
    ("torch.optim.optimizer", patch_zero_grad),
    ("torch._tensor", patch_tensor),
    ("torch.nn.modules.module", patch_module),
]
