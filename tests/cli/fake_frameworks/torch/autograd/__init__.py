# SPDX-License-Identifier: Apache-2.0
"""As torch.autograd: a backward pass that works nothing out."""

from . import profiler

__all__ = ["backward", "profiler", "_profiler_enabled"]


def _profiler_enabled():
    return profiler.running > 0


def backward(*tensors):
    pass
