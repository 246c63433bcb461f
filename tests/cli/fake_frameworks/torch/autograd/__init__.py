# SPDX-License-Identifier: Apache-2.0
"""As torch.autograd."""

from . import profiler

__all__ = ["profiler", "_profiler_enabled"]


def _profiler_enabled():
    return profiler.running > 0
