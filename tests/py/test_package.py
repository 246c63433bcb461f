# SPDX-License-Identifier: Apache-2.0
"""The package beside stoker.data: the program for Python, its answers as data, the profiler's handler."""

import contextlib
import gzip
import io
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import checks as c
import stoker
import stoker.data

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PROFILE = ROOT / "examples/profiles/sim_gpu_torch_input.pt.trace.json.gz"


def printed(*words, **more):
    return subprocess.run([stoker.program(), *words], capture_output=True, text=True, **more)


def test_versions_agree():
    said = printed("--version").stdout.split()[-1]
    project = re.search(r'^version = "(.*)"', (ROOT / "pyproject.toml").read_text(), re.M)[1]
    c.same((stoker.__version__, stoker.data.__version__, project), (said, said, said))


def test_why():
    report = stoker.why(PROFILE)
    c.same(dict(report), json.loads(printed("why", "--json", PROFILE).stdout))
    c.same(report["verdict"]["kind"], "input-bound")
    c.same(report.text, printed("why", "--no-color", PROFILE).stdout)
    c.same(repr(report), report.text)
    c.true("<pre" in report._repr_html_() and "The GPU" in report._repr_html_(), "a page for notebooks")
    c.same(len(stoker.why(str(PROFILE), steps="2:4")["steps"]["list"]), 3)


def test_html_is_text():
    report = stoker.Report({}, "<script>alert(1)</script>")
    c.true("<script" not in report._repr_html_(), "names are text")


def test_tables_and_prices():
    c.same(stoker.stats("kernels", PROFILE)["schema"], "stoker.table/1")
    c.same(len(stoker.stats("kernels", PROFILE, limit=1)["tables"][0]["rows"]), 1)
    priced = stoker.whatif(PROFILE, fix="input-overlap")
    c.same([s["fix"] for s in priced["scenarios"]], [["input-overlap"]])


def refused(call, code, words):
    try:
        call()
    except stoker.ProfileError as e:
        c.same(e.exit_code, code)
        c.true(words in str(e), f"{words!r} in {e}")
    else:
        c.true(False, "must be refused")


def test_refusals():
    refused(lambda: stoker.why(ROOT / "no such file"), 3, "no such file")
    refused(lambda: stoker.why(PROFILE, no_such=1), 2, "no-such")
    refused(lambda: stoker.stats("no such", PROFILE), 2, "no such")
    with tempfile.TemporaryDirectory() as folder:
        dashed = pathlib.Path(folder, "-profile.json")
        os.symlink(PROFILE, dashed)
        kind = subprocess.run(
            [sys.executable, "-c", "import stoker; print(stoker.why('-profile.json')['verdict']['kind'])"],
            cwd=folder,
            capture_output=True,
            text=True,
            env={**os.environ, "PYTHONPATH": str(pathlib.Path(stoker.__file__).resolve().parent.parent)},
        )
        c.same((kind.stdout, kind.stderr), ("input-bound\n", ""))


def test_cannot_tell_is_an_answer():
    report = stoker.why(ROOT / "examples/profiles/jax_cpu_input_nopython.xplane.pb.gz")
    c.same(report["verdict"]["kind"], "cannot-tell")


def test_module_is_the_program():
    done = subprocess.run([sys.executable, "-m", "stoker", "why", "-q", PROFILE], capture_output=True, text=True)
    c.same((done.stdout, done.returncode), (printed("why", "-q", PROFILE).stdout, 0))
    done = subprocess.run([sys.executable, "-m", "stoker", "why", "nothing"], capture_output=True, text=True)
    c.same(done.returncode, 3)


class Profiler:
    """What the handler needs of torch.profiler.profile."""

    def export_chrome_trace(self, path):
        with open(path, "wb") as f:
            f.write(PROFILE.read_bytes())


class Broken:
    def export_chrome_trace(self, path):
        raise OSError("no space")


def handled(profiler, **environment):
    old, said = dict(os.environ), io.StringIO()
    os.environ.update(environment)
    try:
        with contextlib.redirect_stderr(said):
            stoker.handler(profiler)
    finally:
        os.environ.clear()
        os.environ.update(old)
    return said.getvalue()


def test_handler():
    with tempfile.TemporaryDirectory() as folder:
        where = os.path.join(folder, "deep", "windows")
        said = handled(Profiler(), STOKER_PROFILES=where)
        c.true("mostly waiting for input" in said and where in said, said[:200])
        c.same(handled(Profiler(), STOKER_PROFILES=where, RANK="1"), "")
        names = sorted(os.listdir(where))
        c.same([n.split("_")[0] for n in names], ["rank0", "rank1"])
        c.true(all(gzip.open(os.path.join(where, n)).read(1) == b"{" for n in names), "windows are kept")
        c.true("no space" in handled(Broken(), STOKER_PROFILES=where), "the job goes on")


c.main(globals())
