# SPDX-License-Identifier: Apache-2.0
"""TensorFlow names that structure a graph (name_scope, device, control_dependencies) and have no effect here, which
explain() notes if it matters; nested structures (tf.nest); checks of types and shapes (tf.debugging)."""

import contextlib
import logging
import time

import numpy as np

from ..core import _call, _dtypes, _spec, _trace
from ..core._call import convert, is_symbolic, run, same, static_ints
from ..core._trace import TraceError
from ..core._value import Value
from ..errors import InvalidArgumentError
from ._ops import do, publish


def _noted(text):
    graph = _trace.current()
    if graph is not None:
        graph.notes.append(text)


class _Scope(contextlib.ContextDecorator):
    """A context without effect."""

    def __init__(self, name=""):
        self.name = name

    def __enter__(self):
        return self.name if isinstance(self.name, str) else ""

    def __exit__(self, *exc):
        return None


@publish("name_scope")
def name_scope(name=None, default_name=None, values=None):
    """Accepted: operations have source lines instead of names."""
    return _Scope(name or default_name or "")


@publish("control_dependencies")
def control_dependencies(control_inputs=None):
    """Accepted: an operation whose result is unused doesn't run; an assertion always does."""
    if any(isinstance(v, Value) and not _checks(v) for v in control_inputs or ()):
        _noted(f"control_dependencies has no effect ({_trace.place(2)}): what it lists runs only if its values are used")
    return _Scope()


def _checks(value):
    return any(op == "assert_true" and start == value.i for op, _, _, _, start in value.graph.log)


@publish("device")
def device(device_name=None):
    """Accepted: functions run on the CPU. Dataset.to_device brings elements to a GPU."""
    if device_name and "cpu" not in str(device_name).lower():
        _noted(f"device({device_name!r}) has no effect ({_trace.place(2)}): functions run on the CPU; Dataset.to_device copies elements")
    return _Scope()


@publish("autograph.experimental.do_not_convert")
def do_not_convert(func=None):
    """The function itself, or a decorator that gives it: functions are traced as they are."""
    return func if func is not None else do_not_convert


@publish("autograph.experimental.set_loop_options")
def set_loop_options(parallel_iterations=None, swap_memory=None, maximum_iterations=None, shape_invariants=None):
    """Accepted: a loop of Python runs as it is written."""


@publish("init_scope")
def init_scope():
    """Accepted."""
    return _Scope()


@publish("get_current_name_scope")
def get_current_name_scope():
    """Always empty."""
    return ""


@publish("group")
def group(*inputs, name=None):
    """Accepted; returns None."""


@publish("no_op")
def no_op(name=None):
    """Does nothing."""


def tuple_of(tensors, control_inputs=None, name=None):
    """The values, as a list."""
    return [None if t is None else do.identity(t) for t in tensors]


@publish("identity_n")
def identity_n(input, name=None):
    """The values, as a list."""
    return [do.identity(t) for t in input]


@publish("get_static_value")
def get_static_value(tensor, partial=False):
    """The array, if it is known now; else None."""
    return tensor.constant() if isinstance(tensor, Value) else np.asarray(tensor)


@publish("is_symbolic_tensor")
def is_symbolic_tensor(tensor):
    """Is it a value of a function being traced?"""
    return isinstance(tensor, Value)


@publish("inside_function")
def inside_function():
    """Is a function being traced?"""
    return _trace.current() is not None


@publish("get_logger")
def get_logger():
    """Python's logger "stoker.data"."""
    return logging.getLogger("stoker.data")


@publish("timestamp")
def timestamp(name=None):
    """Seconds since 1970, float64: a function that uses it runs as Python for each element."""
    return np.float64(time.time())


@publish("type_spec_from_value")
def type_spec_from_value(value):
    """The TensorSpec of a value: its shape and dtype."""
    if hasattr(value, "parts"):
        return value.spec()
    x = convert(value)
    return _spec.TensorSpec(x.shape, _call.dtype_of(x))


def _passed(names, doc):
    def f(f=None):
        return f

    f.__name__ = f.__qualname__ = names.split(",")[0]
    f.__doc__ = doc
    publish(names)(f)


_passed("no_gradient,NoGradient,NotDifferentiable", "Accepted: there are no gradients here.")
_passed("recompute_grad,nondifferentiable_batch_function,grad_pass_through", "The function: there are no gradients here.")


@publish("custom_gradient")
def custom_gradient(f=None):
    """The function's value, without its gradient."""
    return lambda *args, **kwargs: f(*args, **kwargs)[0]


# Nested structures


@publish("nest.is_nested")
def is_nested(structure):
    """Is it a list, tuple or dict?"""
    return isinstance(structure, (list, tuple, dict))


def _items(s):
    return [s[k] for k in _spec.sorted_keys(s)] if isinstance(s, dict) else list(s)


@publish("nest.flatten")
def nest_flatten(structure, expand_composites=False):
    """The leaves as a list; dicts by sorted key. Lists are structures, too."""
    if not is_nested(structure):
        if expand_composites and hasattr(structure, "parts"):
            return list(structure.parts())
        return [structure]
    return [leaf for part in _items(structure) for leaf in nest_flatten(part, expand_composites)]


def _like(structure, parts):
    """A structure of the same kind from its parts, in the order of _items."""
    if isinstance(structure, dict):
        made = dict(zip(_spec.sorted_keys(structure), parts))
        return type(structure)((k, made[k]) for k in structure)
    if _spec.is_namedtuple(structure):
        return type(structure)(*parts)
    return type(structure)(parts)


@publish("nest.map_structure")
def map_structure(func, *structure, **kwargs):
    """The same structure with func(leaf, ...) over the leaves of one or more structures."""
    if not callable(func):
        raise TypeError(f"func must be callable, not {type(func).__name__}")
    if not structure:
        raise ValueError("map_structure takes a structure")
    for other in structure[1:]:
        assert_same_structure(structure[0], other, kwargs.get("check_types", True))
    first = structure[0]
    if not is_nested(first):
        return func(*structure)
    return _like(first, [map_structure(func, *parts) for parts in zip(*(_items(s) for s in structure))])


@publish("nest.pack_sequence_as")
def pack_sequence_as(structure, flat_sequence, expand_composites=False):
    """A structure like the first, with those leaves."""
    flat = list(flat_sequence)
    if len(flat) != len(nest_flatten(structure)):
        raise ValueError(f"the structure has {len(nest_flatten(structure))} leaves, {len(flat)} were given")
    it = iter(flat)
    return map_structure(lambda _: next(it), structure)


@publish("nest.assert_same_structure")
def assert_same_structure(nest1, nest2, check_types=True, expand_composites=False):
    """ValueError or TypeError: the structures differ."""
    if is_nested(nest1) != is_nested(nest2):
        raise ValueError(f"the structures differ: {nest1!r:.80} and {nest2!r:.80}")
    if not is_nested(nest1):
        return
    kinds = [dict if isinstance(n, dict) else type(n) for n in (nest1, nest2)]
    if check_types and kinds[0] is not kinds[1]:
        raise TypeError(f"the structures differ: {type(nest1).__name__} and {type(nest2).__name__}")
    if isinstance(nest1, dict) and set(nest1) != set(nest2):
        raise ValueError(f"the structures have different keys: {sorted(nest1)} and {sorted(nest2)}")
    if len(nest1) != len(nest2):
        raise ValueError(f"the structures differ in length: {len(nest1)} and {len(nest2)}")
    for a, b in zip(_items(nest1), _items(nest2)):
        assert_same_structure(a, b, check_types)


# Checks


def _rank_check(name, test, words):
    def f(x, rank, message=None, name=None):
        x = convert(x)
        wanted = static_ints(rank)
        if wanted is None:
            raise TraceError(f"{name}: rank must be known")
        if x.shape is not None and not test(len(x.shape), wanted):
            raise ValueError(f"{message + ': ' if message else ''}the rank is {len(x.shape)}, {words} {wanted if len(wanted) > 1 else wanted[0]} was expected")

    f.__name__ = f.__qualname__ = name
    f.__doc__ = f"ValueError: the rank differs; {words}."
    publish(f"debugging.{name},{name}" if name == "assert_rank" else f"debugging.{name}")(f)


_rank_check("assert_rank", lambda have, want: have == want[0], "exactly")
_rank_check("assert_rank_at_least", lambda have, want: have >= want[0], "at least")
_rank_check("assert_rank_in", lambda have, want: have in want, "one of")


@publish("debugging.assert_scalar")
def assert_scalar(tensor, message=None, name=None):
    """ValueError: it has dimensions."""
    x = convert(tensor)
    if x.shape is not None and len(x.shape):
        raise ValueError(f"{message + ': ' if message else ''}a scalar was expected, not shape {tuple(x.shape)}")
    return x


@publish("debugging.assert_type")
def assert_type(tensor, tf_type, message=None, name=None):
    """TypeError: it has another dtype."""
    x = convert(tensor)
    if _call.dtype_of(x) != _dtypes.as_dtype(tf_type):
        raise TypeError(f"{message + ': ' if message else ''}the dtype is {x.dtype.name}, not {_dtypes.as_dtype(tf_type).name}")


@publish("debugging.assert_integer")
def assert_integer(x, message=None, name=None):
    """TypeError: it isn't an integer type."""
    if _call.dtype_of(convert(x)).kind not in "iu":
        raise TypeError(f"{message + ': ' if message else ''}integers were expected, not {convert(x).dtype.name}")


@publish("debugging.is_numeric_tensor")
def is_numeric_tensor(tensor):
    """Is it numeric?"""
    return _call.is_typed(tensor) and _call.dtype_of(tensor).kind in "iuf"


@publish("debugging.assert_proper_iterable")
def assert_proper_iterable(values):
    """TypeError: it is a single value instead of a list."""
    if _call.is_typed(values) or isinstance(values, (str, bytes)) or not hasattr(values, "__iter__"):
        raise TypeError(f"a list of values was expected, not {type(values).__name__}")


@publish("debugging.assert_same_float_dtype")
def assert_same_float_dtype(tensors=None, dtype=None):
    """The common floating-point dtype. ValueError: they differ."""
    kinds = {_call.dtype_of(convert(t)).name for t in tensors or ()} | ({_dtypes.as_dtype(dtype).name} if dtype else set())
    if len(kinds) > 1 or any("float" not in k for k in kinds):
        raise ValueError(f"one dtype of floats was expected, not {sorted(kinds)}")
    return _dtypes.as_public_dtype(kinds.pop() if kinds else "float32")


@publish("debugging.assert_shapes")
def assert_shapes(shapes, data=None, summarize=None, message=None, name=None):
    """ValueError: a value's dimensions don't match its symbols: (value, (3, "n", None)), ..."""
    known = {}
    for x, wanted in shapes.items() if isinstance(shapes, dict) else shapes:
        x, wanted = convert(x), (wanted,) if isinstance(wanted, (str, int)) else tuple(wanted)
        if x.shape is None:
            continue
        have = tuple(x.shape)
        if wanted and wanted[0] in (Ellipsis, "*"):
            wanted = wanted[1:]
            have = have[len(have) - len(wanted) :]
        if len(have) != len(wanted):
            raise ValueError(f"{message + ': ' if message else ''}shape {have} was expected to be {wanted}")
        for n, symbol in zip(have, wanted):
            if n is None or symbol in (None, ".", ""):
                continue
            symbol = int(symbol) if str(symbol).isdigit() else symbol
            want = symbol if isinstance(symbol, int) else known.setdefault(symbol, n)
            if want != n:
                raise ValueError(f"{message + ': ' if message else ''}dimension {symbol!r} of shape {have} is {n}, not {want}")


def _must_hold(condition, message):
    condition = convert(condition, np.dtype(bool))
    if not is_symbolic(condition) and not np.all(condition):
        raise InvalidArgumentError(message)
    run("assert_true", [condition], {"message": message})


@publish("debugging.check_numerics,debugging.assert_all_finite")
def check_numerics(tensor, message="", name=None):
    """The value; an element with infinities or NaN is an error."""
    x = convert(tensor)
    _must_hold(do.reduce_all(do.math.is_finite(x)), f"{message}: the value has NaN or Inf")
    return x


@publish("debugging.assert_near")
def assert_near(x, y, rtol=None, atol=None, message=None, summarize=None, name=None):
    """An element whose values differ by more than atol + rtol * |y| is an error."""
    x, y = same(x, y)
    eps = 10 * float(np.finfo(_dtypes.as_dtype(x.dtype)).eps)
    most = do.add(do.multiply(do.abs(y), convert(eps if rtol is None else rtol, x.dtype)), convert(eps if atol is None else atol, x.dtype))
    _must_hold(do.reduce_all(do.less_equal(do.abs(do.subtract(x, y)), most)), f"{message or 'assertion failed'}: x and y are not near")
