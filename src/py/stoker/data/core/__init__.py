# SPDX-License-Identifier: Apache-2.0
"""What every pipeline is made of: specs, values, tracing, datasets, how they run."""
