# SPDX-License-Identifier: Apache-2.0
"""What an installed stoker has to do, however it was installed: tests/pip/run and tests/packages/run use this."""
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/cli"))
from harness import check  # noqa: E402

PROFILE = ROOT / "examples/profiles/sim_gpu_torch_input.pt.trace.json.gz"
FAKES = ROOT / "tests/cli/fake_frameworks"
WHY = "import stoker, sys; print(stoker.why(sys.argv[1])['verdict']['kind'])"
PIPELINE = """
import stoker.data as sd
ds = sd.Dataset.range(1000).shuffle(100, seed=1).map(lambda x: x * 2, num_parallel_calls=2).batch(32).prefetch(2)
print(sum(int(batch.sum()) for batch in ds.as_numpy_iterator()))
"""
JOB = """
import torch
from torch.utils.data import DataLoader
optimizer = torch.optim.Optimizer()
for batch in DataLoader(range(20)):
    optimizer.step()
print("trained")
"""


def call(*words, **more):
    return subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False, **more)


def must(*words, **more):
    """The output of a command that has to succeed."""
    result = call(*words, **more)
    check(result.returncode == 0, f"{' '.join(map(str, words))}: {result.returncode}\n{(result.stdout + result.stderr)[-3000:]}")
    return result.stdout


def is_small(package, has_data):
    """What is installed is there, and holds nothing for debuggers."""
    names = ["bin/stoker", "bin/libstoker_capture.so", *(p.relative_to(package) for p in (package / "data").glob("_engine*.so"))]
    check(len(names) == 2 + has_data, f"installed: {names}")
    for name in names:
        held = (package / name).read_bytes() if (package / name).is_file() else b""
        check(held, f"{name} is not installed")
        check(b".debug_info" not in held, f"{name} is not stripped")
    if not has_data:
        return
    headers = {p.name for p in (package / "data/include/stoker").glob("*.h")}
    check(headers == {"data.h", "err.h", "plugin.h"}, f"headers for plug-ins: {headers}")
    stubs = {str(p.relative_to(package / "data")) for p in (package / "data").rglob("*.pyi")}
    check({"__init__.pyi", "io.pyi", "train/__init__.pyi"} <= stubs, f"type stubs: {stubs}")


def works(python, elsewhere, has_data=True):
    """What is installed, from another folder, without the source tree on any path."""
    env = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    env["PATH"] = f"{python.parent}{os.pathsep}{env['PATH']}"
    how = {"cwd": elsewhere, "env": env}
    package = pathlib.Path(must(python, "-c", "import stoker; print(stoker.__path__[0])", **how).strip())
    check(package.is_relative_to(python.parent.parent), f"imported from {package}")
    is_small(package, has_data)
    check("input-bound" in must(python.parent / "stoker", "why", "--json", PROFILE, **how), "stoker why")
    check(must(python, "-c", WHY, PROFILE, **how) == "input-bound\n", "stoker.why()")
    if has_data:
        check(must(python, "-c", PIPELINE, **how) == f"{999 * 1000}\n", "a pipeline of stoker.data")
    (elsewhere / "job.py").write_text(JOB)
    fakes = {**how, "env": {**env, "PYTHONPATH": str(FAKES)}}
    ran = call(python.parent / "stoker", "run", "--level", "0", "--", "python", "job.py", **fakes)
    check(ran.returncode == 0 and ran.stdout == "trained\n", f"stoker run: {ran}")
    check("20 steps" in ran.stderr, f"stoker run counted no steps: {ran.stderr}")
