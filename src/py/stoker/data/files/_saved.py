# SPDX-License-Identifier: Apache-2.0
"""Dataset.save and Dataset.load: an indexed file, and the structure of its elements as JSON."""

import json
import os

from ..core import _arguments, _spec
from ..errors import DataLossError, NotFoundError


def _plan(spec):
    """The structure as JSON has it. Named tuples become tuples."""
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


def save(ds, path):
    path = _arguments.local(path)
    plan = _plan(ds.element_spec)
    os.makedirs(path, exist_ok=True)
    count = ds._engine.write(os.path.join(path, "elements.stk"), ds._run_options(None))
    with open(os.path.join(path, "structure.json"), "w") as f:
        json.dump(plan, f)
    return count


def load(path, element_spec):
    from ._sources import IndexedDataset

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
