# SPDX-License-Identifier: Apache-2.0
"""A side of the benchmark: a process that makes passes over a case ready and times them when asked.

The runner writes one JSON request a line ({"case", "params"}) and reads one JSON answer a line:
the figures of one pass, or {"error"}. The process stays, so that passes of the sides can alternate
and no start-up is timed. Only the last case is kept ready. What libraries print goes to stderr.
"""

import json
import math
import os
import resource
import sys
import time
import traceback


def cpu_seconds():
    """Of this process' threads so far."""
    return time.process_time()


SPENT = []  # iterators that timed() lets go of when its clock has stopped


def drain(iterator):
    """Elements (batches) left in the iterator; none is looked at. Its destruction is not timed:
    tf.data's tuner may sleep as long as a short pass took before it lets go, workers end slowly."""
    n = 0
    for _ in iterator:
        n += 1
    SPENT.append(iterator)
    return n


def timed(f, **figures):
    """Seconds of f() on the wall and of this process' threads, page faults, beside `figures`."""
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
    """Seconds of one next() while batches are ready: after each pause, `ready` calls are timed."""
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
    """What one of so many values exceeds; the largest of fewer."""
    return sorted(values)[max(0, math.ceil((1 - 1 / among) * len(values)) - 1)]


def paced(iterator, step, seconds, settle=0):
    """How busy a consumer is whose step takes `step` seconds (asleep, as a host is while a device
    works), from its first batch on. Its lateness from sleeping too long is not the pipeline's.
    settle: seconds that it waits after that batch, in which the pipeline fills its buffers.
    later_: of the second half of the steps, in which the pipeline's memory has been touched."""
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
    """Seconds that a consumer of a step's length is slowed down for, once batches cost more: `before`
    batches are cheap, and so many are taken in all as `after` seconds of steps need. The end of the
    last `window` seconds in which it was busy for less than 90 %; 0 if there were none."""
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
    """Passes over so many batches of an endless iterator, each behind as many that are not timed:
    they take what was made ahead between passes, and what is taken once at the start."""

    def pull():
        for _ in range(batches):
            next(iterator)
        return batches

    def run():
        pull()
        return timed(pull, **figures)

    return run


def arrivals(iterator, seconds):
    """When batches came, in seconds since before the iterator was made."""
    start = time.perf_counter()
    times = []
    for _ in iterator():
        times.append(time.perf_counter() - start)
        if times[-1] > seconds:
            break
    return {"times": times, "seconds": times[-1]}


def serve(cases, versions):
    """Answers until the requests end. cases: name -> f(**params), giving a pass (a callable)."""
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
        except Exception as e:  # the runner shows it beside the case and goes on
            traceback.print_exc()
            answer = {"error": f"{type(e).__name__}: {e}"[:300]}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()
