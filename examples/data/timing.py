# SPDX-License-Identifier: Apache-2.0
"""What the examples share: their command line, and a line for each part with its time.

    python EXAMPLE.py [--small] [--only NAME]

A part is a function of one argument, whether to be small, that gives how many elements it went
through. Parts named tf_... are the TensorFlow originals. Parts without their package are skipped.
"""

import argparse
import os
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")


def main(title, parts, unit="elements", prepare=None):
    """Runs the parts; prints seconds, rates and the first line of each docstring. prepare(is_small)
    makes the data before any time is taken."""
    parser = argparse.ArgumentParser(description=title)
    parser.add_argument("--small", action="store_true", help="a moment's work, for a first look")
    parser.add_argument(
        "--only", choices=[p.__name__ for p in parts], help="one part, to record it alone"
    )
    args = parser.parse_args()
    for is_small in {True, args.small} if prepare else ():
        prepare(is_small)
    print(title)
    for part in parts:
        if args.only in (None, part.__name__):
            show(part, args.small, unit)


def show(part, is_small, unit):
    what = part.__doc__.split("\n")[0].rstrip(".")
    try:
        part(True) if not is_small else None  # imports, tracing, first pages
        start = time.perf_counter()
        n = part(is_small)
        seconds = time.perf_counter() - start
    except ImportError as e:
        print(f"  {part.__name__:<14} skipped: {e}")
        return
    print(
        f"  {part.__name__:<14} {seconds:8.3f} s {n / seconds:12,.0f} {unit}/s   {what}", flush=True
    )


def device_step(seconds=0.002):
    """A training step on a device: the host has nothing to do meanwhile."""
    time.sleep(seconds)
