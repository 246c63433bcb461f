# SPDX-License-Identifier: Apache-2.0
"""Times pairs: an unchanged job and the same job with one change, in alternating blocks.

A pair is a generator function of one argument (false: unchanged, true: changed) that yields after each step. Both arms
run in one process. A block is SETTLE steps that aren't measured, to use up what was prefetched while the other arm ran,
then BLOCK steps of one arm; blocks alternate as ABBA. Then the unmodified arm is recorded. Limits: arms share a
process, so differences between processes aren't seen; a step is a block's mean, not a median.
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
    """Runs the pair named on the command line: measures it without a profiler, then records the unchanged job."""
    steps, arms = measure(pairs[sys.argv[1]], block)
    save(steps, *packages)
    record(arms[0])
