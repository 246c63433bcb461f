# SPDX-License-Identifier: Apache-2.0
"""Dataset.save and Dataset.load: an indexed file, and the structure of its elements as JSON."""

import json
import os

from ..core import _arguments, _spec
from ..core._dataset import method
from ..errors import DataLossError, NotFoundError
from ._sources import IndexedDataset


def _plan(spec):
    """The structure in JSON form. Named tuples become tuples."""
    if spec is None:
        return None
    if isinstance(spec, tuple):
        return [_plan(s) for s in spec]
    if isinstance(spec, dict):
        if not all(isinstance(k, str) for k in spec):
            raise TypeError("save: the keys of dicts must be texts")
        return {k: _plan(v) for k, v in spec.items()}
    if type(spec) is not _spec.TensorSpec:
        raise NotImplementedError(f"save: elements with {spec!r}")
    return ""


def _structure(plan):
    if isinstance(plan, list):
        return tuple(_structure(p) for p in plan)
    if isinstance(plan, dict):
        return {k: _structure(v) for k, v in plan.items()}
    return None if plan is None else _spec.TensorSpec()


@method
def save(self, path, compression=None, shard_func=None, checkpoint_args=None):
    """Writes all elements into the folder `path`, for Dataset.load: one indexed file, and the
    elements' structure. Returns how many there were."""
    if compression is not None or shard_func is not None or checkpoint_args is not None:
        raise NotImplementedError("save with compression, shard_func or checkpoint_args")
    path = _arguments.local(path)
    plan = _plan(self.element_spec)
    os.makedirs(path, exist_ok=True)
    count = self._engine.write(os.path.join(path, "elements.stk"), self._run_options(None))
    with open(os.path.join(path, "structure.json"), "w") as f:
        json.dump(plan, f)
    return count


@method
@staticmethod
def load(path, element_spec=None, compression=None, reader_func=None, wait=False):
    """Loads the elements written by save()."""
    if compression is not None or reader_func is not None:
        raise NotImplementedError("load with compression or reader_func")
    path = _arguments.local(path)
    if element_spec is None:
        try:
            with open(os.path.join(path, "structure.json")) as f:
                element_spec = _structure(json.load(f))
        except FileNotFoundError:
            raise NotFoundError(f"{path}: no dataset was saved there") from None
        except ValueError as e:
            raise DataLossError(f"{path}/structure.json: {e}") from None
    return IndexedDataset(os.path.join(path, "elements.stk"), element_spec)
