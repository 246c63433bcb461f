# SPDX-License-Identifier: Apache-2.0
"""The cost of an element in a map with a Python function, with and without worker processes.

    PYTHONPATH=build/release/python python3 bench/data/bench_processes.py [--seconds 1] [--rounds 5]

Functions that take 1 us, 100 us and 10 ms, over numbers; a row for each, with the median of the rounds and their
spread, in microseconds per element, without the first tenth of the elements. Rounds alternate, so another program's
load affects all equally.
"""

import argparse
import statistics
import time

import stoker.data as sd

ROWS = [("1 us", 1e-6, 300_000), ("100 us", 100e-6, 10_000), ("10 ms", 10e-3, 100)]
WAYS = [("none", {}), ("processes=1", {"processes": 1}), ("processes=2", {"processes": 2})]


def function_of(seconds):
    """Python that takes about that long and can't be traced."""
    if seconds < 2e-6:
        return lambda x: int(x) + 1

    def f(x):
        end = time.perf_counter() + seconds
        while time.perf_counter() < end:
            pass
        return int(x) + 1

    return f


def us_each(ds, n):
    it = iter(ds)
    for _ in range(n // 10):
        next(it)
    start = time.perf_counter()
    left = sum(1 for _ in it)
    return (time.perf_counter() - start) / left * 1e6


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--seconds", type=float, default=1, help="of each measurement, about")
    p.add_argument("--rounds", type=int, default=5)
    args = p.parse_args()
    print(f"{'function':>10} " + " ".join(f"{name:>22}" for name, _ in WAYS) + "   us an element, median (least to most)")
    for name, seconds, per_second in ROWS:
        n = max(20, int(args.seconds * per_second))
        sets = [sd.Dataset.range(n).map(function_of(seconds), **how) for _, how in WAYS]
        times = [[] for _ in WAYS]
        for _ in range(args.rounds):
            for ds, into in zip(sets, times):
                into.append(us_each(ds, n))
        cells = [f"{statistics.median(t):.2f} ({min(t):.2f} to {max(t):.2f})" for t in times]
        print(f"{name:>10} " + " ".join(f"{c:>22}" for c in cells), flush=True)


if __name__ == "__main__":
    main()
