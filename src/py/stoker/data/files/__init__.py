# SPDX-License-Identifier: Apache-2.0
"""Datasets of files, and what is written to them."""
