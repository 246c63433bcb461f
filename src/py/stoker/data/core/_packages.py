# SPDX-License-Identifier: Apache-2.0
"""Third-party packages, imported on demand."""

import importlib

_INSTALLED_AS = {"lance": "pylance"}  # package name, if it differs from the module's


def need(name, what):
    """The module with that name. ImportError: its package isn't installed; says what needs it."""
    try:
        return importlib.import_module(name)
    except ImportError as e:
        root = name.split(".")[0]
        package = _INSTALLED_AS.get(root, root)
        raise ImportError(f"{what} needs the package {package}: pip install {package} ({e})") from e
