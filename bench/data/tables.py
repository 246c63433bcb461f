#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares readers of tables: Parquet to NumPy batches, and a Hugging Face dataset of photos with transforms.

usage: bench/data/tables.py FOLDER [PASSES] [CASE...] [--only WORD]   (peers whose name has the word)

Each side is a separate process and makes one uncounted pass; then the sides alternate. A side runs in the interpreter
named by the environment, by default this one: STOKER_BENCH_TABLES has stoker.data, pyarrow, datasets, torch and
torchvision, STOKER_BENCH_RAY has ray[data]. Sides that can't be imported are listed as left out. Prints a Markdown
table, worst comparison first.
"""

import importlib.metadata
import os
import statistics
import subprocess
import sys
import time

sys.path.append(os.path.dirname(os.path.abspath(__file__)))
ROWS, GROUP, BATCH = 2_000_000, 128 * 1024, 1024
PHOTOS, SIDE = 600, 224
CASES = {
    "numbers": "Parquet, 5 columns of numbers (56 MB), batches of 1,024 as NumPy",
    "text": "Parquet, 2 columns of numbers, 1 of text (30 B), batches of 1,024 as NumPy",
    "photos": "Hugging Face folder, JPEGs of 500 x 375, random crop to 224, flip, batches of 32",
}


def make(folder):
    """Creates the files, once."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    r = np.random.default_rng(0)
    if not os.path.exists(f"{folder}/numbers.parquet"):
        t = pa.table(
            {
                "id": np.arange(ROWS),
                "x": r.random(ROWS, dtype=np.float32),
                "y": r.random(ROWS),
                "label": r.integers(0, 1000, ROWS).astype(np.int32),
                "z": r.integers(0, 1 << 40, ROWS),
            }
        )
        pq.write_table(t, f"{folder}/numbers.parquet", row_group_size=GROUP)
        n = ROWS // 4
        texts = [f"the {i}-th of the texts, {i * 7919 % 1000003}" for i in range(n)]
        t = pa.table({"id": np.arange(n), "x": r.random(n, dtype=np.float32), "s": texts})
        pq.write_table(t, f"{folder}/text.parquet", row_group_size=GROUP // 4)
    if not os.path.exists(f"{folder}/photos/state.json"):
        import io

        import datasets
        from PIL import Image

        def photo(k):
            coarse = Image.fromarray(r.integers(0, 255, (24, 32, 3), dtype=np.uint8)).resize((500, 375), 3)
            noisy = np.clip(np.asarray(coarse, np.int16) + r.integers(-12, 12, (375, 500, 3)), 0, 255)
            f = io.BytesIO()
            Image.fromarray(noisy.astype(np.uint8)).save(f, "JPEG", quality=90)
            return f.getvalue()

        rows = {"image": [{"bytes": photo(k), "path": None} for k in range(PHOTOS)], "label": list(range(PHOTOS))}
        features = datasets.Features({"image": datasets.Image(), "label": datasets.Value("int64")})
        datasets.disable_progress_bars()
        datasets.Dataset.from_dict(rows, features=features).save_to_disk(f"{folder}/photos")


def stoker_tables(path, size=BATCH):
    import stoker.data as sd

    def run():
        return sum(len(b["id"]) for b in sd.ParquetDataset(path).batch(size))

    return run


def pyarrow_tables(path, size):
    import pyarrow.dataset as pds

    def run():
        rows = 0
        for b in pds.dataset(path).to_batches(batch_size=size):
            arrays = [c.to_numpy(zero_copy_only=False) for c in b.columns]
            rows += len(arrays[0])
        return rows

    return run


def ray_tables(path):
    import ray

    ray.init(num_cpus=2, logging_level="ERROR", log_to_driver=False, include_dashboard=False)
    ray.data.DataContext.get_current().enable_progress_bars = False

    def run():
        ds = ray.data.read_parquet(path)
        return sum(len(b["id"]) for b in ds.iter_batches(batch_size=BATCH, batch_format="numpy"))

    return run


def hf_tables(path):
    import datasets

    datasets.disable_progress_bars()
    ds = datasets.load_dataset("parquet", data_files=path, split="train", cache_dir=path + ".cache").with_format("numpy")

    def run():
        return sum(len(b["id"]) for b in ds.iter(batch_size=BATCH))

    return run


def hf_streamed(path):
    import datasets

    ds = datasets.load_dataset("parquet", data_files=path, split="train", streaming=True).with_format("numpy")

    def run():
        return sum(len(b["id"]) for b in ds.iter(batch_size=BATCH))

    return run


def stoker_photos(path):
    import stoker.data as sd

    ds = sd.from_huggingface(path, decode=False, shuffle=True, seed=1)

    def train(e):
        return sd.image.jpeg_random_resized_crop(e["image"], [SIDE, SIDE], flip=0.5, planar=True), e["label"]

    ds = ds.map(train, num_parallel_calls=sd.AUTOTUNE).batch(32).prefetch(sd.AUTOTUNE)

    def run():
        return sum(len(y) for _, y in ds)

    return run


def torch_photos(path, workers):
    import datasets
    import torch
    from torchvision import transforms

    ds = datasets.load_from_disk(path)
    t = transforms.Compose(
        [transforms.RandomResizedCrop(SIDE), transforms.RandomHorizontalFlip(), transforms.PILToTensor()]
    )
    ds = ds.with_transform(lambda b: {"image": [t(i.convert("RGB")) for i in b["image"]], "label": b["label"]})
    loader = torch.utils.data.DataLoader(
        ds, 32, shuffle=True, num_workers=workers, persistent_workers=workers > 0
    )

    def run():
        return sum(len(b["label"]) for b in loader)

    return run


SIDES = {
    "numbers": {
        "stoker.data": stoker_tables,
        "stoker.data, batches of 131,072": lambda p: stoker_tables(p, 131072),
        "pyarrow.dataset.to_batches, batches of 1,024": lambda p: pyarrow_tables(p, BATCH),
        "pyarrow.dataset.to_batches, of 131,072 (its default)": lambda p: pyarrow_tables(p, 131072),
        "Ray Data": ray_tables,
        "datasets, loaded (Arrow in its cache)": hf_tables,
        "datasets, streaming": hf_streamed,
    },
    "photos": {
        "stoker.data": stoker_photos,
        "datasets, DataLoader, 2 workers": lambda p: torch_photos(p, 2),
        "datasets, DataLoader, in the process": lambda p: torch_photos(p, 0),
    },
}
SIDES["text"] = SIDES["numbers"]


def side(case, number, path):
    """A side's process: prints a line for each requested pass."""
    run = list(SIDES[case].values())[number](path)
    for _ in sys.stdin:
        start = time.perf_counter()
        rows = run()
        print(f"{rows} {time.perf_counter() - start}", flush=True)


class Side:
    def __init__(self, case, number, name, path):
        self.name, self.times, self.rows, self.log = name, [], 0, path + f".side{number}"
        key = "STOKER_BENCH_RAY" if name.startswith("Ray") else "STOKER_BENCH_TABLES"
        python = os.environ.get(key) or sys.executable
        words = [python, os.path.abspath(__file__), "--side", case, str(number), path]
        with open(self.log, "w") as log:
            self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True)

    def again(self):
        """A pass; None: the side has ended."""
        try:
            self.process.stdin.write("go\n")
            self.process.stdin.flush()
            for line in self.process.stdout:
                words = line.split()
                if len(words) == 2 and words[0].isdigit():
                    self.rows = int(words[0])
                    return float(words[1])
        except OSError:
            pass
        return None

    def end(self):
        try:
            self.process.stdin.close()
        except BrokenPipeError:  # it has ended by itself
            pass
        self.process.wait()


def measure(case, path, passes, only):
    """[(name, median s, best s, worst s, rows)] and names left out."""
    names = [(i, n) for i, n in enumerate(SIDES[case]) if only in n or n.startswith("stoker.data")]
    sides = [Side(case, i, name, path) for i, name in names]
    there = [s for s in sides if s.again() is not None]
    for _ in range(passes):
        for s in there:
            s.times.append(s.again())
    for s in sides:
        s.end()
    rows = [(s.name, statistics.median(s.times), min(s.times), max(s.times), s.rows) for s in there]
    return rows, [s.name for s in sides if s not in there]


def versions():
    out = [f"Python {sys.version.split()[0]}"]
    for package in ("numpy", "pyarrow", "datasets", "torch", "torchvision"):
        try:
            out.append(f"{package} {importlib.metadata.version(package)}")
        except importlib.metadata.PackageNotFoundError:
            pass
    ray = os.environ.get("STOKER_BENCH_RAY")
    if ray:
        text = "import importlib.metadata as m; print('ray', m.version('ray'), 'with pyarrow', m.version('pyarrow'))"
        out.append(subprocess.run([ray, "-c", text], capture_output=True, text=True).stdout.strip())
    return ", ".join(v for v in out if v)


def main(words):
    import envs

    only = ""
    if "--only" in words:
        at = words.index("--only")
        only, words = words[at + 1], words[:at]
    folder, passes = words[0], int(words[1]) if len(words) > 1 else 5
    os.makedirs(folder, exist_ok=True)
    make(folder)
    print(f"`bench/data/tables.py FOLDER {passes}`, {time.strftime('%Y-%m-%d')}, {envs.machine()}. {versions()}.\n")
    print("| work | tool | rows/s, median | best and worst pass | time over ours |\n|---|---|---:|---:|---:|")
    for case in words[2:] or CASES:
        path = f"{folder}/{case}" + ("" if case == "photos" else ".parquet")
        rows, missing = measure(case, path, passes, only)
        ours = next(r[1] for r in rows if r[0] == "stoker.data")
        rows.sort(key=lambda r: (r[0] != "stoker.data", r[1]))
        for i, (name, median, best, worst, n) in enumerate(rows):
            ratio = "" if name.startswith("stoker.data") else f"{median / ours:.2f} x"
            print(f"| {CASES[case] if i == 0 else ''} | {name} | {n / median:,.0f} | {n / best:,.0f}, {n / worst:,.0f} | {ratio} |")
        for name in missing:
            print(f"|  | {name} | can't be imported here |  |  |")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--side"]:
        side(sys.argv[2], int(sys.argv[3]), sys.argv[4])
    else:
        main(sys.argv[1:])
