// SPDX-License-Identifier: Apache-2.0
// A traced function: a typed graph of operations, built once and run on blocks of elements by any
// number of threads, each with its own frame.
//
// Values are numbered: inputs first, then each node's outputs in the order the nodes were added, so
// the order of nodes is an order of evaluation. Constants are nodes of the operation "const".
#pragma once

#include "engine/graph/op.h"
#include "engine/graph/refs.h"

#define STK_FN_NODES_MAX 100000

struct stk_fn_node {
    const struct stk_op *op;
    struct stk_attrs *attrs;
    struct stk_arg_value *args; // of attrs, by the operation's rows
    void *prepared;
    int n_in, *in; // value ids
    int first_out, n_out;
    uint64_t salt; // tells random operations of one function apart
    int stage;     // of functions made one: whose seed its random bits are of; 0: the map's own
    char *where;   // source line that asked for it; NULL: unknown
};

struct stk_fn {
    int refs; // atomic
    bool is_finished;
    int n_in, n_values, n_nodes, n_out;
    struct stk_spec *specs;           // per value
    const struct stk_col **constants; // per value: NULL unless it is constant
    int *last_use;                    // per value: node that uses it last; n_nodes for outputs
    struct stk_fn_node *nodes;
    int *out; // value ids
    int values_capacity, nodes_capacity;
    char *name; // for messages and plans
};

STK_MUST_CHECK enum stoker_status stk_fn_open(struct stk_fn **out, const struct stk_spec *in,
                                              int n_in, const char *name, struct stoker_err *err);
// *first is the id of the first output; *count how many there are. Takes no ownership of attrs
// (holds them). STOKER_EUSAGE: no such operation. STOKER_EINVAL: it does not fit; nothing was
// added.
STK_MUST_CHECK enum stoker_status stk_fn_add(struct stk_fn *fn, const char *op, const int *in,
                                             int n_in, struct stk_attrs *attrs, const char *where,
                                             int *first, int *count, struct stoker_err *err);
void stk_fn_node_free(struct stk_fn_node *node); // and its members
// No more nodes: removes those that nothing needs (stateful ones stay).
STK_MUST_CHECK enum stoker_status stk_fn_finish(struct stk_fn *fn, const int *out, int n_out,
                                                struct stoker_err *err);
bool stk_fn_is_random(const struct stk_fn *fn);
bool stk_fn_is_stateful(const struct stk_fn *fn); // calls the embedding language, too
// Specs of the outputs. NULL: no memory.
struct stk_specs *stk_fn_result(const struct stk_fn *fn);

// The operations of `from` once more in `to`, over the values `in` (NULL: its own numbers); *out:
// its results. Inputs that it does not use may be -1. `stage` is added to the operations' stages.
STK_MUST_CHECK enum stoker_status stk_fn_inline(struct stk_fn *to, const struct stk_fn *from,
                                                const int *in, int *out, int stage,
                                                struct stoker_err *err);

struct stk_frame; // one thread's working memory for one function

// Elements that the function is faster on together, however large they are; 1: one is as good.
int64_t stk_fn_at_once(const struct stk_fn *fn);
STK_MUST_CHECK enum stoker_status stk_frame_open(struct stk_frame **out, struct stk_fn *fn,
                                                 struct stk_pool *pool, struct stk_host *host,
                                                 struct stoker_err *err);
void stk_frame_close(struct stk_frame *f); // takes NULL
// Elements of the next chunk: see stk_frame_run.
int64_t stk_frame_chunk(const struct stk_frame *f);
// Bytes of an element's results, strings as views; -1: some shape is not known, or is a dataset's.
int64_t stk_fn_result_bytes(const struct stk_fn *fn);

struct stk_eval {
    uint64_t seed;
    const uint64_t *seeds; // by the nodes' stage; NULL: `seed` for all of them
    int64_t first_index;
    int64_t failed;            // out: the first element that failed, or n
    struct stoker_err failure; // out: why
};
// Runs the function on a block. `out`, reset to n_out columns, gets those of elements
// [0, eval->failed). Columns of out that are bound (is_bound, dtype, shape, stride, data, n) are
// written where they say; only results whose shape is inferred in full may be bound.
// Evaluates in chunks, so that values between two operations stay in the cache.
STK_MUST_CHECK enum stoker_status stk_frame_run(struct stk_frame *f, const struct stk_block *in,
                                                struct stk_block *out, struct stk_eval *eval,
                                                struct stoker_err *err);
// For a function that must give scalars but whose rank wasn't known beforehand: the first element
// of out->cols[0] that isn't a scalar fails. It and all later ones are dropped.
void stk_eval_want_scalars(struct stk_eval *eval, struct stk_block *out, const char *who);
