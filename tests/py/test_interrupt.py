# SPDX-License-Identifier: Apache-2.0
"""Waiting: Ctrl-C works, other threads run in the meantime, and a hanging function doesn't keep the interpreter from
exiting."""

import concurrent.futures
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np

import checks as c
import stoker.data as sd


def slow(x):
    time.sleep(0.3)
    return np.int64(int(x))


def interrupt_in(seconds):
    threading.Timer(seconds, lambda: os.kill(os.getpid(), signal.SIGINT)).start()


def test_interrupt():
    def wait(x):
        time.sleep(2)
        return np.int64(int(x) + 1)

    spec = sd.TensorSpec((), "int64")
    for ds in (
        sd.Dataset.range(5).map(lambda x: sd.numpy_function(wait, [x], sd.int64)),
        sd.Dataset.range(5).map(lambda x: sd.numpy_function(wait, [x], sd.int64)).prefetch(2),
        sd.Dataset.from_generator(lambda: (wait(i) for i in range(5)), output_signature=spec),
    ):
        it = iter(ds)
        start = time.monotonic()
        interrupt_in(0.2)
        c.raises(KeyboardInterrupt, lambda: next(it))
        c.quick(start, 1.5, "Ctrl-C gets through while an element is made")
        c.same(int(next(it)), 1)


SLEEPY = """
import os, signal, sys, threading, time
import numpy as np
import stoker.data as sd

def wait(x):
    time.sleep(2.5)
    return np.int64(x)

def numbers():
    for i in range(5):
        yield int(wait(i))

spec = sd.TensorSpec((), "int64")
python = lambda x: sd.numpy_function(wait, [x], sd.int64)
ds = eval(sys.argv[1])
"""
SLEEPERS = (
    "sd.Dataset.from_generator(numbers, output_signature=spec)",
    "sd.Dataset.from_generator(numbers, output_signature=spec).batch(2).prefetch(2)",
    "sd.Dataset.range(9).map(python)",
    "sd.Dataset.range(9).map(python, 2).prefetch(2)",
    "sd.Dataset.range(9).map(python).pack(4, 'chop')",
)


def test_interrupted_loop():
    """Ctrl-C ends a loop, and its iterator, although a function or generator sleeps: that is left to
    itself, and what it uses with it. The least of three tries, since others may have the machine."""
    text = SLEEPY + """
threads = len(os.listdir("/proc/self/task"))
threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
start = time.monotonic()
try:
    for x in ds:
        pass
except KeyboardInterrupt:
    passed = time.monotonic() - start - 0.3
    del ds
    if sys.argv[2] == "stays":  # until the thread that was left ends
        while len(os.listdir("/proc/self/task")) > threads:
            time.sleep(0.05)
    print(passed)
"""

    def run(ds, how):
        tries = []
        while len(tries) < 3 and not any(passed < 1 for _, _, passed, _ in tries):
            start = time.monotonic()
            r = subprocess.run([sys.executable, "-c", text, ds, how], capture_output=True, text=True, timeout=120)
            tries.append((r.returncode, r.stderr, float(r.stdout or 60), time.monotonic() - start))
        return ds, how, tries

    with concurrent.futures.ThreadPoolExecutor(4) as together:  # most of the time they sleep
        ran = [together.submit(run, ds, how) for ds in SLEEPERS for how in ("leaves", "stays")]
    for ds, how, tries in (r.result() for r in ran):
        c.same([(code, err) for code, err, _, _ in tries], [(0, "")] * len(tries), ds)
        least = min(passed for _, _, passed, _ in tries)
        c.true(least < 1 or least < c.load(), f"{ds}: {least:.2f} s")
        c.true(how == "leaves" or tries[-1][3] > 2.5, f"{ds}: the thread was there until it ended")


def test_resume():
    """Ctrl-C while elements are passed over; the next call goes on with that."""
    calls = [0]

    def slowly(x):
        calls[0] += 1
        time.sleep(0 if calls[0] <= 21 else 0.15)  # 3 s for those passed over
        return bool(x % 2 == 0)

    ds = sd.Dataset.range(1000).filter(lambda x: sd.numpy_function(slowly, [x], sd.bool))
    it = iter(ds)
    c.same([int(next(it)) for _ in range(10)], list(range(0, 20, 2)))
    state = it.state()
    calls[0] = 21
    start = time.monotonic()
    again = ds.iterator(state=state)
    interrupt_in(0.1)
    c.raises(KeyboardInterrupt, lambda: next(again))
    c.quick(start, 1.5, "Ctrl-C while elements are passed over")
    c.same(int(next(again)), 20)
    endless = sd.Dataset.range(10**12).filter(lambda x: x % 1000 == 1)
    it = iter(endless.take(10**9))
    next(it)
    state = bytearray(it.state())
    given = 24  # after magic, size, seed and epoch
    state[given : given + 8] = (10**8).to_bytes(8, "little")  # as if so many had been given
    start = time.monotonic()
    again = endless.take(10**9).iterator(state=bytes(state))
    interrupt_in(0.1)
    c.raises(KeyboardInterrupt, lambda: next(again))
    del again
    c.quick(start, 10, "native")


def test_gil():
    it = iter(sd.Dataset.range(3).map(lambda x: sd.numpy_function(slow, [x], sd.int64)))
    counted, stop = [0], threading.Event()

    def count():
        while not stop.is_set():
            counted[0] += 1
            time.sleep(0.001)

    t = threading.Thread(target=count)
    t.start()
    next(it)
    stop.set()
    t.join()
    c.true(counted[0] > 5, f"another thread ran while this one waited: {counted[0]}")


def test_threads_share_an_iterator():
    it, seen, lock = iter(sd.Dataset.range(2000).prefetch(4)), [], threading.Lock()

    def work():
        for e in it:
            with lock:
                seen.append(int(e))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    c.same(sorted(seen), list(range(2000)))


def leave(text, within, said=""):
    start = time.monotonic()
    # Threads of a pipeline that is in use at the end are left, which is no leak.
    env = {**os.environ, "TSAN_OPTIONS": os.environ.get("TSAN_OPTIONS", "") + ":report_thread_leaks=0"}
    r = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=120, env=env)
    c.same((r.returncode, r.stdout, r.stderr), (0, said, ""))
    c.quick(start, within, "left")


def test_leaving():
    head = "import stoker.data as sd, numpy as np, time\n"
    python = "sd.Dataset.range(10**6).map(lambda x: sd.numpy_function(lambda v: (time.sleep(0.01), v)[1], [x], sd.int64), 2)"
    leave(head + f"it = iter({python}.prefetch(4))\nnext(it)", 30)
    leave(
        head + f"it = iter({python}.batch(2).prefetch(4))\nkept = [next(it) for _ in range(3)]", 30
    )
    leave(
        head
        + "it = iter(sd.Dataset.range(10**9).shuffle(1000).batch(10).prefetch(4))\na = next(it)\ndel it",
        30,
    )


DAEMONS = """
import sys, threading, time
{before}
import numpy as np
import stoker.data as sd
functions = dict(
    python=lambda x: sd.py_function(lambda v: v, [x], "int64"),
    slow=lambda x: sd.py_function(lambda v: (time.sleep(0.05), v)[1], [x], "int64"),
    native=lambda x: x + 1,
)
def go(f):
    while True:
        for _ in sd.Dataset.range({elements}).map(f, num_parallel_calls=4).prefetch(4):
            pass
threads = [threading.Thread(target=go, args=(functions[k],), daemon=True) for k in {kinds} for _ in range(6)]
for t in threads:
    t.start()
time.sleep(0.3)
"""


def test_leaving_daemon_threads():
    """Threads that are in next() when the interpreter ends rest where they are, in every try."""
    for kinds in (["python"], ["native"], ["slow"], ["python", "slow", "native"]):
        for elements in (10**9, 20):
            for _ in range(6):
                leave(DAEMONS.format(before="", kinds=kinds, elements=elements), 30)


def test_leaving_where_somebody_waits():
    """An exit handler that runs behind ours may wait for such a thread, and may iterate."""
    before = """
import atexit
@atexit.register
def wait():
    for t in threads:
        t.join()
    print("joined", [int(e) for e in sd.Dataset.range(3).map(lambda x: x * 2, 2)], flush=True)
"""
    text = DAEMONS.format(before=before, kinds=["python"], elements=10**9)
    r = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=120)
    c.same((r.returncode, r.stdout), (0, "joined [0, 2, 4]\n"))
    c.true("closed" in r.stderr or "canceled" in r.stderr, r.stderr[-300:])


def test_leaving_with_other_waits():
    """Other threads wait for operations, for a stager, and for a file that is written."""
    text = DAEMONS.format(before="", kinds=[], elements=0) + """
import os, tempfile
folder = tempfile.mkdtemp()
large = np.zeros((3000, 1000), np.float32)
def multiply():
    while True:
        sd.matmul(large, large, transpose_b=True)
def save(name):
    sd.Dataset.range(10**9).map(functions["python"]).save(os.path.join(folder, name))
def stage():
    for _ in sd.Dataset.range(10**9).map(functions["python"]).batch(4).to_device("cpu"):
        pass
for target, args in ((multiply, ()), (multiply, ()), (save, ("a",)), (save, ("b",)), (stage, ())):
    threading.Thread(target=target, args=args, daemon=True).start()
time.sleep(0.5)
"""
    for _ in range(3):
        leave(text, 60)


def test_next_of_its_own_iterator():
    """A function of a pipeline that asks the iterator it runs for would wait for itself."""
    its = {}

    def own(x):
        c.raises(RuntimeError, lambda: next(its["a"]), "wait for itself")
        return x

    for made in (lambda ds: ds, lambda ds: ds.prefetch(2), lambda ds: ds.batch(2)):
        for calls in (None, 2):
            its["a"] = iter(made(sd.Dataset.range(6).map(lambda x: sd.py_function(own, [x], "int64"), calls)))
            c.true(len(list(its["a"])) in (3, 6), "the pipeline goes on")

    def ask(other, words):
        def f(x):
            if words:
                c.raises(RuntimeError, lambda: next(its[other]), words)
            else:
                next(its[other])
            return x

        return lambda x: sd.py_function(f, [x], "int64")

    its["a"] = iter(sd.Dataset.range(4).map(ask("b", None)))
    its["b"] = iter(sd.Dataset.range(9).map(ask("a", "wait for itself")))
    c.same(len(list(its["a"])), 4, "by way of another iterator")
    its["b"] = iter(sd.Dataset.range(9))
    c.same(len(list(iter(sd.Dataset.range(4).map(ask("b", None), 2)))), 4, "another iterator may be asked")


def test_state_beside_next():
    """Who asks for the state does not wait until the other threads have had all elements."""
    it = iter(sd.Dataset.range(10**12).batch(3).prefetch(4))
    stop = threading.Event()

    def go():
        while not stop.is_set():
            next(it)

    threads = [threading.Thread(target=go) for _ in range(4)]
    for t in threads:
        t.start()
    try:
        start = time.monotonic()
        states = set()
        for _ in range(10):
            states.add(it.state())
            time.sleep(0.02)
        c.quick(start, 10, "ten states")
        c.true(len(states) > 1, "and elements go on")
    finally:
        stop.set()
        for t in threads:
            t.join()


c.main(globals())
