# SPDX-License-Identifier: Apache-2.0
"""Shared by the recorders in this folder: storing a profile, and what the script itself measured.

Method: the scripts time their own loop with time.perf_counter, independently of the profiler. For each recorded step
they keep its wall time and, if the loop is theirs, the time spent in the call that fetches the next batch. These
numbers go to <name>.truth.json next to the profile, so that an analysis of the profile can be compared with an
independent measurement.
Limits: the steps are timed while the profiler runs, so its overhead is part of them, as it is part of the profile.
"""

import datetime
import gzip
import importlib.metadata
import json
import os
import pathlib
import platform
import statistics

RAW_LIMIT_BYTES = 300_000


def store_profile(source, target):
    """Copy a profile, unchanged or gzip-compressed if it is large; returns the path written.

    source: the profiler's file. target: path without ".gz", which is added if the file is compressed.
    """
    data = pathlib.Path(source).read_bytes()
    target = pathlib.Path(target)
    if len(data) > RAW_LIMIT_BYTES:
        target = target.with_name(target.name + ".gz")
        data = gzip.compress(data, compresslevel=9, mtime=0)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(data)
    return target


def versions(*packages):
    """Versions of the interpreter and of the named distributions, as a dict."""
    found = {"python": platform.python_version()}
    return found | {name: importlib.metadata.version(name) for name in packages}


def _stats(seconds):
    """Whole nanoseconds of a list of seconds: lower median, mean, extremes and the list itself."""
    ns = [round(s * 1e9) for s in seconds]
    return {
        "median_ns": statistics.median_low(ns),
        "mean_ns": round(statistics.fmean(ns)),
        "min_ns": min(ns),
        "max_ns": max(ns),
        "each_ns": ns,
    }


def write_truth(profile, *, job, expected, step_s, wait_s=None, wait_method, packages, **extra):
    """Write and print <name>.truth.json beside `profile`.

    step_s: wall seconds of each recorded step. wait_s: seconds of each spent fetching, or None if the script can't
    measure it; then pass `input_wait_share` in `extra`. wait_method says how the wait was measured.
    """
    truth = {"profile": pathlib.Path(profile).name, "job": job, "expected_verdict": expected}
    truth["recorded"] = datetime.datetime.now(datetime.timezone.utc).date().isoformat()
    truth["versions"] = versions(*packages)
    truth["cores"] = os.cpu_count()
    truth["steps_recorded"] = len(step_s)
    truth["wait_method"] = wait_method
    if wait_s is not None:
        truth["input_wait_share"] = round(sum(wait_s) / sum(step_s), 4)
    truth |= extra
    truth["step_wall"] = _stats(step_s)
    if wait_s is not None:
        truth["input_wait"] = _stats(wait_s)
    name = pathlib.Path(profile).name
    for ending in (".gz", ".json", ".trace", ".pt", ".pb", ".xplane"):
        name = name.removesuffix(ending)
    target = pathlib.Path(profile).with_name(name + ".truth.json")
    text = json.dumps(truth, indent=1)
    target.write_text(_one_line_lists(text) + "\n")
    lists = ("step_wall", "input_wait")
    print(json.dumps({k: v for k, v in truth.items() if k not in lists}, indent=1))
    print(f"wrote {profile} ({os.path.getsize(profile)} bytes) and {target}")
    return target


def _one_line_lists(text):
    """Put each JSON list of numbers on one line, so that a truth file stays short to read."""
    out, inside = [], False
    for line in text.split("\n"):
        if inside:
            out[-1] += line.strip() + ("" if line.strip().startswith("]") else " ")
            inside = not line.strip().startswith("]")
        else:
            out.append(line)
            inside = line.endswith("[")
    return "\n".join(line.replace(" ]", "]") for line in out)
