# SPDX-License-Identifier: Apache-2.0
"""stoker: where training time goes (`stoker.why`), and input pipelines (`stoker.data`)."""

from . import callbacks
from ._handler import handler
from ._notebook import load_ipython_extension
from ._program import ProfileError, Report, program, stats, whatif, why
from ._version import __version__
from ._worker import trace_worker

__all__ = ["ProfileError", "Report", "__version__", "callbacks", "handler", "load_ipython_extension", "program", "stats",
           "trace_worker", "whatif", "why"]  # fmt: skip
