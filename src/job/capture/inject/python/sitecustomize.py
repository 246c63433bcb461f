# SPDX-License-Identifier: Apache-2.0
"""Loaded by each Python interpreter of a job under `stoker run`, through PYTHONPATH. It starts the hooks, removes its
folder from sys.path, and loads the sitecustomize that would have been loaded without it. An error in the hooks never
reaches the job. An error in the other sitecustomize does, as usual."""

import sys


def _start():
    folder = __file__.rpartition("/")[0]
    try:
        import _stoker_core

        _stoker_core.start(folder)
    except Exception:
        pass
    sys.path[:] = [p for p in sys.path if p != folder]


def _chain():
    mine = sys.modules.pop("sitecustomize", None)
    try:
        import sitecustomize  # noqa: F401 - the job's own
    except ImportError as e:
        if e.name != "sitecustomize":
            raise
    finally:
        if mine is not None:
            sys.modules.setdefault("sitecustomize", mine)


_start()
_chain()
