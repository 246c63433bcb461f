# SPDX-License-Identifier: Apache-2.0
"""Has ptxas assemble the kernels of to_device for the architectures it knows.

    PTXAS=.../ptxas PYTHONPATH=build/release/python python tests/gpu/assemble.py [FILE]

FILE: what they were compiled into (the module). ptxas comes with CUDA, and alone with
`pip install nvidia-cuda-nvcc-cu12`; without it this is skipped. Whether a driver takes
them and a device computes right is tests/gpu/staging.py's to say.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile

WANTED = [50, 52, 60, 61, 70, 75, 80, 86, 89, 90, 100, 120]


def kernels(path):
    """The PTX in a compiled file, as text."""
    with open(path, "rb") as f:
        data = f.read()
    at = data.find(b".version 6.0\n.target")
    if at < 0:
        sys.exit(f"{path} has no PTX")
    return data[at : data.index(b"\0", at)].decode()


def main():
    ptxas = os.environ.get("PTXAS") or shutil.which("ptxas")
    if not ptxas:
        print("skipped: no ptxas (PTXAS, or on the path)")
        sys.exit(77)
    if len(sys.argv) > 1:
        path = sys.argv[1]
    else:
        import stoker.data

        path = stoker.data._engine.__file__
    text = kernels(path)
    n_kernels, done = text.count(".visible .entry"), []
    with tempfile.TemporaryDirectory() as folder:
        source, out = os.path.join(folder, "k.ptx"), os.path.join(folder, "k.cubin")
        with open(source, "w") as f:
            f.write(text)
        for sm in WANTED:
            r = subprocess.run(
                [ptxas, "-v", "-arch", f"sm_{sm}", source, "-o", out], capture_output=True, text=True
            )
            spills = re.findall(r"(\d+) bytes spill", r.stderr)
            if "is not defined for option" in r.stderr:
                continue  # this ptxas is too new for it, or too old
            if r.returncode or any(int(s) for s in spills) or "warning" in r.stderr:
                sys.exit(f"sm_{sm}:\n{r.stdout}{r.stderr}")
            registers = re.findall(r"Used (\d+) registers", r.stderr)
            if len(registers) != n_kernels:
                sys.exit(f"sm_{sm}: {len(registers)} kernels, not {n_kernels}")
            done.append(f"sm_{sm} ({', '.join(registers)} registers)")
    version = subprocess.run([ptxas, "--version"], capture_output=True, text=True).stdout
    print(f"{n_kernels} kernels, ptxas {re.search(r'V([0-9.]+)', version).group(1)}: {', '.join(done)}")
    if not done:
        sys.exit("ptxas knows none of them")


main()
