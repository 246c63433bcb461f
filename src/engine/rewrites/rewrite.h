// SPDX-License-Identifier: Apache-2.0
// Rewrites: a pipeline as it was written becomes one that gives the same elements in less time.
//
// To add one: a function in a file of rewrites/ and one row in rewrites.def with its name and the
// reason that plans give. Those of functions look at one operation after the other while the
// function is copied (rewrite_fn.c); those of datasets at one stage whose inputs are done
// (rewrite.c).
//
// What holds for all: the elements are the same bit for bit, random ones too, since operations keep
// their salts, functions that become one keep their seeds (stk_fn_node.stage), and stages keep
// their paths (stk_dataset.hops). What an error says and which stage counts it may differ, and an
// element that a filter leaves out is no longer mapped before, so that its error does not come
// either.
#pragma once

#include "base/vec.h"
#include "engine/graph/dataset.h"
#include "engine/graph/rewrite_log.h"

// --- rewrite.c
// The pipeline that does what `ds` does, held; `ds` itself where there is nothing to do. Kept with
// it, so that iterators share what they shared.
STK_MUST_CHECK enum stoker_status stk_rewrite_dataset(struct stk_dataset **out,
                                                      struct stk_dataset *ds,
                                                      enum stk_on_error policy,
                                                      struct stoker_err *err);
// --- rewrite_fn.c
// The function that does what `fn` does, held.
STK_MUST_CHECK enum stoker_status stk_rewrite_fn(struct stk_fn **out, struct stk_fn *fn,
                                                 enum stk_on_error policy,
                                                 struct stk_rewrite_log *log,
                                                 struct stoker_err *err);

// --- rewrite_template.c
// The function with the datasets that it makes rewritten, held.
STK_MUST_CHECK enum stoker_status stk_rewrite_templates(struct stk_fn **out, struct stk_fn *fn,
                                                        enum stk_on_error policy,
                                                        struct stk_rewrite_log *log,
                                                        struct stoker_err *err);

// --- rewrite_tools.c
// A dataset like this one over other inputs and with other attributes (NULL: its own).
STK_MUST_CHECK enum stoker_status stk_rewrite_like(struct stk_dataset **out,
                                                   const struct stk_dataset *ds,
                                                   struct stk_dataset *const *in,
                                                   struct stk_attrs *attrs, struct stoker_err *err);

// A function on its way from one form to the next.
struct stk_refn {
    const struct stk_fn *from;
    struct stk_fn *to;
    int *value;                     // by value of `from`: its number in `to`; -1: not there yet
    int *uses_from;                 // by value of `from`
    struct stk_vec uses, def;       // int, by value of `to`: uses; node that makes it or -1
    const struct stk_fn_node *node; // of `from`, looked at now
    int in[STK_OP_INPUTS_MAX];      // its inputs in `to`
    struct stk_rewrite_log *log;
    enum stk_on_error policy;
    bool has_changed;
};

// Adds an operation to `to` that stands for r->node. *first: its first result.
STK_MUST_CHECK enum stoker_status stk_refn_add(struct stk_refn *r, const char *op, const int *in,
                                               int n_in, struct stk_attrs *attrs, int *first,
                                               struct stoker_err *err);
// The operation that makes a value which nothing else uses. NULL: it is used elsewhere, or one of
// several results, or an input. Good until the next stk_refn_add.
const struct stk_fn_node *stk_refn_maker(const struct stk_refn *r, int value);
const struct stk_spec *stk_refn_spec(const struct stk_refn *r, int value);
const struct stk_col *stk_refn_constant(const struct stk_refn *r,
                                        int value); // NULL: not a constant
// The operation that makes it, even if others use it too. NULL: an input.
const struct stk_fn_node *stk_refn_producer(const struct stk_refn *r, int value);
// A value of `to` more, made by node `maker` (-1: an input). False: no memory.
bool stk_refn_push(struct stk_refn *r, int maker);
int *stk_refn_uses_at(const struct stk_refn *r, int value);
int stk_refn_uses(const struct stk_refn *r, int value);
bool stk_refn_is(const struct stk_fn_node *node, const char *op); // takes NULL
// Sets *result to the value in `to` that stands for the node's only result, or leaves it at -1.
typedef enum stoker_status stk_refn_rule(struct stk_refn *r, int *result, struct stoker_err *err);
// Sets *out to the dataset that stands for ds, whose inputs are rewritten, or leaves it NULL.
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
