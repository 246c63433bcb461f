#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Damaged records of `stoker run`, and ledgers: each command that reads them has an answer or an error text, never a
signal, a hang or a stack trace, and prints no terminal control sequences.

Usage: tests/attack/records.py STOKER [--long] [--seed S] [--only I]
  --long: 3 000 damaged records, not 40. A failure prints how to ask again, and its record is kept below build/attack/.
The record is of a job with a package of PyTorch's names (tests/cli/fake_frameworks): steps, the machine, run.json. Bytes are
turned, cut and put in; sometimes a file is a pipe or a link instead. Each record gets `top`, `prove`, `view` (the page of
the run and of the ledger, by HTTP) and one further question by chance.
"""
import argparse
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent.parent / "cli")]
import view_server  # noqa: E402
from harness import ROOT, check, done, settle_environment  # noqa: E402

SHORT, LONG = 40, 3_000
SECONDS_MAX = 200  # of the clock, on a busy machine: these files have some kilobytes
JOB = """
import torch
optimizer = torch.optim.Optimizer()
for batch in torch.utils.data.DataLoader(range(30)):
    optimizer.step()
"""
EACH = [words.split() for words in (
    "top --once R", "top --once --json R", "prove --no-profile --before R --after R --ledger none")]
QUESTIONS = [words.split() for words in (
    "why R --json", "why R -v", "stats all R --json", "stats input R", "stats machine R --json", "whatif R --json", "find . R",
    "diff R R --json", "export csv R -o -", "ledger --file L", "ledger --json --file L", "why L", "why R/machine.stk --json",
    "partial R -o out.part", "report R -o out.html")]
JSON = {"top --once --json R", "why R --json", "stats all R --json", "ledger --json --file L"}
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


def write(path, data, r):
    """The damaged file. In the record, sometimes a pipe, a link to a device or a folder instead: stoker, which finds these
    files by itself, must neither wait for them nor read without an end. The ledger is named, and stays a file."""
    how = r.randrange(60) if path.parent.name == "record" else 60
    if how == 0:
        os.mkfifo(path)
    elif how == 1:
        path.symlink_to(r.choice(["/dev/zero", "/dev/null", "/proc/self/mem", path.name, ".", "/"]))
    elif how == 2:
        path.mkdir()
    elif how > 3:
        path.write_bytes(damaged(data, r))


def no_constant(word):
    raise ValueError(word)  # NaN and Infinity, which Python takes


def problem_of(r, question):
    text = r.stdout + r.stderr
    if r.returncode not in range(6) or (r.returncode in (2, 3, 5) and not r.stderr):
        return f"exit code {r.returncode}: {r.stderr[-300:]!r}"
    if b"Traceback" in text:
        return f"a stack trace: {text[-300:]!r}"
    if b"\x1b" in (r.stderr if question.startswith("export") else text):
        return "what a terminal obeys"
    if question in JSON and r.returncode in (0, 4):
        try:
            json.loads(r.stdout, parse_constant=no_constant)
        except ValueError:
            return f"no JSON: {r.stdout[-300:]!r}"
    return None


def asked(stoker, folder, question):
    if question[1] == "R/machine.stk" and not pathlib.Path(folder, "record/machine.stk").is_file():
        return None  # a pipe or a device that is named is read
    words = [word.replace("R", "record") if word[0] == "R" else "ledger.tsv" if word == "L" else word for word in question]
    try:
        answer = subprocess.run([stoker, *words], cwd=folder, capture_output=True, timeout=SECONDS_MAX, stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired:
        return f"{' '.join(words)}: hangs"
    problem = problem_of(answer, " ".join(question))
    return f"{' '.join(words)}: {problem}" if problem else None


def viewed(stoker, folder):
    """What is wrong with the pages of the record and of the ledger."""
    s = view_server.Server(stoker, "--no-cache", f"{folder}/record", f"{folder}/ledger.tsv")
    problem = None
    if s.port:
        for number in range(2):
            status, _, body = s.ask(f"/api/extra?n={number}")
            try:
                if status == 200 and number == 0:
                    json.loads(body)
            except ValueError:
                problem = f"view: no JSON: {body[-300:]!r}"
            if status not in (200, 400, 404, 500):
                problem = f"view: {status} {body[:300]!r}"
    code = s.end()
    return problem or (f"view: exit code {code}: {s.line!r}" if code not in range(6) else None)


def attack(stoker, files, seed, number):
    r = random.Random(f"{seed}:{number}")
    with tempfile.TemporaryDirectory(prefix="stoker-attack-") as folder:
        where = pathlib.Path(folder, "record")
        where.mkdir()
        for name, data in files.items():
            write(pathlib.Path(folder, name) if name == "ledger.tsv" else where / name, data, r)
        questions = [*EACH, r.choice(QUESTIONS)]
        found = [*(asked(stoker, folder, question) for question in questions), viewed(stoker, folder)]
        problem = "; ".join(filter(None, found))
        if problem:
            kept = ROOT / f"build/attack/record-{seed}-{number}"
            shutil.copytree(folder, kept, dirs_exist_ok=True, symlinks=True, ignore=lambda at, names: [
                name for name in names if pathlib.Path(at, name).is_fifo()])
            problem += f"\n  kept: {kept}"
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
