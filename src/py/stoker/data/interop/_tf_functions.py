# SPDX-License-Identifier: Apache-2.0
"""The function of a stage of TensorFlow's, for the same stage here, in the first of three ways that works.

Its Python source, traced over this module's names, makes the best code, as whole operations stay whole
(_tf_names.py). TensorFlow's graph of it has what the source does not show (_tf_graph.py). Where that has an
operation without an equivalent, TensorFlow runs the function for each element (_tf_fallback.py). A way
is taken only if it gives values of the same types and shapes. Source is not taken if what it reads has
changed since TensorFlow traced it, such as the variable of a loop: TensorFlow traces it once more, and both
graphs must be the same.
"""

from ..core import _function, _trace
from . import _tf_datasets, _tf_fallback, _tf_graph, _tf_image_ops, _tf_names  # noqa: F401


class Untaken(Exception):
    """None of the ways works: each with its reason."""


def taken(wrapped, spec, what):
    """A function over elements of a spec that does what TensorFlow's wrapped function does. Raises Untaken."""
    concrete = getattr(wrapped, "function", None)
    expected = getattr(wrapped, "output_structure", None) if concrete is not None else None
    retraced, reads_values = _tf_names.function(wrapped._func)
    why = [_problem(retraced, spec, what, expected)]
    if why[0] is None and reads_values and concrete is not None and not _is_as_traced(wrapped, concrete):
        why[0] = f"{what} {_trace.name_of(wrapped._func)} reads values that have changed since TensorFlow traced it"
    if why[0] is None:
        return retraced
    if concrete is None:  # a version of TensorFlow that keeps it elsewhere
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
    """Why a function does not stand for TensorFlow's; None: it does."""
    try:
        made = _function.function(f, spec, what)
    except TypeError as e:
        return getattr(f, "refused", None) or str(e)
    except Exception as e:  # tracing met what it does not know: an error of the program's, or of its absence
        return f"{what} {_trace.name_of(f)}: {type(e).__name__}: {str(e).splitlines()[0] if str(e) else ''}"
    if expected is None:
        return None
    return _tf_names.difference(expected, made.spec, "what it gives")


def _is_as_traced(wrapped, concrete):
    """Does tracing the function again, in TensorFlow, give the graph that it has?"""
    try:
        again = type(wrapped)(wrapped._func, "from_tf", input_structure=wrapped._input_structure).function
    except Exception:  # what it needs is gone
        return False
    return _print_of(again) == _print_of(concrete)


def _print_of(concrete):
    """What a function computes, without the names that TensorFlow gave."""
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
    """The flat values of an element, with datasets as TensorFlow's graphs have them."""
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
