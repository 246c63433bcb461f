// SPDX-License-Identifier: Apache-2.0
// Datasets that functions make for elements; see nested.h. Functions run on only a few elements at
// once: results are small but may refer to much, and those after an end aren't needed.
#include "engine/run/nested.h"

#include "base/assert.h"
#include "engine/run/feed.h"
#include "engine/run/iter_open.h"

#define AHEAD 8 // elements for which datasets are made at once

struct stk_specs *stk_nest_specs(const struct stk_dataset *ds, struct stk_fn *fn,
                                 struct stoker_err *err)
{
    const struct stk_spec *spec = fn->n_out == 1 ? &fn->specs[fn->out[0]] : NULL;
    if (!spec || spec->dtype != STK_DT_DATASET || spec->shape.rank != 0 || !spec->nested) {
        (void)stk_err_set(err, STOKER_EINVAL, "%s: the function must return a dataset",
                          ds->kind->name);
        return NULL;
    }
    return stk_specs_hold(spec->nested);
}

enum stoker_status stk_nest_open(struct stk_nest *n, struct stk_iter *it, struct stk_fn *fn,
                                 struct stoker_err *err)
{
    return stk_frame_open(&n->frame, fn, it->run->pool, it->run->options.host, err);
}

void stk_nest_close(struct stk_nest *n)
{
    stk_frame_close(n->frame);
    stk_feed_free(&n->made);
    stk_feed_free(&n->in);
}

// Does its function wait: for Python, a file, a remote object?
static bool waits(const struct stk_dataset *ds)
{
    const struct stk_attr *t = stk_attrs_get(ds->attrs, "fn");
    for (int k = 0; t && t->kind == STK_ATTR_FN && k < t->fn->n_nodes; k++) {
        if (t->fn->nodes[k].op->is_host_call || t->fn->nodes[k].op->waits) {
            return true;
        }
    }
    return false;
}

// Only one at a time for windows, which hold all their elements, and for functions that wait: the
// first dataset would wait for the eighth.
static int64_t ahead_of(const struct stk_dataset *ds)
{
    const struct stk_specs *specs = ds->specs;
    for (int i = 0; i < specs->count; i++) {
        if (specs->items[i].dtype == STK_DT_DATASET) {
            return 1;
        }
    }
    return waits(ds) ? 1 : AHEAD;
}

// Makes datasets for the rest of the input's block, up to an element that failed.
static enum stoker_status make_some(struct stk_nest *n, struct stk_iter *it, struct stoker_err *err)
{
    enum stoker_status s = stk_feed_fill(&n->in, it->in[0], ahead_of(it->in[0]->ds), err);
    struct stk_block part = {0};
    if (s != STOKER_OK || stk_feed_left(&n->in) == 0) {
        n->index += s != STOKER_OK;
        return s;
    }
    n->made.used = 0;
    if (!stk_block_slice(&part, &n->in.block, n->in.used, stk_feed_left(&n->in)) ||
        !stk_block_reset(&n->made.block, 1)) {
        stk_block_free(&part);
        return stk_err_nomem(err);
    }
    struct stk_eval eval = {.seed = it->seed, .first_index = n->index};
    s = stk_frame_run(n->frame, &part, &n->made.block, &eval, err);
    int64_t done = s != STOKER_OK ? part.n : eval.failed;
    if (s == STOKER_OK && eval.failed == 0) {
        *err = eval.failure;
        s = eval.failure.code;
        done = 1;
    }
    // an element that failed stays: the next call reports it
    n->in.used += done;
    n->index += done;
    stk_block_free(&part);
    if (s != STOKER_OK) {
        stk_block_clear(&n->made.block);
    }
    return s;
}

enum stoker_status stk_nest_next(struct stk_nest *n, struct stk_iter *it, bool is_concurrent,
                                 struct stk_iter **inner, struct stoker_err *err)
{
    *inner = NULL;
    if (stk_feed_left(&n->made) == 0) {
        enum stoker_status s = make_some(n, it, err);
        if (s != STOKER_OK || stk_feed_left(&n->made) == 0) {
            return s;
        }
    }
    struct stk_dataset *ds =
        *(struct stk_dataset **)stk_col_at(&n->made.block.cols[0], n->made.used);
    STK_ASSERT(ds && n->index >= stk_feed_left(&n->made));
    uint64_t number = (uint64_t)(n->index - stk_feed_left(&n->made));
    n->made.used++;
    return stk_iter_open_given(inner, it, ds, number, is_concurrent, err);
}

enum stoker_status stk_dataset_of_block(struct stk_dataset **out, const struct stk_block *b,
                                        int first, int count, struct stk_specs *specs,
                                        struct stoker_err *err)
{
    STK_ASSERT(first >= 0 && count >= 0 && first + count <= b->count);
    struct stk_attrs *attrs = stk_attrs_new();
    struct stk_attr cols = {.name = "columns",
                            .kind = STK_ATTR_COLS,
                            .count = count,
                            .cols = b->cols ? b->cols + first : NULL};
    struct stk_attr spec = {.name = "specs", .kind = STK_ATTR_SPECS, .specs = specs};
    bool ok = attrs && stk_attrs_set(attrs, &cols) && stk_attrs_set(attrs, &spec) &&
              stk_attrs_set_int(attrs, "n", b->n);
    enum stoker_status s =
        ok ? stk_dataset_make(out, "columns", NULL, 0, attrs, NULL, err) : stk_err_nomem(err);
    stk_attrs_drop(attrs);
    return s;
}
