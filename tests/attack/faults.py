#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Failure injection through whole commands: each call of the system that stoker makes (tests/faults/calls.def:
memory, reading, writing, opening, mapping, processes and threads, clocks) fails once, in turn. The command must give
its usual answer, or an error text with the exit code for it. It leaves no file, no process and, under
AddressSanitizer, no memory behind.

Usage: tests/attack/faults.py STOKER [--long] [--seed S] [--points N] [--only POINT] [COMMAND...]
  STOKER: the program; the one that fails is next to it, tests/stoker_faults.
  --long: 22 000 points, not 400. --only why-chrome:read:17:EIO repeats one.
A point is a command of COMMANDS, a kind of call, the number of the call among its kind, and the error. The seed alone
decides which points a short run takes. Every run also takes FOUND, the points that found a bug: there a function stands
for the number, since numbers change with the code. Its first three calls of that kind fail, one in each run.
"""
import argparse
import errno
import gzip
import http.client
import itertools
import json
import multiprocessing
import os
import pathlib
import random
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent.parent / "cli")]
import reaper  # noqa: E402
from harness import ROOT, check, done, settle_environment, skip, work_in_memory  # noqa: E402

SHORT, LONG = 400, 22_000
KINDS = "memory read write open map fork clock".split()
ERRORS = {"memory": ["ENOMEM"], "read": ["EIO"], "write": ["ENOSPC", "EIO"], "open": ["EMFILE", "EACCES"], "map": ["ENOMEM"],
          "fork": ["EAGAIN"], "clock": ["EINVAL"]}
# What a command may exit with where a call of that kind failed, if not as it does without.
CODES = {"memory": {5}, "read": {3, 5}, "write": {3, 5}, "open": {3, 5}, "map": {3, 5}, "fork": {3, 5}, "clock": set()}
PAGE = struct.Struct("<3Q7QQ32sQ24Q")  # struct faults_page of tests/faults/faults.h
DEPTH = 24
SECONDS, CHUNKS = 5, 30  # of the clock that a command may take: so often so many, for a machine that is frozen meanwhile
FAKES = ROOT / "tests/cli/fake_frameworks"
JOB = """
import torch
optimizer = torch.optim.Optimizer()
for batch in torch.utils.data.DataLoader(range(24)):
    optimizer.step()
"""


# ---- the commands ----


class Command:
    """Words for a sandbox, whose files are set up by `fill`; `same`: its output is the same in every run."""

    def __init__(self, words, fill, same=True, weight=1, serves=False, codes=(), facts=None):
        self.words, self.fill, self.same, self.weight, self.serves, self.codes, self.facts = words.split(), fill, same, weight, serves, set(codes), facts


def profile(source, name):
    def fill(box):
        data = (ROOT / source).read_bytes()
        (box / name).write_bytes(gzip.decompress(data) if source.endswith(".gz") and not name.endswith(".gz") else data)
    return fill


def ranks(box):
    data = (ROOT / "tests/fuzz/seeds/chrome/kineto.json").read_bytes()
    (box / "ranks").mkdir()
    for i in range(3):
        (box / "ranks" / f"rank{i}.json").write_bytes(data)


def records(box):
    def masked(data):
        crc = 0xFFFFFFFF
        for byte in data:
            crc ^= byte
            for _ in range(8):
                crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
        crc ^= 0xFFFFFFFF
        return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)
    with gzip.open(box / "a.tfrecord.gz", "wb") as f:
        for i in range(20):
            head, data = struct.pack("<Q", 30 + i), bytes(range(30 + i))
            f.write(head + masked(head) + data + masked(data))


def recorded(box):
    """A folder of `stoker run`, made once for all."""
    shutil.copytree(os.environ["STOKER_FAULTS_RECORD"], box / "run")


def nothing(box):
    pass


def steps_told(box):
    """Of a run: what its figures say, and which files its folder has."""
    path = box / "figures.json"
    figures = json.loads(path.read_text()) if path.exists() and path.stat().st_size else {}
    files = sorted(re.sub(r"\d+", "N", p.name) for p in box.glob("out/*") if p.is_file() and p.stat().st_size)
    return figures.get("steps", {}).get("count"), figures.get("ranks"), figures.get("exit_status"), files


def script(box):
    (box / "train.py").write_text(JOB)


COMMANDS = {
    "why-chrome": Command("why t.json", profile("tests/fuzz/seeds/chrome/kineto.json", "t.json")),
    "why-gzip": Command("why t.json.gz --json", profile("tests/fuzz/seeds/chrome/kineto.json.gz", "t.json.gz")),
    "why-perfetto": Command("why t.pftrace -v", profile("tests/fuzz/seeds/perfetto/torch.pftrace", "t.pftrace")),
    "why-nsys": Command("why t.sqlite", profile("tests/fuzz/seeds/nsys/small.sqlite", "t.sqlite")),
    "why-stk": Command("why t.stk", profile("tests/fuzz/seeds/stk/device.stk", "t.stk")),
    "why-xplane": Command("why t.xplane.pb.gz", profile("examples/profiles/gpu_jax_input.xplane.pb.gz", "t.xplane.pb.gz")),
    "why-ranks": Command("why ranks", ranks),
    "why-run": Command("why run", recorded),
    "run": Command("run --level 0 --out out -- sh -c :", nothing, same=False, weight=4, codes=[126], facts=steps_told),
    "run-json": Command("run --out out --json figures.json -- PYTHON train.py", script, same=False, weight=0.3, codes=[126], facts=steps_told),
    "top-run": Command("top --once run", recorded),
    "top-json": Command("top --json run", recorded, same=False),
    "top-process": Command("top --once 1", nothing, same=False, weight=0.05),
    "view-page": Command("view t.json --html page.html", profile("tests/fuzz/seeds/chrome/kineto.json", "t.json")),
    "view-page-nsys": Command("view t.sqlite --html page.html", profile("tests/fuzz/seeds/nsys/small.sqlite", "t.sqlite")),
    "view-page-perfetto": Command("view t.pftrace --html page.html", profile("tests/fuzz/seeds/perfetto/torch.pftrace", "t.pftrace")),
    "view-page-stk": Command("view t.stk --html page.html", profile("tests/fuzz/seeds/stk/device.stk", "t.stk")),
    "view": Command("view --no-open t.json", profile("tests/fuzz/seeds/chrome/kineto.json", "t.json"), same=False, serves=True),
    "tune": Command("tune --warmup 2 --steps 16 --budget 1 --quiet --ledger none --fix torch.dataloader.pin_memory --out out -- PYTHON train.py",
                    script, same=False, weight=0.03),
    "convert": Command("data convert a.tfrecord.gz -o all.stkidx", records, weight=4),
}  # fmt: skip

# Each found a bug: an answer without a part that memory was short for, or that could not be read, and nothing said; another
# reason than the true one; files left behind.
FOUND = """
why-chrome:memory:stk_price_set:ENOMEM
why-perfetto:memory:stk_replay_run:ENOMEM
why-nsys:memory:stk_pricing_init:ENOMEM
why-gzip:memory:stk_chrome_flatten:ENOMEM
why-gzip:memory:stk_rule_spread:ENOMEM
why-gzip:read:measure:EIO
why-nsys:read:check_whole:EIO
why-nsys:open:check_whole:EMFILE
top-run:memory:stk_live_record_view:ENOMEM
top-run:memory:stk_now_judge:ENOMEM
top-run:read:stk_live_record_follow:EIO
top-run:read:add_rank:EIO
top-run:read:look_for_ranks:EIO
top-run:read:read_records:EIO
top-run:open:look_for_ranks:EMFILE
top-run:open:add_rank:EMFILE
convert:memory:stk_stream_open:ENOMEM
convert:memory:stk_source_open:ENOMEM
convert:memory:open_engine:ENOMEM
run:open:make_in_run:EACCES
run:open:run_run:EMFILE
run:memory:read_and_write:ENOMEM
run:memory:sample:ENOMEM
run:open:stk_hooks_drop:EMFILE
view:open:stk_scratch_make:EACCES
view:read:stk_scratch_remove:EIO
view-page:memory:stk_gathered_finish:ENOMEM
why-ranks:read:list_names:EIO
view-page:memory:put_ribbons:ENOMEM
tune:clock:watch:EINVAL
view-page:read:stk_collect_find:EIO
""".split()


# ---- one run ----


class Page:
    """The page that all processes of a program under test share."""

    def __init__(self, path, kind=0, at=0, error=0):
        self.path = path
        path.write_bytes(PAGE.pack(kind, at, error, *[0] * 7, 0, b"", 0, *[0] * 24))

    def read(self):
        v = PAGE.unpack(self.path.read_bytes())
        depth = min(v[12], DEPTH)
        self.seen, self.struck, self.call, self.frames = dict(zip(KINDS, v[3:10])), v[10], v[11].rstrip(b"\0").decode(), v[13:13 + depth]


def ask_server(process, out):
    """Asks a viewer for some pages, as a browser does, and ends it by Ctrl-C."""
    for _ in range(2_000):
        found = re.search(r"http://127\.0\.0\.1:(\d+)/\?token=(\w+)", out.read_text())
        if found or process.poll() is not None:
            break
        time.sleep(0.005)
    if found:
        for page in ("/", "/api/view", "/api/why", "/api/timeline", "/api/extra"):
            try:
                c = http.client.HTTPConnection("127.0.0.1", int(found[1]), timeout=20)
                c.request("GET", page, headers={"X-Stoker-Token": found[2]})
                c.getresponse().read()
                c.close()
            except (OSError, http.client.HTTPException):
                pass
    if process.poll() is None:
        process.send_signal(signal.SIGINT)


def plain(data):
    """Without the random number that a page's rules about scripts and styles have."""
    return re.sub(rb"nonce(-|=\")[0-9a-f]{32}", b"nonce", data)


def tree(box):
    return sorted(str(p.relative_to(box)) for p in box.rglob("*"))


class Run:
    def __init__(self, program, command, page, trace=None):
        with tempfile.TemporaryDirectory(prefix="stoker-faults-") as folder:
            self.box = box = pathlib.Path(folder, "box")
            out, err = pathlib.Path(folder, "stdout"), pathlib.Path(folder, "stderr")
            for name in ("", "tmp", "cache", "home"):
                (box / name).mkdir()
            command.fill(box)
            before = tree(box)
            env = {**os.environ, "STOKER_FAULTS": str(page.path), "STOKER_THREADS": "1", "STOKER_HASH_SEED": "1", "TMPDIR": str(box / "tmp"),
                   "XDG_CACHE_HOME": str(box / "cache"), "HOME": str(box / "home"), "PYTHONPATH": str(FAKES), "STOKER_MPI": "off",
                   "ASAN_OPTIONS": "detect_leaks=1:allocator_may_return_null=1:exitcode=99", "UBSAN_OPTIONS": "halt_on_error=1:exitcode=99"}
            if trace:
                env["STOKER_FAULTS_TRACE"] = str(trace)
            words = [sys.executable if w == "PYTHON" else w for w in command.words]
            with out.open("wb") as o, err.open("wb") as e:
                p = subprocess.Popen([program, *words], stdin=subprocess.DEVNULL, stdout=o, stderr=e, cwd=box, env=env)
                if command.serves:
                    ask_server(p, out)
                self.rc = reaper.wait(p, SECONDS, CHUNKS)
            self.left = reaper.end_left()
            self.out, self.err = out.read_text(errors="replace"), err.read_text(errors="replace")
            self.files = [f for f in tree(box) if f not in before]
            self.made = {f: plain((box / f).read_bytes()) for f in self.files if command.same and (box / f).is_file() and not f.startswith("cache")}
            self.facts = command.facts(box) if command.facts else None
            self.gone = [f for f in before if not os.path.lexists(box / f)]
            page.read()


# ---- what must hold ----


def is_left_over(name):
    """Files that are there only while a command works."""
    parts = name.split("/")
    return name.endswith(".part") or (parts[0] == "tmp" and len(parts) > 1) or "hooks" in parts


SAYS = re.compile(r"can't be (read|opened)|can't (read|open)|cannot write|Input/output error|Permission denied|Too many open|out of memory")


def problems(command, kind, usual, r):
    """What is wrong with a run in which a call failed."""
    said = [line for line in r.err.splitlines() if line.strip()]
    found = []
    if r.rc is None:
        return ["hangs"]
    if r.rc < 0:
        return [f"ended by {signal.Signals(-r.rc).name}"]
    if r.rc == 99 or "Sanitizer" in r.err:
        return ["sanitizer: " + (re.findall(r"(?:ERROR|runtime error|SUMMARY).*", r.err) or ["?"])[0]]
    if r.rc != usual.rc and r.rc not in CODES[kind] | command.codes:
        found.append(f"exit code {r.rc}")
    if r.rc != usual.rc and not any(len(line) > 20 for line in said):
        found.append("no error text")
    if r.rc == usual.rc and r.facts != usual.facts and not SAYS.search(r.out + r.err):
        found.append(f"other figures, and nothing said: {r.facts}, not {usual.facts}")
    if r.rc == usual.rc and command.same and len(said) <= len(usual.err.splitlines()) and not SAYS.search(r.out):
        if r.out != usual.out:
            found.append("another answer, and nothing said")
        elif r.made != usual.made:
            found.append(f"other files, and nothing said: {sorted(set(r.made) ^ set(usual.made))}")
    left = [f for f in r.files if is_left_over(f)]
    if left:
        found.append(f"left behind: {left[:5]}")
    if r.rc != usual.rc and command.same and set(r.made) - set(usual.made):
        found.append(f"files of a failure: {sorted(set(r.made) - set(usual.made))}")
    if r.left:
        found.append(f"still running: {r.left}")
    if r.gone:
        found.append(f"removed: {r.gone}")
    return found


# ---- points ----


def usual(program, name):
    with tempfile.TemporaryDirectory(prefix="stoker-faults-") as folder:
        return counted(Run(program, COMMANDS[name], page := Page(pathlib.Path(folder, "page"))), page)


def counted(run, page):
    run.seen = page.seen
    return run


def points_of(name, run):
    """All of a command, call by call, with each error that such a call may have."""
    return [(name, kind, n, error) for kind in KINDS for error in ERRORS[kind] for n in range(1, run.seen[kind] + 1)]


def chosen(all_points, most, seed):
    """As many of each command as its weight says; where one has fewer, the others get its share."""
    r, rest, picked = random.Random(seed), dict(all_points), []
    left = most
    while rest and left > 0:
        share = left / sum(COMMANDS[n].weight for n in rest)
        small = [n for n in rest if len(rest[n]) <= share * COMMANDS[n].weight]
        for n in small or list(rest):
            count = min(len(rest[n]), max(1, int(share * COMMANDS[n].weight)))
            by_kind = [[p for p in rest[n] if p[1] == kind] for kind in KINDS]
            for some in by_kind:
                r.shuffle(some)
            turns = [p for row in itertools.zip_longest(*by_kind) for p in row if p]  # the kinds take turns
            picked += turns[:count]
            left -= count
            del rest[n]
        if not small:
            break
    return picked


def functions(program, addresses):
    """address -> the functions there, innermost first: what was inlined, and where to."""
    asked = sorted(set(addresses))
    text = "\n".join(hex(max(0, a - 1)) for a in asked)
    lines = subprocess.run(["addr2line", "-a", "-i", "-f", "-e", program], input=text, capture_output=True, text=True).stdout.splitlines()
    found, names = [], []
    for line in lines:
        if line.startswith("0x"):
            names = []
            found.append(names)
        elif re.fullmatch(r"\w+", line):
            names.append(line)
    return dict(zip(asked, found))


def where(program, page):
    """The functions that asked, innermost first."""
    known = functions(program, page.frames)
    names = [n for f in page.frames for n in known.get(f, ()) if n not in ("note", "strikes", "callers") and not n.startswith("__wrap")]
    return " < ".join(names[:9])


def found_points(program, names):
    """FOUND, with the numbers that the calls have in this program. What has no such function is left out."""
    points = []
    with tempfile.TemporaryDirectory(prefix="stoker-faults-") as folder:
        for name, kind in sorted({tuple(p.split(":")[:2]) for p in FOUND}):
            if name not in names:
                continue
            trace = pathlib.Path(folder, "trace")
            trace.write_bytes(b"")
            Run(program, COMMANDS[name], Page(pathlib.Path(folder, "page"), KINDS.index(kind)), trace)
            chains = [[f for f in chain if f] for chain in struct.iter_unpack(f"<{DEPTH}Q", trace.read_bytes())]
            known = functions(program, {f for chain in chains for f in chain})
            if not any(known.values()):
                skip("this build has no names of functions")
            for function, error in [p.split(":")[2:] for p in FOUND if p.startswith(f"{name}:{kind}:")]:
                numbers = [n for n, chain in enumerate(chains, 1) if any(function in known.get(f, ()) for f in chain)]
                points += [(name, kind, n, error) for n in numbers[:3]]
    return points


def ask(job):
    program, point, normal = job
    name, kind, n, error = point
    with tempfile.TemporaryDirectory(prefix="stoker-faults-") as folder:
        page = Page(pathlib.Path(folder, "page"), KINDS.index(kind), n, getattr(errno, error))
        r = Run(program, COMMANDS[name], page)
        found = problems(COMMANDS[name], kind, normal, r) if page.struck else []
        how = "not reached" if not page.struck else "borne" if r.rc == normal.rc else "reported"
        return point, found, how, f"{page.call} in {where(program, page)}" if found else page.call, r.rc, r.err[-400:]


def record(program, folder):
    subprocess.run([program, "run", "--level", "0", "--out", folder, "--", sys.executable, "-c", JOB], check=True, capture_output=True,
                   env={**os.environ, "PYTHONPATH": str(FAKES)})
    os.environ["STOKER_FAULTS_RECORD"] = str(folder)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("stoker", type=pathlib.Path)
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--points", type=int)
    parser.add_argument("--only", action="append")
    parser.add_argument("--jobs", type=int)
    parser.add_argument("commands", nargs="*")
    a = parser.parse_intermixed_args()
    settle_environment()
    program = a.stoker.resolve()
    program = program if program.name == "stoker_faults" else program.parent / "tests/stoker_faults"
    names = a.commands or [p.partition(":")[0] for p in a.only or COMMANDS]
    reaper.adopt()
    if a.long:
        work_in_memory()
    with tempfile.TemporaryDirectory(prefix="stoker-faults-") as folder:
        record(program, pathlib.Path(folder, "record"))
        normal = {name: usual(program, name) for name in dict.fromkeys(names)}
        every = {name: points_of(name, run) for name, run in normal.items()}
        for name, run in normal.items():
            check(run.rc in {0, 4} | COMMANDS[name].codes and not run.left, f"{name} without a fault: {run.rc} {run.err[-500:]}")
        if a.only:
            points = [(n, k, int(i), e) for n, k, i, e in (p.split(":") for p in a.only)]
        else:
            points = found_points(program, normal) + chosen(every, a.points or (LONG if a.long else SHORT), a.seed)
        hows, bad, start = {}, {}, time.monotonic()
        jobs = a.jobs or (len(os.sched_getaffinity(0)) if a.long else 1)
        with multiprocessing.Pool(jobs, reaper.adopt) as pool:
            for n, (point, found, how, call, rc, err) in enumerate(pool.imap_unordered(ask, [(program, p, normal[p[0]]) for p in points], 8), 1):
                hows[how] = hows.get(how, 0) + 1
                if n % 1000 == 0:
                    print(f"{n} of {len(points)} points, {time.monotonic() - start:.0f} s", flush=True)
                word = ":".join(map(str, point))
                check(not found, f"--only {word}: {'; '.join(found)} ({call}; exit code {rc}: {err})")
                if found:
                    bad.setdefault((found[0][:40], call), []).append(word)
    for (what, call), some in sorted(bad.items(), key=lambda b: -len(b[1])):
        print(f"{len(some):5} {what}: {call}: {some[0]}")
    print(f"of {sum(map(len, every.values()))} points in {len(every)} commands, seed {a.seed}: {hows}")
    return done("attack.faults")


if __name__ == "__main__":
    sys.exit(main())
