# SPDX-License-Identifier: Apache-2.0
"""The Python of the documentation runs, and every name of `sd` that it mentions is there.

Blocks of a page run one after the other in one namespace, as someone who reads and types would; a
pipeline that a block leaves under the name ds or dataset must give an element. What the texts take
for granted (image files, a list of names) is made here.
"""

import importlib.util
import io
import os
import pathlib
import re
import tarfile
import tempfile

import numpy as np

import checks as c
import stoker.data as sd

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PAGES = ["README.md", "docs/data.md"] + sorted(
    str(p.relative_to(ROOT)) for glob in ("coming-from-*.md", "data/*.md") for p in (ROOT / "docs").glob(glob)
)


def blocks(page):
    """(first line, source) of each block of Python."""
    text = (ROOT / page).read_text()
    for m in re.finditer(r"^```python(?: needs=(\w+))?\n(.*?)^```", text, re.M | re.S):
        if m.group(1) and not importlib.util.find_spec(m.group(1)):
            c.skip(f"{m.group(1)} is not installed")
            continue
        yield text[: m.start(2)].count("\n") + 1, m.group(2)


def tables():
    """Parquet files and a Hugging Face folder, where pyarrow is installed."""
    if not importlib.util.find_spec("pyarrow"):
        return
    import json

    import pyarrow as pa
    import pyarrow.parquet as pq

    rows = pa.table({"tokens": [[i] * (i % 5) for i in range(100)], "label": list(range(100))})
    for k in range(2):
        pq.write_table(rows, f"train-{k}.parquet", row_group_size=40)
    jpeg = bytes(sd.io.encode_jpeg(np.zeros((64, 64, 3), np.uint8)).numpy())
    os.makedirs("food/train")
    for name, value in (
        ("food/dataset_dict.json", {"splits": ["train"]}),
        ("food/train/state.json", {"_data_files": [{"filename": "data-00000-of-00001.arrow"}]}),
    ):
        with open(name, "w") as f:
            json.dump(value, f)
    photo = pa.array([{"bytes": jpeg, "path": None}] * 8, pa.struct([("bytes", pa.binary()), ("path", pa.string())]))
    info = json.dumps({"info": {"features": {"image": {"_type": "Image"}}}})
    food = pa.table({"image": photo, "label": list(range(8))}).replace_schema_metadata({"huggingface": info})
    with pa.OSFile("food/train/data-00000-of-00001.arrow", "wb") as f, pa.ipc.new_stream(f, food.schema) as w:
        w.write_table(food)


def words():
    """A text and, where the package is installed, a tokenizer."""
    with open("lines.txt", "w") as f:
        f.writelines(f"the {i} quick foxes\n" for i in range(100))
    if importlib.util.find_spec("tokenizers"):
        from tokenizers import Tokenizer, models, pre_tokenizers

        vocab = {"[UNK]": 0, "[PAD]": 1, "the": 2, "quick": 3, "foxes": 4}
        tokenizer = Tokenizer(models.WordLevel(vocab, unk_token="[UNK]"))
        tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
        tokenizer.save("tokenizer.json")


def world():
    """Files and names that the pages take for granted, made in the current folder."""
    tables()
    words()
    jpeg = sd.io.encode_jpeg(np.zeros((64, 64, 3), np.uint8))
    os.mkdir("data")
    for path, kind in (("data/a.tfrecord", "GZIP"), ("plain.tfrecord", "")):
        with sd.TFRecordWriter(path, options=kind) as w:
            for i in range(100):
                w.write(sd.io.Example({"image": jpeg, "label": i % 10}))
    os.mkdir("sounds")
    if importlib.util.find_spec("soundfile"):
        import soundfile

        soundfile.write("sounds/a.flac", np.zeros((8000, 2), np.float32), 8000)
    for label in ("cat", "dog"):
        os.makedirs(f"photos/{label}")
        for i in range(3):
            sd.io.write_file(f"photos/{label}/{i}.jpg", jpeg)
    for shard in range(2):
        with tarfile.open(f"shard-{shard:03}.tar", "w") as tar:
            for i in range(3):
                for suffix, data in (("jpg", bytes(jpeg)), ("cls", b"%d" % i)):
                    info = tarfile.TarInfo(f"{shard}{i}.{suffix}")
                    info.size = len(data)
                    tar.addfile(info, io.BytesIO(data))
    return {"jpeg_bytes": jpeg, "files": ["plain.tfrecord"]}


def test_blocks_run():
    before = os.getcwd()
    for page in PAGES:
        with tempfile.TemporaryDirectory() as d:
            os.chdir(d)
            try:
                names = world()
                for line, source in blocks(page):
                    run(f"{page}:{line}", source, names)
            finally:
                os.chdir(before)


def run(place, source, names):
    quiet = dict(names, print=lambda *a: None)
    try:
        exec(compile(source, place, "exec"), quiet)
        for name in ("ds", "dataset"):
            made = quiet.get(name)
            if isinstance(made, sd.Dataset):
                c.true(len(list(made.take(1))) == 1, f"{place}: {name} gives nothing")
    except Exception as e:
        c.true(False, f"{place}: {type(e).__name__}: {e}")
    quiet.pop("print")
    names.update(quiet)
    c.true(True, place)


def test_names_are_there():
    """sd.x.y, ds.method( and Options().option in the text."""
    for page in PAGES:
        text = (ROOT / page).read_text()
        for name in sorted(set(re.findall(r"\bsd\.((?:\w+\.)*\w+)", text))):
            c.true(has(sd, name), f"{page}: there is no sd.{name}")
        for name in sorted(set(re.findall(r"\b(?:ds|dataset)\.(\w+)\(", text))):
            c.true(hasattr(sd.Dataset, name), f"{page}: there is no Dataset.{name}")
        for name in sorted(set(re.findall(r"Options\(\)\.((?:\w+\.)*\w+)", text))):
            c.true(has(sd.Options(), name), f"{page}: there is no Options.{name}")


def test_rewrites_are_listed():
    """Each title of the table of rewrites stands in the documentation's."""
    titles = re.findall(r'^[A-Z]+\(\w+, "([^"]+)"', (ROOT / "src/engine/rewrites.def").read_text(), re.M)
    listed = re.findall(r"^\| ([^|]+?) \|", (ROOT / "docs/data/speed.md").read_text(), re.M)
    c.true(len(titles) > 5, f"{titles}")
    for title in titles:
        c.true(title in listed, f"docs/data/speed.md does not list the rewrite '{title}'")


def has(thing, name):
    for part in name.split("."):
        if not hasattr(thing, part):
            return False
        thing = getattr(thing, part)
    return True


c.main(globals())
