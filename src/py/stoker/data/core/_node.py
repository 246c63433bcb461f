# SPDX-License-Identifier: Apache-2.0
"""A dataset as a node of a graph: the engine's, or a function's that is being traced.

Outside functions a dataset has an engine dataset (_engine) from the start. Inside, if its inputs or arguments depend on
a function's argument, it has a symbolic value instead (_value), and is created again for each element.
"""

import itertools

from .. import _engine
from . import _spec, _trace
from ._options import Options
from ._value import Value, number_in

_BAD_SAMPLES = 100  # most to skip: on_error only applies after the sample is taken


def _first_good(it, at):
    """The first valid element from a position on; None: there are too few. If all elements examined are errors, raises
    the first."""
    first, bad, k = None, 0, 0
    while bad < _BAD_SAMPLES:
        try:
            element = next(it)
            if k >= at:
                return element
        except StopIteration:
            break
        except Exception as e:  # counts as an element
            if k >= at:
                first, bad = first or e, bad + 1
        k += 1
    if first:
        raise first
    return None


class _Node:
    """The base of Dataset, without its methods."""

    _whole = None  # the class Dataset, created by file dataset classes

    @staticmethod
    def _make(kind, inputs, args, spec, keep=(), notes=(), function=None):
        self = _Node._whole.__new__(_Node._whole)
        self._init(kind, inputs, args, spec, keep, notes, function)
        return self

    def _init(self, kind, inputs, args, spec, keep=(), notes=(), function=None, where=None):
        """args: as _engine takes them; Values and lists of Values are computed at run time."""
        self._kind, self._inputs, self._args = (
            kind,
            list(inputs),
            {k: v for k, v in args.items() if v is not None},
        )
        self._options = Options()
        for i in inputs:
            self._options = self._options.merged(i._options)
        self._keep = tuple(dict.fromkeys([k for i in inputs for k in i._keep] + list(keep)))
        self._notes, self._function = list(notes), function
        self._where = where or _trace.place()
        self._first_epoch = max([i._first_epoch for i in inputs], default=0)
        self._epochs, self._last, self._past = itertools.count(self._first_epoch), None, None
        bound = [k for k, v in self._args.items() if isinstance(v, Value) or isinstance(v, list)]
        if bound or any(i._value is not None for i in inputs):
            self._engine, self._value = None, self._node(bound)
            self.element_spec = _spec.update(spec, self._value.engine_spec()[2].items())
        else:
            self._value = None
            self._engine = _engine.Dataset(
                kind, [i._engine for i in inputs], self._args, self._where
            )
            self.element_spec = _spec.update(spec, self._engine.specs())

    def _node(self, bound):
        """This dataset as a node of the function being traced: created for each element."""
        graph = _trace.current()
        values, counts = [i._as_value() for i in self._inputs], []
        for name in bound:
            v = self._args[name]
            parts = list(v) if isinstance(v, list) else [v]
            values.extend(parts)
            counts.append(len(parts))
        attrs = {k: v for k, v in self._args.items() if k not in bound}
        attrs.update(
            kind=self._kind,
            n_in=len(self._inputs),
            bound=("texts", bound),
            bound_counts=("ints", counts),
        )
        numbers = [number_in(graph, v) for v in values]
        graph.keep.extend(self._keep)
        return Value(graph, graph.add("make_dataset", numbers, attrs, self._where)[0])

    def _as_value(self):
        """A symbolic value of this dataset in the function being traced."""
        if self._value is not None:
            return self._value
        if self._kind is None:
            raise TypeError("a window cannot be captured by a function")
        return self._node([])

    @staticmethod
    def _bare(spec, keep):
        self = _Node._whole.__new__(_Node._whole)
        self._kind, self._inputs, self._args, self._options = None, [], {}, Options()
        self._keep, self._notes, self._function, self._where = tuple(keep), [], None, None
        self._epochs, self._last, self._past = itertools.count(), None, None
        self._first_epoch = 0
        self._engine = self._value = None
        self.element_spec = spec
        return self

    @staticmethod
    def _of_engine(engine, spec, keep):
        """A dataset returned by a pipeline, such as a window."""
        self = _Node._bare(_spec.update(spec, engine.specs()), keep)
        self._engine, self._kind, self._is_of_engine = engine, engine.kind(), True
        return self

    @staticmethod
    def _of_value(value, spec):
        """A function's argument that is a dataset."""
        self = _Node._bare(_spec.update(spec.element_spec, value.engine_spec()[2].items()), spec.keep)
        self._value = value
        return self

    def _nested_specs(self):
        return self._value.engine_spec()[2] if self._engine is None else self._engine.nested()

    def _sample(self, at=0):
        """(components, spec) of one element, the first or at a position, for functions that can't be traced; None:
        there are fewer. Of an empty dataset, the first is all zeros."""
        ds, spec = self, self.element_spec
        while (
            ds._kind
            in (
                "shuffle",
                "prefetch",
                "cache",
                "repeat",
                "snapshot",
                "ignore_errors",
                "shard",
                "skip",
                "take",
            )
            and ds._inputs
        ):
            ds = ds._inputs[0]
        if ds._engine is None:
            raise TypeError("a function inside of a traced function must be traceable, too")
        n = len(_spec.components(spec))
        options = {"seed": 0, "is_unrecorded": True, "is_plain": True}
        it = _engine.Iterator(ds._engine, ds._keep, tuple(range(n)), options, None)
        element = _first_good(it, at)
        if element is None:
            return None if at else (_spec.blank(spec), spec)
        return element, spec
