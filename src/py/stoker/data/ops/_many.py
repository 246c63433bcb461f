# SPDX-License-Identifier: Apache-2.0
"""Functions of other packages that take many elements at once: in a traced function the engine calls them from its
threads with whole blocks of elements; otherwise they are called for one."""

import numpy as np

from ..core import _call, _eager, _function, _trace
from ..core._value import Value, number_in


def by_many(f, inputs, specs, note):
    """f's results for the inputs: arrays, or symbolic values in a traced function.

    f(n, *columns) gets for each input an array of n elements, or a list of n arrays. It returns (how many were done, a
    list of results in either form, None or the exception of the next element). specs: of an element's results. note:
    shown by explain().
    """
    inputs = [_call.convert(v) for v in inputs]
    graph = _trace.current()
    if not _call.is_symbolic(inputs) or graph is None:
        done, results, error = f(1, *[[np.asarray(v)] for v in inputs])
        if not done:
            raise error
        return [_eager.given(np.asarray(r[0])[()]) for r in results]
    host = _function.Host(f)
    graph.keep.append(host)
    graph.notes.append(f"{note} ({_trace.place(2)})")
    numbers = [number_in(graph, v) for v in inputs]
    return [Value(graph, i) for i in _function.add_host_call(graph, host, numbers, tuple(specs), True)]
