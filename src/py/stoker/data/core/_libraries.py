# SPDX-License-Identifier: Apache-2.0
"""The engine's operations by name, and the libraries (stoker/plugin.h) that some come from."""

from .. import _engine

op_names = _engine.op_names()  # operation -> description
_libraries = {}  # operation -> path of the library that has it


def libraries_of(ops):
    """Paths of the libraries that define these operations."""
    return tuple(dict.fromkeys(_libraries[op] for op in ops if op in _libraries))


def load(path):
    """Loads a library; returns the names of its operations."""
    names = _engine.load_plugin(path)
    _libraries.update((name, path) for name in names)
    op_names.update(_engine.op_names())
    return names
