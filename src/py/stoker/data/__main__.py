# SPDX-License-Identifier: Apache-2.0
"""python3 -m stoker.data: what is installed. python3 -m stoker.data bench PIPELINE.py [SECONDS]: how fast
a pipeline is, and what limits it.

The file defines `dataset`, or a function `make_dataset()` that returns one. It is iterated for five
seconds (or until it ends) without other work; the first batch is timed separately.
Exit codes: 0 done, 2 usage, 3 the file has no dataset, or it or its pipeline fails, 130 interrupted.
"""

import math
import os
import runpy
import sys
import time
import traceback

import stoker.data as sd

# Controls except line end and tab, and marks that change the direction of text, as in the program's output
# (src/base/text.h).
_HIDDEN = dict.fromkeys(
    [*range(9), *range(11, 32), *range(127, 160), 0x61C, 0x200E, 0x200F]
    + [*range(0x2028, 0x202F), *range(0x2066, 0x206A)],
    "?",
)


def complain(text, use="bench"):
    """Prints a line to standard error; names in it may be chosen by others."""
    print(f"stoker data {use}: {text}".translate(_HIDDEN), file=sys.stderr)


def load(path):
    """The dataset defined by the file; exits with a message if it defines none."""
    try:
        open(path, "rb").close()
    except OSError as e:
        complain(f"{path}: {e.strerror}")
        sys.exit(3)
    # Modules next to the pipeline are found last, so they never shadow installed ones.
    sys.path.append(os.path.dirname(os.path.abspath(path)))
    try:
        names = runpy.run_path(path)
        ds = names["make_dataset"]() if "make_dataset" in names else names.get("dataset")
    except (Exception, SystemExit) as e:
        if not isinstance(e, (SyntaxError, ValueError, SystemExit)):
            traceback.print_exc()
        why = f"it exits ({e})" if isinstance(e, SystemExit) else e
        complain(f"{path} is not a Python file that runs: {why}")
        sys.exit(3)
    if not isinstance(ds, sd.Dataset):
        complain(f"{path} defines neither `dataset` nor `make_dataset()`")
        sys.exit(3)
    return ds


def measure(ds, seconds):
    """(first batch in s, elements after it, seconds for them, elements per batch or 1, stats)."""
    start = time.perf_counter()
    it, count, size = iter(ds), 0, 1
    try:
        first = next(it)
    except StopIteration:
        return 0.0, 0, 0.0, 1, ds.stats()
    leaf = first
    while isinstance(leaf, (tuple, dict)):
        leaf = next(iter(leaf.values())) if isinstance(leaf, dict) else leaf[0]
    size = leaf.shape[0] if getattr(leaf, "ndim", 0) else 1
    begun = time.perf_counter()
    for _ in it:
        count += 1
        if time.perf_counter() - begun > seconds:
            break
    return begun - start, count, time.perf_counter() - begun, size, ds.stats()


def about():
    """Versions, the engine's features, and whether it finds a GPU."""
    import numpy as np

    from stoker.data import _engine

    try:
        gpus = f"{_engine.devices()} CUDA devices"
    except sd.errors.OpError as e:
        gpus = f"no GPU ({str(e).splitlines()[0]})"
    python = ".".join(str(v) for v in sys.version_info[:3])
    print(f"stoker.data {sd.__version__}, Python {python}, NumPy {np.__version__}")
    print(f"{len(_engine.op_names())} operations, {len(_engine.kind_names())} kinds of datasets, {gpus}")
    print()
    print(__doc__.strip())


def bench(path, seconds):
    """Measures the file's pipeline and prints the result; returns the exit code."""
    ds = load(path)
    try:
        first, count, took, size, stats = measure(ds, seconds)
    except sd.errors.OpError as e:
        complain(f"{path}: {e}")
        return 3
    except Exception as e:
        traceback.print_exc()
        complain(f"{path}: its pipeline failed: {e!r}")
        return 3
    if first == 0.0:
        print("the pipeline has no elements")
        return 0
    rate = count / took if took else 0.0
    print(f"first element after {first * 1e3:.1f} ms")
    print(
        f"{count} elements in {took:.2f} s: {rate:.1f} elements/s"
        + (f", {rate * size:.0f} rows/s" if size > 1 else "")
    )
    print(stats)
    return 0


def convert(words, is_told):
    """Converts, and prints the number of rows; returns the exit code."""
    from .interop import _convert

    try:
        count = _convert.main(words)
        if is_told:
            print(f"{count:,} rows", file=sys.stderr)
        return 0
    except (sd.errors.OpError, ImportError) as e:
        complain(str(e), "convert")
        return 3
    except OSError as e:  # reading fails with an OpError instead
        complain(f"it can't be written: {e}", "convert")
        return 5
    except (ValueError, TypeError) as e:  # from pyarrow, if columns differ or can't be converted
        complain(str(e), "convert")
        return 3


def usage(what=None):
    if what:
        complain(what)
    print("usage: python3 -m stoker.data bench PIPELINE.py [SECONDS]", file=sys.stderr)
    return 2


def run(argv):
    if argv[1:] in ([], ["-h"], ["--help"]):
        about()
        return 0
    if argv[1:] == ["--version"]:
        print(f"stoker.data {sd.__version__}")
        return 0
    if len(argv) > 5 and argv[1] in ("convert", "convert-quietly"):  # called by the program
        return convert(argv[2:], argv[1] == "convert")
    if len(argv) not in (3, 4) or argv[1] != "bench":
        return usage()
    try:
        seconds = float(argv[3]) if len(argv) == 4 else 5.0
    except ValueError:
        seconds = math.nan
    if not (seconds > 0 and math.isfinite(seconds)):
        return usage(f"'{argv[3]}' is not a number of seconds")
    return bench(argv[2], seconds)


def main(argv):
    """run(), but quiet on Ctrl-C and when its reader is gone (exit 0, like the other commands)."""
    try:
        code = run(argv)
        sys.stdout.flush()
        return code
    except KeyboardInterrupt:
        complain("interrupted")
        return 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
