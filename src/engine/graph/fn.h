// SPDX-License-Identifier: Apache-2.0
// A traced function: a typed graph of operations, built once and run on blocks of elements by any
// number of threads, each with its own frame.
//
// Values are numbered: inputs first, then each node's outputs in the order the nodes were added, so
// nodes can be evaluated in order. Constants are nodes of the operation "const".
#pragma once

#include "engine/graph/op.h"
#include "engine/graph/refs.h"

#define STK_FN_NODES_MAX 100000

struct stk_fn_node {
    const struct stk_op *op;
    struct stk_attrs *attrs;
    struct stk_arg_value *args; // attrs, by the operation's rows
    void *prepared;
    int n_in, *in; // value ids
    int first_out, n_out;
    uint64_t salt; // distinguishes the function's random operations
    int stage;     // in merged functions: whose seed its random bits use; 0: the map's own
    char *where;   // source line that requested it; NULL: unknown
};

struct stk_fn {
    int refs; // atomic
    bool is_finished;
    int n_in, n_values, n_nodes, n_out;
    struct stk_spec *specs;           // per value
    const struct stk_col **constants; // per value: NULL unless it is constant
    int *last_use;                    // per value: the last node that uses it; n_nodes for outputs
    struct stk_fn_node *nodes;
    int *out; // value ids
    int values_capacity, nodes_capacity;
    char *name; // for messages and plans
};

STK_MUST_CHECK enum stoker_status stk_fn_open(struct stk_fn **out, const struct stk_spec *in,
                                              int n_in, const char *name, struct stoker_err *err);
// *first is the id of the first output; *count the number of outputs. Holds attrs; the caller keeps
// its reference. STOKER_EUSAGE: no such operation. STOKER_EINVAL: it doesn't fit; nothing was
// added.
STK_MUST_CHECK enum stoker_status stk_fn_add(struct stk_fn *fn, const char *op, const int *in,
                                             int n_in, struct stk_attrs *attrs, const char *where,
                                             int *first, int *count, struct stoker_err *err);
void stk_fn_node_free(struct stk_fn_node *node); // also renames its members
// No more nodes: removes those that nothing needs (stateful ones stay).
STK_MUST_CHECK enum stoker_status stk_fn_finish(struct stk_fn *fn, const int *out, int n_out,
                                                struct stoker_err *err);
bool stk_fn_is_random(const struct stk_fn *fn);
bool stk_fn_is_stateful(const struct stk_fn *fn); // it calls the embedding language, too
// Specs of the outputs. NULL: no memory.
struct stk_specs *stk_fn_result(const struct stk_fn *fn);

// Copies the operations of `from` into `to`, over the values `in` (NULL: the same numbers). *out:
// its results. Inputs that it doesn't use may be -1. `stage` is added to the operations' stages.
STK_MUST_CHECK enum stoker_status stk_fn_inline(struct stk_fn *to, const struct stk_fn *from,
                                                const int *in, int *out, int stage,
                                                struct stoker_err *err);

struct stk_frame; // one thread's working memory for one function

// How many elements to run together for speed, however large they are; 1: no gain.
int64_t stk_fn_at_once(const struct stk_fn *fn);
STK_MUST_CHECK enum stoker_status stk_frame_open(struct stk_frame **out, struct stk_fn *fn,
                                                 struct stk_pool *pool, struct stk_host *host,
                                                 struct stoker_err *err);
void stk_frame_close(struct stk_frame *f); // takes NULL
// Elements of the next chunk: see stk_frame_run.
int64_t stk_frame_chunk(const struct stk_frame *f);
// Bytes of an element's results, strings as views; -1: a shape is unknown, or a result is a
// dataset.
int64_t stk_fn_result_bytes(const struct stk_fn *fn);

struct stk_eval {
    uint64_t seed;
    const uint64_t *seeds; // by the nodes' stage; NULL: `seed` for all
    int64_t first_index;
    int64_t failed;            // out: the first element that failed, or n
    struct stoker_err failure; // out: its error
};
// Runs the function on a block. `out`, reset to n_out columns, gets the results of elements [0,
// eval->failed). Bound columns of `out` (is_bound, dtype, shape, stride, data, n) are written in
// place; only results with a fully inferred shape may be bound. Evaluates in chunks, so that
// intermediate values stay in the cache.
STK_MUST_CHECK enum stoker_status stk_frame_run(struct stk_frame *f, const struct stk_block *in,
                                                struct stk_block *out, struct stk_eval *eval,
                                                struct stoker_err *err);
// For a function that must give scalars but whose rank wasn't known beforehand: the first element
// of out->cols[0] that isn't a scalar fails. It and all later ones are dropped.
void stk_eval_want_scalars(struct stk_eval *eval, struct stk_block *out, const char *who);
