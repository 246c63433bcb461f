#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Truncated profiles: the answer must equal that of the whole file for the judged steps, or there must be none.

Usage: tests/attack/cuts.py STOKER [--long] [--seed S] [--only NAME]
  --long: every profile at 20 places: those carried here, and those of STOKER_FIXTURES and STOKER_FIELD
  --only: profiles whose path holds NAME, at 20 places; what fails prints this command, and is kept below build/attack/

A truncated file gives one of these:
- exit code 0, and no part of the breakdown differs by more than 0.03 from the whole file's at the same time; the
  sentence says that the file is truncated, unless nothing is missing;
- exit code 4 and the verdict cannot-tell;
- exit code 3 and an error text.
A cut is anywhere in its twentieth of the file, of its content or of the packed bytes. For many files of the table
JUDGED, the steps that are still complete must be judged, so that always answering cannot-tell fails.

Limits: a Perfetto trace has no end mark, so a file that is cut between two packets is a whole one; such places are moved.
"""
import argparse
import collections
import concurrent.futures
import gzip
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent.parent / "cli")]
from harness import ROOT, check, done, fixtures, settle_environment  # noqa: E402

PLACES, SHORT_PLACES = 20, 5
DIFFERS_MOST = 0.03
SECONDS_MAX = 200  # of the clock, on a busy machine
KEPT = ROOT / "build/attack"
SUFFIXES = (".pt.trace.json", ".json", ".xplane.pb", ".sqlite", ".pftrace", ".stk")
PACKED = {".gz", ".zst"}
# Profile, share of its content that is left, steps that must be judged at least.
JUDGED = (
    ("examples/profiles/gpu_torch_input.pt.trace.json.gz", 0.93, 5),
    ("examples/profiles/gpu_torch_eager.pt.trace.json.gz", 0.93, 6),
    ("examples/profiles/gpu_torch_graph.pt.trace.json.gz", 0.93, 6),
    ("examples/profiles/gpu_torch_compiled.pt.trace.json.gz", 0.6, 2),
    ("examples/profiles/sim_gpu_torch_input.pt.trace.json.gz", 0.5, 3),
    ("examples/profiles/gpu_torch_input.pt.trace.json.gz", 0.9998, 10),
    ("tests/fuzz/seeds/chrome/kineto.json", 0.95, 1),
    ("tests/fuzz/seeds/perfetto/torch.pftrace", 0.97, 1),
)
# Of the profile that idles 70%: shares of its content at which it once was said to idle 76, 81, 89 and 97 %.
ONCE_WRONG = ("examples/profiles/gpu_torch_input.pt.trace.json.gz", (150 / 162, 140 / 162, 120 / 162, 100 / 162))
Case = collections.namedtuple("Case", "path number bytes suffix")


def suffix_of(path):
    name = path.name
    while pathlib.Path(name).suffix in PACKED:
        name = name[: -len(pathlib.Path(name).suffix)]
    return next((s for s in SUFFIXES if name.endswith(s)), None)


def profiles(is_long):
    folders = [ROOT / "examples/profiles", *(ROOT / "tests/fuzz/seeds" / r for r in ("chrome", "nsys", "perfetto", "stk", "xplane"))]
    if is_long:
        folders += [ROOT / "tests/jobs/profiles"]
        folders += [f for f in (fixtures("INDEX.tsv"), fixtures("truth.tsv", "field")) if f]
    return [p for f in folders for p in sorted(f.rglob("*")) if p.is_file() and suffix_of(p) and not p.name.endswith((".truth.json", "run.json"))]


def why(stoker, path, *words):
    return subprocess.run([stoker, "why", "--json", "--limit", "0", *words, path], capture_output=True, timeout=SECONDS_MAX)


def report_of(answer):
    try:
        return json.loads(answer.stdout)
    except ValueError:
        return None


# ---- what a whole file has of the steps that a cut one judges


Row = collections.namedtuple("Row", "device number start_ns end_ns parts")


def rows(report, used_alone):
    base, excluded = report["profile"]["base_ns"], {e["step"] for e in report["steps"]["excluded"]}
    return [Row(s.get("device"), s["number"], base + s["start_ns"], base + s["start_ns"] + s["dur_ns"], s["parts"])
            for s in report["steps"]["list"] if not used_alone or s["number"] not in excluded]


def shares_over(whole, judged):
    """Shares of the parts over the time of the judged rows; and how much of that time the whole file's steps hold."""
    sums, wall = collections.Counter(), 0
    for want in judged:
        for row in (r for r in whole if r.device == want.device):
            both = min(row.end_ns, want.end_ns) - max(row.start_ns, want.start_ns)
            if both > 0:
                wall += both
                for part, ns in row.parts.items():
                    sums[part] += ns * both / (row.end_ns - row.start_ns)
    mine = sum(r.end_ns - r.start_ns for r in judged)
    return {part: ns / wall for part, ns in sums.items()}, wall / mine if mine else 0


def same_clock(whole, judged):
    """The judged rows at the times of the whole file: the clock's base may be in what was cut off."""
    at = {(r.device, r.number): r.start_ns for r in whole}
    first = judged[0]
    shift = at.get((first.device, first.number), first.start_ns) - first.start_ns
    if abs(shift) < 10**12:  # no epoch: a start that moved a little, with what a queue hides
        shift = 0
    return [r._replace(start_ns=r.start_ns + shift, end_ns=r.end_ns + shift) for r in judged]


def breakdown(report):
    return {p["id"]: p["share"] for p in report["breakdown"]["parts"]}


def difference(whole, report):
    """What is wrong with the shares of a cut file, or None."""
    judged = rows(report, True)
    want = breakdown(whole)
    if judged and rows(whole, False):
        want, found = shares_over(rows(whole, False), same_clock(rows(whole, False), judged))
        if found < 0.9:
            return f"{len(judged)} steps are judged, of whose time the whole file has {found:.0%} in steps"
    got = breakdown(report)
    part = max(got.keys() | want.keys(), key=lambda p: abs(got.get(p, 0) - want.get(p, 0)), default=None)
    if part and abs(got.get(part, 0) - want.get(part, 0)) > DIFFERS_MOST:
        return f"{part} is {got.get(part, 0):.3f}, of the whole file {want.get(part, 0):.3f}, over {len(judged)} steps"
    return None


def problem_of(answer, whole):
    """(what is wrong with the answer about a cut file or None, its report or None)."""
    report = report_of(answer)
    if answer.returncode == 3:
        return None if answer.stderr else "exit code 3 without a word", None
    if answer.returncode == 4 and report:
        return None if report["verdict"]["kind"] == "cannot-tell" else "exit code 4 with a verdict", report
    if answer.returncode != 0 or not report:
        return f"exit code {answer.returncode}: {answer.stderr[-300:]!r}", None
    issues = {i["id"] for i in report["profile"]["issues"]}
    is_known = issues & {"truncated", "compression-damaged", "table-unreadable"}
    if is_known and "file is truncated" not in report["verdict"]["sentence"]:
        return f"no caveat: {report['verdict']['sentence']}", report
    return difference(whole, report), report


# ---- cases


def between_packets(data, n):
    """Whether a Perfetto trace of these first n bytes ends with a packet."""
    at = 0
    while at < n:
        length, shift, at = 0, 0, at + 1
        while True:
            length |= (data[at] & 127) << shift
            shift, at = shift + 7, at + 1
            if data[at - 1] < 128:
                break
        at += length
    return at == n


def content_of(path):
    """The bytes to cut: unpacked where Python can."""
    data = path.read_bytes()
    return gzip.decompress(data) if path.suffix == ".gz" else data


def cases(path, seed, places):
    r = random.Random(f"{seed}:{path.name}")
    data, suffix = content_of(path), suffix_of(path)
    is_plain = path.suffix not in PACKED or path.suffix == ".gz"
    for number in range(PLACES):
        place, is_packed = (number + r.random()) / PLACES, r.random() < 0.25 and suffix != ".sqlite"
        if number not in places:
            continue
        form = gzip.compress(data, 1, mtime=0) if is_packed and is_plain else data
        n = int(place * len(form))
        n += suffix == ".pftrace" and not is_packed and between_packets(form, n)
        yield Case(path, number, form[:n], suffix)


def attack(stoker, case, whole, folder):
    at = pathlib.Path(folder, f"{case.path.name}-{case.number}{case.suffix}")
    at.write_bytes(case.bytes)
    problem, report = problem_of(why(stoker, at), whole)
    if problem:
        KEPT.mkdir(parents=True, exist_ok=True)
        kept = KEPT / f"cut-{at.name}"
        kept.write_bytes(case.bytes)
        problem = f"{len(case.bytes)} bytes of {case.path}: {problem}\n  kept: {kept}"
    at.unlink()
    return problem, report


def attack_profile(stoker, path, seed, places):
    whole = report_of(why(stoker, path))
    with tempfile.TemporaryDirectory(prefix="stoker-attack-") as folder:
        return [attack(stoker, case, whole, folder)[0] for case in cases(path, seed, places)] if whole else []


def check_judged(stoker, folder):
    """Steps that are whole are judged, the short form of the answer says so, and JSON what was left out."""
    for name, share, least in JUDGED:
        path = ROOT / name
        data = content_of(path)
        case = Case(path, f"{share}", data[: int(share * len(data))], suffix_of(path))
        problem, report = attack(stoker, case, report_of(why(stoker, path)), folder)
        check(not problem, f"{name}, {share} of it: {problem}")
        steps = (report or {}).get("steps", {"used": 0, "count": 0, "excluded": []})
        check(steps["used"] >= least, f"{name}, {share} of it: {steps['used']} steps are judged, wanted {least}")
        cut = [e for e in steps["excluded"] if "the file is truncated" in e["why"]]
        check(report and report["profile"].get("cut_steps") == len(cut), f"{name}, {share} of it: cut_steps")


def check_once_wrong(stoker, folder):
    name, shares = ONCE_WRONG
    whole, data = report_of(why(stoker, ROOT / name)), content_of(ROOT / name)
    for share in shares:
        case = Case(ROOT / name, f"{share:.3f}", data[: int(share * len(data))], suffix_of(ROOT / name))
        problem, report = attack(stoker, case, whole, folder)
        check(not problem, f"{name}, {share:.3f} of it: {problem}")
        at = pathlib.Path(folder, "quiet.json")
        at.write_bytes(case.bytes)
        quiet = subprocess.run([stoker, "why", "-q", at], capture_output=True, text=True, timeout=SECONDS_MAX)
        check("the file is truncated" in quiet.stdout.lower(), f"why -q of {share:.3f}: {quiet.stdout!r}")
        check(quiet.returncode == (4 if report and report["verdict"]["kind"] == "cannot-tell" else 0), f"why -q: exit code {quiet.returncode}")


def main():
    words = argparse.ArgumentParser()
    words.add_argument("stoker")
    words.add_argument("--long", action="store_true")
    words.add_argument("--seed", type=int, default=1)
    words.add_argument("--only")
    given = words.parse_args()
    settle_environment()
    stoker = str(pathlib.Path(given.stoker).resolve())
    paths = [p for p in profiles(given.long or given.only) if not given.only or given.only in str(p)]
    r = random.Random(given.seed)

    def attacked(path):
        return path, attack_profile(stoker, path, given.seed, places[path])

    places = {p: range(PLACES) if given.long or given.only else sorted(r.sample(range(PLACES), SHORT_PLACES)) for p in paths}
    if not given.only:
        with tempfile.TemporaryDirectory(prefix="stoker-attack-") as folder:
            check_judged(stoker, folder)
            check_once_wrong(stoker, folder)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for path, found in pool.map(attacked, paths):
            for problem in found:
                check(not problem, f"{problem}\n  again: tests/attack/cuts.py {given.stoker} --seed {given.seed} --only {path.name}")
    return done("attack.cuts", f" of {len(paths)} profiles")


if __name__ == "__main__":
    sys.exit(main())
