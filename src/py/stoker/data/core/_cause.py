# SPDX-License-Identifier: Apache-2.0
"""Chooses the error to show for a function that couldn't be traced and then also failed as Python.

The first failure, from the trace, is the error if the program caused it: a missing name, a wrong type. The second, from
the Python run, is often only a consequence, and is shown as its context. But if the trace stopped because a value isn't
known yet, or because a library rejected a symbolic value, the second is the error.

Every message gets the place (file:line) of the user's line, unless it already has one.
"""

import re

import numpy as np

from . import _trace
from .. import errors

_REFUSED = re.compile(r"\bValues?\b")  # in another library's message about a symbolic value that it rejects
_LACKS = re.compile(r"'Value' object has no attribute '(\w+)'")
_PLACE = re.compile(r"\.py:\d+|\.ipynb|<stdin>:\d+")


def _arose_in_program(exception):
    """Is the failing line in the program or this package, rather than in another library?"""
    name, tb = "", exception.__traceback__
    while tb:
        name, tb = tb.tb_frame.f_code.co_filename, tb.tb_next
    return name.startswith(_trace.PACKAGE) or _trace.is_of_program(name)


def is_of_program(exception):
    """Is a trace's exception the program's mistake, rather than a limit of tracing?"""
    text = str(exception)
    lacks = _LACKS.search(text)
    if lacks:
        return not any(hasattr(t, lacks[1]) for t in (np.ndarray, np.float32, bytes))
    return not _REFUSED.search(text) and "ufunc" not in text and _arose_in_program(exception)


def told(exception, text):
    """The exception with another text: the same object if its class holds a single text, so that its traceback shows
    the program's line; else a new one of the same classes."""
    is_plain = len(exception.args) == 1 and isinstance(exception.args[0], str)
    if is_plain and not isinstance(exception, KeyError):  # KeyError prints its text as a string
        exception.args = (text,)
        return exception
    return errors._again(exception, text)


def _text(exception):
    one = exception.args[0] if len(exception.args) == 1 and isinstance(exception.args[0], str) else None
    return one if one is not None else str(exception)


def placed(exception, name, function=None):
    """The exception, with the program's line at the end of its text: the function's line if none of its own lines
    failed."""
    text, place = _text(exception), _trace.place_of(exception)
    if place is None and function is not None and _trace.place_of_function(function):
        place = _trace.shown(_trace.place_of_function(function))
    if place is None or _PLACE.search(text):
        return exception
    return told(exception, f"{text}\n  at {place}, in {name}")


def after_python(first, second, name, why, function):
    """The exception to raise for a function that failed in the trace (first, None: a value was unknown) and then as
    Python (second)."""
    if first is not None and first is not second and is_of_program(first):
        is_same = type(first) is type(second) and _text(first) == _text(second)
        first = placed(first, name)
        if is_same:
            return first
        at = _trace.place_of(second)
        shown = f"{type(second).__name__}: {_text(second).splitlines()[0] if _text(second) else ''}"
        context = f"\n  it was then run as Python, which failed too{f' at {at}' if at else ''}: {shown}"
        first = told(first, _text(first) + context)
        first.__cause__ = second
        return first
    second = placed(second, name, function)
    return told(second, f"{_text(second)}\n  it ran as Python, as it can't be traced: {why}")


