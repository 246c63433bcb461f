// SPDX-License-Identifier: Apache-2.0
// Rewrites a function: copies it operation by operation; at each, the rules of rewrites.def may put
// something else. Unused operations are dropped at the end. It takes two walks: the first merges
// duplicates, so that the second knows what is used only once.
#include "base/alloc.h"
#include "engine/rewrites/rewrite.h"

enum { NESTED_MAX = 8 }; // functions within functions

struct rule {
    stk_refn_rule *run;
    struct stk_rewrite_row row;
};

static const struct rule first_rules[] = {
#define FIRST(id, title, why) {stk_refn_##id, {title, why}},
#define SECOND(id, title, why)
#define STAGE(id, title, why)
#include "engine/rewrites.def"
#undef FIRST
#undef SECOND
};
static const struct rule second_rules[] = {
#define FIRST(id, title, why)
#define SECOND(id, title, why) {stk_refn_##id, {title, why}},
#include "engine/rewrites.def"
#undef FIRST
#undef SECOND
#undef STAGE
};

static enum stoker_status rewrite_nested(struct stk_fn **out, struct stk_fn *fn,
                                         enum stk_on_error policy, struct stk_rewrite_log *log,
                                         int depth, struct stoker_err *err);

// The node's attributes with their functions rewritten; a new reference.
static enum stoker_status attrs_of(struct stk_refn *r, struct stk_attrs **out, int depth,
                                   struct stoker_err *err)
{
    struct stk_attrs *attrs = r->node->attrs, *own = NULL;
    enum stoker_status s = STOKER_OK;
    for (int i = 0; s == STOKER_OK && i < stk_attrs_count(attrs); i++) {
        struct stk_attr t = *stk_attrs_at(attrs, i);
        struct stk_fn *fn = NULL;
        if (t.kind != STK_ATTR_FN || depth == NESTED_MAX) {
            continue;
        }
        s = rewrite_nested(&fn, t.fn, r->policy, r->log, depth + 1, err);
        if (s == STOKER_OK && fn != t.fn) {
            own = own ? own : stk_attrs_copy(attrs);
            t.fn = fn;
            r->has_changed = true;
            s = own && stk_attrs_set(own, &t) ? STOKER_OK : stk_err_nomem(err);
        }
        stk_fn_drop(fn);
    }
    *out = own ? own : stk_attrs_hold(attrs);
    return s;
}

static enum stoker_status try_rules(struct stk_refn *r, const struct rule *rules, int n_rules,
                                    int *result, struct stoker_err *err)
{
    for (int k = 0; k < n_rules; k++) {
        enum stoker_status s = rules[k].run(r, result, err);
        if (s != STOKER_OK) {
            return s;
        }
        if (*result >= 0) {
            r->has_changed = true;
            return stk_rewrite_note(r->log, &rules[k].row, r->node->op->name, r->node->where)
                       ? STOKER_OK
                       : stk_err_nomem(err);
        }
    }
    return STOKER_OK;
}

static enum stoker_status copy_node(struct stk_refn *r, const struct rule *rules, int n_rules,
                                    int depth, struct stoker_err *err)
{
    const struct stk_fn_node *node = r->node;
    int result = -1;
    for (int i = 0; i < node->n_in; i++) {
        r->in[i] = r->value[node->in[i]];
    }
    enum stoker_status s = STOKER_OK;
    if (node->n_out == 1 && !node->op->is_stateful) {
        s = try_rules(r, rules, n_rules, &result, err);
    }
    if (s == STOKER_OK && result < 0) {
        struct stk_attrs *attrs = NULL;
        s = attrs_of(r, &attrs, depth, err);
        s = s == STOKER_OK ? stk_refn_add(r, node->op->name, r->in, node->n_in, attrs, &result, err)
                           : s;
        stk_attrs_drop(attrs);
    }
    // The operation's uses were counted beforehand; its replacement counts its own.
    for (int i = 0; s == STOKER_OK && i < node->n_in; i++) {
        *stk_refn_uses_at(r, r->in[i]) -= 1;
    }
    for (int i = 0; s == STOKER_OK && i < node->n_out; i++) {
        r->value[node->first_out + i] = result + i;
        *stk_refn_uses_at(r, result + i) += r->uses_from[node->first_out + i];
    }
    return s;
}

static void count_uses(const struct stk_fn *fn, int *uses)
{
    for (int k = 0; k < fn->n_nodes; k++) {
        for (int i = 0; i < fn->nodes[k].n_in; i++) {
            uses[fn->nodes[k].in[i]]++;
        }
    }
    for (int i = 0; i < fn->n_out; i++) {
        uses[fn->out[i]]++;
    }
}

static enum stoker_status begin(struct stk_refn *r, struct stoker_err *err)
{
    const struct stk_fn *from = r->from;
    stk_vec_init(&r->uses, sizeof(int), (size_t)1 << 24);
    stk_vec_init(&r->def, sizeof(int), (size_t)1 << 24);
    r->value = stk_alloc_array((size_t)from->n_values + 1, sizeof r->value[0]);
    r->uses_from = stk_alloc_zero((size_t)from->n_values + 1, sizeof r->uses_from[0]);
    if (!r->value || !r->uses_from) {
        return stk_err_nomem(err);
    }
    count_uses(from, r->uses_from);
    enum stoker_status s = stk_fn_open(&r->to, from->specs, from->n_in, from->name, err);
    for (int i = 0; s == STOKER_OK && i < from->n_in; i++) {
        r->value[i] = i;
        s = stk_refn_push(r, -1) ? STOKER_OK : stk_err_nomem(err);
        if (s == STOKER_OK) {
            *stk_refn_uses_at(r, i) = r->uses_from[i];
        }
    }
    return s;
}

static enum stoker_status finish(struct stk_refn *r, struct stoker_err *err)
{
    int out[STK_COMPONENTS_MAX];
    for (int i = 0; i < r->from->n_out; i++) {
        out[i] = r->value[r->from->out[i]];
    }
    return stk_fn_finish(r->to, out, r->from->n_out, err);
}

// One walk with the rules. *out is a new reference; `fn` itself if nothing changed.
static enum stoker_status walk(struct stk_fn **out, struct stk_fn *fn, const struct rule *rules,
                               int n_rules, enum stk_on_error policy, struct stk_rewrite_log *log,
                               int depth, struct stoker_err *err)
{
    struct stk_refn *r = stk_alloc_zero(1, sizeof *r);
    if (!r) {
        return stk_err_nomem(err);
    }
    r->from = fn;
    r->log = log;
    r->policy = policy;
    enum stoker_status s = begin(r, err);
    for (int k = 0; s == STOKER_OK && k < fn->n_nodes; k++) {
        r->node = &fn->nodes[k];
        s = copy_node(r, rules, n_rules, depth, err);
    }
    s = s == STOKER_OK && r->has_changed ? finish(r, err) : s;
    *out = stk_fn_hold(s == STOKER_OK && r->has_changed ? r->to : fn);
    stk_fn_drop(r->to);
    stk_free(r->value);
    stk_free(r->uses_from);
    stk_vec_deinit(&r->uses);
    stk_vec_deinit(&r->def);
    stk_free(r);
    return s;
}

static enum stoker_status rewrite_nested(struct stk_fn **out, struct stk_fn *fn,
                                         enum stk_on_error policy, struct stk_rewrite_log *log,
                                         int depth, struct stoker_err *err)
{
    struct stk_fn *equal = NULL, *better = NULL;
    *out = NULL;
    if (!fn->is_finished) {
        *out = stk_fn_hold(fn);
        return STOKER_OK;
    }
    enum stoker_status s =
        walk(&equal, fn, first_rules, (int)(sizeof first_rules / sizeof first_rules[0]), policy,
             log, depth, err);
    if (s == STOKER_OK) {
        // The first walk already rewrote nested functions.
        s = walk(&better, equal, second_rules, (int)(sizeof second_rules / sizeof second_rules[0]),
                 policy, log, NESTED_MAX, err);
    }
    s = s == STOKER_OK ? stk_rewrite_templates(out, better, policy, log, err) : s;
    stk_fn_drop(better);
    stk_fn_drop(equal);
    return s;
}

enum stoker_status stk_rewrite_fn(struct stk_fn **out, struct stk_fn *fn, enum stk_on_error policy,
                                  struct stk_rewrite_log *log, struct stoker_err *err)
{
    return rewrite_nested(out, fn, policy, log, 0, err);
}
