# SPDX-License-Identifier: Apache-2.0
"""The public names: each says what it does; the stubs know all of them; `python3 -m stoker.data`."""

import ast
import inspect
import pathlib
import subprocess
import sys
import tempfile
import types

import checks as c
import stoker.data as sd

MODULES = ("io", "random", "lookup", "audio", "signal", "image", "strings", "math", "sparse", "nn", "linalg", "bitwise", "train", "errors")


def public(module):
    for name in dir(module):
        value = getattr(module, name)
        if not name.startswith("_") and not inspect.ismodule(value):
            yield name, value


def undocumented():
    for where in (sd, sd.experimental, *(getattr(sd, m) for m in MODULES)):
        for name, value in public(where):
            if callable(value) and not (inspect.getdoc(value) or "").strip():
                yield name
            if inspect.isclass(value) and value.__module__.startswith("stoker"):
                for own, f in vars(value).items():
                    is_member = callable(f) or isinstance(f, (property, staticmethod, classmethod))
                    doc = f.__doc__ if isinstance(f, property) else inspect.getdoc(getattr(value, own))
                    if is_member and not own.startswith("_") and not (doc or "").strip():
                        yield f"{name}.{own}"


def test_dir_and_display():
    """dir() shows only the public names; a notebook shows text for any keys."""
    for module in (sd, sd.io, sd.random, sd.lookup, sd.math, sd.image):
        shown = [n for n in dir(module) if not n.startswith("__")]
        c.same([n for n in shown if n.startswith("_") or n in ("np", "os", "types")], [], module.__name__)
    c.true({"Dataset", "io", "image", "AUTOTUNE"} <= set(dir(sd)) and "TFRecordWriter" in dir(sd.io), "names")
    ds = sd.Dataset.range(3)
    options = sd.Options()
    for value in (ds, iter(ds), options, options.autotune, options.threading, ds.element_spec, ds.stats(), sd.TFRecordDataset("f")):
        shown = [n for n in dir(value) if not n.startswith("__")]
        hidden = [n for n in shown if n.startswith("_") or n in ("merged", "run_options", "engine")]
        c.same(hidden, [], type(value).__name__)
        c.true(len(shown) > 1 and "__class__" in dir(value), f"{type(value).__name__}: {shown}")
    c.true({"map", "batch", "element_spec"} <= set(dir(ds)) and "state" in dir(iter(ds)) and "seed" in dir(options), "names")
    ds = sd.Dataset.from_tensor_slices({"<b>x": [1, 2], "y": ["a", "b"]})
    page = ds._repr_html_()
    c.same(repr(iter(ds)), f"<Iterator of {ds!r}>")
    options = sd.Options()
    c.same(repr(options), "Options()")
    options.deterministic, options.seed, options.threading.private_threadpool_size = False, 0, 2
    c.same(repr(options), "Options(deterministic=False, threading=ThreadingOptions(private_threadpool_size=2), seed=0)")
    c.true("&lt;b&gt;x" in page and "<b>" not in page and "elements: 2" in page, page)
    c.true("without end" in ds.repeat()._repr_html_(), "without end")
    c.true("unknown" in ds.filter(lambda e: True)._repr_html_(), "unknown")


def test_every_name_says_what_it_does():
    c.same(sorted(set(undocumented())), [])
    c.true(sum(1 for _ in public(sd)) > 100, "there are names")


def test_stubs():
    """What a type checker sees: the package is typed, and the stubs name what is there."""
    folder = pathlib.Path(sd.__file__).parent
    c.true((folder / "py.typed").exists(), "py.typed")
    names = [f"{n}.pyi" for n in "__init__ io random errors train/__init__ lookup _groups_of_ops _op_types".split()]
    tool = pathlib.Path(__file__).resolve().parent.parent.parent / "tools/py-stubs"
    with tempfile.TemporaryDirectory() as now:
        subprocess.run([sys.executable, tool, now], check=True)
        for name in names:
            written = folder / name
            c.true(written.exists(), f"{name}: the build writes it")
            c.true(written.read_text() == (pathlib.Path(now) / name).read_text(), f"{name} is of the module as it is")
    tree = ast.parse((folder / "__init__.pyi").read_text())
    named = set()
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            named.add(node.name)
        elif isinstance(node, ast.AnnAssign):
            named.add(node.target.id)
        elif isinstance(node, ast.ImportFrom):
            named.update(a.asname or a.name for a in node.names)
    have = {n for n in dir(sd) if not n.startswith("_") and not isinstance(getattr(sd, n), types.ModuleType)}
    have -= {"data"}
    c.same(sorted(have - named), [], "in the module and not in its stub")
    dataset = next(n for n in tree.body if isinstance(n, ast.ClassDef) and n.name == "Dataset")
    methods = {n.name for n in dataset.body if isinstance(n, ast.FunctionDef)}
    want = {n for n in vars(sd.Dataset) if not n.startswith("_") and callable(getattr(sd.Dataset, n))}
    c.same(sorted(want - methods), [])
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and node.name.endswith("Dataset") and node is not dataset:
            bases = [ast.unparse(b).partition("[")[0] for b in node.bases]
            inits = [n for n in node.body if getattr(n, "name", None) == "__init__"]
            c.true("Dataset" in bases and len(inits) == 1, f"{node.name}: {bases}, {len(inits)} __init__")


def test_main():
    def run(*words):
        done = subprocess.run(
            [sys.executable, "-m", "stoker.data", *words], capture_output=True, text=True, timeout=60
        )
        return done.returncode, done.stdout, done.stderr

    code, out, _ = run()
    c.true(code == 0 and "operations" in out and "bench PIPELINE.py" in out, out)
    c.same(run("--version")[:2], (0, f"stoker.data {sd.__version__}\n"))
    code, out, err = run("explode")
    c.true(code == 2 and "usage" in err, err)


c.main(globals())
