# SPDX-License-Identifier: Apache-2.0
"""Chooses one of several functions for an element (case, switch_case), and asserts conditions (debugging.assert_...).
"""

import numpy as np

from ..core._call import convert, is_symbolic, run, same
from ..core._function import cond
from ._ops import do, publish
from ..errors import InvalidArgumentError


def _holds(condition, message):
    """The condition; an element for which it is false is an error."""
    condition = convert(condition, np.dtype(bool))
    if not is_symbolic(condition) and not np.all(condition):
        raise InvalidArgumentError(message)
    return run("assert_true", [condition], {"message": message})[0]


@publish("case")
def case(pred_fn_pairs, default=None, exclusive=False, strict=False, name="case"):
    """The function of the first pair (bool scalar, function) whose bool is true; else default().

    exclusive: an error if several are true. Without a default, also an error if all are false.
    """
    pairs = list(pred_fn_pairs.items() if isinstance(pred_fn_pairs, dict) else pred_fn_pairs)
    if not pairs and default is None:
        raise InvalidArgumentError("case: there is no function")
    if any(not isinstance(p, (tuple, list)) or len(p) != 2 or not callable(p[1]) for p in pairs):
        raise TypeError("case: each pair is a bool scalar and a function")
    preds = [convert(p, np.dtype(bool)) for p, _ in pairs]
    if exclusive and len(preds) > 1:
        count = do.add_n([do.cast(p, "int32") for p in preds])
        once = _holds(do.less_equal(count, 1), "case: more than one condition is true")
        preds[0] = do.logical_and(preds[0], once)
    if default is None:
        default = pairs[-1][1]
        some = do.reduce_any(do.stack(preds))
        preds[0] = do.logical_and(preds[0], _holds(some, "case: no condition is true"))
    out = default
    for p, (_, f) in reversed(list(zip(preds, pairs))):
        out = lambda p=p, f=f, rest=out: cond(p, f, rest)
    return out()


@publish("switch_case")
def switch_case(branch_index, branch_fns, default=None, name="switch_case"):
    """branch_fns[branch_index](); for any other number default(), or the last one.

    branch_fns: functions, (number, function) pairs, or a dict of them.
    """
    fns = list(branch_fns.items() if isinstance(branch_fns, dict) else branch_fns)
    if not fns:
        raise InvalidArgumentError("switch_case: there is no function")
    if callable(fns[0]):
        fns = list(enumerate(fns))
    if any(not callable(f) for _, f in fns):
        raise TypeError("switch_case: functions, or pairs of a number and a function")
    fns = sorted(((int(k), f) for k, f in fns), key=lambda pair: pair[0])
    if len({k for k, _ in fns}) != len(fns):
        raise InvalidArgumentError("switch_case: two functions with the same number")
    index = convert(branch_index)
    out = fns[-1][1] if default is None else default
    for k, f in reversed(fns if default is not None else fns[:-1]):
        is_it = do.equal(index, np.asarray(k, index.dtype))
        out = lambda is_it=is_it, f=f, rest=out: cond(is_it, f, rest)
    return out()


@publish("image.rot90")
def rot90(image, k=1, name=None):
    """Turned counterclockwise by k quarter turns; k may be a value of the element."""
    image = convert(image)
    if not is_symbolic(k):
        return run("rot90", [image], {"k": int(k)})[0]
    quarters = do.math.floormod(k, np.asarray(4, k.dtype))
    return switch_case(quarters, [lambda n=n: run("rot90", [image], {"k": n})[0] for n in range(4)])


@publish("Assert,debugging.Assert")
def Assert(condition, data=None, summarize=None, name=None):
    """An element for which the condition isn't true (everywhere) is an error."""
    _holds(condition, "assertion failed" + _shown(data or ()))


def _shown(data):
    """What is known of the data while tracing, as text."""
    known = [v for v in data if not is_symbolic(v)]
    return "".join(f" [{v.decode() if isinstance(v, bytes) else v}]" for v in known)


def _compared(name, op, words):
    def f(x, y, message=None, summarize=None, name=None):
        x, y = same(x, y)
        _holds(getattr(do, op)(x, y), f"{message or 'assertion failed'}: x {words} y is false")

    f.__name__ = f.__qualname__ = name
    f.__doc__ = f"An element for which x {words} y is false anywhere is an error."
    return publish(f"debugging.{name},{name}" if name in _SHORT else f"debugging.{name}")(f)


def _signed(name, op, words):
    def f(x, message=None, summarize=None, name=None):
        x = convert(x)
        zero = np.zeros((), x.dtype)
        _holds(getattr(do, op)(x, zero), f"{message or 'assertion failed'}: x {words} 0 is false")

    f.__name__ = f.__qualname__ = name
    f.__doc__ = f"An element for which x {words} 0 is false anywhere is an error."
    return publish(f"debugging.{name}")(f)


_SHORT = ("assert_equal", "assert_greater", "assert_less")
for _name, _op, _words in (
    ("assert_equal", "equal", "=="),
    ("assert_none_equal", "not_equal", "!="),
    ("assert_less", "less", "<"),
    ("assert_less_equal", "less_equal", "<="),
    ("assert_greater", "greater", ">"),
    ("assert_greater_equal", "greater_equal", ">="),
):
    _compared(_name, _op, _words)
for _name, _op, _words in (
    ("assert_positive", "greater", ">"),
    ("assert_negative", "less", "<"),
    ("assert_non_negative", "greater_equal", ">="),
    ("assert_non_positive", "less_equal", "<="),
):
    _signed(_name, _op, _words)
