# SPDX-License-Identifier: Apache-2.0
"""A diagnosis at the end of each window that torch.profiler records.

    with torch.profiler.profile(schedule=..., on_trace_ready=stoker.handler) as prof: ...

The window is written to stoker-profiles/ (STOKER_PROFILES names another folder) as Kineto's JSON,
compressed, under a name that identifies rank and window. Then the report of `stoker why` is printed
to standard error, by the first rank only. For the whole run: `stoker why stoker-profiles`.

Limits: a failed diagnosis never ends the training job; it prints one line.
"""

import os
import sys
import time
from typing import Any

from ._program import why


def _rank() -> int:
    """From torch.distributed if initialized, else from the launcher."""
    torch = sys.modules.get("torch")
    distributed = getattr(torch, "distributed", None)
    if distributed is not None and distributed.is_available() and distributed.is_initialized():
        return int(distributed.get_rank())
    word = os.environ.get("RANK", "0")
    return int(word) if word.isdigit() else 0


def handler(prof: Any) -> None:
    """on_trace_ready of torch.profiler.profile: writes the window, and reports where its time goes."""
    folder, rank = os.environ.get("STOKER_PROFILES") or "stoker-profiles", _rank()
    name = f"rank{rank}_{os.getpid()}.{time.time_ns()}.pt.trace.json.gz"
    path = os.path.join(folder, name)
    try:
        os.makedirs(folder, exist_ok=True)
        prof.export_chrome_trace(path)
        text = why(path).text if rank == 0 else ""
    except Exception as e:  # the job continues
        print(f"stoker: no diagnosis of this window: {type(e).__name__}: {e}", file=sys.stderr, flush=True)
        return
    if text:
        print(f"stoker: {path}\n{text}", file=sys.stderr, flush=True)
