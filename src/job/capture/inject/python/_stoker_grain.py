# SPDX-License-Identifier: Apache-2.0
"""Grain, the loader of JAX programs: fetches of every grain.DataLoader. Iterators that a program makes of Grain's
datasets (MapDataset, IterDataset) are many classes within one another, and are not seen."""

import _stoker_core


def _length(iterator):
    """Batches are a matter of the loader's operations: only a sampler without an end tells how many."""
    sampler = iterator._data_loader._sampler
    return _stoker_core.load("_stoker_input").ENDLESS if sampler._num_epochs is None else -1


def patch_loader(module):
    _stoker_core.load("_stoker_fetch").watch(
        module.DataLoaderIterator,
        "grain.input",
        lambda it: it._data_loader,
        lambda it: id(it._data_loader),
        _length,
        ("jax", "grain."),
    )
    _stoker_core.recorder.lives("grain.dataloader")
