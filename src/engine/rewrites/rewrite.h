// SPDX-License-Identifier: Apache-2.0
// Rewrites turn a pipeline into one that gives the same elements in less time.
//
// To add one: a function in a file of rewrites/ and one row in rewrites.def with its name and the
// reason shown in plans. A function rewrite looks at one operation at a time while the function is
// copied (rewrite_fn.c); a dataset rewrite at one stage whose inputs are done (rewrite.c).
//
// Every rewrite keeps elements identical bit for bit, even random ones: operations keep their
// salts, merged functions their seeds (stk_fn_node.stage), and stages their paths
// (stk_dataset.hops). An error's text and the stage that counts it may differ. An element that a
// filter drops may no longer be mapped first, so its error is gone too.
#pragma once

#include "base/vec.h"
#include "engine/graph/dataset.h"
#include "engine/graph/rewrite_log.h"

// --- rewrite.c
// The rewritten `ds`, a new reference; `ds` itself if nothing changes. Kept with `ds`, so that its
// iterators share the same caches.
STK_MUST_CHECK enum stoker_status stk_rewrite_dataset(struct stk_dataset **out,
                                                      struct stk_dataset *ds,
                                                      enum stk_on_error policy,
                                                      struct stoker_err *err);
// --- rewrite_fn.c
// The rewritten `fn`, a new reference.
STK_MUST_CHECK enum stoker_status stk_rewrite_fn(struct stk_fn **out, struct stk_fn *fn,
                                                 enum stk_on_error policy,
                                                 struct stk_rewrite_log *log,
                                                 struct stoker_err *err);

// --- rewrite_template.c
// The function with the datasets it creates rewritten; a new reference.
STK_MUST_CHECK enum stoker_status stk_rewrite_templates(struct stk_fn **out, struct stk_fn *fn,
                                                        enum stk_on_error policy,
                                                        struct stk_rewrite_log *log,
                                                        struct stoker_err *err);

// --- rewrite_tools.c
// A copy of the dataset with other inputs and attributes (NULL: its own).
STK_MUST_CHECK enum stoker_status stk_rewrite_like(struct stk_dataset **out,
                                                   const struct stk_dataset *ds,
                                                   struct stk_dataset *const *in,
                                                   struct stk_attrs *attrs, struct stoker_err *err);

// A function being copied and rewritten.
struct stk_refn {
    const struct stk_fn *from;
    struct stk_fn *to;
    int *value;                     // by value of `from`: its number in `to`; -1: none yet
    int *uses_from;                 // by value of `from`
    struct stk_vec uses, def;       // int, by value of `to`: uses; node that makes it or -1
    const struct stk_fn_node *node; // the node of `from` being looked at
    int in[STK_OP_INPUTS_MAX];      // its inputs in `to`
    struct stk_rewrite_log *log;
    enum stk_on_error policy;
    bool has_changed;
};

// Adds an operation to `to` that replaces r->node. *first: its first result.
STK_MUST_CHECK enum stoker_status stk_refn_add(struct stk_refn *r, const char *op, const int *in,
                                               int n_in, struct stk_attrs *attrs, int *first,
                                               struct stoker_err *err);
// The operation that makes the value, if nothing else uses it. NULL: used elsewhere, one of several
// results, or an input. Valid until the next stk_refn_add.
const struct stk_fn_node *stk_refn_maker(const struct stk_refn *r, int value);
const struct stk_spec *stk_refn_spec(const struct stk_refn *r, int value);
const struct stk_col *stk_refn_constant(const struct stk_refn *r,
                                        int value); // NULL: not a constant
// The operation that makes it, even if it has other users. NULL: an input.
const struct stk_fn_node *stk_refn_producer(const struct stk_refn *r, int value);
// Adds a value to `to`, made by node `maker` (-1: an input). False: no memory.
bool stk_refn_push(struct stk_refn *r, int maker);
int *stk_refn_uses_at(const struct stk_refn *r, int value);
int stk_refn_uses(const struct stk_refn *r, int value);
bool stk_refn_is(const struct stk_fn_node *node, const char *op); // takes NULL
// Sets *result to the value in `to` that replaces the node's only result, or leaves it at -1.
typedef enum stoker_status stk_refn_rule(struct stk_refn *r, int *result, struct stoker_err *err);
// Sets *out to the dataset that replaces ds, whose inputs are rewritten, or leaves it NULL.
typedef enum stoker_status stk_rewrite_rule(struct stk_dataset *ds, enum stk_on_error policy,
                                            const struct stk_rewrite_row *row,
                                            struct stk_dataset **out, struct stoker_err *err);

#define FIRST(id, title, why) stk_refn_rule stk_refn_##id;
#define SECOND(id, title, why) stk_refn_rule stk_refn_##id;
#define STAGE(id, title, why) stk_rewrite_rule stk_rewrite_##id;
#include "engine/rewrites.def"
#undef FIRST
#undef SECOND
#undef STAGE
