// SPDX-License-Identifier: Apache-2.0
// Operations: what a traced function is made of. To add one: a descriptor `const struct stk_op
// stk_op_<name>` at the end of a file in ops/, and one line X(<name>) in ops.def. Operations that
// share a loop are one file with a row each; those on values place by place are one row of
// ops_unary.def, ops_arithmetic.def or ops_comparison.def and nothing else.
//
// An operation works on a block: n elements of each input. It gets uniform columns (all elements of
// one shape, stride 0 for a constant) unless it sets takes_varied; the evaluator runs it element by
// element otherwise. Element i has the index first_index + i; random operations derive their bits
// from it.
#pragma once

#include "engine/graph/arg.h"

struct stk_op;

#define STK_OP_INPUTS_MAX 256
#define STK_OP_OUTPUTS_MAX 256

// Inference, while a function is built: inputs and outputs.
struct stk_op_infer {
    const struct stk_op *op;
    const struct stk_attrs *attrs;
    const struct stk_arg_value *args; // the same by the number of the operation's row
    int n_in;
    const struct stk_spec *in;
    const struct stk_col *const *constant; // per input: its value if constant, else NULL
    int n_out;                             // set by infer; starts as 1
    struct stk_spec *out; // room for STK_OP_OUTPUTS_MAX, starts zeroed with unknown shapes
};

// A run on one block.
struct stk_op_run {
    const struct stk_op *op;
    const struct stk_attrs *attrs;
    const struct stk_arg_value *args; // the same by the number of the operation's row
    const void *prepared;             // what op->prepare made of the attributes; shared by threads
    void *scratch;                    // op->scratch_bytes per thread, zeroed at first
    int64_t n;
    int n_in, n_out;
    const struct stk_col *const *in;
    const struct stk_spec *spec; // inferred specs of the outputs
    struct stk_col *out;         // outputs to fill; see stk_op_out
    struct stk_pool *pool;
    uint64_t seed; // seed of this stage and epoch
    int64_t first_index;
    struct stk_host *host; // calls into the embedding language; may be NULL
    const char *where;     // source line that added the operation; NULL: unknown
    // The first element that failed; n if none. Later ones need not be computed.
    int64_t failed;
    struct stoker_err *err; // its error
};

struct stk_op {
    const char *name;            // "cast", as in the graph and the docs
    const char *summary;         // one line for the docs
    bool takes_varied;           // accepts varied columns
    bool is_random, is_stateful; // never folded, never shared
    bool is_slow;                // may take seconds: never folded, since folding can't be canceled
    bool is_elementwise;         // output value i depends only on input values i
    bool is_const;               // the value of its attribute "value", the same for all elements
    bool is_host_call;           // runs the embedding language's code, under its lock
    bool waits;                  // waits for something outside the program: a file
    bool makes_dataset;          // makes datasets: takes "kind" and that kind's attributes
    bool decodes;                // always decodes image files; others may, with the attribute
                                 // "decode"
    bool takes_more;             // accepts attributes not in its rows
    int at_once;                 // elements to run together for speed, however large; 0: no gain
    double cost_ns; // rough, per value; for ordering and chunking before measurements exist
    // Inputs and outputs, "uint8[...hwc], any? -> same"; NULL: infer does it all. Inputs: a dtype's
    // name or "any", then the shape if it matters: [] one value, [n] a vector, [hwc] as many
    // dimensions,
    // [...hwc] also one more; "?": optional. Outputs (none: infer makes them): "same" as the first
    // input, a dtype's name, or "@name" of a dtype argument; with the first input's shape, or [],
    // [3], [?].
    const char *signature;
    // The operation's own checks, after the signature's; may be NULL. STOKER_EINVAL: wrong types or
    // shapes; says which and why.
    enum stoker_status (*infer)(struct stk_op_infer *c, struct stoker_err *err);
    // NULL: nothing to prepare. *out is freed with `unprepare`.
    enum stoker_status (*prepare)(const struct stk_op_infer *c, void **out, struct stoker_err *err);
    void (*unprepare)(void *prepared);
    size_t scratch_bytes;
    void (*scratch_end)(void *scratch); // frees what the scratch points to
    // Also STOKER_OK if an element failed (r->failed, r->err). Other codes end the whole block:
    // memory, cancellation, a bug.
    enum stoker_status (*run)(struct stk_op_run *r, struct stoker_err *err);
    const struct stk_arg_row *args; // ends with a NULL name; NULL: it takes none
    int arg;                        // for files that hold several operations: which one
    const void *own;                // likewise: other data of its row, such as loops
};

#define X(name) extern const struct stk_op stk_op_##name;
#include "engine/ops.def"
#undef X
extern const struct stk_op *const stk_op_all[];
extern const int stk_op_count;
const struct stk_op *stk_op_find(const char *name); // also finds plug-ins'. NULL: none
const struct stk_op *stk_op_at(int i);              // the table's, then plug-ins'. NULL: past the
                                                    // end
// Adds an operation, never removed. Returns its number. -1: no memory, or the name is taken.
int stk_op_register(const struct stk_op *op);

// Checks by signature and infer. STOKER_EINVAL: wrong types or shapes.
enum stoker_status stk_op_infer(struct stk_op_infer *c, struct stoker_err *err);
enum stoker_status stk_op_want_inputs(const struct stk_op_infer *c, int least, int most,
                                      struct stoker_err *err);

// The error for lack of memory for the result.
enum stoker_status stk_op_no_memory(const struct stk_op_run *r, struct stoker_err *err);
// bytes: of the result, if known.
enum stoker_status stk_op_no_memory_for(const struct stk_op_run *r, size_t bytes,
                                        struct stoker_err *err);

// Memory for a uniform output of r->n elements: the caller's, if given and it fits. NULL: no memory
// (err has STOKER_ENOMEM or STOKER_ELIMIT).
void *stk_op_out(struct stk_op_run *r, int k, enum stk_dtype dtype, const struct stk_shape *shape,
                 struct stoker_err *err);
// Makes the k-th output share the j-th input, perhaps with another shape of as many values (NULL:
// the same).
enum stoker_status stk_op_pass(struct stk_op_run *r, int k, int j, const struct stk_shape *shape,
                               struct stoker_err *err);
// Records that element i failed; keeps the first. Returns STOKER_OK, so `return stk_op_fail(...)`
// ends a run.
enum stoker_status stk_op_fail(struct stk_op_run *r, int64_t i, enum stoker_status code,
                               const char *fmt, ...) STK_PRINTF(4, 5);
// 64 random bits: the same for the same seed, operation (salt) and element index, on any
// thread. draw numbers the bits of one element.
uint64_t stk_random_bits(uint64_t seed, uint64_t salt, int64_t index, uint64_t draw);

// Calls into the embedding language (Python) for operations and sources.
struct stk_host {
    void *arg;
    // Calls function `id` on n elements; makes the outputs (uniform or varied, not bound).
    enum stoker_status (*call)(void *arg, int64_t id, int64_t n, const struct stk_col *const *in,
                               int n_in, struct stk_pool *pool, struct stk_col *out, int n_out,
                               int64_t *failed, struct stoker_err *failed_err,
                               struct stoker_err *err);
    // The same for a function that takes many elements at once.
    enum stoker_status (*call_many)(void *arg, int64_t id, int64_t n,
                                    const struct stk_col *const *in, int n_in,
                                    struct stk_pool *pool, struct stk_col *out, int n_out,
                                    int64_t *failed, struct stoker_err *failed_err,
                                    struct stoker_err *err);
    // A generator: open it, take up to n elements (0: the end), close it.
    enum stoker_status (*gen_open)(void *arg, int64_t id, const struct stk_col *const *in, int n_in,
                                   void **gen, struct stoker_err *err);
    enum stoker_status (*gen_next)(void *arg, void *gen, int64_t n, struct stk_pool *pool,
                                   struct stk_block *out, struct stoker_err *err);
    void (*gen_close)(void *arg, void *gen);
};
