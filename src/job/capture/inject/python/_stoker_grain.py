# SPDX-License-Identifier: Apache-2.0
"""Grain, a loader for JAX programs: fetches of every grain.DataLoader. Iterators over Grain's datasets (MapDataset,
IterDataset) are many nested classes and aren't seen."""

import _stoker_core


def _length(iterator):
    """The loader's operations make the batches, so their number is known only for an endless sampler."""
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
