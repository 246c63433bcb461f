# SPDX-License-Identifier: Apache-2.0
"""Functions of pipelines: traced into graphs or, if that fails, called for each element."""

import inspect
import warnings

import numpy as np

from .. import _engine, errors
from . import _call, _cause, _dtypes, _eager, _impure, _paths, _sparse, _spec, _trace
from ._node import _Node
from ._spec import DatasetSpec, RaggedTensorSpec, SparseTensorSpec, TensorSpec
from ._value import Value, number_in


class Host(int):
    """A Python callable for the engine, registered as long as this object lives: its number."""

    def __new__(cls, function):
        self = super().__new__(cls, _engine.register(function))
        self.function = function
        return self

    def __del__(self, unregister=_engine.unregister):  # modules may be gone at exit
        unregister(int(self))

    def __reduce__(self):
        return Host, (self.function,)


class Function:
    """A function over elements of a spec: the engine's graph, the result's spec, and notes."""

    def __init__(self, fn, spec, name, why=None, notes=(), keep=(), captures=(), made=()):
        self.fn, self.spec, self.name, self.why = fn, spec, name, why
        self.notes, self.keep, self.captures = list(notes), list(keep), list(captures)
        self.made = list(made)  # kinds of the datasets it creates

    def __getstate__(self):
        return dict(self.__dict__, captures=[])  # symbols of a finished trace

    @property
    def is_native(self):
        return self.why is None


def make_leaf(leaf, parts):
    """What a function gets for a leaf of its argument: Values, or an object built from them."""
    if isinstance(leaf, DatasetSpec):
        return parts[0] if isinstance(parts[0], _Node) else _Node._of_value(parts[0], leaf)
    if isinstance(leaf, SparseTensorSpec):
        return _sparse.SparseTensor(*parts, shape=leaf.shape)
    if isinstance(leaf, RaggedTensorSpec):
        return _sparse.RaggedTensor(parts[0], parts[1:])
    return leaf.make(parts) if hasattr(leaf, "make") else parts[0]


def arguments(spec, parts, is_single=False):
    """Positional arguments for an element: a tuple is spread, anything else is one argument."""
    element = _spec.pack(spec, parts, make_leaf)
    return list(element) if type(spec) is tuple and not is_single else [element]


def result_leaves(result, keep):
    """(spec, values) of a function's result: flat Values and arrays."""
    values = []

    def leaf(v):
        if isinstance(v, _Node):
            values.append(v._as_value())
            keep.extend(v._keep)
            spec = DatasetSpec(v.element_spec)
            spec.keep = tuple(v._keep)
            return spec
        if hasattr(v, "parts") and hasattr(v, "spec"):  # sparse and ragged values, TensorArrays
            values.extend(_call.convert(p) for p in v.parts())
            return v.spec()
        v = _call.convert(v)
        values.append(v)
        return TensorSpec(v.shape, v.dtype)

    return _spec.map_structure(leaf, result), values


def function(f, element_spec, what, sample=None, out_spec=None, is_single=False):
    """Function of a Python function over elements of element_spec.

    sample() returns an element to learn the result's spec if f can't be traced; None: f must be traceable. out_spec:
    the result's spec, if known. Raises TypeError if types don't match.
    """
    if not callable(f):
        raise TypeError(f"{what} takes a function, not {type(f).__name__}")
    name = f"{what} {_trace.name_of(f)}"
    engine_specs = _spec.engine_specs(element_spec)
    parent = _trace.current()

    def args(graph):
        return arguments(
            element_spec, [Value(graph, i) for i in range(len(engine_specs))], is_single
        )

    def traced():
        return _trace.trace(f, args, engine_specs, name, parent)

    notes, may_be_python = [], sample is not None or out_spec is not None
    try:
        with _impure.Watch(f) as watch:
            graph, result, why, first = traced()
        if why is None:
            made, why = _native(graph, result, name)
            if made is not None and watch.changed:
                why = _impurity(watch, traced, made, name)
                if why is not None or watch.has_time:
                    notes = [f"{name}: {why or watch.reason(_trace.shown(watch.place))}"]
                if why is not None and may_be_python:
                    _warn(watch, why, name)
                    out_spec = _without_lengths(made.spec) if out_spec is None else out_spec
                else:
                    made.notes.extend(notes)
                    why = None
            if why is None:
                return made
    except Exception as e:
        shown = _cause.placed(e, name, f)
        raise shown from shown.__cause__  # the original, with the line where it was raised
    _check_arguments(f, args(graph), name, element_spec)
    if not may_be_python:
        if first is not None and _cause.is_of_program(first):
            raise _cause.placed(first, name)
        raise TypeError(
            f"{name} can't be traced ({why}), but {what} needs that; use sd.cond or sd.where"
        ) from first
    ways = _ways(traced, name) if graph.asked and not watch.changed else None
    return _per_element(f, element_spec, name, why, sample, out_spec, is_single, first, notes, ways)


def _ways(traced, name):
    """Finds the result's specs for each way that the function's choices can go."""

    def run():
        graph, result, why, _ = traced()
        made = _native(graph, result, name)[0] if why is None else None
        return None if made is None else made.spec

    return lambda: _paths.specs(run)


def _native(graph, result, name):
    """(the Function of a traced result, None), or (None, why it can't be one)."""
    result = tuple(result) if isinstance(result, list) else result  # as in TensorFlow
    with _trace.tracing(graph):
        try:
            spec, values = result_leaves(result, graph.keep)
        except _trace.TraceError:
            raise
        except Exception as e:
            return None, f"{name}: {type(e).__name__}: {e}"
        numbers = [number_in(graph, v) for v in values]
        spec = _spec.update(spec, [graph.spec(i) for i in numbers])
        fn = graph.finish(numbers)
        captures = [v for v, _ in graph.captured.values()]
        made = [attrs["kind"] for op, _, attrs, _, _ in graph.log if op == "make_dataset"]
        return Function(fn, spec, name, None, graph.notes, graph.keep, captures, made), None


def _impurity(watch, traced, made, name):
    """Why a function whose environment changed during its trace can't be native; None: its result doesn't depend on
    that. Traces it once or twice more, to find dependencies and the line."""
    if not watch.has_chance:
        try:
            graph, result, why, _ = traced()
            again = _native(graph, result, name)[0] if why is None else None
        except Exception:  # it succeeded only once
            again = None
        if again is not None and again.fn.is_same(made.fn):
            return None
    with _impure.Lines(watch.changed) as lines:
        try:
            traced()
        except Exception:
            pass  # the place is known anyway
    watch.place = lines.place or watch.place or _trace.place_of_function(watch.function)
    return watch.reason(_trace.shown(watch.place))


def _warn(watch, why, name):
    """A TracingWarning at the program's line; warnings.simplefilter("error", ...) makes it an error."""
    file, line = watch.place or ("?", 0)
    text = f"{name} runs as Python for each element. {why}"
    warnings.warn_explicit(text, errors.TracingWarning, file, line)


def _without_lengths(spec):
    """The spec of a traced result, with unknown lengths; None: it isn't only dense values."""
    if any(not isinstance(leaf, TensorSpec) or leaf.shape is None for leaf in _spec.flatten(spec)):
        return None
    return _spec.map_structure(lambda s: TensorSpec((None,) * len(s.shape), s.dtype), spec)


def _check_arguments(f, values, name, element_spec):
    """TypeError: f doesn't take as many arguments as an element has."""
    try:
        inspect.signature(f).bind(*values)
    except ValueError:  # a function without a signature
        return
    except TypeError as e:
        at = _trace.place_of_function(f)
        raise TypeError(
            f"{name}{f' ({_trace.shown(at)})' if at else ''}: {e}; it is called with {len(values)}, as an element is "
            f"{element_spec}"
        ) from None


def _per_element(f, element_spec, name, why, sample, out_spec, is_single, first=None, notes=(), ways=None):
    if any(isinstance(c, DatasetSpec) for c in _spec.components(element_spec)):
        raise TypeError(
            f"{name} can't be traced ({why}), but must be, as its argument holds a dataset"
        )
    expected = "was expected"
    if out_spec is None:
        found = ways() if ways else None
        try:
            out_spec = _spec_of_sample(f, sample, name, is_single)
        except Exception as e:
            shown = _cause.after_python(first, e, name, why, f)
            raise shown from shown.__cause__
        expected = "is what it returned for the first element"
        out_spec = out_spec if found is None else _paths.refined(out_spec, found)
    host = Host(PythonCaller(f, element_spec, out_spec, is_single, expected))
    engine_specs = _spec.engine_specs(element_spec)
    graph = _trace.Graph(engine_specs, name)
    numbers = add_host_call(graph, host, list(range(len(engine_specs))), out_spec)
    return Function(graph.finish(numbers), out_spec, name, why, notes, [host])


def add_host_call(graph, host, inputs, out_spec, takes_many=False):
    """A node that calls the Python function, with many elements at once if it supports that; returns the numbers of its
    results."""
    specs = _spec.engine_specs(out_spec)
    attrs = {
        "id": host,
        "dtypes": ("ints", [dtype for dtype, _, _ in specs]),
        "ranks": ("ints", [-1 if shape is None else len(shape) for _, shape, _ in specs]),
        "dims": ("ints", [-1 if d is None else d for _, shape, _ in specs for d in shape or ()]),
        "takes_many": takes_many,
    }
    return graph.add("host_call", inputs, attrs, _trace.place(2))


class PythonCaller:
    """A callable over components: calls f with the element and returns the result's components."""

    def __init__(self, f, element_spec, out_spec, is_single=False, expected="was expected"):
        self.f, self.element_spec, self.out_spec = f, element_spec, out_spec
        self.is_single, self.expected = is_single, expected

    def __call__(self, *parts):
        with _trace.eager():
            parts = [_eager.of(p) for p in parts]
            result = self.f(*arguments(self.element_spec, parts, self.is_single))
            return result_parts(result, self.out_spec, self.expected)


def result_parts(result, out_spec, expected="was expected", who="the function"):
    """Components of a Python function's result, checked against the spec. Raises TypeError.

    expected, who: for the message: why the spec is what it is, and whose values these are.
    """
    _check_keys(result, out_spec, who)
    leaves = _spec.flatten(_as_tuple(result, out_spec))
    specs = _spec.flatten(out_spec)
    if len(leaves) != len(specs):
        raise TypeError(f"{who} gave {len(leaves)} values; {out_spec} {expected}")
    out = []
    for v, spec in zip(leaves, specs):
        if isinstance(v, (_sparse.SparseTensor, _sparse.RaggedTensor)):
            out.extend(np.asarray(p) for p in v.parts())
            continue
        try:
            a = _weak_array(v, spec.dtype)
        except TypeError as e:
            raise TypeError(f"{who} gave {v!r:.60}: {e}; {spec} {expected}") from None
        if not TensorSpec(a.shape, spec.dtype).is_compatible_with(spec):
            raise TypeError(f"{who} gave a value of shape {a.shape}; {spec} {expected}")
        out.append(a)
    return out


def _check_keys(result, spec, who):
    """TypeError: a dict's keys differ from the spec's, so its values would get wrong names."""
    if isinstance(spec, dict):
        if not isinstance(result, dict) or result.keys() != spec.keys():
            have = f"keys {sorted(result)}" if isinstance(result, dict) else f"{result!r:.60}"
            raise TypeError(f"{who} gave {have}; a dict with keys {sorted(spec)} was expected")
        for k in spec:
            _check_keys(result[k], spec[k], who)
    elif isinstance(spec, tuple) and isinstance(result, (tuple, list)):
        for part, part_spec in zip(result, spec):
            _check_keys(part, part_spec, who)


def _as_tuple(result, out_spec):
    if (
        isinstance(result, list)
        and isinstance(out_spec, tuple)
        and not _spec.is_namedtuple(out_spec)
    ):
        return tuple(result)
    return result


def _weak_array(v, dtype):
    try:
        return _dtypes.array(v, dtype)
    except TypeError:
        a = np.asarray(v)
        is_number = a.dtype.kind in "biuf" and dtype.kind in "biuf"
        if is_number and np.can_cast(a.dtype, dtype, "same_kind"):
            return a.astype(dtype)
        raise


def _spec_of_sample(f, sample, name, is_single):
    """The spec of f's result, learned from one element: dtypes and ranks, no lengths."""
    element, element_spec = sample()
    with _trace.eager():
        result = f(*arguments(element_spec, [_eager.of(p) for p in element], is_single))
    result = tuple(result) if isinstance(result, list) else result

    def leaf(v):
        if hasattr(v, "spec") and hasattr(v, "parts"):
            return v.spec()
        a = _dtypes.array(v)
        return TensorSpec((None,) * a.ndim, a.dtype)

    return _spec.map_structure(leaf, result)


def _touts(Tout):
    if isinstance(Tout, (list, tuple)):
        return tuple(t if isinstance(t, TensorSpec) else TensorSpec(None, t) for t in Tout)
    return Tout if isinstance(Tout, TensorSpec) else TensorSpec(None, Tout)


class _OpCaller:
    """The same for a function within a traced one: wrap makes its arguments."""

    def __init__(self, f, out_spec, wrap):
        self.f, self.out_spec, self.wrap = f, out_spec, wrap

    def __call__(self, *parts):
        with _trace.eager():
            return result_parts(self.f(*[self.wrap(p) for p in parts]), self.out_spec)


def _as_is(v):
    return v


def _python_op(f, inputs, Tout, wrap):
    inputs = [_call.convert(v) for v in (inputs if isinstance(inputs, (list, tuple)) else [inputs])]
    out_spec = _touts(Tout)
    graph = _trace.current()
    call = _OpCaller(f, out_spec, wrap)
    if graph is None:
        out = [_eager.given(a[()] if a.ndim == 0 else a) for a in call(*inputs)]
    else:
        host = Host(call)
        graph.keep.append(host)
        numbers = [number_in(graph, v) for v in inputs]
        out = [Value(graph, i) for i in add_host_call(graph, host, numbers, out_spec)]
        where = _trace.place(3)
        graph.notes.append(f"{_trace.name_of(f)} runs as Python for each element ({where})")
    return list(out) if isinstance(Tout, (list, tuple)) else out[0]


def py_function(func=None, inp=None, Tout=None, name=None):
    """Runs Python for each element, within a traced function.

    func gets arrays that also have .numpy(). inp: its arguments. Tout: dtype or TensorSpec of the result, or a list of
    them. Only a TensorSpec makes shapes known.
    """
    return _python_op(func, inp or [], Tout, _eager.of)


def numpy_function(func=None, inp=None, Tout=None, stateful=True, name=None):
    """The same, with NumPy arrays, scalars and bytes."""
    return _python_op(func, inp or [], Tout, _as_is)


def cond(pred, true_fn=None, false_fn=None, name=None):
    """true_fn() if pred is true, else false_fn(). Only one is computed for each element."""
    if not isinstance(pred, Value):
        return true_fn() if bool(np.asarray(pred)) else false_fn()
    known = pred.constant()
    if known is not None:
        return true_fn() if known else false_fn()
    graph = _trace.current()
    sides = [_branch(f, graph, side) for f, side in ((true_fn, "true_fn"), (false_fn, "false_fn"))]
    captured = {}
    for side in sides:
        for key, (value, _) in side[0].captured.items():
            captured.setdefault(key, value)
    fns = []
    for side, _, values in sides:
        for value in captured.values():  # both take the same inputs, in the same order
            side.capture(value)
    order = list(sides[0][0].captured)
    for side, spec, values in sides:
        side = _reordered(side, order)
        fns.append(
            side.finish(
                [number_in(side, v) if not isinstance(v, int) else v for v in values]
            )
        )
        graph.keep.extend(side.keep)
    specs = [_spec.components(s[1]) for s in sides]
    if [s.dtype for s in specs[0]] != [s.dtype for s in specs[1]]:
        raise _trace.TraceError(
            f"cond: both functions must give the same types, not {sides[0][1]} and {sides[1][1]}"
        )
    inputs = [pred] + [captured[key] for key in order]
    numbers = graph.add(
        "cond",
        [number_in(graph, v) for v in inputs],
        {"true_fn": fns[0], "false_fn": fns[1]},
        _trace.place(1),
    )
    return _spec.pack(sides[0][1], [Value(graph, i) for i in numbers], make_leaf)


def _branch(f, parent, side):
    graph = _trace.Graph([], f"cond {side}", parent)
    with _trace.tracing(graph):
        spec, values = result_leaves(f(), graph.keep)
        numbers = [number_in(graph, v) for v in values]
    parent.asked = parent.asked or graph.asked
    return graph, spec, numbers


def _reordered(graph, order):
    """The graph with its captured inputs in that order."""
    have = list(graph.captured)
    if have == order:
        return graph
    where = {key: i for i, key in enumerate(order)}
    specs = [graph.specs[have.index(key)] for key in order]
    fn = _trace.Fn(specs, graph.name)
    ids = [None] * len(graph.ids)
    for key in have:
        ids[graph.captured[key][1]] = where[key]
    for op, ins, attrs, place, start in graph.log:
        first, count = fn.add(op, [ids[i] for i in ins], attrs, place)
        ids[start : start + count] = range(first, first + count)
    graph.fn, graph.ids, graph.specs = fn, ids, specs
    return graph
