# SPDX-License-Identifier: Apache-2.0
"""Fixes of PyTorch jobs: arguments of each DataLoader that the program makes, threads, zero_grad, and the modules that
the program calls itself (compiled, or under autocast). Losses are the scalars whose backward() is called."""

import functools
import inspect
import os
import sys

import _stoker_core
from _stoker_tune import apply, asks, change, ends, fact, fix, is_own, knows, loss, place

CALLS = 64  # module calls in which to find those that the program makes itself


def _is_iterable(dataset):
    kind = getattr(sys.modules["torch.utils.data.dataloader"], "IterableDataset", None)
    return kind is not None and isinstance(dataset, kind)


def patch_loader(module):
    knows(module)
    cls = module.DataLoader
    plain = cls.__init__
    signature = inspect.signature(plain)
    main = os.getpid()

    @functools.wraps(plain)
    def __init__(self, *args, **kwargs):
        if os.getpid() != main:
            return plain(self, *args, **kwargs)
        place("torch.dataloader")
        given = signature.bind(self, *args, **kwargs)
        given.apply_defaults()
        now = given.arguments
        fact("torch.dataloader.num_workers", now.get("num_workers"))
        fact("torch.dataloader.persistent_workers", now.get("persistent_workers"))
        fact("torch.dataloader.pin_memory", now.get("pin_memory"))
        fact("torch.dataloader.kind", "iterable" if _is_iterable(now["dataset"]) else "map")
        apply("torch.dataloader", now)
        plain(*given.args, **given.kwargs)
        try:
            fact("torch.dataloader.batches", len(self))
        except Exception:
            pass

    cls.__init__ = __init__
    _take_over(cls, main)


def _take_over(cls, main):
    """Its batches come from the replacement that a fix put in."""
    if not asks("torch.dataloader.iter"):
        return
    plain = cls.__iter__

    @functools.wraps(plain)
    def __iter__(self):
        now = {"loader": self}
        if os.getpid() == main:
            apply("torch.dataloader.iter", now)
        return plain(self) if now["loader"] is self else iter(now["loader"])

    cls.__iter__ = __iter__


@fix("torch.dataloader")
def torch_dataloader_num_workers(value, now):
    if _is_iterable(now["dataset"]) and not now.get("num_workers"):
        return "iterable"
    return change(now, "num_workers", int(value))


@fix("torch.dataloader")
def torch_dataloader_persistent_workers(value, now):
    return change(now, "persistent_workers", True) if now.get("num_workers") else "no_workers"


@fix("torch.dataloader")
def torch_dataloader_prefetch_factor(value, now):
    return change(now, "prefetch_factor", int(value)) if now.get("num_workers") else "no_workers"


@fix("torch.dataloader")
def torch_dataloader_pin_memory(value, now):
    return change(now, "pin_memory", True)


def patch_torch(module):
    knows(module)
    now = {"torch": module}
    if getattr(module, "set_num_threads", None) is not None:
        _watch_threads(module, now)
    apply("torch", now)


def _watch_threads(module, now):
    """now["given"]: the program's number. now["threads"]: what its calls set instead."""
    plain = module.set_num_threads
    main = os.getpid()

    @functools.wraps(plain)
    def set_num_threads(number):
        if os.getpid() == main and is_own(sys._getframe(1).f_code.co_filename):
            place("torch.set_num_threads")
            fact("torch.threads.set", number)
            now["given"] = number
            number = now.get("threads", number)
        return plain(number)

    now["given"] = module.get_num_threads()
    module.set_num_threads = set_num_threads
    ends.append(lambda: fact("torch.threads", module.get_num_threads()))


@fix("torch")
def torch_threads(value, now):
    torch, wanted = now["torch"], int(value)
    now["threads"] = wanted
    if torch.get_num_threads() != wanted:
        torch.set_num_threads(wanted)
    return lambda: now["given"] != wanted and torch.get_num_threads() == wanted


@fix("torch")
def torch_tf32(value, now):
    now["torch"].set_float32_matmul_precision("high")
    now["torch"].backends.cudnn.allow_tf32 = True
    return True


@fix("torch")
def torch_cudnn_benchmark(value, now):
    now["torch"].backends.cudnn.benchmark = True
    return True


FUSED = ("Adam", "AdamW", "SGD")  # that can update all parameters in one call on every device
WAYS = ("fused", "foreach", "differentiable", "capturable")  # arguments that choose how an optimizer updates


def patch_optimizer(module):
    _patch_defaults(module.Optimizer)
    _patch_zero_grad(module.Optimizer)


def _patch_defaults(cls):
    """Arguments of an optimizer whose update method the program leaves to PyTorch."""
    plain = cls.__init__
    main = os.getpid()

    @functools.wraps(plain)
    def __init__(self, *args, **kwargs):
        defaults = kwargs.get("defaults", args[1] if len(args) > 1 else None)
        if os.getpid() == main and type(self).__name__ in FUSED and isinstance(defaults, dict) and "fused" in defaults:
            place("torch.optimizer")
            fact("torch.optimizer.update", "set" if any(defaults.get(way) for way in WAYS) else "default")
            apply("torch.optimizer", defaults)
        return plain(self, *args, **kwargs)

    cls.__init__ = __init__


@fix("torch.optimizer")
def torch_optimizer_fused(value, now):
    return "update_set" if any(now.get(way) for way in WAYS) else change(now, "fused", True)


def _patch_zero_grad(cls):
    plain = getattr(cls, "zero_grad", None)
    if plain is None:
        return

    @functools.wraps(plain)
    def zero_grad(self, set_to_none=True):
        now = {"set_to_none": set_to_none}
        if not set_to_none:
            place("torch.zero_grad")
            fact("torch.zero_grad.set_to_none", False)
            apply("torch.zero_grad", now)
        return plain(self, now["set_to_none"])

    cls.zero_grad = zero_grad


@fix("torch.zero_grad")
def torch_zero_grad(value, now):
    return change(now, "set_to_none", True)


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
    """torch.nn.modules.module: the first module calls from the program's own lines during training."""
    cls = module.Module
    plain = cls.__call__
    seen, state = [], {"left": CALLS, "inside": False}

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
            apply("torch.model", {"model": self})
        state["inside"] = True
        try:
            return plain(self, *args, **kwargs)
        finally:
            state["inside"] = False

    cls.__call__ = __call__


@fix("torch.model")
def torch_autocast(value, now):
    torch, model = sys.modules["torch"], now["model"]
    tensor = next(model.parameters(), None)
    device = tensor.device.type if tensor is not None else "cpu"
    model.forward = torch.autocast(device, dtype=torch.bfloat16)(model.forward)
    return True


@fix("torch.model")
def torch_compile(value, now):
    now["model"].compile()
    return True


WATCHED = [
    ("torch", patch_torch),
    ("torch.utils.data.dataloader", patch_loader),
    ("torch.optim.optimizer", patch_optimizer),
    ("torch._tensor", patch_tensor),
    ("torch.nn.modules.module", patch_module),
]
