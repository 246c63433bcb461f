# SPDX-License-Identifier: Apache-2.0
"""Shared by the tests of stoker.data: comparisons that are counted, and a main program. A program without a
single check fails, unless skip() says why. test_x.py --list names its functions, test_x.py
NAME runs that one alone."""

import contextlib
import importlib.util
import io
import os
import sys
import threading
import time
import traceback

import numpy as np

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../cli"))
from harness import SKIPPED, reasons, skip  # noqa: E402, F401  (its import settles the environment)

count = 0
failures = 0
current = ""  # the test function that runs


def same(have, want, what=""):
    """Compares structures, dtypes of arrays included."""
    global count
    count += 1
    if not equal(have, want):
        fail(f"{what}: have {have!r}, want {want!r}")


def equal(a, b):
    if isinstance(b, dict):
        return isinstance(a, dict) and list(a) == list(b) and all(equal(a[k], b[k]) for k in b)
    if isinstance(b, (tuple, list)):
        return type(a) is type(b) and len(a) == len(b) and all(equal(x, y) for x, y in zip(a, b))
    if isinstance(b, bytes):  # NumPy's, too, whose dtype has no length where they are empty
        return isinstance(a, bytes) and bytes(a) == bytes(b)
    if isinstance(b, (np.ndarray, np.generic)):
        if np.asarray(a).dtype != b.dtype or np.shape(a) != b.shape:
            return False
        is_float = b.dtype.kind == "f"
        return (
            bool(np.allclose(a, b, 1e-5, 1e-6, equal_nan=True))
            if is_float
            else bool(np.all(np.asarray(a) == b))
        )
    return bool(a == b)


def raises(kind, f, *words):
    """f() raises an exception of that kind whose text holds the words."""
    global count
    count += 1
    try:
        f()
    except kind as e:
        missing = [w for w in words if w not in str(e)]
        if missing:
            fail(f"{type(e).__name__} does not say {missing}: {e}")
        return e
    except Exception as e:
        fail(f"raised {type(e).__name__} ({e}), not {kind}")
    else:
        fail(f"did not raise {kind}")
    return None


def tensorflow():
    """TensorFlow, quiet; None where it isn't installed, which is reported."""
    if not importlib.util.find_spec("tensorflow"):
        skip("tensorflow is not installed")
        return None
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    import tensorflow  # type: ignore[import-untyped]

    return tensorflow


def all_of(it):
    """What an iterator gives to its end, an element that fails as its exception's class."""
    from stoker.data.errors import OpError

    out = []
    while True:
        try:
            out.append(next(it))
        except StopIteration:
            return out
        except OpError as e:
            out.append(type(e))


def true(value, what=""):
    global count
    count += 1
    if not value:
        fail(f"not so: {what}")


def _fork_of(fork):
    """os.fork under AddressSanitizer, whose allocator (GCC 12) a fork copies as it is: where another
    thread is in it, the child waits for ever. So it waits until the others have all been found asleep,
    ten seconds at most."""

    def quiet():
        for task in os.listdir("/proc/self/task"):
            try:
                with open(f"/proc/self/task/{task}/stat") as f:
                    state = f.read().rpartition(")")[2].split()[0]
            except OSError:  # it has ended
                continue
            if state != "S" and int(task) != threading.get_native_id():
                return False
        return True

    def forked():
        end = time.monotonic() + 10
        while time.monotonic() < end and not (quiet() and quiet()):
            time.sleep(0.001)
        return fork()

    return forked


if "libasan" in os.environ.get("LD_PRELOAD", ""):
    os.fork = _fork_of(os.fork)


def load():
    """How much longer than alone a thing takes here and now: the wall clock of a loop against its
    processor time, and three times that with a sanitizer's runtime below."""
    start, used = time.monotonic(), time.thread_time()
    while time.thread_time() - used < 0.1:
        pass
    return max(1, (time.monotonic() - start) / 0.1) * (3 if "lib" in os.environ.get("LD_PRELOAD", "") else 1)


def quick(start, seconds, what):
    """No more than so many seconds have passed since `start`, longer where others have the machine."""
    passed = time.monotonic() - start
    true(passed < seconds or passed < seconds * load(), f"{what}: {passed:.2f} s, at most {seconds}")


def in_some_try(f, tries=5):
    """f() measures; other programs may have the machine then. The checks of one try must all hold;
    failures of the last try are reported."""
    global count, failures
    for left in reversed(range(tries)):
        before, told = (count, failures), io.StringIO()
        with contextlib.redirect_stdout(told):
            f()
        if failures == before[1] or left == 0:
            print(told.getvalue(), end="")
            return
        print(f"tried again: a measurement of {current} did not hold")
        count, failures = before


def fail(text):
    global failures
    failures += 1
    frame = sys._getframe(1)
    while frame.f_code.co_filename == __file__:
        frame = frame.f_back
    print(f"{frame.f_code.co_filename}:{frame.f_lineno}: {current}: {text}")


def done():
    """Prints the counts and ends the program."""
    left_out = f", skipped: {'; '.join(reasons)}" if reasons else ""
    print(f"{count} checks, {failures} failures{left_out}")
    if not count and not failures and not reasons:
        print("failed: nothing was checked")
        sys.exit(1)
    sys.exit(1 if failures else 0 if count else SKIPPED)


def main(names):
    """Runs every test_* function of the module, or those named on the command line."""
    global failures, current
    tests = {n: f for n, f in names.items() if n.startswith("test_") and callable(f)}
    chosen = sys.argv[1:] or list(tests)
    if chosen == ["--list"]:
        print(*tests, sep="\n")
        sys.exit(0)
    for current in chosen:
        if current not in tests:
            sys.exit(f"there is no {current}; --list tells which there are")
        try:
            tests[current]()
        except Exception:
            failures += 1
            print(f"{current}:")
            traceback.print_exc(file=sys.stdout)
    done()
