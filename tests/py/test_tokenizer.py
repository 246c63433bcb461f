#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""sd.Tokenizer against the package tokenizers itself: shapes, padding, truncation, pairs, errors of one text,
resuming, killing, interrupting, pickling. Without the package, the error that names it."""

import contextlib
import importlib.util
import os
import pickle
import random
import signal
import subprocess
import sys
import tempfile
import threading

import checks as c
import numpy as np
import stoker.data as sd

D = sd.Dataset
HAS = importlib.util.find_spec("tokenizers") is not None
FOLDER = tempfile.TemporaryDirectory()
FILE = os.path.join(FOLDER.name, "tokenizer.json")
TEXTS = [" ".join(random.Random(i).choices("the quick brown fox jumps over a lazy dog é ü 漢字 42".split(), k=i % 23)) for i in range(300)]
ALL = ("input_ids", "attention_mask", "token_type_ids", "special_tokens_mask")


def theirs():
    """A tokenizer of the package, also written to FILE."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors, trainers

    t = Tokenizer(models.BPE(unk_token="[UNK]"))
    t.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    special = ["[UNK]", "[PAD]", "[CLS]", "[SEP]"]
    t.train_from_iterator(TEXTS, trainers.BpeTrainer(vocab_size=330, special_tokens=special, show_progress=False))
    t.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    t.save(FILE)
    return t


if HAS:
    THEIRS = theirs()


def texts(values=TEXTS):
    flat = np.empty(len(values), object)
    flat[:] = [v.encode() if isinstance(v, str) else v for v in values]
    return D.from_tensor_slices(flat)


def lacks():
    if not HAS:
        c.skip("tokenizers is not installed")
    return not HAS


def test_without_the_package():
    """The error names the package and how to get it."""
    if HAS:
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "tokenizers.py"), "w") as f:
                f.write("raise ImportError('hidden')")
            program = f"import stoker.data as sd\nsd.Tokenizer({FILE!r})"
            path = f"{folder}:{os.environ['PYTHONPATH']}"
            p = subprocess.run([sys.executable, "-c", program], env=dict(os.environ, PYTHONPATH=path), capture_output=True, text=True)
            c.true("ImportError: Tokenizer needs the package tokenizers: pip install tokenizers" in p.stderr, p.stderr)
    else:
        with open(FILE, "w") as f:
            f.write("{}")
        c.raises(ImportError, lambda: sd.Tokenizer(FILE), "needs the package tokenizers", "pip install tokenizers")


def test_one_text_and_batches():
    if lacks():
        return
    tok = sd.Tokenizer(FILE)
    want = [t.ids for t in THEIRS.encode_batch(TEXTS)]
    for calls in (None, 2, sd.AUTOTUNE):
        one = texts().map(lambda x: tok(x), calls)
        c.true([e["input_ids"].tolist() for e in one] == want, f"one at a time, {calls} calls")
        rows = [r for e in texts().batch(7).map(tok, calls) for r in e["input_ids"].to_list()]
        c.true(rows == want, f"batches, {calls} calls")
    c.same(texts().map(tok).element_spec, {"input_ids": sd.TensorSpec([None], "int64")})
    c.same(tok(TEXTS[5])["input_ids"], np.array(want[5]), "at once")
    c.same(tok(TEXTS[:3])["input_ids"].to_list(), want[:3], "at once, several")
    plain = sd.Tokenizer(THEIRS, add_special_tokens=False, dtype="int32")
    c.same(plain(TEXTS[5])["input_ids"], np.array(THEIRS.encode(TEXTS[5], add_special_tokens=False).ids, np.int32))
    c.true("many elements at once" in texts().map(tok).explain() and "Tokenizer(" in texts().map(tok).explain(), "explain")
    c.same(tok.vocab_size, THEIRS.get_vocab_size())


def test_padding_and_pairs():
    """All four outputs, as the package makes them."""
    if lacks():
        return
    from tokenizers import Tokenizer

    for side, cut, size, how in (
        ("right", "right", 12, "longest"), ("left", "right", 12, "longest"), ("right", "left", 9, "max_length"), ("left", "left", 16, "max_length"),
    ):  # fmt: skip
        ref = Tokenizer.from_str(THEIRS.to_str())
        ref.enable_truncation(size, direction=cut)
        ref.enable_padding(direction=side, pad_id=1, pad_token="[PAD]", length=size if how == "max_length" else None)
        tok = sd.Tokenizer(THEIRS, size, how, ALL, padding_side=side, truncation_side=cut)
        for name, f, given in (("one", lambda x: tok(x), lambda t: t), ("pair", lambda x: tok(x, x), lambda t: [(a, a) for a in t])):
            made = list(texts().batch(9).map(f, 2))
            want = [ref.encode_batch(given(TEXTS[i : i + 9])) for i in range(0, len(TEXTS), 9)]
            for key, attribute in zip(ALL, ("ids", "attention_mask", "type_ids", "special_tokens_mask")):
                same = [m[key].tolist() == [getattr(e, attribute) for e in w] for m, w in zip(made, want)]
                c.true(all(same), f"{side} {cut} {size} {how} {name} {key}")
        if how == "max_length":
            alone = [e["input_ids"].tolist() for e in texts().map(tok, 2)]
            c.true(alone == [e.ids for e in ref.encode_batch(TEXTS)], f"{side} {how}: one at a time")
            c.same(texts().map(tok).element_spec["input_ids"].shape, sd.TensorShape([size]))
    c.same(len(THEIRS.encode(TEXTS[22]).ids) > 12 and THEIRS.truncation, None, "the tokenizer given stays as it was")


def test_errors_cost_one_text():
    if lacks():
        return
    tok = sd.Tokenizer(FILE)
    ds = texts(["a", b"\xff\xfe", "b c"])
    c.same([e if isinstance(e, type) else e["input_ids"].tolist() for e in c.all_of(iter(ds.map(tok)))],
           [THEIRS.encode("a").ids, sd.errors.InvalidArgumentError, THEIRS.encode("b c").ids])  # fmt: skip
    e = c.raises(sd.errors.InvalidArgumentError, lambda: list(ds.map(tok)), "xff", "decode", "element 1")
    c.true("test_tokenizer.py" in str(e), "the line")
    c.same(len(list(ds.map(tok, 2).ignore_errors())), 2)
    c.same(len(list(ds.batch(2).map(tok).ignore_errors())), 1, "a batch")
    pairs = D.from_tensor_slices(np.array([b"a", b"b"], object)).batch(2).map(lambda x: tok(x, x[:1]))
    c.raises(sd.errors.InvalidArgumentError, lambda: list(pairs), "pair differ")


def test_wrong_arguments():
    if lacks():
        return
    c.raises(sd.errors.NotFoundError, lambda: sd.Tokenizer("bert-base-uncased"), "bert-base-uncased", "not looked up")
    bad = os.path.join(FOLDER.name, "bad.json")
    with open(FILE, "rb") as f:
        whole = f.read()
    for data in (b"{", b"\xff", whole[: len(whole) // 2]):
        with open(bad, "wb") as f:
            f.write(data)
        c.raises(sd.errors.InvalidArgumentError, lambda: sd.Tokenizer(bad), "bad.json")
    c.raises(TypeError, lambda: sd.Tokenizer(7), "int")
    c.raises(sd.errors.InvalidArgumentError, lambda: sd.Tokenizer(FILE, padding="max_length"), "needs max_length")
    c.raises(sd.errors.InvalidArgumentError, lambda: sd.Tokenizer(FILE, padding=True), "longest")
    c.raises(sd.errors.InvalidArgumentError, lambda: sd.Tokenizer(FILE, outputs="ids"), "input_ids")
    c.raises(sd.errors.InvalidArgumentError, lambda: sd.Tokenizer(FILE, dtype="float32"), "int64")
    c.raises(sd.errors.InvalidArgumentError, lambda: texts().map(sd.Tokenizer(FILE, padding="longest")), "batch(n)")
    c.raises(TypeError, lambda: D.range(3).map(sd.Tokenizer(FILE)))
    c.raises(TypeError, lambda: texts().batch(2).batch(2).map(sd.Tokenizer(FILE)), "vector")
    nothing = THEIRS.to_str().replace("[PAD]", "[NONE]")
    with open(bad, "w") as f:
        f.write(nothing)
    c.raises(sd.errors.InvalidArgumentError, lambda: sd.Tokenizer(bad, 4, "max_length"), "no padding token", "pad_id=")
    c.same(sd.Tokenizer(bad, 4, "max_length", pad_id=9)("")["input_ids"], np.array([2, 3, 9, 9]))


def test_resume_and_copies():
    """Resumed at every tenth batch; pickled, also for a process of its own; packed into rows."""
    if lacks():
        return
    tok = sd.Tokenizer(FILE, 16, "longest")
    ds = texts().shuffle(50, seed=4).batch(8).map(tok, sd.AUTOTUNE).prefetch(2)
    it = iter(ds)
    for k in range(0, 36, 9):
        rest = ds.iterator(state=it.state())
        c.same(len(list(ds.iterator(state=it.state()))), 38 - k, f"batches from {k}")
        for _ in range(9):
            c.same(next(it)["input_ids"], next(rest)["input_ids"], f"resumed at {k}")
    copy = pickle.loads(pickle.dumps(texts().batch(8).map(tok)))
    c.same([e["input_ids"].tolist() for e in copy], [e["input_ids"].tolist() for e in texts().batch(8).map(tok)], "pickled")
    again = pickle.loads(pickle.dumps(sd.Tokenizer(FILE)))
    c.same((again("fox")["input_ids"].tolist(), repr(again)), (THEIRS.encode("fox").ids, repr(sd.Tokenizer(FILE))))
    rows = list(texts().batch(32).map(sd.Tokenizer(FILE), 2).unbatch().pack(64, "best_fit", 8))
    total = sum(int((r["input_ids_segment_ids"] > 0).sum()) for r in rows)
    c.same(total, sum(len(t.ids) for t in THEIRS.encode_batch(TEXTS)), "packed")


PROGRAM = """
import os, sys
import numpy as np
import stoker.data as sd
texts = np.array([b"the quick %d" % i for i in range(3000)], object)
ds = sd.Dataset.from_tensor_slices(texts).shuffle(99, seed=1).map(sd.Tokenizer({file!r}), sd.AUTOTUNE)
it = ds.iterator(state=open({state!r}, "rb").read() if {resume} else None)
for e in it:
    sys.stdout.write(" ".join(map(str, e["input_ids"].tolist())) + "\\n")
    sys.stdout.flush()
    with open({state!r} + ".new", "wb") as f:
        f.write(it.state())
    os.replace({state!r} + ".new", {state!r})
"""


def test_kill_and_resume():
    if lacks():
        return
    state = os.path.join(FOLDER.name, "state")

    def command(resume):
        return [sys.executable, "-c", PROGRAM.format(file=FILE, state=state, resume=resume)]

    whole = subprocess.run(command(False), capture_output=True, text=True, check=True).stdout.splitlines()
    with subprocess.Popen(command(False), stdout=subprocess.PIPE, text=True) as p:
        got = [p.stdout.readline() for _ in range(200)]
        p.send_signal(signal.SIGKILL)
        got += p.stdout.readlines()
    got = [l[:-1] for l in got if l.endswith("\n")]
    rest = subprocess.run(command(True), capture_output=True, text=True, check=True).stdout.splitlines()
    overlap = len(got) + len(rest) - len(whole)
    c.true(overlap in (0, 1) and got + rest[overlap:] == whole, f"killed after {len(got)} of {len(whole)}, then {len(rest)}")


def test_interrupt():
    """Ctrl-C while texts are encoded: nothing is lost."""
    if lacks():
        return
    long = [" ".join(TEXTS) * 3] * 40
    ds = texts(long).map(sd.Tokenizer(FILE), 2)
    it = iter(ds)
    timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with contextlib.suppress(KeyboardInterrupt):
        for _ in range(100):
            list(ds)
    with contextlib.suppress(KeyboardInterrupt):
        timer.join()
    c.same(len(list(it)), 40, "another iterator")
    timer = threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    it = iter(ds)
    with contextlib.suppress(KeyboardInterrupt):
        for _ in it:
            pass
        timer.join()
    rest = len(list(ds.iterator(state=it.state())))
    c.same(len(list(it)), rest, "goes on where its state is")


if __name__ == "__main__":
    c.main(globals())
