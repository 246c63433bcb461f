# SPDX-License-Identifier: Apache-2.0
"""Sequence packing: Dataset.pack compared with Grain's Python, with the same sequences and rows.

    PYTHONPATH=build/release/python python3 bench/data/bench_pack.py [--sequences 4000] [--rounds 5] [--envs FOLDER]

Sequences of int32 tokens, lognormal lengths with mean 300, at most 2048, into rows of 2048, 64 rows at once.
Microseconds per sequence to iterate over all rows: the median of the rounds with their spread. Grain has the sequences
in a list, stoker.data in a saved file. Rounds alternate. The rows of both are compared first. STOKER_BENCH_GRAIN names
an environment with Grain; else one is made below --envs.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

LENGTH, BINS = 2048, 64
METHODS = ("first_fit", "best_fit", "chop")


def sequences(n):
    rng = np.random.default_rng(7)
    lengths = np.clip(rng.lognormal(5.2, 1.0, n).astype(int), 1, LENGTH)
    return [rng.integers(1, 50000, k, dtype=np.int32) for k in lengths]


def passes(make, rows_of):
    """Answers method names, one per line: seconds of a pass, and a sum over its rows."""
    made = {m: make(m) for m in METHODS}
    print("ready", flush=True)
    for line in sys.stdin:
        start, count, total = time.perf_counter(), 0, 0
        for tokens, segments, positions in rows_of(made[line.strip()]):
            count += 1
            total += int(tokens[7]) * 31 + int(segments[1000]) * 7 + int(positions[-1])
        print(json.dumps([time.perf_counter() - start, count, total]), flush=True)


def grain_side(n):
    import grain

    source = [{"tokens": s} for s in sequences(n)]

    def make(method):
        parent = grain.MapDataset.source(source).to_iter_dataset()
        if method == "chop":
            return grain.experimental.ConcatThenSplitIterDataset(parent, length_struct={"tokens": LENGTH})
        kind = {"first_fit": "FirstFitPackIterDataset", "best_fit": "BestFitPackIterDataset"}[method]
        return getattr(grain.experimental, kind)(
            parent, length_struct={"tokens": LENGTH}, num_packing_bins=BINS, shuffle_bins=False
        )

    passes(make, lambda ds: ((r["tokens"], r["tokens_segment_ids"], r["tokens_positions"]) for r in ds))


def stoker_side(n):
    import stoker.data as sd

    with tempfile.TemporaryDirectory() as folder:
        file, parts = f"{folder}/sequences", sequences(n)
        spec = sd.TensorSpec([None], "int32")
        sd.Dataset.from_generator(lambda: iter(parts), output_signature=spec).save(file)
        each = sd.Dataset.load(file)
        passes(lambda method: each.pack(LENGTH, method, BINS), iter)


class Side:
    def __init__(self, python, name, n):
        self.process = subprocess.Popen(
            [python, __file__, "--side", name, "--sequences", str(n)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        if self.process.stdout.readline() != "ready\n":
            sys.exit(f"{name}: did not start")

    def ask(self, method):
        self.process.stdin.write(method + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--sequences", type=int, default=4000)
    p.add_argument("--rounds", type=int, default=5)
    p.add_argument("--envs", default="build/bench_envs")
    p.add_argument("--side", choices=["grain", "stoker"], help=argparse.SUPPRESS)
    args = p.parse_args()
    if args.side:
        return {"grain": grain_side, "stoker": stoker_side}[args.side](args.sequences)
    import envs

    python = envs.interpreter("grain", args.envs)
    if python is None:
        return
    version = "import grain, importlib.metadata as m; print(m.version('grain'))"
    version = subprocess.run([python, "-c", version], capture_output=True, text=True, check=True).stdout.strip()
    sides = {"grain": Side(python, "grain", args.sequences), "stoker": Side(sys.executable, "stoker", args.sequences)}
    print(f"Grain {version}, {args.sequences} sequences, {envs.machine()}")
    print(f"{'method':>10} {'Grain, us a sequence':>28} {'stoker.data':>28} {'ratio':>16}")
    for method in METHODS:
        if sides["grain"].ask(method)[1:] != sides["stoker"].ask(method)[1:]:
            sys.exit(f"{method}: the rows differ")
        times = {name: [] for name in sides}
        for _ in range(args.rounds):
            for name, side in sides.items():
                times[name].append(side.ask(method)[0] / args.sequences * 1e6)
        cells = [f"{statistics.median(t):.2f} ({min(t):.2f} to {max(t):.2f})" for t in (times["grain"], times["stoker"])]
        ratios = [g / s for g, s in zip(times["grain"], times["stoker"])]
        ratio = f"{statistics.median(ratios):.1f} ({min(ratios):.1f} to {max(ratios):.1f})"
        print(f"{method:>10} {cells[0]:>28} {cells[1]:>28} {ratio:>16}", flush=True)


if __name__ == "__main__":
    main()
