# SPDX-License-Identifier: Apache-2.0
"""Torch loaders that make their own batches: with workers, with an IterableDataset, or in a special way (torchdata's
StatefulDataLoader, webdataset's WebLoader, a subclass of DataLoader).

In a pipeline, a generator iterates over the loader, so order, random numbers and workers are the loader's. A loop over
to_torch() of such a pipeline, with only prefetch() after it, gets the loader's own batches: nothing is copied or
converted, so it takes the loader's time. The structure of a batch is learned from one batch of a copy of the loader
with one worker.

Limits: a loader that isn't a DataLoader is started once for that. Positions are counted in batches; a
StatefulDataLoader has its own.
"""

import copy
import itertools
import random as _random
import signal
import threading

import numpy as np

from ..core._dataset import Dataset
from ..errors import InvalidArgumentError
from . import _torch_values

PROBES = 4  # items tried to learn a batch's structure
_HANDED_ON = ("prefetch", "assert_cardinality")  # stages after which batches are still the loader's


def is_streamed(loader, torch):
    """Is the loader the only way to get its batches?"""
    data = torch.utils.data
    if not isinstance(loader, data.DataLoader) or type(loader).__iter__ is not data.DataLoader.__iter__:
        return True
    return isinstance(loader.dataset, data.IterableDataset)


def name_of(loader):
    """Describes the loader."""
    dataset = getattr(loader, "dataset", None)
    return type(loader).__name__ if dataset is None else f"{type(loader).__name__} of {type(dataset).__name__}"


def begun(loader):
    """iter(loader), with its workers forked by a Python thread. What an engine's thread forks can't end properly: threading
    takes the forking thread for the main one, without knowing it, and the thread's blocked signals stay blocked in the
    workers, so SIGTERM doesn't end them when the interpreter exits."""
    made = []

    def begin():
        signal.pthread_sigmask(signal.SIG_SETMASK, [])
        try:
            made.append(iter(loader))
        except BaseException as e:
            made.append(e)

    thread = threading.Thread(target=begin, daemon=True)
    thread.start()
    thread.join()
    if isinstance(made[0], BaseException):
        raise made[0]
    return made[0]


class Batches:
    """A generator of a pass: the loader's batches, in the pipeline's form. begun: the first pass, if it had to be
    started to learn its structure."""

    def __init__(self, loader, begun=None):
        self.loader, self._begun = loader, begun

    def raw(self):
        """The unchanged batches."""
        first, self._begun = self._begun, None
        return iter(self.loader) if first is None else first

    def __call__(self):
        import torch

        first, self._begun = self._begun, None
        return (_torch_values.plain(b, torch) for b in (begun(self.loader) if first is None else first))

    def __reduce__(self):
        return Batches, (self.loader,)


class Kept:
    """Saves and restores Python's, NumPy's and torch's generators."""

    def __init__(self, torch, loader):
        own = getattr(loader, "generator", None)
        self.torch, self.own = torch, own if isinstance(own, torch.Generator) else None

    def __enter__(self):
        own = self.own.get_state() if self.own is not None else None
        self.states = self.torch.get_rng_state(), _random.getstate(), np.random.get_state(), own

    def __exit__(self, *failure):
        self.torch.set_rng_state(self.states[0])
        _random.setstate(self.states[1])
        np.random.set_state(self.states[2])
        if self.own is not None:
            self.own.set_state(self.states[3])


def _of_one_worker(loader, order):
    """A copy of the loader with at most one worker; order: its batches' indices, None: the loader's."""
    one = copy.copy(loader)
    many = loader.num_workers > 0
    one.__dict__.update(num_workers=int(many), persistent_workers=False, _iterator=None, next_iter_state=None)
    one.__dict__["prefetch_factor"] = 1 if many else None
    if order is not None:
        one.__dict__["sampler" if loader.batch_sampler is None else "batch_sampler"] = order
    return one


def _runs_already(loader, torch):
    """Does a subclass keep workers from its creation, which continue in each pass?"""
    kind = torch.utils.data.dataloader._BaseDataLoaderIter
    return any(isinstance(v, kind) for k, v in vars(loader).items() if k != "_iterator")


def _of_items(loader):
    """The first batch that can be made from a map-style dataset's first items."""
    first = None
    for k in range(min(PROBES, len(loader.dataset))):
        one = _of_one_worker(loader, [k if loader.batch_sampler is None else [k]])
        try:
            return next(iter(one))
        except Exception as e:
            first = first or e
    raise first or InvalidArgumentError(f"from_torch: {name_of(loader)} has no items")


def _learnt(loader, torch):
    """(the spec of the loader's batches, the pass that had to be started for it or None)."""
    data = torch.utils.data
    is_loader = isinstance(loader, data.DataLoader)
    is_whole = not is_loader or _runs_already(loader, torch)
    with Kept(torch, loader):
        if not is_whole and not isinstance(loader.dataset, data.IterableDataset):
            return _torch_values.learnt(_of_items(loader), torch), None
        if not is_whole and loader.num_workers:  # in a worker, which has a copy of the dataset
            made = next(iter(_of_one_worker(loader, None)), None)
        else:
            source = loader.dataset if is_loader else loader
            saved = source.state_dict() if _has_state(source) else None
            it = iter(loader if is_whole else _of_one_worker(loader, None))
            made = next(it, None)
            if saved is not None:
                source.load_state_dict(saved)
            elif made is not None and (is_loader and is_whole or _is_once(source, it)):
                return _torch_values.learnt(made, torch), itertools.chain([made], it)
    if made is None:
        raise InvalidArgumentError(f"from_torch: {name_of(loader)} gives nothing, and what its batches hold is unknown")
    return _torch_values.learnt(made, torch), None


def _has_state(source):
    return hasattr(source, "state_dict") and hasattr(source, "load_state_dict")


def _is_once(source, it):
    """Can another pass over this source continue where the iterator stopped?"""
    inner = getattr(getattr(it, "_dataset_fetcher", None), "dataset_iter", it)
    return inner is source


def dataset(loader, torch):
    """The loader's batches as a Dataset."""
    spec, begun = _learnt(loader, torch)
    return Dataset.from_generator(Batches(loader, begun), output_signature=spec)


def passes(dataset):
    """The Passes of a loader if a loop over the pipeline may get its batches unchanged; else None."""
    while dataset._loader is None and dataset._kind in _HANDED_ON and dataset._inputs:
        dataset = dataset._inputs[0]
    return None if dataset._loader is None else Passes(dataset._loader, _generator(dataset))


def _generator(dataset):
    """The Batches of the stage, which may already have started a pass."""
    made = (getattr(getattr(k, "function", None), "generator", None) for k in dataset._keep)
    return next((g for g in made if isinstance(g, Batches)), None)


class _Rest:
    """A sampler without its first indices."""

    def __init__(self, sampler, count):
        self.sampler, self.count = sampler, count

    def __iter__(self):
        return itertools.islice(iter(self.sampler), self.count, None)

    def __len__(self):
        return max(0, len(self.sampler) - self.count)


class Passes:
    """A loader's own passes, and the position in the current one."""

    def __init__(self, loader, batches=None):
        self.loader, self.batches = loader, batches or Batches(loader)
        self.has_state = _has_state(loader)
        self.at, self.skipped = 0, None

    def __iter__(self):
        count, self.skipped = self.skipped, None
        self.at = count or 0
        return _Pass(self, self.batches.raw() if count is None else iter(self._after(count)))

    def _after(self, count):
        rest, key = copy.copy(self.loader), "sampler" if self.loader.batch_sampler is None else "batch_sampler"
        rest.__dict__.update({key: _Rest(getattr(self.loader, key), count), "_iterator": None})
        return rest

    def state_dict(self):
        if self.has_state:
            return self.loader.state_dict()
        at = self.at if self.skipped is None else self.skipped
        return {"batches": at, "of": name_of(self.loader)} if at else {}

    def load_state_dict(self, state):
        if self.has_state:
            self.loader.load_state_dict(state)
            return
        if state and state.get("of") != name_of(self.loader):
            raise InvalidArgumentError(f"load_state_dict: a state of {state.get('of')}, not of {name_of(self.loader)}")
        self.skipped = state.get("batches", 0) if state else None


class _Pass:
    """The batches of a pass, counted. Continues after an item's error, like the loader."""

    def __init__(self, passes, batches):
        self.passes, self.batches = passes, batches

    def __iter__(self):
        return self

    def __next__(self):
        batch = next(self.batches)
        self.passes.at += 1
        return batch
