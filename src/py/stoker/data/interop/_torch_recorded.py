# SPDX-License-Identifier: Apache-2.0
"""Loaders whose workers record images instead of making them: the dataset, its transforms, the sampler and collate_fn
are the user's, unchanged, and run in the loader's own workers, with the random numbers that these draw. Only the
pixels are left to the engine's threads, which follow the recipes (_recorded_tensors.py).

Only loaders whose first items are mostly images of files with recorded steps are handled like this. If a later item isn't
such an image, the worker sends its values instead of a recipe, so elements are the same either way.

Limits: loaders with workers, of map-style datasets. The engine finds and names files with damaged contents; a dataset that
would have caught Pillow's error doesn't see it.
"""

import copy
import sys

import numpy as np

from ..core import _dtypes, _spec
from ..core._call import run
from ..core._dataset import Dataset
from ..core._options import AUTOTUNE
from ..core._spec import TensorSpec
from . import _recipes, _torch_own, _torch_values

PROBED = 8  # items of the batch that is tried


class Recipes:
    """Images of a batch (is_batch), or one of an item, as a worker sends them."""

    def __init__(self, dtype, is_batch, made):
        self.dtype, self.is_batch = dtype, is_batch
        self.paths, self.recipes = [p for p, _ in made], [r for _, r in made]


class _Begin:
    """A worker_init_fn that begins to record, then does what the user's does."""

    def __init__(self, own):
        self.own = own

    def __call__(self, number):
        from . import _recorded_tensors

        _recorded_tensors.begin()
        if self.own is not None:
            self.own(number)


class _Collate:
    """The user's collate_fn; recorded tensors become Recipes. is_probe: a pair of that and of their values."""

    def __init__(self, own, is_probe):
        self.own, self.is_probe = own, is_probe

    def __call__(self, items):
        from . import _recorded_tensors

        lazy = _recorded_tensors.Lazy
        batch = self.own(items)
        made = packed(batch, lazy)
        return (made, [v.settled() for v in _leaves(batch) if isinstance(v, lazy)]) if self.is_probe else made


def _of_values(x):
    """A tensor's values in the form (path, recipe)."""
    a = x.detach().contiguous().numpy()
    if a.dtype == np.float32:
        channels, height, width = a.shape
        return b"", _recipes.written((_recipes.TENSOR, height, width, channels), (), a.tobytes())
    a = np.ascontiguousarray(a.transpose(1, 2, 0))
    return b"", _recipes.written((_recipes.PIXELS, *a.shape), (), a.tobytes())


def packed(v, lazy):
    """A batch with Recipes for recorded tensors; ordinary tensors stay."""
    if isinstance(v, lazy):
        dtype = str(v.dtype).removeprefix("torch.")
        if v._parts is not None:
            return Recipes(dtype, True, [_made(p, lazy) for p in v._parts])
        return Recipes(dtype, False, [v.recipe()]) if v.is_open() else v.settled()
    if type(v) in (list, tuple):
        return type(v)(packed(x, lazy) for x in v)
    if isinstance(v, tuple) and hasattr(v, "_fields"):
        return type(v)(*(packed(x, lazy) for x in v))
    return {k: packed(x, lazy) for k, x in v.items()} if type(v) is dict else v


def _made(part, lazy):
    is_lazy = isinstance(part, lazy)
    return part.recipe() if is_lazy and part.is_open() else _of_values(part.settled() if is_lazy else part)


def _leaves(v):
    if isinstance(v, (list, tuple)):
        return [leaf for x in v for leaf in _leaves(x)]
    return [leaf for x in v.values() for leaf in _leaves(x)] if isinstance(v, dict) else [v]


def _recording(loader, is_probe=False):
    """A copy of the loader whose workers record."""
    out = copy.copy(loader)
    out.__dict__.update(
        worker_init_fn=_Begin(loader.worker_init_fn),
        collate_fn=_Collate(loader.collate_fn, is_probe),
        pin_memory=False,
        _iterator=None,
    )
    return out


def _probed(loader, torch):
    """A batch of the loader's first items, recorded. None: the engine shouldn't make such batches."""
    count = min(PROBED, len(loader.dataset))
    one = _recording(_torch_own._of_one_worker(loader, [list(range(count))]), is_probe=True)
    with _torch_own.Kept(torch, loader):
        try:
            made, values = next(iter(one))
        except Exception:  # the loader itself shows it, once it starts
            return None
    recorded = [leaf for leaf in _leaves(made) if isinstance(leaf, Recipes)]
    return made if _is_worth_it(made) and _are_equal(recorded, values) else None


def _are_equal(recorded, values):
    """Do the engine's results for the recipes equal those of the installed Pillow and torch?"""
    for r, v in zip(recorded, values, strict=True):
        mine = [_image(path, recipe, r.dtype) for path, recipe in zip(r.paths, r.recipes)]
        if not np.array_equal(np.stack(mine) if r.is_batch else mine[0], v.numpy()):
            return False
    return True


def _image(paths, recipes, dtype):
    """Makes images from their recipes: at once, or in a function."""
    files = run("read_files", [paths], {})[0]
    return run("image_recipes", [files, recipes], {"dtype": _dtypes.number(dtype)})[0]


def _is_worth_it(batch):
    """Are most images of files, with steps for the engine?"""
    made = [r for leaf in _leaves(batch) if isinstance(leaf, Recipes) for r in leaf.recipes]
    files = sum(map(_recipes.is_of_file, made))
    return bool(made) and 2 * files >= len(made)


def _of_kind(leaf, v):
    """A later batch's value in the form of the first: if that batch was recorded, values become recipes."""
    if isinstance(leaf, Recipes) and not isinstance(v, Recipes):
        parts = list(v) if leaf.is_batch else [v]
        return Recipes(leaf.dtype, leaf.is_batch, [_of_values(p) for p in parts])
    return v


class Batches:
    """A generator of a pass: for each batch its leaves, two for each that is recorded."""

    def __init__(self, loader, kinds):
        self.loader, self.kinds = loader, kinds
        self.recording = _recording(loader)

    def __call__(self):
        import torch

        for batch in _torch_own.begun(self.recording):
            out = []
            for leaf, v in zip(self.kinds, _leaves(batch), strict=True):
                v = _of_kind(leaf, v)
                out += [_texts(v.paths, v), _texts(v.recipes, v)] if isinstance(v, Recipes) else [_torch_values.plain(v, torch)]
            yield tuple(out)

    def __reduce__(self):
        return Batches, (self.loader, self.kinds)


def _texts(texts, of):
    return np.array([*texts, None], object)[:-1] if of.is_batch else texts[0]


def _structure(v, leaves):
    """Elements of the batch's structure, filled with the next leaves."""
    if isinstance(v, tuple) and hasattr(v, "_fields"):
        return type(v)(*(_structure(x, leaves) for x in v))
    if isinstance(v, (list, tuple)):
        return tuple(_structure(x, leaves) for x in v)
    return {k: _structure(x, leaves) for k, x in v.items()} if isinstance(v, dict) else next(leaves)


def dataset(loader, torch):
    """The loader's batches as a Dataset. None: its workers don't spend their time on image files."""
    is_fit = loader.num_workers > 0 and loader.batch_sampler is not None and len(loader.dataset) > 0
    is_fit = is_fit and loader.multiprocessing_context is None
    batch = _probed(loader, torch) if is_fit and _has_torchvision() else None
    if batch is None:
        return None
    kinds, signature = [], []
    for leaf in _leaves(batch):
        kinds.append(Recipes(leaf.dtype, leaf.is_batch, []) if isinstance(leaf, Recipes) else None)
        if kinds[-1] is not None:
            signature += [TensorSpec((None,) if leaf.is_batch else (), "bytes")] * 2
        else:
            signature += _spec.flatten(_torch_values.learnt(leaf, torch))

    def made(*parts):
        parts, out = iter(parts), []
        for kind in kinds:
            first = next(parts)
            if kind is None:
                out.append(first)
            else:
                out.append(_image(first, next(parts), kind.dtype))
        return _structure(batch, iter(out))

    made.__name__ = f"images of {type(loader.dataset).__name__}"
    order = Dataset.from_generator(Batches(loader, kinds), output_signature=tuple(signature))
    return order.map(made, AUTOTUNE)


def _has_torchvision():
    return "torchvision" in sys.modules and "PIL" in sys.modules
