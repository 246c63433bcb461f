# SPDX-License-Identifier: Apache-2.0
"""Shared by the examples: the command line, and a line for each part with its time.

    python EXAMPLE.py [--small] [--only NAME] [--json] [--profile FOLDER]

A part is a function of one argument, whether to be small, that returns how many elements it processed. Parts named
tf_... are the TensorFlow originals. Parts without their package are skipped.

--profile runs each part again and writes a profile of that run to FOLDER, for `stoker why`: our pipelines' own
recording (PART.stk), TensorFlow's profiler for parts named tf_... (PART/), PyTorch's for parts named torch_...
(PART.json).
"""

import argparse
import contextlib
import itertools
import json
import os
import shutil
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")
TORCH_STEPS = 200  # in a profile: PyTorch's writes megabytes per hundred

_trace = None  # while a profile is recorded: a context manager for step n


def main(title, parts, unit="elements", prepare=None):
    """Runs the parts; prints seconds, rates and the first line of each docstring. prepare(is_small) makes the data
    before timing starts."""
    parser = argparse.ArgumentParser(description=title)
    parser.add_argument("--small", action="store_true", help="a moment's work, for a first look")
    parser.add_argument("--only", help="a part, or some with commas between them")
    parser.add_argument("--json", action="store_true", help="one line of JSON for each part")
    parser.add_argument("--profile", metavar="FOLDER", help="profile each part as well")
    args = parser.parse_args()
    chosen = args.only.split(",") if args.only else [p.__name__ for p in parts]
    unknown = set(chosen) - {p.__name__ for p in parts}
    if unknown:
        parser.error(f"no part {', '.join(sorted(unknown))}: {', '.join(p.__name__ for p in parts)}")
    for is_small in {True, args.small} if prepare else ():
        prepare(is_small)
    if not args.json:
        print(title)
    for part in parts:
        if part.__name__ in chosen:
            show(part, args, unit)


def show(part, args, unit):
    """Runs the part, timed; then again, profiled, if requested."""
    line = {"part": part.__name__, "unit": unit, "what": part.__doc__.split("\n")[0].rstrip(".")}
    try:
        part(True) if not args.small else None  # imports, tracing, first pages
        start = time.perf_counter()
        n = part(args.small)
        line.update(seconds=time.perf_counter() - start, n=n)
        if args.profile:
            line["profile"] = profiled(part, args)
    except ImportError as e:
        line["skipped"] = str(e)
    if args.json:
        print(json.dumps(line), flush=True)
    elif "skipped" in line:
        print(f"  {part.__name__:<14} skipped: {line['skipped']}")
    else:
        rate = f"{line['n'] / line['seconds']:12,.0f} {unit}/s"
        print(f"  {part.__name__:<14} {line['seconds']:8.3f} s {rate}   {line['what']}", flush=True)


def profiled(part, args):
    """Runs the part under its own profiler; returns where the profile is."""
    os.makedirs(args.profile, exist_ok=True)
    path = os.path.join(args.profile, part.__name__)
    kind = part.__name__.split("_")[0]
    recorder = {"tf": tf_profile, "torch": torch_profile}.get(kind, own_profile)
    with recorder(path) as found:
        part(args.small)
    return found[0] if os.path.exists(found[0]) else None


@contextlib.contextmanager
def own_profile(path):
    """The pipeline's own recording: of the last iterator that ran."""
    path += ".stk"
    os.environ["STOKER_DATA_RECORD"] = path
    try:
        yield [path]
    finally:
        del os.environ["STOKER_DATA_RECORD"]


@contextlib.contextmanager
def tf_profile(path):
    """TensorFlow's profiler, with a step for each batch."""
    global _trace
    import tensorflow as tf

    shutil.rmtree(path, ignore_errors=True)
    tf.profiler.experimental.start(path)
    _trace = lambda n: tf.profiler.experimental.Trace("train", step_num=n, _r=1)
    try:
        yield [path]
    finally:
        _trace = None
        tf.profiler.experimental.stop()


@contextlib.contextmanager
def torch_profile(path):
    """PyTorch's profiler, of the first steps."""
    global _trace
    import torch

    path += ".json"
    profile = torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU])

    def trace(n):
        if n == TORCH_STEPS:
            profile.stop()
        return (
            torch.profiler.record_function(f"ProfilerStep#{n}")
            if n < TORCH_STEPS
            else contextlib.nullcontext()
        )

    profile.start()
    _trace = trace
    try:
        yield [path]
    finally:
        _trace = None
        with contextlib.suppress(RuntimeError, AssertionError):  # it has already stopped
            profile.stop()
        profile.export_chrome_trace(path)


def steps(batches):
    """The batches. While a profile is recorded, each fetch with the loop's work after it is a step."""
    if _trace is None:
        yield from batches
        return
    it = iter(batches)
    for n in itertools.count():
        with _trace(n) if _trace else contextlib.nullcontext():
            try:
                batch = next(it)
            except StopIteration:
                return
            yield batch


def device_step(seconds=0.002):
    """A training step on a device: the CPU has nothing to do meanwhile."""
    time.sleep(seconds)
