# SPDX-License-Identifier: Apache-2.0
"""Tokenizing: sd.Tokenizer compared with Hugging Face's datasets and a DataLoader with two workers, on the same texts
and with the same tokenizer.

    PYTHONPATH=build/release/python python3 bench/data/bench_tokenizer.py [--texts 8000] [--rounds 5] [--envs FOLDER]

Texts with a mean of 120 words, a byte-level BPE with 4,000 entries, truncated and padded to 256, batches of 32 as torch
tensors. Three ways: "map" tokenizes with Dataset.map(batched=True, num_proc=2) into a new cache, and the DataLoader
reads that, both measured; "workers" tokenizes in the DataLoader's workers (with_transform); then ours. Microseconds per
text in the first epoch: the median of the rounds with their spread. Rounds alternate. The sums over all batches must be
equal. STOKER_BENCH_TOKENIZER names an environment with the packages; else one is made below --envs.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

PACKAGES = ["torch", "datasets", "transformers", "tokenizers", "numpy"]
SIZE, BATCH = 256, 32
WAYS = ("map", "workers", "stoker")


def make_files(folder, n):
    """Writes texts.txt, one per line, and tokenizer.json."""
    import random

    import tokenizers

    rng = random.Random(3)
    words = ["".join(rng.choice("aeioubcdfglmnprst") for _ in range(rng.randrange(2, 11))) for _ in range(9000)]
    pick = lambda: words[min(int(rng.expovariate(1 / 700)), 8999)]
    texts = [" ".join(pick() for _ in range(rng.randrange(20, 220))) for _ in range(n)]
    with open(f"{folder}/texts.txt", "w") as f:
        f.writelines(t + "\n" for t in texts)
    t = tokenizers.Tokenizer(tokenizers.models.BPE())
    t.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = tokenizers.trainers.BpeTrainer(vocab_size=4000, special_tokens=["[PAD]"], show_progress=False)
    t.train_from_iterator(texts[:1000], trainer)
    t.save(f"{folder}/tokenizer.json")


def torch_way(folder, in_workers):
    import datasets
    import torch
    from transformers import PreTrainedTokenizerFast

    datasets.disable_progress_bars()
    tok = PreTrainedTokenizerFast(tokenizer_file=f"{folder}/tokenizer.json", pad_token="[PAD]")
    texts = datasets.Dataset.from_dict({"text": open(f"{folder}/texts.txt").read().splitlines()})
    texts.save_to_disk(f"{folder}/texts.{in_workers}")
    texts = datasets.load_from_disk(f"{folder}/texts.{in_workers}")

    def encode(rows):
        return tok(rows["text"], truncation=True, max_length=SIZE, padding="max_length", return_token_type_ids=False)

    def to_tensors(rows):
        return {k: torch.tensor(v) for k, v in encode(rows).items()}

    while True:
        if in_workers:
            ready = texts.with_transform(to_tensors)
        else:
            with tempfile.TemporaryDirectory(dir=folder) as cache:
                ready = texts.map(
                    encode, batched=True, num_proc=2, remove_columns=["text"], load_from_cache_file=False,
                    cache_file_name=f"{cache}/mapped.arrow",
                ).with_format("torch")  # fmt: skip
        yield torch.utils.data.DataLoader(ready, batch_size=BATCH, num_workers=2)


def stoker_way(folder):
    import stoker.data as sd

    tok = sd.Tokenizer(f"{folder}/tokenizer.json", max_length=SIZE, padding="max_length")
    ds = sd.TextLineDataset(f"{folder}/texts.txt").batch(BATCH).map(tok, sd.AUTOTUNE).prefetch(sd.AUTOTUNE)
    while True:
        yield ds.to_torch()


def side(way, folder):
    """Answers each line with the seconds of an epoch, and sums over its batches."""
    makes = stoker_way(folder) if way == "stoker" else torch_way(folder, way == "workers")
    print("ready", flush=True)
    for _ in sys.stdin:
        start, count, total = time.perf_counter(), 0, 0
        for b in next(makes):
            count += len(b["input_ids"])
            total += int(b["input_ids"].sum()) + int(b["attention_mask"].sum())
        print(json.dumps([time.perf_counter() - start, count, total]), flush=True)


class Side:
    def __init__(self, python, way, folder):
        self.process = subprocess.Popen(
            [python, __file__, "--side", way, folder], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        if self.process.stdout.readline() != "ready\n":
            sys.exit(f"{way}: did not start")

    def ask(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--texts", type=int, default=8000)
    p.add_argument("--rounds", type=int, default=5)
    p.add_argument("--envs", default="build/bench_envs")
    p.add_argument("--side", nargs=2, help=argparse.SUPPRESS)
    p.add_argument("--files", help=argparse.SUPPRESS)
    args = p.parse_args()
    if args.side:
        return side(*args.side)
    if args.files:
        return make_files(args.files, args.texts)
    import envs

    python = envs.interpreter("tokenizer", args.envs, packages=PACKAGES)
    if python is None:
        return
    names = f"import importlib.metadata as m; print(*[p + ' ' + m.version(p) for p in {PACKAGES}], sep=', ')"
    print(subprocess.run([python, "-c", names], capture_output=True, text=True, check=True).stdout.strip())
    print(f"{args.texts} texts, {envs.machine()}")
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([python, __file__, "--files", folder, "--texts", str(args.texts)], check=True)
        os.environ["HF_HOME"] = folder
        sides = {w: Side(python, w, folder) for w in WAYS}
        first = [sides[w].ask()[1:] for w in WAYS]
        if first != first[:1] * 3:
            sys.exit(f"the batches differ: {first}")
        times = {w: [] for w in WAYS}
        for _ in range(args.rounds):
            for w in WAYS:
                times[w].append(sides[w].ask()[0] / args.texts * 1e6)
        for w in WAYS:
            t, ratios = times[w], [a / b for a, b in zip(times[w], times["stoker"])]
            row = f"{statistics.median(t):8.1f} us a text ({min(t):.1f} to {max(t):.1f})"
            print(f"{w:>8} {row}, {statistics.median(ratios):.2f} times ours ({min(ratios):.2f} to {max(ratios):.2f})")
        for s in sides.values():
            s.process.stdin.close()
            s.process.wait()


if __name__ == "__main__":
    main()
