# SPDX-License-Identifier: Apache-2.0
"""Packages of other frameworks, imported on demand."""

from ..core import _packages


def need(name):
    return _packages.need(name, "this adapter")
