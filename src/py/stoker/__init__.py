# SPDX-License-Identifier: Apache-2.0
"""stoker: where the time of training goes (`stoker why`), and input pipelines (`stoker.data`)."""

from ._worker import trace_worker

__all__ = ["trace_worker"]
