#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`run`, `prove` and `tune` in a simulated world (tests/world): a seed determines clocks, the order of processes,
signals and failures. At one step of each run something goes wrong: a process is killed or stalls, a signal arrives, a
file is truncated, a clock jumps, the disk is full. The command must end, with an exit code of the contract and an
error text where it failed. It leaves no process behind, and no file that the next run does not remove. It signals no
process number that may be somebody else's by now. It reports no difference between equal jobs.

Usage: tests/attack/world.py STOKER [--long] [--seed S] [--count N] [--only SEED] [--jobs N]
  STOKER: the program; the one in the simulated world is next to it, tests/stoker_world.
  --long: 10 000 seeds, not 300 (./dev attack). --only repeats one seed.
"""
import argparse
import multiprocessing
import os
import pathlib
import random
import signal
import struct
import subprocess
import sys
import tempfile
import time

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent.parent / "cli")]
import reaper  # noqa: E402
from harness import check, done, settle_environment, work_in_memory  # noqa: E402

SHORT, LONG = 300, 10_000
HEAD = struct.Struct("<2Qq12Q160s")  # struct world of tests/world/world.h, without the slots
SLOTS, SLOT_BYTES = 64, 56
KINDS = "nothing kill signal stall truncate skew suspend full".split()
START = 1_700_000_000  # of the calendar in the world
SECONDS, CHUNKS = 5, 12  # of real time: a run takes some milliseconds
# name -> (words, exit codes without a disaster, exit codes with one)
EQUAL, FASTER = "prove-equal", "prove-faster"
SCENES = {
    "run": ("run --level 0 --out out -- JOB 10 14", {0}),
    "run-fails": ("run --level 0 --out out --json figures.json -- JOB 10 6 7", {7}),
    EQUAL: ("prove --warmup 2 --steps 12 --pairs 4 --no-profile --timeout 60s --ledger none --quiet -- JOB 10 20 --vs JOB 10 20", {0}),
    FASTER: ("prove --warmup 2 --steps 12 --pairs 4 --no-profile --timeout 60s --ledger none --quiet -- JOB 10 20 --vs JOB 5 20", {0}),
    "tune": ("tune --warmup 2 --steps 16 --budget 2 --quiet --ledger none --fix torch.dataloader.num_workers --out out -- JOB 10 40", {0, 4}),
}  # fmt: skip
WEIGHTS = [4, 2, 3, 2, 1]
CODES = {"run": {0, 126, 3, 5}, "run-fails": {7, 126, 3, 5}, EQUAL: {0, 3, 4, 5, 130}, FASTER: {0, 3, 4, 5, 130}, "tune": {0, 3, 4, 5, 130}}


class World:
    """The page, and what came of it."""

    def __init__(self, path, seed, at=0, kind=0, days=0):
        self.path = path
        skew = int(time.time() + days * 86_400 - START) * 1_000_000_000 if days else 0
        path.write_bytes(HEAD.pack(seed, 1_000_000_000_000, skew, at, kind, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, b"") + bytes(SLOTS * SLOT_BYTES))

    def read(self):
        data = self.path.read_bytes()
        v = HEAD.unpack_from(data)
        self.now, self.steps, self.hash, self.struck, self.victim, self.freed, self.stuck = v[1] / 1e9, v[5], v[6], v[9], v[10], v[12], v[13]
        self.note = v[15].rstrip(b"\0").decode(errors="replace")
        self.pids = {struct.unpack_from("<i", data, HEAD.size + i * SLOT_BYTES)[0] for i in range(SLOTS)} - {0}


class Run:
    def __init__(self, program, words, box, world):
        job = str(program.parent / "world_job")
        env = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "STOKER_WORLD": str(world.path), "STOKER_WORLD_BOX": str(box), "TMPDIR": str(box / "tmp"),
               "HOME": str(box), "XDG_RUNTIME_DIR": str(box / "tmp"), "STOKER_THREADS": "1", "STOKER_HASH_SEED": "1", "STOKER_MPI": "off"}
        with (box.parent / "stdout").open("wb") as out, (box.parent / "stderr").open("wb") as err:
            p = subprocess.Popen([program, *(job if w == "JOB" else w for w in words.split())], stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                                 cwd=box, env=env)
            self.rc = reaper.wait(p, SECONDS, CHUNKS)
        world.read()
        self.left = reaper.end_left() if self.rc is not None else []
        if self.rc is None:
            for pid in world.pids:
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            reaper.end_left()
        self.out, self.err = ((box.parent / n).read_text(errors="replace") for n in ("stdout", "stderr"))


def make_box(folder):
    box = pathlib.Path(folder, "box")
    for name in ("", "tmp", "canary"):
        (box / name).mkdir()
    (box / "canary/file").write_text("kept")
    return box


def leftovers(box):
    """Files that are there only while a command works."""
    found = [str(p.relative_to(box)) for p in box.rglob("*")]
    return [f for f in found if f.startswith("tmp/") or f.endswith(".part") or "hooks" in f.split("/") or f.startswith("out/run-")]


def is_swept(box, found):
    """What the next run in this place removes. It doesn't write the killed one's files again, whose next writer removes
    their parts, and it can't know an empty folder, made just before it got its mark, for stoker's."""
    path = box / found
    is_own_part = found.endswith(".part") and found.split("/")[-1].split(".json.")[0] in ("run", "figures", "proof", "tuned")
    return not is_own_part and not (path.is_dir() and not any(path.iterdir()))


def problems(program, name, kind, world, run, box):
    killed = kind == "kill" and world.struck
    codes = SCENES[name][1] | (CODES[name] if world.struck else set())
    by_signal = {-s for s in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)} if kind == "signal" else set()
    found = []
    if world.stuck:
        return [f"everything waits, at {world.now - 1000:.3f} s"]
    if run.rc is None:
        return ["hangs, or ended in the middle of its turn"]
    main_killed = killed and run.rc == -signal.SIGKILL
    if not main_killed and run.rc not in codes | by_signal | ({137, -signal.SIGKILL} if killed and name.startswith("run") else set()):
        # A job that a signal ended gives `run` that end.
        if not (name.startswith("run") and kind == "signal"):
            found.append(f"exit code {run.rc}")
    if run.rc in (2, 3, 5) and not any(len(line) > 20 for line in run.err.splitlines()):
        found.append("no error text")
    if world.freed:
        found.append(f"{world.freed} signals to a number that no process has")
    if run.left and not (name.startswith("run") and main_killed):
        found.append(f"{len(run.left)} processes left")
    if name == EQUAL and any(w in run.out for w in ("B is faster", "B is slower")) or name == FASTER and "slower" in run.out.split(":")[0]:
        found.append("a wrong verdict: " + run.out[-200:])
    if (box / "canary/file").read_text() != "kept":
        found.append("a file of somebody else's changed")
    left = leftovers(box)
    if left and not killed and kind not in ("full",):
        found.append(f"left behind: {left[:4]}")
    elif left:  # the next run removes it
        again = World(box.parent / "again", 1, days=2)  # what says of itself nothing has a day
        Run(program, "run --level 0 --out next -- JOB 10 2", box, again)
        left = [f for f in leftovers(box) if is_swept(box, f)]
        if left:
            found.append(f"left behind, and not removed by the next run: {left[:4]}")
    return found


def live(job):
    program, seed, steps, kinds = job
    r = random.Random(seed)
    name = r.choices(list(SCENES), WEIGHTS)[0]
    kind = r.choice(kinds)
    at = r.randint(1, steps[name])
    with tempfile.TemporaryDirectory(prefix="stoker-world-") as folder:
        box = make_box(folder)
        world = World(pathlib.Path(folder, "world"), seed, at, KINDS.index(kind))
        run = Run(program, SCENES[name][0], box, world)
        found = problems(program, name, kind, world, run, box)
        return seed, found, f"{name}, {kind} at step {at} of {world.steps}{' ' + world.note if world.note else ''}", run.rc, run.err[-300:], world


def undisturbed(program, name, seed=1):
    with tempfile.TemporaryDirectory(prefix="stoker-world-") as folder:
        box = make_box(folder)
        world = World(pathlib.Path(folder, "world"), seed)
        begin = time.time()
        run = Run(program, SCENES[name][0], box, world)
        run.took = time.time() - begin
        return run, world, leftovers(box)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("stoker", type=pathlib.Path)
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int)
    parser.add_argument("--only", type=int, action="append")
    parser.add_argument("--jobs", type=int)
    parser.add_argument("--kinds", default=",".join(KINDS[1:]))
    a = parser.parse_args()
    settle_environment()
    program = a.stoker.resolve()
    program = program if program.name == "stoker_world" else program.parent / "tests/stoker_world"
    reaper.adopt()
    is_long = a.long
    if is_long:
        work_in_memory()
    steps = {}
    for name, (_, codes) in SCENES.items():
        run, world, left = undisturbed(program, name)
        check(run.rc in codes and not run.left and not left and not world.stuck, f"{name}: {run.rc} {run.left} {left} {world.stuck} {run.out[-300:]} {run.err[-300:]}")
        again = undisturbed(program, name)[1]
        check((world.steps, world.hash, world.now) == (again.steps, again.hash, again.now), f"{name}: the same seed, another course: {world.steps}, {again.steps}")
        steps[name] = world.steps
        print(f"{name}: {world.steps} steps, {world.now - 1000:.2f} s simulated in {run.took:.3f} s")
    count = a.count or (LONG if is_long else SHORT)
    seeds = a.only or [a.seed * 1_000_000 + i for i in range(count)]
    jobs = a.jobs or (len(os.sched_getaffinity(0)) if is_long else 1)
    struck, start = 0, time.monotonic()
    with multiprocessing.Pool(jobs, reaper.adopt) as pool:
        jobs = [(program, s, steps, a.kinds.split(",")) for s in seeds]
        for n, (seed, found, what, rc, err, world) in enumerate(pool.imap_unordered(live, jobs, 8), 1):
            if n % 1000 == 0:
                print(f"{n} seeds, {time.monotonic() - start:.0f} s", flush=True)
            check(not found, f"--only {seed}: {'; '.join(found)} ({what}; exit code {rc}: {err})")
            struck += world.struck
    print(f"{len(seeds)} seeds from {seeds[0]}, {struck} disasters")
    return done("attack.world")


if __name__ == "__main__":
    sys.exit(main())
