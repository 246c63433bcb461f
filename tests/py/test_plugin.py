#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plug-ins in C: built, loaded, used in traced functions; and misbehaving ones."""

import os
import pickle
import shutil
import subprocess
import sys
import tempfile

import checks as c
import numpy as np
import stoker.data as sd

SOURCE = r"""
#include <stdlib.h>
#include <string.h>
#include "stoker/plugin.h"

static int same_infer(struct stoker_plugin_infer *c)
{
    if (c->n_in != 1 || c->in[0].dtype != STOKER_INT64) {
        return c->fail(c, "takes int64");
    }
    c->out[0] = c->in[0];
    return 0;
}

struct table { int64_t add, count, values[4]; };

static void *add_prepare(struct stoker_plugin_infer *c)
{
    struct table *t = calloc(1, sizeof *t);
    t->add = c->attr_int(c->attrs, "by", 1);
    t->count = c->attr_ints(c->attrs, "more", t->values, 4);
    if (t->add < 0) {
        free(t);
        c->fail(c, "by is positive");
        return NULL;
    }
    return t;
}

static int add_run(struct stoker_plugin_run *r)
{
    const struct table *t = r->prepared;
    int64_t sum = t->add, *calls = r->scratch;
    ++*calls;
    for (int64_t k = 0; k < t->count && k < 4; k++) sum += t->values[k];
    int64_t *out = r->make(r, 0, r->in[0].dim);
    for (int64_t i = 0; out && i < r->n; i++) {
        const int64_t *x = stoker_plugin_at(&r->in[0], i);
        for (int64_t k = 0; k < r->in[0].count; k++) {
            if (x[k] == 13) return r->fail(r, i, "thirteen");
            *out++ = x[k] + sum;
        }
    }
    return out ? 0 : -1;
}

static int bits_infer(struct stoker_plugin_infer *c)
{
    c->n_out = 2;
    for (int k = 0; k < 2; k++) c->out[k] = (struct stoker_spec){k ? STOKER_STRING : STOKER_UINT64, 0, {0}, NULL};
    return 0;
}

static int bits_run(struct stoker_plugin_run *r)
{
    uint64_t *out = r->make(r, 0, NULL);
    struct stoker_bytes *text = r->make(r, 1, NULL);
    for (int64_t i = 0; out && text && i < r->n; i++) {
        out[i] = r->bits(r, i, 0);
        unsigned char *p = r->bytes(r, 1, 3);
        if (!p) return -1;
        memcpy(p, "b00", 3);
        p[2] += (unsigned char)(out[i] % 10);
        text[i] = (struct stoker_bytes){p, 3};
    }
    return out && text ? 0 : -1;
}

static int wrong_infer(struct stoker_plugin_infer *c)
{
    c->out[0] = (struct stoker_spec){STOKER_INT64, 1, {3}, NULL};
    return 0;
}

static int wrong_run(struct stoker_plugin_run *r)
{
    int64_t four = 4, three = 3, how = *(const int64_t *)stoker_plugin_at(&r->in[0], 0);
    if (how == 0) return 0;                            /* made nothing */
    if (how == 1) return r->make(r, 0, &four) ? 0 : -1; /* another shape */
    if (how == 2) return r->make(r, 5, &three) ? 0 : -1;
    if (how == 3) return -1;
    for (int64_t i = 0; i <= r->n; i++) if (!r->add(r, 0, &three)) return -1; /* too many */
    return 0;
}

static const struct stoker_plugin_op ops[] = {
    {.name = "NAME_add", .summary = "Adds", .infer = same_infer, .run = add_run, .prepare = add_prepare,
     .unprepare = free, .scratch_bytes = 8},
    {.name = "NAME_bits", .flags = STOKER_PLUGIN_RANDOM, .infer = bits_infer, .run = bits_run},
    {.name = "NAME_wrong", .infer = wrong_infer, .run = wrong_run}};
STOKER_PLUGIN(ops)
"""


def build(folder, name, source):
    path = os.path.join(folder, name)
    with open(path + ".c", "w") as f:
        f.write(source.replace("NAME", name))
    command = [os.environ.get("CC", "cc"), "-shared", "-fPIC", "-O1", "-Wall", "-Werror"]
    subprocess.run(command + [f"-I{sd.get_include()}", path + ".c", "-o", path + ".so"], check=True)
    return path + ".so"


def test_use(own):
    ds = sd.Dataset.range(2000)
    mapped = ds.map(lambda x: own.mine_add(x) * 2)
    c.true("python" not in mapped.explain().lower() and "mine_add" in mapped.explain(), "native")
    c.same(np.array(list(mapped.take(13))), (np.arange(13) + 1) * 2)
    it = iter(mapped.skip(13))
    c.raises(sd.errors.InvalidArgumentError, lambda: next(it), "thirteen", "mine_add")
    c.same(next(it), np.int64(30))
    more = ds.filter(lambda x: x != 13).map(lambda x: own.mine_add(x, by=5, more=[10, 100]), 2).batch(1999)
    c.same(next(iter(more)), np.delete(np.arange(2000), 13) + 115)
    c.same(own.mine_add(np.arange(3)), np.arange(3) + 1)
    ragged = ds.take(4).map(lambda x: own.mine_add(sd.range(x)))
    c.same([e.tolist() for e in ragged], [list(range(1, n + 1)) for n in range(4)])
    c.raises(ValueError, lambda: own.mine_add(np.float32(1)), "takes int64")
    c.raises(ValueError, lambda: own.mine_add(np.arange(3), by=-1), "by is positive")
    c.raises(ValueError, lambda: own.mine_add())


def test_random(own):
    def run(calls, seed):
        options = sd.Options()
        options.seed = seed
        ds = sd.Dataset.range(500).map(lambda x: own.mine_bits(x), calls).with_options(options)
        return [(int(a), t) for a, t in ds]

    one = run(None, 1)
    c.same(run(2, 1), one)
    c.true(run(None, 2) != one and len({a for a, _ in one}) == 500, "bits")
    c.true(all(t == b"b0%d" % (a % 10) for a, t in one), "strings")


def test_wrong(own):
    for how in range(5):
        c.raises(sd.errors.OpError, lambda: list(sd.Dataset.from_tensors(np.int64(how)).map(lambda x: own.mine_wrong(x))))


def test_loading(own, folder):
    again = sd.load_op_library(os.path.join(folder, "mine.so"))
    c.same(again.mine_add(np.arange(2)), np.arange(1, 3))
    c.raises(sd.errors.NotFoundError, lambda: sd.load_op_library(os.path.join(folder, "none.so")))
    with open(os.path.join(folder, "text.so"), "w") as f:
        f.write("no library")
    c.raises(sd.errors.OpError, lambda: sd.load_op_library(os.path.join(folder, "text.so")))
    c.raises(ValueError, lambda: sd.load_op_library(build(folder, "empty", "int x;")), "stoker_plugin")
    copy = shutil.copy(os.path.join(folder, "mine.so"), os.path.join(folder, "copy.so"))
    c.raises(ValueError, lambda: sd.load_op_library(copy), "used name")
    other = SOURCE.replace("STOKER_PLUGIN(ops)", """
        const struct stoker_plugin *stoker_plugin(void)
        { static const struct stoker_plugin p = {99, sizeof ops[0], 1, ops}; return &p; }""")
    c.raises(ValueError, lambda: sd.load_op_library(build(folder, "other", other)), "version")


def test_pickled(own, folder):
    """A process that has not loaded the library does so for a dataset that needs it."""
    path = os.path.join(folder, "dataset")
    with open(path, "wb") as f:
        pickle.dump(sd.Dataset.range(4).map(lambda x: own.mine_add(x, by=2)), f)
    program = "import pickle, sys; print([int(x) for x in pickle.load(open(sys.argv[1], 'rb'))])"
    r = subprocess.run([sys.executable, "-c", program, path], capture_output=True, text=True)
    c.same(r.stdout, "[2, 3, 4, 5]\n", r.stderr)


def test_example():
    here = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples", "data")
    command = [sys.executable, os.path.join(here, "plugin.py"), "--small"]
    r = subprocess.run(command, capture_output=True, text=True)
    c.same(r.returncode, 0, r.stderr)
    c.true("words" in r.stdout and "skipped" not in r.stdout, r.stdout)


if __name__ == "__main__":
    if not shutil.which(os.environ.get("CC", "cc")):
        c.skip("no C compiler")
        c.done()
    with tempfile.TemporaryDirectory() as at:
        library = sd.load_op_library(build(at, "mine", SOURCE))
        tests = [lambda f=f: f(library) for f in (test_use, test_random, test_wrong)]
        tests += [lambda f=f: f(library, at) for f in (test_loading, test_pickled)] + [test_example]
        c.main({f"test_{i}": f for i, f in enumerate(tests)})
