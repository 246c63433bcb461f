# SPDX-License-Identifier: Apache-2.0
"""The peers' environments, installed from PyPI on first use, and the processes of all sides."""

import json
import os
import platform
import re
import select
import shutil
import subprocess
import sys
import time

PACKAGES = {
    "tf": ["tensorflow-cpu", "numpy"],
    "torch": ["torch", "torchvision", "pillow", "numpy", "webdataset"],
    "grain": ["grain", "numpy"],
    "dali": ["nvidia-dali-cuda120"],
    "spdl": ["spdl", "numpy", "pillow"],
    # Its extension is compiled: it needs OpenCV's and TurboJPEG's development packages of the system
    # (libopencv-dev, libturbojpeg0-dev on Debian).
    "ffcv": ["ffcv", "pillow"],
    "codec": ["torch", "torchvision", "torchcodec", "litdata", "numpy", "pillow"],
    "loader_rs": ["dataloader-rs", "numpy", "pillow"],
    "duckdb": ["duckdb", "numpy", "pandas"],
}


LEAST_PYTHON = {"loader_rs": (3, 13)}  # of peers that need a later version than ours


def python_for(name):
    """The interpreter for creating an environment; None: all are too old."""
    least = LEAST_PYTHON.get(name, (3, 0))
    if sys.version_info >= least:
        return sys.executable
    found = (shutil.which(f"python{least[0]}.{minor}") for minor in range(least[1], least[1] + 4))
    usable = (p for p in found if p and not subprocess.run([p, "-c", ""], check=False, capture_output=True).returncode)
    return next(usable, None)


def machine():
    """Describes this machine's cores, memory and kernel in a line."""
    names = (
        [l.split(":")[1].strip() for l in open("/proc/cpuinfo") if l.startswith("model name")]
        if os.path.exists("/proc/cpuinfo")
        else []
    )
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 1e9
    processors = f"{len(os.sched_getaffinity(0))} x {(names or [platform.machine()])[0]}"
    return f"{processors}, {memory:.0f} GB, {platform.system()} {platform.release()}"


def interpreter(name, folder, may_install=True, packed=True, packages=None, after=None):
    """The Python of a peer: STOKER_BENCH_<NAME> names its environment, else one in `folder` (if not `packed`, at
    `folder` plus the name). None (and a message) if it is missing and can't be installed. packages: instead of the
    table's; after: Python to run once."""
    packages = packages or PACKAGES[name]
    given = os.environ.get(f"STOKER_BENCH_{name.upper()}")
    env = given or (os.path.join(folder, name) if packed else f"{folder}{name}")
    python = os.path.join(env, "bin/python")
    if os.path.exists(python):
        return python
    if given or not may_install:
        print(f"{name}: no environment at {env}, skipped", flush=True)
        return None
    maker = python_for(name)
    if maker is None:
        print(f"{name}: needs Python {'.'.join(map(str, LEAST_PYTHON[name]))} or later, skipped", flush=True)
        return None
    print(f"{name}: installing {' '.join(packages)}", flush=True)
    commands = [
        [maker, "-m", "venv", env],
        [os.path.join(env, "bin/pip"), "install", "-q", *packages],
    ] + ([[python, "-c", after]] if after else [])
    for command in commands:
        done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        if done.returncode:
            shutil.rmtree(env, ignore_errors=True)
            print(
                f"{name}: could not be installed, skipped: {done.stderr.strip().splitlines()[-1:]}",
                flush=True,
            )
            return None
    return python


def own_python(build):
    """The interpreter for which our module was built."""
    cache = (build / "CMakeCache.txt").read_text() if (build / "CMakeCache.txt").exists() else ""
    found = re.search(r"^STOKER_PYTHON:[A-Z]+=(.+)$", cache, re.M)
    return found.group(1) if found else "python3"


class Side:
    """A running side. ask() returns its answer, or {"error"} if it died or took too long."""

    def __init__(self, name, python, program, log, pythonpath=None):
        self.name, self.log = name, log
        env = dict(os.environ, PYTHONDONTWRITEBYTECODE="1")
        env.pop("PYTHONPATH", None)  # a peer sees only its own environment
        if pythonpath:
            env["PYTHONPATH"] = os.fspath(pythonpath)
        self.process = subprocess.Popen(
            [python, program],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=open(log, "w"),
            env=env,
        )
        self.rest = b""

    def ask(self, case, params, patience):
        if self.process is None:
            return {"error": "the process has ended"}
        try:
            self.process.stdin.write(json.dumps({"case": case, "params": params}).encode() + b"\n")
            self.process.stdin.flush()
            return json.loads(self._line(patience))
        except (OSError, ValueError, TimeoutError) as e:
            self.close(kill=True)
            tail = open(self.log, errors="replace").read().strip().splitlines()[-1:]
            return {"error": f"{type(e).__name__} {e}; {' '.join(tail)}"[:300]}

    def _line(self, patience):
        last = time.monotonic() + patience
        while b"\n" not in self.rest:
            left = last - time.monotonic()
            if left <= 0 or not select.select([self.process.stdout], [], [], left)[0]:
                raise TimeoutError(f"no answer within {patience:.0f} s")
            more = os.read(self.process.stdout.fileno(), 1 << 20)
            if not more:
                raise OSError("the process ended")
            self.rest += more
        line, _, self.rest = self.rest.partition(b"\n")
        return line

    def close(self, kill=False):
        if self.process is None:
            return
        process, self.process = self.process, None
        process.stdout.close()
        try:
            process.stdin.close()
        except OSError:
            pass
        if kill:
            process.kill()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
