# SPDX-License-Identifier: Apache-2.0
"""A side of the benchmark: a process that prepares passes over a case and times them on request.

The runner writes one JSON request per line ({"case", "params"}) and reads one JSON answer per line: the figures of one
pass, or {"error"}. The process stays alive, so passes of different sides can alternate and no start-up is timed. Only
the last case is kept ready. Output of libraries goes to stderr.
"""

import json
import math
import os
import resource
import sys
import time
import traceback


def cpu_seconds():
    """CPU time of this process's threads so far."""
    return time.process_time()


SPENT = []  # iterators that timed() drops after its clock has stopped


def drain(iterator):
    """Counts the remaining elements (batches) without looking at them. The iterator's destruction isn't timed:
    tf.data's tuner may sleep as long as a short pass before it exits, and workers end slowly."""
    n = 0
    for _ in iterator:
        n += 1
    SPENT.append(iterator)
    return n


def timed(f, **figures):
    """Wall clock seconds of f() and CPU seconds of this process's threads, page faults, and `figures`."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    start = time.perf_counter()
    count = f()
    wall = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_SELF)
    SPENT.clear()
    cpu = after.ru_utime + after.ru_stime - usage.ru_utime - usage.ru_stime
    out = {"seconds": wall, "cpu": cpu, "faults": after.ru_minflt - usage.ru_minflt}
    if isinstance(count, int):
        out["batches"] = count
    return dict(out, **figures)


def ready_next(iterator, rounds, ready, pause=0.004):
    """Seconds of one next() while batches are ready: times `ready` calls after each pause."""
    spent, calls = 0.0, 0
    next(iterator)
    for _ in range(rounds):
        time.sleep(pause)
        start = time.perf_counter()
        for _ in range(ready):
            next(iterator)
        spent += time.perf_counter() - start
        calls += ready
    return {"seconds": spent, "elements": calls}


def exceeded_once(values, among):
    """The value that one of so many exceeds; the largest if there are fewer."""
    return sorted(values)[max(0, math.ceil((1 - 1 / among) * len(values)) - 1)]


def paced(iterator, step, seconds, settle=0):
    """How busy a consumer is whose step takes `step` seconds (asleep, like a CPU while a device works), from its first
    batch on. Oversleeping isn't counted against the pipeline. settle: seconds to wait after that batch, while the
    pipeline fills its buffers. later_: in the second half of the steps, when the pipeline's memory has been touched."""
    next(iterator)
    time.sleep(settle)
    got, cpu = time.perf_counter(), cpu_seconds()
    waits, steps, last = [], 0.0, got + seconds
    while got < last:
        time.sleep(step)
        start = time.perf_counter()
        next(iterator)
        steps += start - got
        got = time.perf_counter()
        waits.append(got - start)
    return {
        "busy": steps / (steps + sum(waits)),
        "longest_wait": max(waits),
        "p999_wait": exceeded_once(waits, 1000),
        "later_p999_wait": exceeded_once(waits[len(waits) // 2 :], 1000),
        "batches": len(waits),
        "seconds": steps + sum(waits),
        "cpu": cpu_seconds() - cpu,
    }


def reaction(iterator, step, before, after, window=0.5):
    """How many seconds a consumer with a fixed step is slowed down once batches cost more: `before` batches are cheap,
    then as many as `after` seconds of steps need. Measured to the end of the last `window` seconds in which it was busy
    for less than 90 %; 0 if there were none."""
    next(iterator)
    ends, waits = [], []
    for i in range(before + int(after / step)):
        time.sleep(step)
        start = time.perf_counter()
        next(iterator)
        waits.append(time.perf_counter() - start)
        ends.append(start + waits[-1])
    change = ends[before - 1]
    slow, first = 0.0, before
    for i in range(before, len(ends)):
        while ends[i] - ends[first] > window:
            first += 1
        wall = ends[i] - ends[first - 1]
        if sum(waits[first : i + 1]) > 0.1 * wall:
            slow = ends[i] - change
    late = [w for w in waits[before:]]
    return {
        "reach": slow,
        "waited": sum(late),
        "seconds": ends[-1] - change,
        "lasting": slow >= ends[-1] - change - window / 2,
    }


def warm(iterator, batches, **figures):
    """Passes over batches of an endless iterator, each after as many untimed ones: these use up what was prefetched
    between passes, and one-off costs at the start."""

    def pull():
        for _ in range(batches):
            next(iterator)
        return batches

    def run():
        pull()
        return timed(pull, **figures)

    return run


def arrivals(iterator, seconds):
    """When batches arrived, in seconds since before the iterator was made."""
    start = time.perf_counter()
    times = []
    for _ in iterator():
        times.append(time.perf_counter() - start)
        if times[-1] > seconds:
            break
    return {"times": times, "seconds": times[-1]}


def serve(cases, versions):
    """Answers until requests end. cases: name -> f(**params), which returns a pass (a callable)."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    key, ready = None, None
    for line in sys.stdin:
        request = json.loads(line)
        try:
            if request["case"] == "versions":
                answer = {"versions": versions()}
            elif request["case"] == "drop":
                key, ready, answer = None, None, {}
            else:
                wanted = json.dumps(request, sort_keys=True)
                if wanted != key:
                    key, ready = None, None
                    ready = cases[request["case"]](**request["params"])
                    key = wanted
                answer = ready()
        except Exception as e:  # the runner shows it next to the case and continues
            traceback.print_exc()
            answer = {"error": f"{type(e).__name__}: {e}"[:300]}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()
