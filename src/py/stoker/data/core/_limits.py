# SPDX-License-Identifier: Apache-2.0
"""Limits of the process, over all of its pipelines."""

from .. import _engine
from . import _arguments

_NAMES = ("cpus", "threads", "ram_bytes")


def set_limits(cpus=None, threads=None, ram_bytes=None):
    """Limits for all pipelines of this process together, on top of each one's Options.
    None leaves a limit unchanged, 0 removes it.

    cpus: stage threads running at once, not counting the consumers' threads. threads: existing stage
    threads; without a free one, a stage runs on the thread that asks it for elements.
    ram_bytes: all buffers, including free ones and caches. Limits are never exceeded: stages wait or use
    less, and what doesn't fit is a ResourceExhaustedError. The environment sets the initial values:
    STOKER_DATA_CPUS, STOKER_DATA_THREADS, STOKER_DATA_RAM (bytes, or with a K, M or G suffix).
    """
    now = _engine.limits()
    wanted = zip(_NAMES, (cpus, threads, ram_bytes))
    _engine.set_limits(*(now[n] if v is None else _arguments.count(v, n, 0) for n, v in wanted))


def limits():
    """The limits (0: none), and all pipelines' current and peak use, as a dict."""
    return _engine.limits()
