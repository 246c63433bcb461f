# SPDX-License-Identifier: Apache-2.0
"""Limits of the process, over all pipelines that run in it."""

from .. import _engine
from . import _arguments

_NAMES = ("cpus", "threads", "ram_bytes")


def set_limits(cpus=None, threads=None, ram_bytes=None):
    """Limits of this process, over all pipelines that run in it, beside those of each one's Options.
    None leaves a limit as it is, 0 takes it away.

    cpus: threads of stages at work at once, to which those come that take elements. threads: of
    stages that exist; where there is none left a stage works on the thread that asks it for elements.
    ram_bytes: of buffers, free ones and caches too. They are never passed: stages wait or do with
    less, and what cannot fit is a ResourceExhaustedError. The environment sets them at first:
    STOKER_DATA_CPUS, STOKER_DATA_THREADS, STOKER_DATA_RAM (bytes, or with a K, M or G suffix).
    """
    now = _engine.limits()
    wanted = zip(_NAMES, (cpus, threads, ram_bytes))
    _engine.set_limits(*(now[n] if v is None else _arguments.count(v, n, 0) for n, v in wanted))


def limits():
    """The limits (0: none), and what all pipelines use of them now and used at most: a dict."""
    return _engine.limits()
