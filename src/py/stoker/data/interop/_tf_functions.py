# SPDX-License-Identifier: Apache-2.0
"""Imports the function of a TensorFlow stage, in the first of three ways that works.

Tracing its Python source over this module's names gives the best code, because operations stay whole (_tf_names.py).
TensorFlow's graph has what the source doesn't show (_tf_graph.py). If the graph has an operation without an equivalent,
TensorFlow runs the function for each element (_tf_fallback.py). A way is accepted only if its results have the same
types and shapes. Source is rejected if what it reads has changed since TensorFlow traced it, such as a loop variable:
TensorFlow traces it again, and both graphs must be equal.
"""

from ..core import _function, _trace
from . import _tf_datasets, _tf_fallback, _tf_graph, _tf_image_ops, _tf_names  # noqa: F401


class Untaken(Exception):
    """None of the ways works; has each one's reason."""


def taken(wrapped, spec, what):
    """A function over elements of a spec, equivalent to TensorFlow's wrapped function. Raises Untaken."""
    concrete = getattr(wrapped, "function", None)
    expected = getattr(wrapped, "output_structure", None) if concrete is not None else None
    retraced, reads_values = _tf_names.function(wrapped._func)
    why = [_problem(retraced, spec, what, expected)]
    if why[0] is None and reads_values and concrete is not None and not _is_as_traced(wrapped, concrete):
        why[0] = f"{what} {_trace.name_of(wrapped._func)} reads values that have changed since TensorFlow traced it"
    if why[0] is None:
        return retraced
    if concrete is None:  # a TensorFlow version that stores it elsewhere
        raise Untaken(why[0])
    for way, make in (("from its graph", _from_graph), ("in TensorFlow", _in_tensorflow)):
        try:
            f = make(wrapped, concrete, spec, why[-1])
            problem = _problem(f, spec, what, expected)
        except _tf_graph.Unsupported as e:
            problem = str(e)
        if problem is None:
            return f
        why.append(f"{way}: {problem}")
    raise Untaken("; ".join(why))


def _problem(f, spec, what, expected):
    """Why a function isn't equivalent to TensorFlow's; None: it is."""
    try:
        made = _function.function(f, spec, what)
    except TypeError as e:
        return getattr(f, "refused", None) or str(e)
    except Exception as e:  # unsupported while tracing: the program's error, or something missing here
        return f"{what} {_trace.name_of(f)}: {type(e).__name__}: {str(e).splitlines()[0] if str(e) else ''}"
    if expected is None:
        return None
    return _tf_names.difference(expected, made.spec, "what it gives")


def _is_as_traced(wrapped, concrete):
    """Does tracing the function again, in TensorFlow, give the same graph?"""
    try:
        again = type(wrapped)(wrapped._func, "from_tf", input_structure=wrapped._input_structure).function
    except Exception:  # something it needs is gone
        return False
    return _print_of(again) == _print_of(concrete)


def _print_of(concrete):
    """What a function computes, without TensorFlow's generated names."""
    definition = concrete.graph.as_graph_def()
    bodies = [definition.node] + [f.node_def for f in definition.library.function]
    values = [_captured(t) for t in concrete.captured_inputs]
    return sorted([[_print_of_node(n) for n in body] for body in bodies]), values


def _print_of_node(node):
    attrs = [
        (k, v.SerializeToString(deterministic=True))
        for k, v in node.attr.items()
        if not (k.startswith("_") or k == "token" or v.HasField("func") or v.list.func)
    ]
    return node.op, sorted(attrs)


def _captured(tensor):
    if tensor.dtype.name in ("resource", "variant"):
        return id(tensor)
    return tensor.dtype.name, tensor.numpy().tobytes() if hasattr(tensor.numpy(), "tobytes") else tensor.numpy()


def _named(f, wrapped):
    f.__name__ = f.__qualname__ = _trace.name_of(wrapped._func)
    return f


def _from_graph(wrapped, concrete, spec, why):
    call = _tf_graph.call_of(concrete)
    structure = wrapped.output_structure

    def function(*element):
        try:
            return _tf_datasets.shaped(call(*_inputs(element)), structure)
        except _tf_graph.Unsupported as e:
            function.refused = str(e)
            raise

    return _named(function, wrapped)


def _inputs(element):
    """The flat values of an element, with datasets as in TensorFlow's graphs."""
    return [_tf_datasets.flat(v) if hasattr(v, "flat_map") else v for v in _tf_datasets.of_element(element)]


def _in_tensorflow(wrapped, concrete, spec, why):
    _tf_fallback.check_inputs(concrete, spec)
    specs = _tf_fallback.specs_of(concrete)
    cost = _tf_fallback.Cost(_trace.name_of(wrapped._func), why)
    caller = _tf_fallback.InTensorFlow(concrete, cost)
    structure = wrapped.output_structure

    def function(*element):
        values = _function.numpy_function(caller, _tf_datasets.of_element(element), specs)
        graph = _trace.current()
        if graph is not None:
            graph.notes[-1:] = [cost]  # replaces the note of a Python function
        return _tf_datasets.shaped(values, structure)

    return _named(function, wrapped)
