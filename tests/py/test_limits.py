# SPDX-License-Identifier: Apache-2.0
"""The process's limits apply to all its pipelines together: its memory and threads are measured from outside the
engine."""

import os
import subprocess
import sys

import checks as c
import stoker.data as sd

MIB = 1 << 20
SLACK = 20 * MIB  # threads, Python's objects, what malloc keeps of what was freed

HEAD = """
import gc, os, sys, threading, time
import numpy as np
import stoker.data as sd
A = sd.AUTOTUNE

def status(key):
    return int([l for l in open("/proc/self/status") if l.startswith(key)][0].split()[1]) * 1024

def elements(i):
    return sd.fill([25000], sd.cast(i, "float32"))  # 100 kB

def all_of(sets):
    counts, errors = [0] * len(sets), [""] * len(sets)
    def run(k):
        try:
            for x in sets[k]:
                counts[k] += 1
        except sd.errors.ResourceExhaustedError as e:
            errors[k] = str(e)
    threads = [threading.Thread(target=run, args=(k,)) for k in range(len(sets))]
    for t in threads: t.start()
    for t in threads: t.join()
    return counts, errors

list(sd.Dataset.range(10).map(lambda x: x + 1, 2).prefetch(2))
gc.collect()
"""


def run(text, *args, **env):
    r = subprocess.run(
        [sys.executable, "-c", HEAD + text, *args], capture_output=True, text=True, timeout=120, env={**os.environ, **env}
    )
    c.same((r.returncode, r.stderr), (0, ""), text)
    return eval(r.stdout or "None")


MEMORY = """
open("/proc/self/clear_refs", "w").write("5")
before = status("VmRSS")
sets = eval(sys.argv[1])
counts, errors = all_of(sets)
print((counts, errors, status("VmHWM") - before, sd.limits()))
"""

# (pipelines that run at once, MiB of the limit, elements of each (None: refused, or all come), and what they
# hold at least at a time: an element where stages may work on the thread that takes them, which hold no more)
ELEMENT = 100_000
ROWS = [
    ("[sd.Dataset.range(600).map(elements, A).prefetch(A)] * 1", 24, [600], ELEMENT),
    ("[sd.Dataset.range(600).map(elements, A).prefetch(A) for _ in range(4)]", 48, [600] * 4, ELEMENT),
    ("[sd.Dataset.range(6).interleave(lambda i: sd.Dataset.range(100).map(elements, A).prefetch(A), 6, "
     "num_parallel_calls=A).batch(4) for _ in range(2)]", 48, [150] * 2, ELEMENT),
    ("[sd.Dataset.range(300).map(elements, A).cache().repeat(2) for _ in range(2)]", 32, [600] * 2, 16 * MIB),
    ("[sd.Dataset.range(400).map(elements, A).shuffle(1000)]", 24, [None], 12 * MIB),
    ("[sd.Dataset.range(400).map(elements, A).shuffle(100), sd.Dataset.range(400).map(elements, A).prefetch(A)]", 32,
     [400, 400], 50 * ELEMENT),
]  # fmt: skip


def test_memory():
    if not os.path.exists("/proc/self/clear_refs") or "lib" in os.environ.get("LD_PRELOAD", ""):
        c.skip("a process's memory can't be measured here")
        return
    for text, mib, want, held in ROWS:
        counts, errors, growth, limits = run(MEMORY, text, STOKER_DATA_RAM=f"{mib}M")
        c.same(limits["ram_bytes"], mib * MIB)
        c.true(limits["ram_bytes_most"] <= mib * MIB, f"{text}: {limits} of {mib} MiB")
        c.true(limits["ram_bytes_most"] >= held, f"{text}: {limits}: what is held counts")
        c.true(growth < mib * MIB + SLACK, f"{text}: grew by {growth} bytes of {mib} MiB")
        for n, error, expected in zip(counts, errors, want):
            if expected is None:
                c.true("process's limit" in error, f"{text}: {n}, {error}")
            else:
                c.same((n, error), (expected, ""), text)


THREADS = """
before = len(os.listdir("/proc/self/task"))
most, is_over = 0, False
def watch():
    global most
    while not is_over:
        most = max(most, len(os.listdir("/proc/self/task")))
        time.sleep(0.001)
w = threading.Thread(target=watch)
w.start()
def work(x):
    for _ in range(20):
        x = sd.sin(x)
    return sd.reduce_sum(x)
sets = [sd.Dataset.range(300).map(elements, A).map(work, 4).prefetch(A),
        sd.Dataset.range(4).interleave(lambda i: sd.Dataset.range(75).map(elements, A).map(work), 4, num_parallel_calls=A)]
start, cpu = time.monotonic(), time.process_time()
counts, errors = all_of(sets)
passed, used = time.monotonic() - start, time.process_time() - cpu
is_over = True
w.join()
print((counts, errors, most - before, used / passed, sd.limits()))
"""


def test_threads():
    for threads in (1, 3):
        counts, errors, more, _, limits = run(THREADS, STOKER_DATA_THREADS=str(threads))
        c.same((counts, errors), ([300, 300], ["", ""]))
        c.true(limits["threads_most"] <= threads, f"{limits}")
        ours = 3 + 2  # the one that watches and two that take elements, each with one that waits for the engine
        c.true(more <= threads + ours, f"{more} threads more, {threads} of them stages'")
        c.same(limits["threads_now"], 0, "all are gone")


def test_cpus():
    def measure():
        counts, errors, _, share, limits = run(THREADS, STOKER_DATA_CPUS="1")
        c.same((counts, errors, limits["cpus"]), ([300, 300], ["", ""], 1))
        c.true(share < 1.4, f"{share:.2f} processors at work, and those that take elements")

    c.in_some_try(measure)


def test_pipelines_within():
    """A Python function that iterates over another pipeline holds a processor up for it alone."""
    text = """
def f(i):
    return sum(int(v) for v in sd.Dataset.range(int(i) % 5 + 1).map(lambda x: x + 1, A).prefetch(1))
print(sum(int(v) for v in sd.Dataset.range(100).map(f, 4).prefetch(2)))
"""
    want = sum(sum(range(1, i % 5 + 2)) for i in range(100))
    c.same(run(text, STOKER_DATA_CPUS="1"), want)
    c.same(run(text, STOKER_DATA_THREADS="1"), want)
    forked = """
sd.set_limits(threads=2, cpus=1)
it = iter(sd.Dataset.range(100000).map(lambda x: x + 1, 2).prefetch(1))
next(it)
pid = os.fork()
if pid == 0:
    ds = sd.Dataset.range(50).map(lambda x: x + 1, 2)
    ok = sd.limits()["threads_now"] == 0 and len(list(ds)) == 50
    it = iter(ds)
    next(it)
    ok = ok and sd.limits()["threads_now"] == 2
    os._exit(0 if ok else 1)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
"""
    c.same(run(forked), 0)


def test_words():
    """Limits are set, read and refused, and seen in stats() and explain()."""
    before = sd.limits()
    sd.set_limits(ram_bytes=64 * MIB, threads=5)
    now = sd.limits()
    c.same((now["ram_bytes"], now["threads"], now["cpus"]), (64 * MIB, 5, before["cpus"]))
    ds = sd.Dataset.range(100).map(lambda x: x + 1, 2)
    c.same(len(list(ds)), 100)
    c.true(ds.stats().memory["cap_bytes"] <= 64 * MIB, f"{ds.stats().memory}")
    for page in (str(ds.stats()), ds.explain()):
        c.true("limits of the process: 5 threads, 67,108,864 bytes" in page, page)
    sd.set_limits(threads=0, ram_bytes=0)
    c.true("limits of the process" not in ds.explain(), ds.explain())
    c.raises(sd.errors.InvalidArgumentError, lambda: sd.set_limits(cpus=-1), "cpus is at least 0")
    c.raises(TypeError, lambda: sd.set_limits(ram_bytes="1G"))
    text = """
try:
    list(sd.Dataset.range(3))
except sd.errors.InvalidArgumentError as e:
    print(repr(str(e)))
"""
    r = subprocess.run(
        [sys.executable, "-c", "import stoker.data as sd\n" + text],
        capture_output=True,
        text=True,
        env={**os.environ, "STOKER_DATA_RAM": "lots"},
    )
    c.true("STOKER_DATA_RAM is 'lots'" in r.stdout, r.stdout + r.stderr)


c.main(globals())
