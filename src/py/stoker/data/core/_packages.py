# SPDX-License-Identifier: Apache-2.0
"""Packages of others, imported when something asks for them."""

import importlib

_INSTALLED_AS = {"lance": "pylance"}  # where it has another name than the module


def need(name, what):
    """The module of that name. ImportError: its package is not installed; says what needs it."""
    try:
        return importlib.import_module(name)
    except ImportError as e:
        root = name.split(".")[0]
        package = _INSTALLED_AS.get(root, root)
        raise ImportError(f"{what} needs the package {package}: pip install {package} ({e})") from e
