# SPDX-License-Identifier: Apache-2.0
"""stoker: where the time of training goes (`stoker.why`), and input pipelines (`stoker.data`)."""

from ._handler import handler
from ._program import ProfileError, Report, program, stats, whatif, why
from ._worker import trace_worker

__version__ = "0.1.0"
__all__ = ["ProfileError", "Report", "__version__", "handler", "program", "stats", "trace_worker", "whatif", "why"]
