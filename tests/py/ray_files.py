# SPDX-License-Identifier: Apache-2.0
"""Shared by the tests of Ray: an interpreter with Ray (STOKER_RAY_PYTHON names one, if python3 has none), and
a cluster on this machine."""

import contextlib
import logging
import os
import sys

import checks as c

os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
try:
    import ray
except ImportError:
    other = os.environ.pop("STOKER_RAY_PYTHON", None)
    if other:
        os.execv(other, [other, *sys.argv])
    ray = None


def have():
    """Is Ray there? Otherwise the test is skipped, and says so."""
    if ray is None:
        c.skip("ray is not installed; STOKER_RAY_PYTHON can name an interpreter that has it")
    return ray is not None


@contextlib.contextmanager
def cluster(cpus=2):
    """Ray on this machine, quiet."""
    quiet = {"include_dashboard": False, "configure_logging": False, "log_to_driver": False}
    ray.init(address="local", num_cpus=cpus, object_store_memory=256 << 20, **quiet)
    logging.getLogger("ray.data").setLevel(logging.ERROR)
    ray.data.DataContext.get_current().enable_progress_bars = False
    try:
        yield ray
    finally:
        ray.shutdown()
