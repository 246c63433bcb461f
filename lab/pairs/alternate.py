# SPDX-License-Identifier: Apache-2.0
"""The stop-watch of the pairs: a job as it is and the same job with one thing changed, block by block in turn.

A pair is a function of one argument (false: as it is, true: changed) that is a loop which yields after each step. Both
arms live in one process; a block is SETTLE steps that are not measured, so that what was prefetched while the other arm
ran is used up, then BLOCK steps of one arm; blocks alternate as ABBA. Then the unmodified arm is recorded.
Limits: arms share a process, so what differs from process to process is not seen; a step is a block's mean, no median.
"""

import datetime
import importlib.metadata
import json
import os
import sys
import time

BLOCKS, BLOCK, SETTLE = 6, 20, 6


def block_ms(arm):
    """Mean step of a block."""
    for _ in range(SETTLE):
        next(arm)
    begin = time.perf_counter()
    for _ in range(BLOCK):
        next(arm)
    return (time.perf_counter() - begin) * 1000 / BLOCK


def measure(pair, block=block_ms):
    """Mean steps of the blocks of both arms, and the arms."""
    arms = [pair(False), pair(True)]
    for arm in arms:
        block(arm)
    steps = [[], []]
    for n in range(BLOCKS):
        for which in (0, 1) if n % 2 == 0 else (1, 0):
            steps[which].append(round(block(arms[which]), 3))
    return steps, arms


def save(steps, *packages):
    result = {
        "recorded": datetime.datetime.now(datetime.timezone.utc).date().isoformat(),
        "versions": {name: importlib.metadata.version(name) for name in packages},
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[0], 1),
        "before_ms": steps[0],
        "after_ms": steps[1],
    }
    with open("truth.json", "w") as out:
        json.dump(result, out)


def main(pairs, record, *packages, block=block_ms):
    """Runs the pair of the command line: it is measured without a profiler, then recorded as it is."""
    steps, arms = measure(pairs[sys.argv[1]], block)
    save(steps, *packages)
    record(arms[0])
