// SPDX-License-Identifier: Apache-2.0
// generator: elements from a generator of the embedding language. Attributes: "id" of the
// generator, "specs" of its elements, "args" (COLS) to open it with.
#include "base/assert.h"
#include "engine/run/iter.h"

struct generator {
    void *gen;
    bool is_open, at_end;
};

static enum stoker_status generator_infer(struct stk_dataset *ds, struct stoker_err *err)
{
    const struct stk_attr *t = stk_attrs_get(ds->attrs, "specs");
    if (!t || t->kind != STK_ATTR_SPECS || t->specs->count < 1) {
        return stk_err_set(err, STOKER_EINVAL, "generator: needs the specs of its elements");
    }
    ds->specs = stk_specs_hold(t->specs);
    return STOKER_OK;
}

static enum stoker_status start(struct stk_iter *it, struct stoker_err *err)
{
    struct generator *g = it->state;
    struct stk_host *host = it->run->options.host;
    const struct stk_attr *t = stk_attrs_get(it->ds->attrs, "args");
    int count = t && t->kind == STK_ATTR_COLS ? (int)t->count : 0;
    if (!host || !host->gen_open || count > STK_OP_INPUTS_MAX) {
        return stk_err_set(err, STOKER_EINVAL,
                           "generator: the program provides no functions to call");
    }
    const struct stk_col *args[STK_OP_INPUTS_MAX];
    for (int k = 0; k < count; k++) {
        args[k] = &t->cols[k];
    }
    enum stoker_status s =
        host->gen_open(host->arg, stk_attrs_int(it->ds->attrs, "id", 0), args, count, &g->gen, err);
    g->is_open = s == STOKER_OK;
    return s;
}

// Do the results match the declared specs?
static enum stoker_status check(const struct stk_iter *it, struct stk_block *out,
                                struct stoker_err *err)
{
    for (int k = 0; k < out->count; k++) {
        const struct stk_spec *want = &it->ds->specs->items[k];
        const struct stk_col *c = &out->cols[k];
        for (int64_t i = 0; i < out->n; i++) {
            struct stk_shape shape = stk_col_shape(c, i);
            char have[STK_SHAPE_TEXT], text[STK_SHAPE_TEXT];
            if (c->dtype == want->dtype && stk_shape_fits(&want->shape, &shape)) {
                if (!c->is_varied) {
                    break;
                }
                continue;
            }
            return stk_err_set(err, STOKER_EINVAL,
                               "generator: component %d is %s%s, not %s%s as declared", k,
                               stk_dtype_name(c->dtype), stk_shape_text(&shape, have),
                               stk_dtype_name(want->dtype), stk_shape_text(&want->shape, text));
        }
    }
    return STOKER_OK;
}

// Every element is pulled, even skipped ones, so the stage's count is the element's number.
static void name_element(const struct stk_iter *it, int64_t more, struct stoker_err *err)
{
    stk_err_while(err, "generator, %s, element %lld", it->ds->where ? it->ds->where : "?",
                  (long long)it->stats.elements + (long long)more);
}

static enum stoker_status generator_next(struct stk_iter *it, int64_t want, struct stk_block *out,
                                         struct stoker_err *err)
{
    struct generator *g = it->state;
    struct stk_host *host = it->run->options.host;
    if (g->at_end) {
        return STOKER_OK;
    }
    enum stoker_status s = g->is_open ? STOKER_OK : start(it, err);
    if (s == STOKER_OK && !stk_block_reset(out, it->ds->specs->count)) {
        s = stk_err_nomem(err);
    }
    if (s == STOKER_OK) {
        s = host->gen_next(host->arg, g->gen, want, it->run->pool, out, err);
    }
    STK_ASSERT(out->n <= want);
    // After an exception a generator has ended.
    g->at_end = s != STOKER_OK || out->n == 0;
    if (s != STOKER_OK) {
        name_element(it, out->n, err);
    }
    if (out->n > 0) {
        struct stoker_err why;
        stk_err_init(&why);
        if (check(it, out, &why) != STOKER_OK) {
            stk_block_clear(out);
            *err = why;
            s = why.code;
        }
    }
    return s;
}

static void generator_close(struct stk_iter *it)
{
    struct generator *g = it->state;
    if (g->is_open) {
        it->run->options.host->gen_close(it->run->options.host->arg, g->gen);
    }
}

static const struct stk_arg_row generator_args[] = {
    STK_ARG("id", INT, "the generator's number", .is_required = true),
    STK_ARG("specs", OTHER, "specs of an element's components", .is_required = true),
    STK_ARG("args", OTHER, "its arguments"),
    {0}};

const struct stk_dataset_kind stk_dataset_generator = {.name = "generator",
                                                       .summary = "Elements of a Python generator",
                                                       .role = STK_DS_PROGRAM,
                                                       .args = generator_args,
                                                       .infer = generator_infer,
                                                       .state_bytes = sizeof(struct generator),
                                                       .next = generator_next,
                                                       .close = generator_close};
