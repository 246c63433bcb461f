#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Damaged records of `stoker run`, and ledgers: whatever bytes are turned, cut or put in, each command that reads them has
an answer or an error text, never a signal or a stack trace, and nothing that a terminal obeys.

Usage: tests/attack/records.py STOKER [--long] [--seed S] [--only I]
  --long: 3 000 damaged records, not 40. What fails prints how to ask it again, and is kept below build/attack/.
The record is that of a job with a package of PyTorch's names (tests/cli/fake_frameworks): steps, the machine, run.json.
"""
import argparse
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent.parent / "cli")]
from harness import ROOT, check, done, settle_environment  # noqa: E402

SHORT, LONG = 40, 3_000
SECONDS_MAX = 200  # of the clock, on a busy machine: these files have some kilobytes
JOB = """
import torch
optimizer = torch.optim.Optimizer()
for batch in torch.utils.data.DataLoader(range(30)):
    optimizer.step()
"""
QUESTIONS = [words.split() for words in (
    "why R --json", "why R -v", "stats all R --json", "stats input R", "stats machine R --json", "whatif R --json", "find . R",
    "diff R R --json", "export csv R -o -", "prove --no-profile --before R --after R --ledger none", "ledger --file L",
    "ledger --json --file L")]
VALUES = [b"1e999", b"-1", b"null", b"[]", b"{", b'"\\u001b[2J"', b"9" * 30, b"\xff", b"\x00", b"\t", b"nan", b"18446744073709551615",
          b"\x1b]0;x\x07", "\u202e".encode(), b'"' + b"A" * 70_000 + b'"', b"[" * 2_000, b"\xff" * 8, b"\xff\xff\xff\x7f"]


def record(stoker):
    """name -> content of the files of a run, and of a ledger."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([stoker, "run", "--out", f"{folder}/out", "--", sys.executable, "-c", JOB], check=True, capture_output=True,
                       env={**os.environ, "PYTHONPATH": str(ROOT / "tests/cli/fake_frameworks")})
        files = {p.name: p.read_bytes() for p in sorted(pathlib.Path(folder, "out").iterdir())}
    check({"run.json", "machine.stk"} < set(files), f"a record: {list(files)}")
    return files | {"ledger.tsv": (ROOT / "lab/ledger.tsv").read_bytes()[:4_000]}


def damaged(data, r):
    """The bytes with some turned, cut off, taken out, put in twice or replaced by what numbers and texts should not be."""
    b = bytearray(data)
    for _ in range(r.choice([0, 1, 1, 2, 5, 20])):
        at, length = r.randrange(len(b) + 1), r.choice([1, 4, 8, 30])
        how = r.randrange(12)
        if how < 4 and at < len(b):
            b[at] ^= 1 << r.randrange(8)
        elif how < 8:
            b[at:at + length] = r.choice(VALUES)
        elif how < 9:
            del b[at:]
        elif how < 10:
            del b[at:at + length]
        else:
            b[at:at] = b[at // 2:at // 2 + 200]
    return bytes(b)


def problem_of(r):
    text = r.stdout + r.stderr
    if r.returncode not in range(6) or (r.returncode in (2, 3, 5) and not r.stderr):
        return f"exit code {r.returncode}: {r.stderr[-300:]!r}"
    if b"Traceback" in text:
        return f"a stack trace: {text[-300:]!r}"
    return "what a terminal obeys" if b"\x1b" in r.stderr else None


def attack(stoker, files, seed, number):
    r = random.Random(f"{seed}:{number}")
    with tempfile.TemporaryDirectory(prefix="stoker-attack-") as folder:
        where = pathlib.Path(folder, "record")
        where.mkdir()
        for name, data in files.items():
            path = pathlib.Path(folder, name) if name == "ledger.tsv" else where / name
            path.write_bytes(damaged(data, r))
        question = [{"R": "record", "L": "ledger.tsv"}.get(w, w) for w in r.choice(QUESTIONS)]
        answer = subprocess.run([stoker, *question], cwd=folder, capture_output=True, timeout=SECONDS_MAX)
        problem = problem_of(answer)
        if problem:
            kept = ROOT / f"build/attack/record-{seed}-{number}"
            shutil.copytree(folder, kept, dirs_exist_ok=True)
            problem = f"{' '.join(question)}: {problem}\n  kept: {kept}"
    return problem


def main():
    words = argparse.ArgumentParser()
    words.add_argument("stoker")
    words.add_argument("--long", action="store_true")
    words.add_argument("--seed", type=int, default=1)
    words.add_argument("--only", type=int)
    given = words.parse_args()
    settle_environment()
    stoker = str(pathlib.Path(given.stoker).resolve())
    files = record(stoker)
    numbers = range(LONG if given.long else SHORT) if given.only is None else [given.only]
    for number in numbers:
        problem = attack(stoker, files, given.seed, number)
        check(not problem, f"{problem}\n  again: tests/attack/records.py {given.stoker} --seed {given.seed} --only {number}")
    return done("attack.records")


if __name__ == "__main__":
    sys.exit(main())
