# SPDX-License-Identifier: Apache-2.0
"""The package apart from stoker.data: the program for Python, its answers as data, the profiler's handler."""

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
    header = (ROOT / "include/stoker/version.h").read_text()
    defined = ".".join(re.findall(r"#define STOKER_VERSION_\w+ (\d+)", header))
    c.same((stoker.__version__, stoker.data.__version__, defined), (said, said, said))


def test_another_version_of_the_engine_is_refused():
    code = "import stoker; stoker.__version__ = '0.0.1'; import stoker.data"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    c.same(done.returncode, 1)
    c.true("needs stoker of the same version, and 0.0.1 is installed: run `pip install 'stoker[data]==" in done.stderr, done.stderr)


def path_given(first, more, tmp):
    """PATH as the program gets it from `python -m stoker` of a virtual environment in tmp/own."""
    fake = os.path.join(tmp, "stoker")
    with open(fake, "w") as f:
        f.write("#!/bin/sh\necho $PATH\n")
    os.chmod(fake, 0o755)
    code = f"import stoker.__main__ as m; m.program = lambda: {fake!r}; m.main()"
    env = {k: v for k, v in os.environ.items() if k not in ("UV", "VIRTUAL_ENV")}
    python = os.path.join(tmp, "own/bin/python")
    package = os.path.dirname(os.path.dirname(stoker.__file__))
    env.update(PATH=f"{first}:/usr/bin:/bin", PYTHONPATH=package, **more)
    return subprocess.run([python, "-c", code], capture_output=True, text=True, env=env).stdout.strip()


def test_the_users_python_under_uvx():
    with tempfile.TemporaryDirectory() as tmp:
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", os.path.join(tmp, "own")], check=True)
        own = os.path.join(tmp, "own/bin")
        c.same(path_given(own, {"UV": "/usr/bin/uv"}, tmp), "/usr/bin:/bin")  # uvx
        kept = f"{own}:/usr/bin:/bin"
        c.same(path_given(own, {}, tmp), kept)  # PATH alone was set, as in a container
        c.same(path_given(own, {"UV": "/usr/bin/uv", "VIRTUAL_ENV": os.path.join(tmp, "own")}, tmp), kept)  # uv run
        c.same(path_given("/opt/bin", {"UV": "/usr/bin/uv"}, tmp), "/opt/bin:/usr/bin:/bin")  # uv tool install


def test_why():
    report = stoker.why(PROFILE)
    c.same(dict(report), json.loads(printed("why", "--json", PROFILE).stdout))
    c.same(report["verdict"]["kind"], "input-bound")
    c.same(report.text, printed("why", "--no-color", PROFILE).stdout)
    c.same(repr(report), report.text)
    c.true("<pre" in report._repr_html_() and "The GPU" in report._repr_html_(), "a page for notebooks")
    c.same(len(stoker.why(str(PROFILE), steps="2:4")["steps"]["list"]), 3)


def test_why_of_a_store():
    """Objects of fsspec's store in memory, and of a folder: the report of the files, under the objects' names."""
    try:
        import fsspec
    except ImportError:
        c.raises(ImportError, lambda: stoker.why("memory://run/a.json.gz"), "pip install fsspec")
        return
    store = fsspec.filesystem("memory")
    profile = ROOT / "examples/profiles/sim_gpu_torch_input.pt.trace.json.gz"
    store.pipe("/run/rank0.pt.trace.json.gz", profile.read_bytes())
    wanted = stoker.why(profile)
    for url in ("memory://run/*.json.gz", "memory://run/rank0.pt.trace.json.gz", "memory://run", f"file://{profile}"):
        found = stoker.why(url)
        c.same((found["verdict"], found["steps"], found["findings"]), (wanted["verdict"], wanted["steps"], wanted["findings"]))
        c.true("://" in found["profile"]["inputs"][0]["path"], f"{url}: the name of the object")
    store.pipe("/run/rank1.pt.trace.json.gz", b"nothing")
    c.raises(stoker.ProfileError, lambda: stoker.why("memory://run"), "memory://", "rank1")
    c.raises(FileNotFoundError, lambda: stoker.why("memory://run/*.absent"), "no object")


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
