# SPDX-License-Identifier: Apache-2.0
"""A tf.data function that stays in TensorFlow: called for each element, and timed.

Used if a function's graph has an operation without an equivalent here. Only that function runs in TensorFlow; explain()
names it, the reason, and the time of its calls so far. Values are copied both ways.

Limits: components are dense. TensorFlow runs each call on the thread that requests the element, and on its own threads
if its operations use them.
"""

import threading
import time

from ..core import _spec
from ..core._spec import TensorSpec
from ._tf_graph import Unsupported, dtype_name


class Cost:
    """The time of a function's calls, as text: for notes and explain(), evaluated when shown."""

    def __init__(self, name, why):
        self.name, self.why = name, why
        self.calls, self.ns, self.lock = 0, 0, threading.Lock()

    def add(self, ns):
        with self.lock:
            self.calls, self.ns = self.calls + 1, self.ns + ns

    def __str__(self):
        if not self.calls:
            cost = "not called yet"
        else:
            cost = f"{self.ns / self.calls / 1000:,.0f} µs per element, {self.calls:,} so far"
        return f"{self.name} runs in TensorFlow for each element ({cost}): {self.why}"

    def __hash__(self):
        return id(self)

    def __eq__(self, other):
        return self is other


class InTensorFlow:
    """A concrete function, called with an element's components; returns the result's components."""

    def __init__(self, concrete, cost):
        self.concrete, self.cost = concrete, cost
        self.__name__ = cost.name

    def __call__(self, *components):
        import tensorflow as tf

        start = time.perf_counter_ns()
        out = self.concrete(*[tf.constant(v, dtype=t) for v, t in zip(components, self.types)])
        out = list(out) if isinstance(out, (list, tuple)) else [] if out is None else [out]
        made = [v.numpy() for v in out]
        self.cost.add(time.perf_counter_ns() - start)
        return made

    @property
    def types(self):
        count = len(self.concrete.inputs) - len(self.concrete.captured_inputs)
        return [t.dtype for t in self.concrete.inputs[:count]]


def specs_of(concrete):
    """The specs of a concrete function's flat results. Unsupported: one isn't dense."""
    out = []
    for t in concrete.graph.outputs:
        if t.dtype.name in ("variant", "resource"):
            raise Unsupported("TensorFlow gives sparse or ragged values, or a dataset, which cannot be copied")
        out.append(TensorSpec(None if t.shape.rank is None else t.shape.as_list(), dtype_name(t.dtype)))
    if not out:
        raise Unsupported("it gives nothing")
    return out


def check_inputs(concrete, spec):
    leaves = _spec.flatten(spec)
    if not all(isinstance(s, TensorSpec) for s in leaves):
        raise Unsupported("its elements hold sparse or ragged values, or datasets, which cannot be copied")
    count = len(concrete.inputs) - len(concrete.captured_inputs)
    if len(leaves) != count:
        raise Unsupported(f"it takes {count} values and elements have {len(leaves)}")

