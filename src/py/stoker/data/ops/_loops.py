# SPDX-License-Identifier: Apache-2.0
"""Loops over values: map_fn, while_loop, scan, foldl, foldr.

In a traced function they become datasets of a value's slices (from_tensor_slices, map, scan, reduce), which are native
code; outside they are Python loops.
"""

import numpy as np

from ..core import _call, _spec, _trace
from ..core._dataset import Dataset
from ..core._function import cond as _cond
from ._ops import do, publish
from ..core._trace import TraceError
from ..errors import InvalidArgumentError


def _as_element(structure):
    """Lists as tuples: in datasets a list is a single value."""
    if isinstance(structure, list):
        return tuple(_as_element(v) for v in structure)
    return _spec.map_structure(lambda v: v if hasattr(v, "parts") else _call.convert(v), structure)


def _back(structure, given):
    """The result in the argument's form: a list for a list."""
    return list(structure) if isinstance(given, list) and isinstance(structure, tuple) else structure


def _length(elems):
    """The number of slices: an int, or a symbolic value."""
    leaves = _spec.flatten(elems)
    if not leaves:
        raise InvalidArgumentError("there is no value to loop over")
    if leaves[0].shape is not None and len(leaves[0].shape) == 0:
        raise InvalidArgumentError("a scalar has no slices to loop over")
    shape = do.shape(leaves[0], out_type="int64")
    return shape[0] if _call.is_symbolic(shape) else int(shape[0])


def _slices(elems):
    """A list of the slices of arrays."""
    return [_spec.map_structure(lambda v: v[i], elems) for i in range(_length(elems))]


def _stacked(results, what):
    if not results:
        raise InvalidArgumentError(f"{what}: there are no slices, so its result is unknown")
    leaves = zip(*[_spec.flatten(_as_element(r)) for r in results])
    made = iter([_call.run("stack", _call.same(*parts), {"axis": 0})[0] for parts in leaves])
    return _spec.map_structure(lambda _: next(made), _as_element(results[0]))


def _alone(f, elems):
    """f with one argument, the element, for a dataset that spreads tuples."""
    spread = type(elems) is tuple
    return lambda *e: _as_element(f(e if spread else e[0]))


def _from_slices(elems):
    return Dataset.from_tensor_slices(elems)


def _is_traced(*structures):
    return _trace.current() is not None or any(
        _call.is_symbolic(v) for s in structures for v in _spec.flatten(s)
    )


def _collected(ds, elems, what):
    """Stacks all elements of a dataset."""
    n = _length(elems)
    if not _call.is_symbolic(n) and n == 0:
        raise InvalidArgumentError(f"{what}: there are no slices, so its result is unknown")
    out = ds.batch(n if _call.is_symbolic(n) else max(n, 1)).get_single_element()
    if _call.is_symbolic(n):
        return out

    def known(v):
        rest = (None,) if v.shape is None else tuple(v.shape)[1:]
        return v if v.shape is None else do.ensure_shape(v, (n,) + rest)

    return _spec.map_structure(known, out)


@publish("map_fn,vectorized_map")
def map_fn(
    fn,
    elems,
    dtype=None,
    parallel_iterations=None,
    back_prop=True,
    swap_memory=False,
    infer_shape=True,
    name=None,
    fn_output_signature=None,
):
    """fn of each slice of elems (a value, or a structure of them) along the first dimension, stacked.

    dtype and fn_output_signature are accepted but unused: fn's result determines them.
    """
    given, elems = elems, _as_element(elems)
    if not _is_traced(elems):
        return _back(_stacked([fn(_back(e, given)) for e in _slices(elems)], "map_fn"), given)
    mapped = _from_slices(elems).map(_alone(lambda e: fn(_back(e, given)), elems))
    return _collected(mapped, elems, "map_fn")


def _begin(elems, initializer):
    """(the initial accumulator, the remaining slices): without an initializer the first slice."""
    if initializer is not None:
        return _as_element(initializer), elems
    first = _spec.map_structure(lambda v: v[0], elems)
    return first, _spec.map_structure(lambda v: v[1:], elems)


@publish("scan")
def scan(
    fn,
    elems,
    initializer=None,
    parallel_iterations=10,
    back_prop=True,
    swap_memory=False,
    infer_shape=True,
    reverse=False,
    name=None,
):
    """Stacks the results of fn(accumulator, slice) for each slice in order. Without an initializer the first slice is
    the first result."""
    elems = _as_element(elems)
    if reverse:
        elems = _spec.map_structure(lambda v: do.reverse(v, [0]), elems)
    whole = elems
    state, elems = _begin(elems, initializer)
    if _is_traced(elems, state):

        def step(s, *e):
            out = _as_element(fn(s, e if len(e) > 1 else e[0]))
            return out, out

        ds = _from_slices(elems).scan(state, step)
        if initializer is None:
            ds = Dataset.from_tensors(state).concatenate(ds)
        out = _collected(ds, whole, "scan")
    else:
        results = [state] if initializer is None else []
        for e in _slices(elems):
            state = _as_element(fn(state, e))
            results.append(state)
        out = _stacked(results, "scan")
    return _spec.map_structure(lambda v: do.reverse(v, [0]), out) if reverse else out


def _folded(fn, elems, initializer):
    state, elems = _begin(elems, initializer)
    if _is_traced(elems, state):
        return _from_slices(elems).reduce(state, lambda s, e: _as_element(fn(s, e)))
    for e in _slices(elems):
        state = _as_element(fn(state, e))
    return _plain(state)


def _plain(state):
    """Arrays without dimensions as scalars."""
    return _spec.map_structure(lambda v: v[()] if isinstance(v, np.ndarray) else v, state)


@publish("foldl")
def foldl(
    fn,
    elems,
    initializer=None,
    parallel_iterations=10,
    back_prop=True,
    swap_memory=False,
    name=None,
):
    """fn(accumulator, slice) over the slices of elems in order; starts with the first by default."""
    return _folded(fn, _as_element(elems), initializer)


@publish("foldr")
def foldr(
    fn,
    elems,
    initializer=None,
    parallel_iterations=10,
    back_prop=True,
    swap_memory=False,
    name=None,
):
    """The same starting from the last slice."""
    elems = _spec.map_structure(lambda v: do.reverse(v, [0]), _as_element(elems))
    return _folded(fn, elems, initializer)


def _python_loop(cond, body, state, most):
    count = 0
    while (most is None or count < most) and bool(np.asarray(cond(*state))):
        state, count = _as_state(body(*state)), count + 1
    return _plain(state)


def _as_state(result):
    return _as_element(tuple(result) if isinstance(result, (tuple, list)) else (result,))


@publish("while_loop")
def while_loop(
    cond,
    body,
    loop_vars,
    shape_invariants=None,
    parallel_iterations=10,
    back_prop=True,
    swap_memory=False,
    maximum_iterations=None,
    name=None,
):
    """Runs body(*loop_vars) while cond(*loop_vars) holds; returns the variables in a list or tuple, as given."""
    state = _as_state(loop_vars)
    most = None if maximum_iterations is None else _call.convert(maximum_iterations)
    if not _is_traced(state):
        return _back(_python_loop(cond, body, state, most), loop_vars)
    numbers = Dataset.counter()

    def step(state, number):
        goes_on = _call.convert(cond(*state), np.dtype(bool))
        if most is not None:
            limit = do.cast(most, "int64")
            goes_on = do.logical_and(goes_on, do.less(number, limit))
        following = _cond(goes_on, lambda: _fitting(_as_state(body(*state)), state), lambda: state)
        return following, (goes_on, state)

    ends = numbers.scan(state, step).filter(lambda goes_on, _: do.logical_not(goes_on))
    return _back(ends.take(1).map(lambda _, state: state).get_single_element(), loop_vars)


def _fitting(made, state):
    """TypeError: the body returns other variables than it takes."""
    if len(_spec.flatten(made)) != len(_spec.flatten(state)):
        raise TraceError(
            f"while_loop: body gives {len(_spec.flatten(made))} values for "
            f"{len(_spec.flatten(state))} variables"
        )
    return made
