# SPDX-License-Identifier: Apache-2.0
"""Pickles datasets, for spawned processes: stores what a dataset was made from, to make it again.

Stages with their arguments and graphs of traced functions are plain data. Python functions are pickled by name; if that
fails, by value with cloudpickle, if installed. Arrays are left to the enclosing pickler (protocol 5 need not copy
them); arrays mapped read-only from a file are stored as its name. The process's seed is included.
"""

import io
import itertools
import mmap
import os
import pickle

import numpy as np

from . import _stages, _trace
from ._function import Host
from ._options import Options
from ..errors import InvalidArgumentError

_FORM = 1  # version of the format
_OWN = ("_kind _inputs _args _options _keep _notes _function _where _first_epoch _epochs _last _past "
        "_engine _value element_spec").split()  # fmt: skip


class _MappedFile:
    """An array in a file."""

    def __init__(self, path, dtype, offset, shape):
        self.path, self.dtype, self.offset, self.shape = path, dtype, offset, shape

    @classmethod
    def of(cls, a):
        """The File of an array; None if it isn't a file's bytes unchanged."""
        m = a
        while m is not None and not (isinstance(m, np.memmap) and isinstance(m.base, mmap.mmap)):
            m = getattr(m, "base", None)
        if m is None or m.mode != "r" or not m.filename or not a.size or not a.flags.c_contiguous:
            return None
        start = a.__array_interface__["data"][0] - m.__array_interface__["data"][0]
        return cls(os.path.abspath(m.filename), a.dtype, m.offset + start, a.shape)

    def array(self):
        return np.memmap(self.path, self.dtype, "r", self.offset, self.shape)


def _pickler(base):
    class Pickler(base):
        """Sets arrays aside, and keeps track of the current stage and function."""

        def __init__(self, file, states, nodes):
            super().__init__(file, pickle.HIGHEST_PROTOCOL)
            self.nodes = {id(state): node for state, node in zip(states, nodes)}
            self.arrays, self.numbers, self.stage, self.function = [], {}, nodes[-1], None

        def persistent_id(self, v):
            if isinstance(v, np.ndarray) and not v.dtype.hasobject:
                if id(v) not in self.numbers:
                    self.numbers[id(v)] = len(self.arrays)
                    self.arrays.append((v, _MappedFile.of(v) or v))
                return self.numbers[id(v)]
            if id(v) in self.nodes:
                self.stage, self.function = self.nodes[id(v)], None
            elif isinstance(v, Host):
                self.function = v.function
            return None

        def failed(self, e):
            """The error that names the stage and function."""
            name = None
            for attribute in ("f", "generator", "work"):
                name = getattr(self.function, attribute, name)
            name = getattr(name, "f", name)
            what = "" if name is None else f"{_trace.name_of(name)}: "
            hint = "" if _cloudpickle() else (
                "; a function at the top of a module can be; with the package cloudpickle installed "
                "lambdas and inner functions, too"
            )
            stage = f"{self.stage._kind} [{self.stage._where}]"
            return pickle.PicklingError(f"{stage} cannot be pickled: {what}{e}{hint}")

    return Pickler


class _Unpickler(pickle.Unpickler):
    def __init__(self, file, arrays):
        super().__init__(file)
        self.arrays = [a.array() if isinstance(a, _MappedFile) else a for a in arrays]

    def persistent_load(self, number):
        return self.arrays[number]


def _cloudpickle():
    try:
        import cloudpickle
    except ImportError:
        return None
    return cloudpickle


def _in_order(dataset):
    """The dataset and everything it is made of, inputs first. (Pipelines may be deeper than the stack.)"""
    out, seen, left = [], set(), [(dataset, False)]
    while left:
        ds, is_behind_inputs = left.pop()
        if id(ds) in seen:
            continue
        if is_behind_inputs:
            seen.add(id(ds))
            out.append(ds)
            continue
        left.append((ds, True))
        left.extend((i, False) for i in reversed(ds._inputs))
    return out


def _check(ds):
    if ds._engine is None:
        raise pickle.PicklingError(
            "a dataset that depends on a function's argument cannot be pickled: it is created for "
            "each element; pickle the dataset that the function was given to"
        )
    if ds.__dict__.get("_is_of_engine"):
        raise pickle.PicklingError(
            "a window cannot be pickled: its elements are in this process; pickle the dataset that "
            "gave it, or the list of its elements"
        )


def _state(ds, numbers):
    """What a stage is made of. Functions come last: see Pickler.failed."""
    inherited = {id(k) for i in ds._inputs for k in i._keep}
    return {
        "class": type(ds),
        "kind": ds._kind,
        "inputs": [numbers[id(i)] for i in ds._inputs],
        "where": ds._where,
        "epochs": (ds._first_epoch, int(repr(ds._epochs)[len("count(") : -1])),
        "options": ds._options,
        "notes": ds._notes,
        "more": {k: v for k, v in ds.__dict__.items() if k not in _OWN},
        "spec": ds.element_spec,
        "args": ds._args,
        "keep": [k for k in ds._keep if id(k) not in inherited],
        "function": ds._function,
    }


def _with_seed(dataset):
    """The dataset's options, with this process's seed."""
    options = Options()
    options.seed = _stages.known_seed(dataset)
    return options.merged(dataset._options)


def reduced(dataset):
    """Dataset.__reduce__. PicklingError: a stage can't be pickled; says which, and why."""
    nodes = _in_order(dataset)
    for ds in nodes:
        _check(ds)
    numbers = {id(ds): i for i, ds in enumerate(nodes)}
    states = [_state(ds, numbers) for ds in nodes]
    states[-1]["options"] = _with_seed(dataset)
    error = None
    for base in (pickle.Pickler, getattr(_cloudpickle(), "Pickler", None)):
        if base is None:
            break
        file = io.BytesIO()
        pickler = _pickler(base)(file, states, nodes)
        try:
            pickler.dump(states)
        except MemoryError:
            raise
        except Exception as e:  # from anything that a function refers to
            error = (pickler.failed(e), e)
            continue
        return restored, (_FORM, file.getvalue(), [a for _, a in pickler.arrays])
    raise error[0] from error[1]


def restored(form, data, arrays):
    """Rebuilds the dataset."""
    if form != _FORM:
        raise InvalidArgumentError(f"a dataset pickled by another version (form {form}, not {_FORM})")
    made = []
    for s in _Unpickler(io.BytesIO(data), arrays).load():
        ds = s["class"].__new__(s["class"])
        inputs = [made[i] for i in s["inputs"]]
        parts = (s["args"], s["spec"], s["keep"], s["notes"], s["function"], s["where"])
        ds._init(s["kind"], inputs, *parts)
        ds.__dict__.update(s["more"])
        ds._options = s["options"]
        ds._first_epoch, following = s["epochs"]
        ds._epochs = itertools.count(following)
        made.append(ds)
    return made[-1]
