# SPDX-License-Identifier: Apache-2.0
"""The core of every pipeline: specs, values, tracing, datasets, and running them."""
