#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The cost limit for any profile, however it was made: `stoker why` and `stoker stats all` take no more processor
time than bytes / 20 MB/s + 0.5 s and no more memory than 10 x bytes + 100 MB; and end with an answer or an error
text. The same for exports of stacks, which can be as many as events, and each as long as it is deep.

Usage: tests/attack/formula.py STOKER [--long] [--size MB] [--list] [CASE...]
  without a name: the cases of SHORT, as they once cost more; with --long every kind of every format, larger
The profiles are made by many_*.py and packed.py, each by a process of its own: a program's reported memory is at least
that of the process that started it. Prints a line for each case; --long and CASE print all figures.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "cli")]
import many_json  # noqa: E402
import many_nsys  # noqa: E402
import many_perfetto  # noqa: E402
import many_stk  # noqa: E402
import many_xplane  # noqa: E402
import packed  # noqa: E402
from harness import check, done  # noqa: E402

MAKERS = {**many_json.MAKERS, **many_xplane.MAKERS, **many_nsys.MAKERS, **many_stk.MAKERS, **many_perfetto.MAKERS, **packed.MAKERS}
COMMANDS = [["why"], ["stats", "all"]]
# What is asked as well of profiles that have many stacks.
STACKS = [["export", form, "-q", "-o", "-"] for form in ("collapsed", "speedscope", "pprof")]
HAS_STACKS = ("xplane-stacks", "xplane-overlapping", "xplane-lines", "json-stacks", "json-tids-text")
MB = 1_000_000
SECONDS_MAX = 120  # after that it hangs
SHORT_SIZE, LONG_SIZE = 5, 20
# Those that took more than the formula allows when they were first tried.
SHORT = ["json-pids", "json-pids-device", "json-tids-text", "json-devices", "json-devices-no-steps", "json-devices-each-step",
         "json-counters", "json-counters-short", "json-device-properties", "json-steps-packed", "json-streams", "json-python-leading",
         "json-python-around", "json-fetches-under", "xplane-names-empty",
         "xplane-names-kernel", "xplane-stacks", "xplane-overlapping", "xplane-lines", "xplane-functions", "xplane-planes-empty", "xplane-devices", "nsys-devices",
         "stk-devices", "stk-input-stages", "perfetto-tracks", "perfetto-devices", "perfetto-halves", "perfetto-texts",
         "perfetto-packed", *packed.BOMBS]
# Issues of the report that say what was left out.
SAID = {"json-devices": "devices-left-out", "xplane-devices": "devices-left-out", "nsys-devices": "devices-left-out",
        "stk-devices": "devices-left-out", "xplane-lines": "tracks-left-out", "json-counters-short": "tracks-left-out"}
SUFFIXES = {"json": ".json", "xplane": ".xplane.pb", "nsys": ".sqlite", "stk": ".stk", "perfetto": ".pftrace"}


def allowed(size):
    """Seconds of processor time, and bytes."""
    return size / (20 * MB) + 0.5, 10 * size + 100 * MB


def cost(words):
    """Exit code, last line of the error text, seconds of processor time, bytes of memory."""
    with tempfile.TemporaryFile() as err:
        p = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=err, env={**os.environ, "COLUMNS": "100"})
        try:
            _, status, used = os.wait4(p.pid, 0)
        finally:
            p.returncode = 0  # it has been waited for
        err.seek(0)
        text = err.read().decode(errors="replace").strip()
    return os.waitstatus_to_exitcode(status), text, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024


def cost_at_rest(most_seconds, words):
    """cost(), asked up to twice again where it took too long: neighbors on a processor add some tens of percent."""
    for _ in range(3):
        found = cost(["timeout", str(SECONDS_MAX), *words])
        if found[2] <= most_seconds or found[2] > 2 * most_seconds:
            break
        print(f"tried again: {' '.join(map(str, words[1:]))} took {found[2]:.2f} of {most_seconds:.2f} s")
    return found


def make(name, folder, size):
    path = pathlib.Path(folder, name + SUFFIXES[name.split("-")[0]] + packed.SUFFIXES.get(name, ""))
    subprocess.run([sys.executable, __file__, "--make", name, str(path), str(size)], check=True)
    return path


def measure(stoker, name, path, show):
    size = packed.bytes_of(name, path)
    most_seconds, most_bytes = allowed(size)
    for words in COMMANDS + (STACKS if name in HAS_STACKS else []):
        code, text, seconds, memory = cost_at_rest(most_seconds, [stoker, *words, str(path)])
        what = (f"{name}, {' '.join(words)}: {size / MB:.1f} MB: {seconds:.2f} of {most_seconds:.2f} s, "
                f"{memory / MB:.0f} of {most_bytes / MB:.0f} MB, exit {code} {text[:200]}")
        if show:
            print(what, flush=True)
        check(seconds <= most_seconds and memory <= most_bytes, what)
        check(code in packed.CODES.get(name, (0, 2, 3, 4, 5)) and (code in (0, 4) or text), what)
        check("out of memory" not in text, what)  # there is enough of it
        for expected in packed.TEXTS.get(name, ()):
            check(expected in text, f"{what}: no '{expected}'")


def check_said(stoker, name, path):
    p = subprocess.run([stoker, "why", "--json", "--limit", "1", str(path)], capture_output=True)
    issues = {issue["id"]: issue for issue in json.loads(p.stdout)["profile"]["issues"]} if p.stdout else {}
    issue = issues.get(SAID[name], {"count": 0})
    check(issue["count"] > 0 and issue["remedy"], f"{name}: {SAID[name]} is missing: {sorted(issues)}")


def main():
    if sys.argv[1:2] == ["--make"]:
        MAKERS[sys.argv[2]](sys.argv[3], int(sys.argv[4]))
        return 0
    words = argparse.ArgumentParser()
    words.add_argument("stoker")
    words.add_argument("cases", nargs="*")
    words.add_argument("--long", action="store_true")
    words.add_argument("--size", type=float, help="MB of each profile")
    words.add_argument("--list", action="store_true")
    given = words.parse_args()
    if given.list:
        print("\n".join(MAKERS))
        return 0
    names = given.cases or (list(MAKERS) if given.long else SHORT)
    size = int((given.size or (LONG_SIZE if given.long else SHORT_SIZE)) * MB)
    stoker = str(pathlib.Path(given.stoker).resolve())
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(1) as ahead:
        made = [ahead.submit(make, name, folder, size) for name in names]
        for name, path in zip(names, made):
            measure(stoker, name, path.result(), given.long or given.cases)
            if name in SAID:
                check_said(stoker, name, path.result())
            path.result().unlink()
    return done("attack.formula")


if __name__ == "__main__":
    sys.exit(main())
