#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Mutated profiles of every format: each gets an answer or an error text, never a signal; in 20 s, within the time and
memory of docs/testing.md; and the same answer from a plain file, a pipe, gzip and zstd, twice, with one and two threads.

Usage: tests/attack/mutants.py STOKER [--long] [--count N] [--first I] [--seed S] [--only I] [--jobs N] [--readers FOLDER]
  --long: 20 000 inputs on all processors, of larger profiles and those of STOKER_FIXTURES and STOKER_FIELD too
  --only: the input of that number alone; what fails prints this command, and is kept below build/attack/
  --readers: mutants of those profiles alone, many by one process: the fuzz programs in that folder (build/fuzz/tests, with
    AddressSanitizer) read each and take it to the verdict; no question is asked. One mutant in WHOLE is of a whole
    profile, the others are of pieces (pieces.py)
"""
import argparse
import collections
import gzip
import json
import multiprocessing
import os
import pathlib
import random
import re
import resource
import signal
import struct
import subprocess
import sys
import tempfile
import time

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent.parent / "cli")]
from harness import ROOT, check, done, fixtures, work_in_memory  # noqa: E402
from mutators import mutate  # noqa: E402
from pieces import pieces_of  # noqa: E402

SHORT, LONG = 60, 20_000
SECONDS_MAX = 20
WHOLE, PIECES, BATCH = 50, 20, 400
KEPT = ROOT / "build/attack"
BASE_MAX, LONG_BASE_MAX = 20_000, 3_000_000  # bytes of a profile that is mutated
SUFFIXES = {"chrome": ".json", "xplane": ".xplane.pb", "nsys": ".sqlite", "stk": ".stk", "perfetto": ".pftrace"}
# How often each is asked, and what; P stands for the profile, O for a file to write.
QUESTIONS = (
    [["why", "P", "--json"]] * 4
    + [["stats", "all", "P", "--json"]] * 4
    + [["why", "-v", "P"], ["stats", "all", "P"], ["find", "", "P", "--csv", "-n", "0"]]
    + [["query", "P", sql, "--csv"] for sql in
       ("select * from events", "select * from tracks", "select * from steps", "select * from parts",
        "select a.* from events e join args a on a.event = e.id where e.id < 200",
        "select name, count(*), sum(dur_ns) from events group by 1")]
    + [["export", name, "P", "-o", "-"] for name in ("chrome", "perfetto", "xspace", "csv", "collapsed", "speedscope", "pprof")]
    + [["export", "chrome", "P", "--args", "-o", "-"], ["export", "sqlite", "P", "-o", "O"], ["diff", "P", "P", "--json"]]
    + [["whatif", "P", "--json"], ["whatif", "P"], ["whatif", "P", "--critical", "--json"], ["whatif", "P", "--target", "1ms"],
       ["query", "P", "select * from critical", "--csv"]]
)
CODES = {0, 3, 4, 5}  # and 2 where a rank has to be chosen
Answer = collections.namedtuple("Answer", "code out err seconds memory")


class Hung(Exception):
    pass


def hung(*_):
    raise Hung


def run(stoker, words, folder, stdin=None):
    """The answer of stoker in that folder; a process that hangs is killed, and its code None."""
    names = [os.path.join(folder, name) for name in ("out", "err")]
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    actions = [(os.POSIX_SPAWN_OPEN, 0, stdin or os.devnull, os.O_RDONLY, 0)]
    actions += [(os.POSIX_SPAWN_OPEN, fd, name, flags, 0o600) for fd, name in zip((1, 2), names)]
    pid = os.posix_spawn(stoker, ["stoker", *words], {**os.environ, "COLUMNS": "100"}, file_actions=actions)
    resource.prlimit(pid, resource.RLIMIT_CPU, (SECONDS_MAX, SECONDS_MAX + 5))
    signal.setitimer(signal.ITIMER_REAL, 6 * SECONDS_MAX)  # of a busy machine
    try:
        _, status, used = os.wait4(pid, 0)
    except Hung:
        os.kill(pid, signal.SIGKILL)
        _, status, used = os.wait4(pid, 0)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    code = os.waitstatus_to_exitcode(status)
    out, err = (pathlib.Path(name).read_bytes() for name in names)
    return Answer(None if code in (-signal.SIGKILL, -signal.SIGXCPU) else code, out, err,
                  used.ru_utime + used.ru_stime, used.ru_maxrss * 1024)


# A process's reported memory is at least that of the process that started it, so a small one starts it.
MEASURE = """
import os, sys
quiet = [(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_WRONLY, 0) for fd in (1, 2)]
print(os.wait4(os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ, file_actions=quiet), 0)[2].ru_maxrss)
"""


def memory_of(stoker, words, stdin):
    with open(stdin or os.devnull, "rb") as given:
        p = subprocess.run([sys.executable, "-S", "-c", MEASURE, stoker, *words], stdin=given, stdout=subprocess.PIPE, check=True)
    return int(p.stdout) * 1024


def stored_zstd(data):
    """A frame of blocks as they are (RFC 8878)."""
    out, most = struct.pack("<IBI", 0xFD2FB528, 0xA0, len(data)), 1 << 17
    for at in range(0, max(len(data), 1), most):
        part = data[at : at + most]
        out += (len(part) << 3 | (at + most >= len(data))).to_bytes(3, "little") + part
    return out


def without_inputs(value):
    if isinstance(value, dict):
        return {k: without_inputs(v) for k, v in value.items() if k != "inputs"}
    return [without_inputs(v) for v in value] if isinstance(value, list) else value


def comparable(answer, question):
    """What must not depend on how the profile came: all but its name and stored size."""
    out, err = (re.sub(rb"(?m)(?<![^ '\"])(m\.bin|-)(?=: |$)", b"PROFILE", text) for text in (answer.out, answer.err))
    out = re.sub(rb"(?m)^(  read   )\S+  (\S+ [kMG]?B, )?", rb"\1", out)
    out = out.replace(b"stoker whatif m.bin --fix", b"stoker whatif PROFILE --fix")  # the command that prices a fix
    if question[-1] == "--json" and answer.code in (0, 4):
        try:
            out = json.dumps(without_inputs(json.loads(out))).encode()
        except ValueError:
            out = b"no JSON: " + out
    return answer.code, out, err


def problem_of(answer, size):
    """What is wrong with an answer by itself."""
    if answer.code is None:
        return f"hangs: {answer.seconds:.1f} s of processor time"
    if answer.code not in CODES and b"--rank" not in answer.err:
        return f"exit code {answer.code}: {answer.err[-300:]!r}"
    if answer.code in (3, 5) and not answer.err:
        return f"exit code {answer.code} without a word"
    if answer.seconds > size / 20e6 + 0.5:
        return f"{answer.seconds:.2f} s for {size} bytes"
    if answer.memory > 10 * size + 300e6:
        return f"{answer.memory / 1e6:.0f} MB for {size} bytes"
    return None


def asked(stoker, question, folder, size, options, name):
    """An answer, and what is wrong with it; what only took long is asked again: others use the machine, too."""
    words = [name if w == "P" else "o.sqlite" if w == "O" else w for w in question] + options
    stdin = "m.bin" if name == "-" else None
    for _ in range(3):
        answer = run(stoker, words, folder, stdin)
        problem = problem_of(answer, size)
        if problem and " MB for " in problem:
            answer = answer._replace(memory=memory_of(stoker, words, stdin))
            problem = problem_of(answer, size)
        if not problem or not (" s for " in problem or "hangs" in problem):
            break
    return answer, problem


def forms_of(kind, question, data):
    """How an input is given: (in words, options, content of the file, its name)."""
    forms = [("one thread", ["-j", "1"], data, "m.bin"), ("two threads", ["-j", "2"], data, "m.bin"), ("again", [], data, "m.bin")]
    if kind != "nsys":  # a database is a plain file
        forms += [("gzip", [], gzip.compress(data, 1, mtime=0), "m.bin"), ("zstd", [], stored_zstd(data), "m.bin")]
        forms += [("pipe", [], data, "-")] if question[0] != "diff" and "args" not in " ".join(question) else []
    return forms


def problems(stoker, kind, data, r, folder):
    """All that is wrong with the answers about one input."""
    os.chdir(folder)
    question, found, first = r.choice(QUESTIONS), [], None
    for form, options, content, name in forms_of(kind, question, data):
        pathlib.Path("m.bin").write_bytes(content)
        answer, problem = asked(stoker, question, folder, max(len(data), len(content)), options, name)
        now = comparable(answer, question)
        first = first or now
        if problem or now != first:
            found.append(f"{form}: {problem or difference(first, now)}")
    return [f"{kind}, {' '.join(question)}: {what}" for what in found]


def difference(a, b):
    if a[0] != b[0]:
        return f"exit codes {a[0]} and {b[0]}: {a[2][-200:]!r} {b[2][-200:]!r}"
    part = 1 if a[1] != b[1] else 2
    at = next((i for i, (x, y) in enumerate(zip(a[part], b[part])) if x != y), min(len(a[part]), len(b[part])))
    return f"{a[part][max(at - 60, 0):at + 60]!r} and {b[part][max(at - 60, 0):at + 60]!r}"


# ---- inputs


def further():
    """Folders of profiles outside the repository, where they are there."""
    return [folder for folder in (fixtures("INDEX.tsv"), fixtures("truth.tsv", "field")) if folder]


def bases(is_long):
    """(format, content) of the profiles that are mutated."""
    found = [(kind, p.read_bytes()) for kind in SUFFIXES for p in sorted((ROOT / "tests/fuzz/seeds" / kind).glob("*"))]
    for p in sorted((ROOT / "tests/golden/bad").glob("*")):
        kind = next((k for k, suffix in SUFFIXES.items() if p.name.endswith(suffix)), None)
        found.append((kind, p.read_bytes()))
    if is_long:
        folders = [ROOT / "examples/profiles", *further()]
        for p in sorted(p for folder in folders for p in folder.rglob("*") if p.is_file()):
            kind = next((k for k, suffix in SUFFIXES.items() if p.name.removesuffix(".gz").endswith(suffix)), None)
            if kind and "truth" not in p.name and p.stat().st_size < LONG_BASE_MAX:
                found.append((kind, p.read_bytes()))
    out = []
    for kind, data in found:
        if data[:2] == b"\x1f\x8b":
            data = gzip.decompress(data)
        if kind and len(data) <= (LONG_BASE_MAX if is_long else BASE_MAX):
            out.append((kind, data))
    return sorted(out, key=lambda base: (base[0], len(base[1]), base[1]))


def input_of(inputs, seed, number):
    """The format, the content and the numbers to go on with: small profiles come more often."""
    r = random.Random(f"{seed}:{number}")
    kind = r.choice(sorted({k for k, _ in inputs}))
    some = [data for k, data in inputs if k == kind]
    small = [data for data in some if len(data) <= BASE_MAX]
    data = r.choice(small if small and r.random() < 0.97 else some)
    return kind, mutate(kind, data, r), r


def further_inputs():
    """(format, content) of the profiles outside the repository, uncompressed."""
    known = {data for kind, data in bases(False)}
    found = []
    for p in sorted(p for folder in further() for p in folder.rglob("*") if p.is_file()):
        kind = next((k for k, suffix in SUFFIXES.items() if p.name.removesuffix(".gz").endswith(suffix)), None)
        if kind:
            data = gzip.decompress(p.read_bytes()) if p.name.endswith(".gz") else p.read_bytes()
            if len(data) <= LONG_BASE_MAX and data not in known:
                found.append((kind, data))
    return found


def begin_readers(readers, seed):
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    state.update(readers=readers, seed=seed, inputs=further_inputs())
    state["pieces"] = [(kind, pieces_of(kind, data, random.Random(f"{seed}:{i}"), PIECES)) for i, (kind, data) in enumerate(state["inputs"])]


def reader_input(number):
    """The smaller of two whole profiles, or a piece of one."""
    r = random.Random(f"{state['seed']}:{number}")
    if number % WHOLE == 0:
        kind, data = min(r.choice(state["inputs"]), r.choice(state["inputs"]), key=lambda base: len(base[1]))
    else:
        kind, some = r.choice(state["pieces"])
        data = r.choice(some)
    return kind, data, r


def read_batch(numbers):
    """What the readers' own programs say of the mutants of these numbers."""
    found, readers = [], state["readers"]
    with tempfile.TemporaryDirectory(prefix="stoker-attack-") as folder:
        for number in numbers:
            kind, data, r = reader_input(number)
            where = pathlib.Path(folder, kind)
            where.mkdir(exist_ok=True)
            (where / str(number)).write_bytes(mutate(kind, data, r))
        for where in sorted(pathlib.Path(folder).iterdir()):
            KEPT.mkdir(parents=True, exist_ok=True)
            # A frozen or busy machine is no hang: the limit is of the clock.
            words = ["-timeout=1200", "-rss_limit_mb=4000", f"-artifact_prefix={KEPT}/{where.name}-"]
            answer = subprocess.run([readers / f"fuzz_{where.name}", *words, *sorted(where.iterdir())], capture_output=True)
            if answer.returncode:
                found.append(f"{where.name}: exit code {answer.returncode}: {answer.stderr[-2000:].decode(errors='replace')}")
    return len(numbers), found


state: dict = {}


def read_all(readers, seed, numbers, jobs):
    """By several processes, which inherit the profiles."""
    begin_readers(readers, seed)
    if not state["inputs"]:
        return
    print(f"seed {seed}, {len(state['inputs'])} profiles, {sum(len(s) for _, s in state['pieces'])} pieces, {len(numbers)} inputs for {readers}", flush=True)
    start, read = time.monotonic(), 0
    with multiprocessing.Pool(jobs) as pool:
        for n, found in pool.imap_unordered(read_batch, [numbers[i : i + BATCH] for i in range(0, len(numbers), BATCH)]):
            read += n
            check(not found, "; ".join(found))
            print(f"{read} inputs, {time.monotonic() - start:.0f} s", flush=True)


def attack(number):
    """The problems of one input, and where it is kept if there are any."""
    kind, data, r = input_of(state["inputs"], state["seed"], number)
    with tempfile.TemporaryDirectory(prefix="stoker-attack-") as folder:
        found = problems(state["stoker"], kind, data, r, folder)
        os.chdir(ROOT)
    kept = None
    if found:
        KEPT.mkdir(parents=True, exist_ok=True)
        kept = KEPT / f"{state['seed']}-{number}{SUFFIXES[kind]}"
        kept.write_bytes(data)
    return number, found, kept


def begin(given):
    signal.signal(signal.SIGALRM, hung)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    state.update(given)


def attack_all(numbers, given, jobs):
    if jobs == 1:
        begin(given)
        yield from map(attack, numbers)
        return
    with multiprocessing.Pool(jobs, begin, (given,)) as pool:
        yield from pool.imap_unordered(attack, numbers, 4)


def main():
    words = argparse.ArgumentParser()
    words.add_argument("stoker")
    words.add_argument("--long", action="store_true")
    words.add_argument("--count", type=int)
    words.add_argument("--first", type=int, default=0)
    words.add_argument("--seed", type=int, default=1)
    words.add_argument("--only", type=int)
    words.add_argument("--jobs", type=int)
    words.add_argument("--readers", type=pathlib.Path)
    given = words.parse_args()
    is_long = given.long
    count = given.count or (LONG if is_long else SHORT)
    if is_long or given.readers:
        work_in_memory()
    if given.readers:
        jobs = given.jobs or len(os.sched_getaffinity(0))
        read_all(given.readers.resolve(), given.seed, range(given.first, given.first + count), jobs)
        return done("attack.mutants")
    stoker = str(pathlib.Path(given.stoker).resolve())
    jobs = given.jobs or (len(os.sched_getaffinity(0)) if is_long else 1)
    inputs, start = bases(is_long), time.monotonic()
    numbers = range(given.first, given.first + count) if given.only is None else [given.only]
    print(f"seed {given.seed}, {len(inputs)} profiles, {len(numbers)} inputs")
    for n, (number, found, kept) in enumerate(attack_all(numbers, {"stoker": stoker, "seed": given.seed, "inputs": inputs}, jobs), 1):
        again = f"tests/attack/mutants.py {given.stoker} --seed {given.seed} --only {number}{' --long' if is_long else ''}"
        check(not found, f"{'; '.join(found)}\n  kept: {kept}\n  again: {again}")
        if is_long and n % 1000 == 0:
            print(f"{n} inputs, {time.monotonic() - start:.0f} s", flush=True)
    return done("attack.mutants")


if __name__ == "__main__":
    sys.exit(main())
