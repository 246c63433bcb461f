# SPDX-License-Identifier: Apache-2.0
"""How to run a job of bench/capture/cpu: its command and environment."""

import os
import pathlib

CPU = pathlib.Path(__file__).resolve().parent / "cpu"
RUN_SECONDS = 300  # most that a run may take


def command_of(job, envs, *options):
    return [f"{envs}/venv-{job['env']}/bin/python", str(CPU / f"{job['job']}.py"), *options]


def environment_of(job):
    return {"OMP_NUM_THREADS": "1", **os.environ, **dict(w.split("=", 1) for w in job["environment"].split())}
