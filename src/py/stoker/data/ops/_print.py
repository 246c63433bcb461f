# SPDX-License-Identifier: Apache-2.0
"""print for each element, within a traced function: runs Python's when the engine reaches it."""

import os
import sys

import numpy as np

from ..core import _call, _function, _spec, _trace
from ._ops import publish
from ..core._value import Value, number_in
from ..errors import InvalidArgumentError


def _number(v):
    """A number as TensorFlow prints it: the fewest digits that identify it, no `.0`."""
    if isinstance(v, (np.bool_, bool)):
        return str(int(v))
    if v.dtype.kind not in "fV":
        return str(v)
    wide = float(v)
    digits, kind = ("%.15g", np.float64) if v.dtype.itemsize == 8 else ("%.6g", v.dtype.type)
    text = digits % wide
    return text if kind(float(text)) == v else ("%.17g" if v.dtype.itemsize == 8 else "%.9g") % wide


def _items(a, edge):
    """The value in brackets; long dimensions show only their ends."""
    if np.ndim(a) == 0:
        v = a[()] if isinstance(a, np.ndarray) else a
        return f'"{v.decode("utf-8", "replace")}"' if isinstance(v, bytes) else _number(v)
    rows = range(len(a))
    if 0 <= edge and 2 * edge < len(a):
        rows = [*rows[:edge], None, *rows[len(a) - edge :]]
    parts = ["..." if i is None else _items(a[i], edge) for i in rows]
    return "[" + ("\n" * (a.ndim - 1) + " ").join(parts) + "]"


def shown(v, edge):
    """A value as text; rows after a line break are aligned."""
    out, depth = [], 0
    for line in _items(v, edge).split("\n"):
        out.append(" " * (depth - 1) + line if line and out else line)
        depth += line.count("[") - line.count("]")
    return "\n".join(out)


def _stream(name):
    if name in (sys.stdout, sys.stderr) or name in ("stdout", "stderr"):
        return name if isinstance(name, str) else "stdout" if name is sys.stdout else "stderr"
    if isinstance(name, str) and name.startswith("file://"):
        return name
    raise InvalidArgumentError(
        f"print: output_stream is sys.stdout, sys.stderr or 'file://PATH', not {name!r}"
    )


class _Printer:
    """Writes one line per call; parts: lists of texts, with None for the values."""

    def __init__(self, parts, stream, edge, sep, end):
        self.parts, self.stream, self.edge, self.sep, self.end = parts, stream, edge, sep, end

    def __call__(self, *values):
        it = iter(values)
        texts = [[shown(next(it), self.edge) if p is None else p for p in part] for part in self.parts]
        line = self.sep.join(map("".join, texts)) + self.end
        if self.stream.startswith("file://"):
            with open(self.stream[len("file://") :], "a") as f:
                f.write(line)
        else:
            stream = getattr(sys, self.stream)
            stream.write(line)
            stream.flush()
        return [np.asarray(True)]


def _parts(v, values):
    """Texts of a structure, with None for each value, which is appended to `values`."""
    if isinstance(v, (Value, bytes, np.ndarray, np.generic)):
        values.append(_call.convert(v))
        return [None]
    if isinstance(v, dict):
        items = [([f"{k!r}: "], x) for k, x in v.items()]
        ends = "{}"
    elif isinstance(v, (list, tuple)):
        items = [([], x) for x in v]
        ends = ("[", "]") if isinstance(v, list) else ("(", ",)" if len(v) == 1 else ")")
    else:
        return [repr(v)]
    out = [ends[0]]
    for i, (name, x) in enumerate(items):
        out += ([", "] if i else []) + name + _parts(x, values)
    return out + [ends[1]]


@publish("print")
def print_(*inputs, output_stream=None, summarize=3, sep=" ", end=os.linesep, name=None):
    """Prints values to sys.stderr; in a traced function, those of each element when it is made.

    output_stream: sys.stdout, sys.stderr or "file://PATH". summarize: values at each end of a
    dimension; -1: all. The stage may be ahead of the loop, and several threads don't keep the order.
    """
    values, parts = [], []
    for v in inputs:
        parts.append([v] if isinstance(v, str) else _parts(v, values))
    stream = _stream(sys.stderr if output_stream is None else output_stream)
    printer, graph = _Printer(parts, stream, int(summarize), sep, end), _trace.current()
    if graph is None:
        printer(*values)
        return
    host = _function.Host(printer)
    graph.keep.append(host)
    numbers = [number_in(graph, v) for v in values]
    _function.add_host_call(graph, host, numbers, _spec.TensorSpec((), "bool"))
    graph.notes.append(f"print runs as Python for each element ({_trace.place(1)})")
