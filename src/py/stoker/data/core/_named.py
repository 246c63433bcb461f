# SPDX-License-Identifier: Apache-2.0
"""Errors for unknown arguments: suggest the nearest name that the function has.

Python's own TypeError only says that the argument is unexpected. The function is wrapped, instead of checking its
arguments beforehand, so a correct call costs only one extra call.
"""

import difflib
import functools
import inspect
import re
import types


def hint(text, names):
    """Text to add to a TypeError: "; did you mean 'x'?", or nothing."""
    unknown = re.search(r"unexpected keyword argument '(\w+)'", text)
    if not unknown or "Did you mean" in text:
        return ""
    near = difflib.get_close_matches(unknown[1], list(names), 1, 0.6)
    return f"; did you mean '{near[0]}'?" if near else ""


def named(f):
    """The function, with such errors."""

    @functools.wraps(f)
    def call(*args, **kwargs):
        try:
            return f(*args, **kwargs)
        except TypeError as e:
            if e.__traceback__.tb_next:  # not from this call itself: errors inside have one more frame
                raise
            text = str(e)
            if f.__name__ == "__init__":  # of the called class, whichever one defines it
                text = text.replace(f.__qualname__, type(args[0]).__name__, 1)
            text += hint(text, inspect.signature(f).parameters)
            if text == str(e):
                raise
            error = TypeError(text)
        raise error from None

    return call


def wrapped(member):
    if isinstance(member, (staticmethod, classmethod)):
        return type(member)(named(member.__func__))
    return named(member) if isinstance(member, types.FunctionType) else member


def named_class(cls):
    """Decorator: wraps the methods of the class."""
    for name, member in list(vars(cls).items()):
        if not name.startswith("_") or name == "__init__":
            own = wrapped(member)
            if own is not member:
                setattr(cls, name, own)
    return cls


def named_module(names, package):
    """Wraps the package's public functions and classes in a namespace (a dict)."""
    for name, value in list(names.items()):
        if name.startswith("_") or not str(getattr(value, "__module__", "")).startswith(package):
            continue
        if isinstance(value, types.FunctionType) and not hasattr(value, "__wrapped__"):
            names[name] = named(value)
        elif isinstance(value, type) and "__init__" in vars(value):
            init = vars(value)["__init__"]
            if isinstance(init, types.FunctionType) and not hasattr(init, "__wrapped__"):
                value.__init__ = named(init)


INSIDE = ("engine", "merged", "run_options")  # methods of public classes that only this package uses


def surface_of(self):
    """An object's __dir__: public names, and Python's own."""
    names = object.__dir__(self)
    return [n for n in names if not n.startswith("_") and n not in INSIDE or n.startswith("__")]


def show_surface(classes):
    """Makes dir() of their objects show only public names."""
    for cls in classes:
        if str(cls.__module__).startswith("stoker.") and "_engine" not in cls.__module__:
            cls.__dir__ = surface_of


PACKAGES = ("core", "files", "interop")  # parts of modules without a public name


def surface(names):
    """A module's __dir__ for its namespace: public names, without the modules it uses."""

    def __dir__():
        return sorted(
            n for n, v in names.items()
            if not n.startswith("_") and n not in PACKAGES
            and (not isinstance(v, types.ModuleType) or "stoker" in v.__name__)
        )  # fmt: skip

    return __dir__
