// SPDX-License-Identifier: Apache-2.0
// Rewrites a pipeline: inputs first, then a stage's functions, then the stage by the rules of
// rewrites.def, repeated until none applies. The result is kept with the original dataset, so
// iterators that share a cache still do.
#include "engine/rewrites/rewrite.h"

#include <string.h>

#include "base/alloc.h"

enum { ROUNDS_MAX = 1000, DEPTH_MAX = 1000 };

struct rule {
    stk_rewrite_rule *run;
    struct stk_rewrite_row row;
};

static const struct rule rules[] = {
#define FIRST(id, title, why)
#define SECOND(id, title, why)
#define STAGE(id, title, why) {stk_rewrite_##id, {title, why}},
#include "engine/rewrites.def"
#undef FIRST
#undef SECOND
#undef STAGE
};

static bool add_reason(struct stk_dataset *ds, const char *text)
{
    struct stk_rewrite_log log = {ds->reason, ds->reason ? strlen(ds->reason) : 0};
    bool ok = stk_rewrite_append(&log, text);
    ds->reason = log.text;
    return ok;
}

// The attributes with their functions rewritten. *out: a new reference; NULL: nothing changed.
static enum stoker_status rewrite_attrs(const struct stk_dataset *ds, enum stk_on_error policy,
                                        struct stk_attrs **out, struct stk_rewrite_log *log,
                                        struct stoker_err *err)
{
    enum stoker_status s = STOKER_OK;
    *out = NULL;
    for (int i = 0; s == STOKER_OK && i < stk_attrs_count(ds->attrs); i++) {
        struct stk_attr t = *stk_attrs_at(ds->attrs, i);
        struct stk_fn *fn = NULL;
        if (t.kind != STK_ATTR_FN) {
            continue;
        }
        s = stk_rewrite_fn(&fn, t.fn, policy, log, err);
        if (s == STOKER_OK && fn != t.fn) {
            *out = *out ? *out : stk_attrs_copy(ds->attrs);
            t.fn = fn;
            s = *out && stk_attrs_set(*out, &t) ? STOKER_OK : stk_err_nomem(err);
        }
        stk_fn_drop(fn);
    }
    if (s != STOKER_OK) {
        stk_attrs_drop(*out);
        *out = NULL;
    }
    return s;
}

// ds over rewritten inputs and functions; a new reference.
static enum stoker_status renew(struct stk_dataset **out, struct stk_dataset *ds,
                                struct stk_dataset *const *in, enum stk_on_error policy,
                                struct stoker_err *err)
{
    struct stk_rewrite_log log = {0};
    struct stk_attrs *attrs = NULL;
    bool has_changed = false;
    *out = NULL;
    for (int i = 0; i < ds->n_in; i++) {
        has_changed = has_changed || in[i] != ds->in[i];
    }
    enum stoker_status s = rewrite_attrs(ds, policy, &attrs, &log, err);
    if (s == STOKER_OK && !attrs && !has_changed) {
        *out = stk_dataset_hold(ds);
    } else if (s == STOKER_OK) {
        s = stk_rewrite_like(out, ds, in, attrs, err);
        if (s == STOKER_OK && log.text && !add_reason(*out, log.text)) {
            s = stk_err_nomem(err);
        }
    }
    stk_attrs_drop(attrs);
    stk_rewrite_log_end(&log);
    return s;
}

// Applies the rules to one stage until none fits. *ds is a reference before and after.
static enum stoker_status apply_rules(struct stk_dataset **ds, enum stk_on_error policy,
                                      struct stoker_err *err)
{
    enum stoker_status s = STOKER_OK;
    bool has_changed = true;
    for (int round = 0; s == STOKER_OK && has_changed && round < ROUNDS_MAX; round++) {
        has_changed = false;
        for (size_t k = 0; s == STOKER_OK && !has_changed && k < sizeof rules / sizeof rules[0];
             k++) {
            struct stk_dataset *next = NULL;
            s = rules[k].run(*ds, policy, &rules[k].row, &next, err);
            if (s == STOKER_OK && next) {
                stk_dataset_drop(*ds);
                *ds = next;
                has_changed = true;
            }
        }
    }
    return s;
}

static enum stoker_status rewrite(struct stk_dataset **out, struct stk_dataset *ds,
                                  enum stk_on_error policy, int depth, struct stoker_err *err);

static enum stoker_status rewrite_stage(struct stk_dataset **out, struct stk_dataset *ds,
                                        enum stk_on_error policy, int depth, struct stoker_err *err)
{
    struct stk_dataset **in = stk_alloc_zero((size_t)ds->n_in + 1, sizeof in[0]);
    enum stoker_status s = in ? STOKER_OK : stk_err_nomem(err);
    for (int i = 0; s == STOKER_OK && i < ds->n_in; i++) {
        s = rewrite(&in[i], ds->in[i], policy, depth + 1, err);
    }
    s = s == STOKER_OK ? renew(out, ds, in, policy, err) : s;
    for (int i = 0; in && i < ds->n_in; i++) {
        stk_dataset_drop(in[i]);
    }
    stk_free(in);
    if (s == STOKER_OK) {
        s = apply_rules(out, policy, err);
    }
    // A rule merged several functions: rewrite the result's operations again.
    if (s == STOKER_OK && *out != ds) {
        struct stk_dataset *again = NULL;
        s = renew(&again, *out, (*out)->in, policy, err);
        if (s == STOKER_OK) {
            stk_dataset_drop(*out);
            *out = again;
        }
    }
    return s;
}

// The dataset's rewritten form, if another iterator requested it before.
static struct stk_dataset *known(struct stk_dataset *ds, enum stk_on_error policy)
{
    return __atomic_load_n(&ds->rewritten[policy == STK_ON_ERROR_SKIP], __ATOMIC_ACQUIRE);
}

// Keeps the rewritten form; if two were made at once, the first stays. Takes the reference `made`.
static struct stk_dataset *keep(struct stk_dataset *ds, struct stk_dataset *made,
                                enum stk_on_error policy)
{
    struct stk_dataset *none = NULL, **at = &ds->rewritten[policy == STK_ON_ERROR_SKIP];
    if (__atomic_compare_exchange_n(at, &none, made, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
        if (made == ds) {
            stk_dataset_drop(made); // a dataset must not hold a reference to itself
        }
        return made;
    }
    stk_dataset_drop(made);
    return none;
}

static enum stoker_status rewrite(struct stk_dataset **out, struct stk_dataset *ds,
                                  enum stk_on_error policy, int depth, struct stoker_err *err)
{
    struct stk_dataset *made = known(ds, policy);
    *out = NULL;
    if (!made && depth < DEPTH_MAX) {
        enum stoker_status s = rewrite_stage(&made, ds, policy, depth, err);
        if (s != STOKER_OK) {
            stk_dataset_drop(made);
            return s;
        }
        made = keep(ds, made, policy);
    }
    *out = stk_dataset_hold(made ? made : ds);
    return STOKER_OK;
}

enum stoker_status stk_rewrite_dataset(struct stk_dataset **out, struct stk_dataset *ds,
                                       enum stk_on_error policy, struct stoker_err *err)
{
    enum stoker_status s = rewrite(out, ds, policy, 0, err);
    if (s == STOKER_OK || s == STOKER_ENOMEM) {
        return s;
    }
    // A rewrite that isn't valid leaves the dataset unchanged.
    *out = stk_dataset_hold(ds);
    return STOKER_OK;
}
