# SPDX-License-Identifier: Apache-2.0
"""Which error a user sees of a function that could not be traced and then failed as Python, too.

The first failure, of the trace, is the error if it is one of the program: a missing name, a wrong type. The
second, of the Python run, often only follows from it, and is shown as its context. But where the trace stopped
since a value is not known yet, or since a library refused a symbolic value, the second is the error.

Every message gets the place (file:line) of the user's line, where the text has none.
"""

import re

import numpy as np

from . import _trace
from .. import errors

_REFUSED = re.compile(r"\bValues?\b")  # of other code's words for a symbolic value that it does not take
_LACKS = re.compile(r"'Value' object has no attribute '(\w+)'")
_PLACE = re.compile(r"\.py:\d+|\.ipynb|<stdin>:\d+")


def _arose_in_program(exception):
    """Is the line that failed the program's, or this package's, rather than another library's?"""
    name, tb = "", exception.__traceback__
    while tb:
        name, tb = tb.tb_frame.f_code.co_filename, tb.tb_next
    return name.startswith(_trace.PACKAGE) or _trace.is_of_program(name)


def is_of_program(exception):
    """Is an exception of a trace a mistake of the program, rather than of tracing?"""
    text = str(exception)
    lacks = _LACKS.search(text)
    if lacks:
        return not any(hasattr(t, lacks[1]) for t in (np.ndarray, np.float32, bytes))
    return not _REFUSED.search(text) and "ufunc" not in text and _arose_in_program(exception)


def told(exception, text):
    """The exception with another text: the same object where its class keeps one text, so that its
    traceback shows the program's line; else one of the same classes."""
    is_plain = len(exception.args) == 1 and isinstance(exception.args[0], str)
    if is_plain and not isinstance(exception, KeyError):  # which prints its text as a string
        exception.args = (text,)
        return exception
    return errors._again(exception, text)


def _text(exception):
    one = exception.args[0] if len(exception.args) == 1 and isinstance(exception.args[0], str) else None
    return one if one is not None else str(exception)


def placed(exception, name, function=None):
    """The exception, whose text ends with where the program's line is: that of the function where none of
    its own failed."""
    text, place = _text(exception), _trace.place_of(exception)
    if place is None and function is not None and _trace.place_of_function(function):
        place = _trace.shown(_trace.place_of_function(function))
    if place is None or _PLACE.search(text):
        return exception
    return told(exception, f"{text}\n  at {place}, in {name}")


def after_python(first, second, name, why, function):
    """The exception to raise where a function failed in the trace (first, None: a value was not known) and
    then as Python (second)."""
    if first is not None and first is not second and is_of_program(first):
        is_same = type(first) is type(second) and _text(first) == _text(second)
        first = placed(first, name)
        if is_same:
            return first
        at = _trace.place_of(second)
        shown = f"{type(second).__name__}: {_text(second).splitlines()[0] if _text(second) else ''}"
        context = f"\n  it was run as Python then, which failed as well{f' at {at}' if at else ''}: {shown}"
        first = told(first, _text(first) + context)
        first.__cause__ = second
        return first
    second = placed(second, name, function)
    return told(second, f"{_text(second)}\n  it ran as Python, as it can't be traced: {why}")


