# SPDX-License-Identifier: Apache-2.0
"""Packages of other frameworks: imported when they are asked for."""

import importlib


def need(name):
    try:
        return importlib.import_module(name)
    except ImportError as e:
        raise ImportError(
            f"this adapter needs the package {name}, which is not installed: {e}"
        ) from e
