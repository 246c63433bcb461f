# SPDX-License-Identifier: Apache-2.0
"""Custom operations, written in C: see include/stoker/plugin.h."""

import os
import types

import numpy as np

from ..core import _call, _libraries


def get_include():
    """The folder with the headers for building plug-ins: cc -shared -fPIC -I<it> ..."""
    return os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "include")


def _attribute(v):
    if isinstance(v, (list, tuple, np.ndarray)):
        items = np.asarray(v).tolist()
        if items and all(isinstance(i, (str, bytes)) for i in items):
            return ("texts", items)
        is_float = any(isinstance(i, float) for i in items)
        return ("floats", [float(i) for i in items]) if is_float else ("ints", [int(i) for i in items])
    return int(v) if isinstance(v, (bool, np.bool_)) else v.item() if isinstance(v, np.generic) else v


def _operation(name):
    def function(*inputs, **attributes):
        values = [_call.convert(v) for v in inputs]
        attrs = {k: _attribute(v) for k, v in attributes.items() if v is not None}
        out = _call.run(name, values, attrs)
        return out[0] if len(out) == 1 else tuple(out)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = (
        f"{_libraries.op_names[name]}.\n\nThe engine's own or a plug-in's: values, and attributes by keyword."
    )
    return function


def load_op_library(library_filename):
    """The operations of a plug-in (a shared library, see stoker/plugin.h), as a module of functions.

    They take values, and attributes (numbers, texts, lists of numbers) by keyword; in traced functions they run
    natively. NotFoundError: the library can't be loaded; InvalidArgumentError: it isn't a plug-in, or one of its names
    is taken.
    """
    path = os.path.abspath(os.fspath(library_filename))
    names = _libraries.load(path)
    module = types.ModuleType(
        os.path.splitext(os.path.basename(path))[0], f"Operations of {os.path.basename(path)}."
    )
    for name in names:
        setattr(module, name, _operation(name))
    return module
