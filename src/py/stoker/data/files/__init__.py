# SPDX-License-Identifier: Apache-2.0
"""Datasets of files, and writing files."""

from . import _saved  # noqa: F401 - methods of Dataset
