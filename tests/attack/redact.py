#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""--redact on profiles in which every text that a user may have chosen has a mark: no command shows the mark, in any
form, on standard output, in errors, or in a file that it writes.

Usage: tests/attack/redact.py STOKER [--long]
  --long: every profile of examples/, tests/jobs and STOKER_FIXTURES, not only some
"""
import argparse
import concurrent.futures
import contextlib
import gzip
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent.parent / "cli")]
import marked  # noqa: E402
import view_server  # noqa: E402
from harness import ROOT, check, done, fixtures, skip, small_profiles  # noqa: E402

MARK = marked.MARK.encode()
SUFFIXES = {"chrome": ".json", "xplane": ".xplane.pb", "perfetto": ".pftrace", "nsys": ".sqlite", "stk": ".stk"}
FORMATS = ("perfetto", "chrome", "xspace", "sqlite", "csv", "collapsed", "speedscope", "pprof")
TABLES = ("events", "steps", "kernels", "launches", "tracks", "strings", "devices", "gaps", "issues", "ranks", "findings", "transfers", "links")
PAGES = ("info", "report", "whatif", "phases", "names?ids=" + ",".join(map(str, range(1, 400))), "event?id=1", "event?id=40", "search?q=a&limit=500",
         "runs?id=3", "area?t0=0&t1=99999999999999&tracks=", "table/python", "table/ops", "table/comm", "perfetto", "diff")  # fmt: skip
# Chosen so that names that rules know by their beginning occur in any profile.
NAMES = ["ProfilerStep#3 > M", "aten::M", "hipM", "cudaM", "cuLaunchM", "cudaLaunchKernelM", "ncclM", "nccl:M", "c10d::M", "gloo:M", "Memcpy M", "Memset M",
         "[CUDA memcpy M]", "autograd::engine::evaluate_function: MBackward0", "cudnnM", "cublasM", "cutlassM", "ampere_M", "volta_M", "sm80_M", "sm90_M",
         "Cijk_M", "Iterator::M", "Iterator::Root::Map[M]", "IteratorGetNextM", "ProfilerStep#M", "Optimizer.step#M.step", "enumerate(DataLoader)#M", "enumerate(DataPipe)#M",
         "void at::M", "void at::native::M<float>()", "torch::M", "PjitFunction(M)", "TfrtCpuExecutableM", "XlaModule:#hlo_module=jit_M,program_id=1#", "copy-doneM",
         "copy-start.M", "(before the profile)M", "(held by the program)M", "launched and not yet begun M", "derived from launches M", "thread M", "GPU 0 stream M", "M"]  # fmt: skip
CATS = ("user_annotation", "cpu_op", "cuda_runtime", "kernel", "gpu_memcpy", "gpu_user_annotation", "python_function", "gpu_memset", "cuda_driver")


def stoker(*words, cwd=None):
    p = subprocess.run([STOKER, *map(str, words)], capture_output=True, timeout=120, cwd=cwd)
    return p.returncode, p.stdout, p.stderr


def written(folder):
    """All content of a folder, unpacked, with the names of files."""
    out = b""
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        data = path.read_bytes()
        with contextlib.suppress(OSError):
            data += gzip.decompress(data)
        out += str(path.relative_to(folder)).encode() + data
    return out


def where(data):
    at = data.find(MARK)
    return data[max(0, at - 60) : at + 30]


def questions(profile):
    for form in ([], ["--json"], ["--verbose"]):
        yield ["why", *form, profile]
        yield ["whatif", *form, profile]
        yield ["diff", *form, profile, "--", profile]
    yield ["diff", "--markdown", profile, "--", profile]
    yield ["whatif", "--critical", profile]
    for form in ([], ["--json"]):
        yield ["stats", "all", "--limit", "0", *form, profile]
    for name in ("ops", "python", "comm", "counters"):
        yield ["stats", name, "--csv", "--limit", "0", profile]
    for by in ("scope", "module", "shape", "stack", "phase"):
        yield ["stats", "ops", "--by", by, "--json", profile]
    for table in TABLES:
        yield ["query", "--json", "--limit", "2000", profile, f"select * from {table}"]
    yield ["query", "--csv", profile, "select substr(name, 2), upper(name), name || track from events limit 500"]
    yield ["query", "--json", "--limit", "3000", profile, "select e.name, a.* from events e join args a on a.event = e.id"]
    yield ["find", "--json", "--limit", "2000", "", profile]
    yield ["find", "--csv", "", profile]
    for name in FORMATS:
        for more in ([], ["--args"]) if name in ("chrome", "perfetto", "sqlite") else ([],):
            yield ["export", name, *more, profile, "-o", "out"]
    yield ["report", "--bundle", "out", profile]
    yield ["report", "--html", "out", profile]
    yield ["report", "--html", "out", profile, "--", profile]


def ask(job):
    profile, words = job
    with tempfile.TemporaryDirectory() as folder:
        code, out, err = stoker(*words, "--redact", cwd=folder)
        return words, code, out + b"\0" + err + b"\0" + written(pathlib.Path(folder))


def commands(profile, what, pool):
    answers = 0
    for words, code, data in pool.map(ask, [(profile, q) for q in questions(profile)]):
        shown = " ".join(map(str, words)).replace(str(profile), "PROFILE")
        check(code in (0, 1, 3, 4) or b"choose one of the" in data, f"{what}: {shown}: exit code {code}: {data[:300]}")
        check(MARK not in data, f"{what}: {shown}: ...{where(data)!r}")
        answers += code == 0
    return answers


def pages(profile, what):
    with view_server.server(STOKER, "--redact", profile) as s:
        for page in PAGES:
            data = s.ask("/api/" + page)[2]
            check(MARK not in data, f"{what}: view {page}: ...{where(data)!r}")


def known_beginnings(folder):
    """A job whose every name begins like one that may be shown, of every kind."""
    events, at = [], 0
    for step in range(12):
        events.append({"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{step}", "pid": 42, "tid": 1, "ts": at, "dur": 9000})
        for i, (name, cat) in enumerate((n, c) for n in NAMES for c in CATS):
            t, name = at + 10 + i * 20, name.replace("M", marked.MARK)
            device = cat in ("kernel", "gpu_memcpy", "gpu_memset", "gpu_user_annotation")
            e = {"ph": "X", "cat": cat, "name": name, "pid": 0 if device else 42, "tid": 7 if device else 1, "ts": t, "dur": 15}
            e["args"] = {"device": 0, "stream": 7, "correlation": step * 10000 + i - i % 2} if device or "cuda" in cat else {"Call stack": name, "Module Hierarchy": name}
            events.append(e)
        at += 10000
    events += [{"ph": "C", "name": n.replace("M", marked.MARK), "pid": 42, "ts": k, "args": {marked.MARK: k}} for n in NAMES for k in range(3)]
    meta = {"process_name": "name", "process_labels": "labels", "thread_name": "name"}
    events += [{"ph": "M", "name": k, "pid": 42, "tid": 1, "args": {v: marked.MARK}} for k, v in meta.items()]
    doc = {"traceEvents": events, "hostname": marked.MARK, marked.MARK: marked.MARK, "schemaVersion": 1, "traceName": f"/home/{marked.MARK}/t.json",
           "deviceProperties": [{"id": 0, "name": "NVIDIA A100-SXM4-80GB"}],
           "distributedInfo": {"backend": marked.MARK, "rank": 0, "world_size": 2, "pg_config": [{"pg_name": marked.MARK, "pg_desc": marked.MARK, "ranks": [0, 1]}]}}  # fmt: skip
    path = folder / f"{marked.MARK}.json"
    path.write_text(json.dumps(doc))
    return path


def kind_of(path):
    name = path.name.removesuffix(".gz")
    return next((k for k, s in SUFFIXES.items() if name.endswith(s)), None)


def is_whole(path):
    """Further profiles may be damaged, and JSON may be something else."""
    try:
        return kind_of(path) != "chrome" or "traceEvents" in json.loads(read(path))
    except (ValueError, EOFError):
        return False


def profiles(is_long):
    """(kind, path)"""
    small = [(p.parent.name, p) for p in small_profiles() if not p.name.endswith(".gz") and p.name not in ("broken.json", "pairs.json")]
    jobs = [ROOT / "examples/profiles" / n for n in ("gpu_torch_input.pt.trace.json.gz", "torch_cpu_input.pt.trace.json.gz", "gpu_jax_input.xplane.pb.gz",
                                                     "keras_input.xplane.pb.gz")]  # fmt: skip
    if is_long:
        jobs = sorted((ROOT / "examples/profiles").glob("*.gz"))
        more = fixtures()
        jobs += [p for p in sorted(more.rglob("*")) if p.is_file() and kind_of(p) and is_whole(p)] if more else []
    return small + [(kind_of(p), p) for p in jobs]


def read(path):
    data = path.read_bytes()
    return gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data


def main():
    words = argparse.ArgumentParser()
    words.add_argument("stoker")
    words.add_argument("--long", action="store_true")
    asked = words.parse_args()
    global STOKER
    STOKER = pathlib.Path(asked.stoker).resolve()
    has_view = stoker("view", "--no-open", "nothing")[0] != 5
    if not has_view:
        skip("this stoker was built without libmicrohttpd")
    with tempfile.TemporaryDirectory() as name, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        folder, answers = pathlib.Path(name), 0
        path = known_beginnings(folder)
        answers += commands(path, "known beginnings", pool)
        if has_view:
            pages(path, "known beginnings")
        for kind, source in profiles(asked.long):
            # Small ones in every way; of a job's many names each way is met by the others.
            for change in marked.CHANGES if asked.long or source.stat().st_size < 20000 else marked.CHANGES[::3]:
                path = folder / (f"{marked.MARK}{SUFFIXES[kind]}")
                path.write_bytes(marked.mark(kind, read(source), change))
                what = f"{source.name}, {change.__name__}"
                check(MARK in path.read_bytes(), f"{what}: it is marked")
                answers += commands(path, what, pool)
                if has_view:
                    pages(path, what)
        check(answers > 500, f"{answers} answers")
    return done("attack.redact", f" of {answers} answers")


STOKER = pathlib.Path()
if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    sys.exit(main())
