# SPDX-License-Identifier: Apache-2.0
"""Hugging Face datasets: folders of save_to_disk and of the cache, with and without the package `datasets`; live
objects after shuffle, select and filter; features of files; streaming; what is refused."""

import json
import os
import pickle
import subprocess
import sys
import tempfile

import numpy as np

import arrow_files as files
import checks as c
import stoker.data as sd
from arrow_files import pa

os.environ.setdefault("HF_DATASETS_OFFLINE", "1")
os.environ["PYTHONPATH"] = os.path.abspath(os.path.join(os.path.dirname(sd.__file__), "..", ".."))
N = 250


def image(i):
    """A PNG of which the pixels tell the number."""
    pixels = np.full((4 + i % 3, 5, 3), i % 256, np.uint8)
    return bytes(sd.io.encode_png(pixels).numpy()), pixels


FEATURES = {
    "image": {"_type": "Image"},
    "label": {"names": [str(i) for i in range(10)], "_type": "ClassLabel"},
    "text": {"dtype": "string", "_type": "Value"},
    "tokens": {"feature": {"dtype": "int32", "_type": "Value"}, "_type": "List"},
    "meta": {"who": {"dtype": "string", "_type": "Value"}, "photo": {"_type": "Image"}},
}


def rows(numbers):
    """The table that `datasets` would write of these rows, with its metadata."""
    photo = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
    schema = pa.schema(
        [
            ("image", photo),
            ("label", pa.int64()),
            ("text", pa.string()),
            ("tokens", pa.list_(pa.int32())),
            ("meta", pa.struct([("who", pa.string()), ("photo", photo)])),
        ],
        {"huggingface": json.dumps({"info": {"features": FEATURES}})},
    )
    return pa.Table.from_pylist(
        [
            {
                "image": {"bytes": image(i)[0], "path": None},
                "label": i % 10,
                "text": f"text {i}",
                "tokens": list(range(i % 4)),
                "meta": {"who": f"w{i}", "photo": {"bytes": image(i + 1)[0], "path": None}},
            }
            for i in numbers
        ],
        schema,
    )


def stream(path, table, size=40):
    with pa.OSFile(path, "wb") as f, pa.ipc.new_stream(f, table.schema) as w:
        w.write_table(table, max_chunksize=size)


def put(folder, name, value):
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, name), "w") as f:
        json.dump(value, f)


def saved(folder, places=None):
    """A folder as save_to_disk writes it, in two files."""
    names = [f"data-0000{k}-of-00002.arrow" for k in range(2)]
    state = {"_data_files": [{"filename": n} for n in names], "_split": "train", "_fingerprint": "0"}
    state.update(_format_columns=None, _format_kwargs={}, _format_type=None, _output_all_columns=False)
    put(folder, "state.json", state)
    put(folder, "dataset_info.json", {"features": FEATURES})
    stream(os.path.join(folder, names[0]), rows(range(N // 2)))
    stream(os.path.join(folder, names[1]), rows(range(N // 2, N)))
    if places is not None:
        state["_indices_data_files"] = [{"filename": "indices.arrow"}]
        put(folder, "state.json", state)
        stream(os.path.join(folder, "indices.arrow"), pa.table({"indices": pa.array(places, pa.uint64())}))
    return folder


def wrong(e, i):
    """What of a row is not that of number i; None: it all is."""
    have = {
        "label": int(e["label"]),
        "text": bytes(e["text"]),
        "tokens": e["tokens"].tolist(),
        "who": bytes(e["meta"]["who"]),
        "image": np.array_equal(e["image"], image(i)[1]),
        "photo": np.array_equal(e["meta"]["photo"], image(i + 1)[1]),
    }
    want = {"label": i % 10, "text": b"text %d" % i, "tokens": list(range(i % 4)), "who": b"w%d" % i}
    want.update(image=True, photo=True)
    return next((f"row {i}, {k}: {have[k]!r}" for k in want if have[k] != want[k]), None)


def check(ds, numbers, what=""):
    got = list(ds)
    c.same(len(got), len(numbers), what)
    c.same([w for e, i in zip(got, numbers) if (w := wrong(e, i))][:3], [], what)


def test_folders():
    if not files.have():
        return
    with tempfile.TemporaryDirectory() as d:
        folder = saved(os.path.join(d, "saved"))
        ds = sd.from_huggingface(folder)
        check(ds, range(N))
        c.same(ds.cardinality(), N)
        c.same(tuple(ds.element_spec["image"].shape), (None, None, 3))
        check(pickle.loads(pickle.dumps(ds)), range(N), "pickled")
        it = ds.iterator()
        [next(it) for _ in range(77)]
        c.same(wrong(next(ds.iterator(it.state())), 77), None, "resumed")
        raw = sd.from_huggingface(folder, columns=["image", "label"], decode=False)
        c.same(sorted(raw.element_spec), ["image", "label"])
        c.same(bytes(next(iter(raw))["image"]), image(0)[0])
        shuffled = [int(e["label"]) for e in sd.from_huggingface(folder, columns=["label"], shuffle=True, seed=1)]
        c.same(sorted(shuffled), sorted(i % 10 for i in range(N)))
        parts = [[bytes(e["text"]) for e in sd.from_huggingface(folder, columns="text", shard=(2, k))] for k in (0, 1)]
        c.same(sorted(parts[0] + parts[1]), sorted(b"text %d" % i for i in range(N)))
        full = [bytes(e["text"]) for e in sd.from_huggingface(folder, columns=["text"]).shuffle(N, seed=2)]
        c.same(sorted(full), sorted(b"text %d" % i for i in range(N)))
        c.true(full[:40] != [b"text %d" % i for i in range(40)])


def test_selections_on_disk():
    if not files.have():
        return
    places = [7, 3, 200, 3, 0, 249]
    with tempfile.TemporaryDirectory() as d:
        ds = sd.from_huggingface(saved(os.path.join(d, "some"), places))
        check(ds, places)
        c.same(ds.cardinality(), 6)
        again = sd.from_huggingface(os.path.join(d, "some"), shard=(2, 1))
        check(again, places[1::2])
        mixed = sd.from_huggingface(os.path.join(d, "some"), columns=["text"], shuffle=True, seed=4)
        c.same(sorted(bytes(e["text"]) for e in mixed), sorted(b"text %d" % i for i in places))
        labels = ds.map(lambda e: e["text"]).shuffle(6, seed=1)
        c.same(sorted(bytes(v) for v in labels), sorted(b"text %d" % i for i in places))


def test_splits_and_caches():
    if not files.have():
        return
    bad = sd.errors.InvalidArgumentError
    with tempfile.TemporaryDirectory() as d:
        put(d, "dataset_dict.json", {"splits": ["train", "test"]})
        saved(os.path.join(d, "train"))
        saved(os.path.join(d, "test"), [5])
        check(sd.from_huggingface(d, split="test"), [5])
        c.raises(bad, lambda: sd.from_huggingface(d), "split= is missing", "'train', 'test'")
        c.raises(bad, lambda: sd.from_huggingface(d, split="nope"), "'nope'")
        c.raises(bad, lambda: sd.from_huggingface(os.path.join(d, "train"), split="test"), "'train'")
        cache = os.path.join(d, "cache")
        put(cache, "dataset_info.json", {})
        stream(os.path.join(cache, "food-train-00000-of-00002.arrow"), rows(range(9)))
        stream(os.path.join(cache, "food-train-00001-of-00002.arrow"), rows(range(9, 20)))
        stream(os.path.join(cache, "cache-0123456789abcdef.arrow"), pa.table({"other": [1]}))
        check(sd.from_huggingface(cache), range(20), "the cache of map does not count")
        stream(os.path.join(cache, "food-test.arrow"), rows([3]))
        check(sd.from_huggingface(cache, split="test"), [3])
        c.raises(bad, lambda: sd.from_huggingface(cache), "'test', 'train'")
        c.raises(sd.errors.NotFoundError, lambda: sd.from_huggingface(d + "/none"), "no such folder")
        put(d + "/empty", "x.json", {})
        c.raises(sd.errors.NotFoundError, lambda: sd.from_huggingface(d + "/empty"), "save_to_disk", "load_dataset")
        os.unlink(os.path.join(d, "train", "data-00001-of-00002.arrow"))
        c.raises(sd.errors.NotFoundError, lambda: sd.from_huggingface(d, split="train"), "data-00001-of-00002.arrow")
        with open(os.path.join(d, "train", "state.json"), "w") as f:
            f.write("{")
        c.raises(sd.errors.DataLossError, lambda: sd.from_huggingface(d, split="train"), "state.json")


def test_paths_of_files():
    """An image whose bytes are not in the table is read from its path, or is an error of its row."""
    if not files.have():
        return
    with tempfile.TemporaryDirectory() as d:
        path = os.path.join(d, "a.png")
        with open(path, "wb") as f:
            f.write(image(3)[0])
        photo = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
        values = [{"bytes": None, "path": path}, {"bytes": image(9)[0], "path": "gone.png"}, None,
                  {"bytes": None, "path": d + "/gone.png"}, {"bytes": image(1)[0], "path": None}]  # fmt: skip
        schema = pa.schema([("image", photo)], {"huggingface": json.dumps({"info": {"features": {"image": FEATURES["image"]}}})})
        put(d, "state.json", {"_data_files": [{"filename": "a.arrow"}]})
        stream(os.path.join(d, "a.arrow"), pa.table({"image": pa.array(values, photo)}, schema))
        got = c.all_of(iter(sd.from_huggingface(d)))
        c.same([isinstance(e, type) for e in got], [False, False, True, True, False])
        for e, i in ((got[0], 3), (got[1], 9), (got[4], 1)):
            c.same(np.asarray(e["image"]), image(i)[1])
        c.same([bytes(e["image"])[:4] for e in sd.from_huggingface(d, decode=False).take(3)], [b"\x89PNG", b"\x89PNG", b""])


def test_batches_of_images():
    if not files.have():
        return
    with tempfile.TemporaryDirectory() as d:
        ds = sd.from_huggingface(saved(os.path.join(d, "saved")), columns=["image", "label"])
        ds = ds.map(lambda e: (sd.image.resize(e["image"], (8, 8)), e["label"]), num_parallel_calls=2).batch(16)
        images, labels = next(iter(ds))
        c.same((images.shape, labels.tolist()[:3]), ((16, 8, 8, 3), [0, 1, 2]))
        c.true(abs(float(np.asarray(images)[5].mean()) - 5) < 0.01)


def package():
    """Hugging Face's datasets; None where that or pyarrow isn't installed, which is reported."""
    if not files.have():
        return None
    try:
        import datasets
    except ImportError:
        c.skip("the package datasets is not installed")
        return None
    return datasets


def test_live():
    datasets = package()
    if not datasets:
        return
    datasets.disable_progress_bars()
    with tempfile.TemporaryDirectory() as d:
        live = datasets.load_from_disk(saved(os.path.join(d, "saved")))
        check(sd.from_huggingface(live), range(N))
        check(pickle.loads(pickle.dumps(sd.from_huggingface(live))), range(N))
        order = live.shuffle(seed=3)
        numbers = [int(t[5:]) for t in order["text"]]
        check(sd.from_huggingface(order), numbers, "shuffled")
        check(sd.from_huggingface(order.select([5, 1, 5])), [numbers[5], numbers[1], numbers[5]], "selected")
        check(sd.from_huggingface(live.filter(lambda e: e["label"] == 3)), range(3, N, 10), "filtered")
        check(sd.from_huggingface(order, shard=(4, 1)), numbers[1::4], "a shard")
        joined = datasets.concatenate_datasets([live.select(range(3)), live.select(range(9, 20))])
        check(sd.from_huggingface(joined), [0, 1, 2, *range(9, 20)], "concatenated")
        order.save_to_disk(os.path.join(d, "again"), num_shards=3)
        check(sd.from_huggingface(os.path.join(d, "again")), numbers, "as datasets saves it")
        both = datasets.DatasetDict(a=live, b=order)
        check(sd.from_huggingface(both, split="b"), numbers)
        c.raises(sd.errors.InvalidArgumentError, lambda: sd.from_huggingface(both), "'a', 'b'")
        c.same(sorted(sd.from_huggingface(live.with_format("numpy", columns=["label"])).element_spec), ["label"])
        transformed = live.with_transform(lambda b: b)
        c.raises(sd.errors.UnimplementedError, lambda: sd.from_huggingface(transformed), "reset_format", "map")
        c.raises(TypeError, lambda: sd.from_huggingface([1, 2]), "list")
        arrays = datasets.Dataset.from_dict(
            {"m": [[[1.0, 2.0], [3.0, float(i)]] for i in range(5)]},
            features=datasets.Features({"m": datasets.Array2D((2, 2), "float32")}),
        )
        got = sd.from_huggingface(arrays)
        c.same((tuple(got.element_spec["m"].shape), float(list(got)[4]["m"][1, 1])), ((2, 2), 4.0))


def test_streaming():
    datasets = package()
    if not datasets:
        return
    with tempfile.TemporaryDirectory() as d:
        live = datasets.load_from_disk(saved(os.path.join(d, "saved")))
        lazy = live.to_iterable_dataset(num_shards=2)
        ds = sd.from_huggingface(lazy)
        check(ds, range(N))
        check(ds, range(N), "the second pass")
        it = ds.iterator()
        [next(it) for _ in range(30)]
        c.same(wrong(next(ds.iterator(it.state())), 30), None, "resumed")
        mapped = lazy.map(lambda e: {"text": e["text"]}, features=live.features)
        check(sd.from_huggingface(mapped), range(N), "with a function")
        unknown = lazy.map(lambda e: e)
        c.raises(sd.errors.InvalidArgumentError, lambda: sd.from_huggingface(unknown), "features")
        c.raises(sd.errors.UnimplementedError, lambda: sd.from_huggingface(lazy, shuffle=True), "dataset.shuffle")


def test_no_table_in_memory():
    """A folder takes no memory by its size: its files are mapped."""
    if not files.have():
        return
    text = """if True:
        import resource, sys
        import numpy as np
        import pyarrow as pa
        import stoker.data as sd
        ds = sd.from_huggingface(sys.argv[1])
        before, start = pa.total_allocated_bytes(), resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        total = sum(int(b["x"].sum()) for b in ds.batch(1000))
        print(total, pa.total_allocated_bytes() - before < 1 << 20)
    """
    with tempfile.TemporaryDirectory() as d:
        put(d, "state.json", {"_data_files": [{"filename": "a.arrow"}]})
        stream(os.path.join(d, "a.arrow"), pa.table({"x": np.arange(4_000_000)}), 10000)
        r = subprocess.run([sys.executable, "-c", text, d], capture_output=True, text=True)
        c.same((r.stdout.split(), r.stderr), ([str(4_000_000 * 3_999_999 // 2), "True"], ""))


c.main(globals())
