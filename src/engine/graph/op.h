// SPDX-License-Identifier: Apache-2.0
// Operations: what a traced function is made of. To add one: a descriptor `const struct stk_op
// stk_op_<name>` at the end of a file in ops/, and one line X(<name>) in ops.def. Operations that
// share a loop are one file with a row each; those on values place by place are one row of
// ops_unary.def, ops_arithmetic.def or ops_comparison.def and nothing else.
//
// An operation works on a block: n elements of each input. It is handed uniform columns (all
// elements of one shape, stride 0 for a constant) unless it says takes_varied; the evaluator runs
// it element by element otherwise. Element i has the index first_index + i, which is what random
// operations derive their bits from.
#pragma once

#include "engine/graph/arg.h"

struct stk_op;

#define STK_OP_INPUTS_MAX 256
#define STK_OP_OUTPUTS_MAX 256

// While a function is built: what goes in, and what comes out.
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

// While it runs.
struct stk_op_run {
    const struct stk_op *op;
    const struct stk_attrs *attrs;
    const struct stk_arg_value *args; // the same by the number of the operation's row
    const void *prepared;             // what op->prepare made of the attributes; shared by threads
    void *scratch;                    // op->scratch_bytes of this thread's own, zeroed at first
    int64_t n;
    int n_in, n_out;
    const struct stk_col *const *in;
    const struct stk_spec *spec; // of the outputs, as inferred
    struct stk_col *out;         // to be made; see stk_op_out
    struct stk_pool *pool;
    uint64_t seed; // of this stage and epoch
    int64_t first_index;
    struct stk_host *host; // calls into the embedding language; may be NULL
    const char *where;     // source line that added the operation; NULL: unknown
    // The first element that failed; n if none did. Later elements need not be computed.
    int64_t failed;
    struct stoker_err *err; // of that element
};

struct stk_op {
    const char *name;            // "cast", as in the graph and the docs
    const char *summary;         // one line for the docs
    bool takes_varied;           // columns as they come
    bool is_random, is_stateful; // never folded, never shared
    bool is_slow;                // may take seconds: never folded, for nobody could cancel it
    bool is_elementwise;         // output i depends on the inputs' values at the same place only
    bool is_const;               // a value of its attribute "value", one for all elements
    bool is_host_call;           // runs the embedding language's code, under its lock
    bool waits;                  // for what is outside the program: a file
    bool makes_dataset;          // its attributes "kind" and those of that kind
    bool decodes;                // image files, always; others may with an attribute "decode"
    bool takes_more;             // attributes that its rows do not name
    int at_once;    // elements it is faster on together, however large they are; 0: one is as good
    double cost_ns; // rough, per value; for ordering and chunking before anything was measured
    // What goes in and comes out, "uint8[...hwc], any? -> same"; NULL: infer says all of it.
    // Inputs: a dtype's name or "any", then the shape where it matters: [] one value, [n] a vector,
    // [hwc] as many dimensions,
    // [...hwc] one more as well; "?": it may be absent. Outputs (none: infer makes them): "same" as
    // the first input, a dtype's name or "@name" of an argument that is one; of the first input's
    // shape, or [], [3], [?].
    const char *signature;
    // The operation's own checks, after that; may be NULL. STOKER_EINVAL: types or shapes do not
    // fit; says which and why.
    enum stoker_status (*infer)(struct stk_op_infer *c, struct stoker_err *err);
    // NULL: nothing to prepare. *out is freed with `unprepare`.
    enum stoker_status (*prepare)(const struct stk_op_infer *c, void **out, struct stoker_err *err);
    void (*unprepare)(void *prepared);
    size_t scratch_bytes;
    void (*scratch_end)(void *scratch); // frees what the scratch refers to
    // STOKER_OK also where an element failed (r->failed, r->err). Other codes end the whole block:
    // memory, cancellation, a bug.
    enum stoker_status (*run)(struct stk_op_run *r, struct stoker_err *err);
    const struct stk_arg_row *args; // ends with a NULL name; NULL: it takes none
    int arg;                        // for files that hold several operations: which one
    const void *own;                // the same: what its row has beside this, such as loops
};

#define X(name) extern const struct stk_op stk_op_##name;
#include "engine/ops.def"
#undef X
extern const struct stk_op *const stk_op_all[];
extern const int stk_op_count;
const struct stk_op *stk_op_find(const char *name); // plug-ins' too. NULL: none
const struct stk_op *stk_op_at(int i);              // the table's, then plug-ins'. NULL: beyond
// Another operation, which stays for ever; its number in the table. -1: no memory, or the name is
// taken.
int stk_op_register(const struct stk_op *op);

// By the signature and infer. STOKER_EINVAL: types or shapes do not fit.
enum stoker_status stk_op_infer(struct stk_op_infer *c, struct stoker_err *err);
enum stoker_status stk_op_want_inputs(const struct stk_op_infer *c, int least, int most,
                                      struct stoker_err *err);

// No memory for the result, as an error.
enum stoker_status stk_op_no_memory(const struct stk_op_run *r, struct stoker_err *err);
// bytes: of the result, where they are known.
enum stoker_status stk_op_no_memory_for(const struct stk_op_run *r, size_t bytes,
                                        struct stoker_err *err);

// Room for a uniform output of r->n elements: the caller's memory where it was given and fits.
// NULL: no memory (STOKER_ENOMEM or STOKER_ELIMIT is in err).
void *stk_op_out(struct stk_op_run *r, int k, enum stk_dtype dtype, const struct stk_shape *shape,
                 struct stoker_err *err);
// The k-th output is the j-th input as it stands, perhaps of another shape with as many values
// (NULL: the same).
enum stoker_status stk_op_pass(struct stk_op_run *r, int k, int j, const struct stk_shape *shape,
                               struct stoker_err *err);
// Element i failed. Keeps the first; returns STOKER_OK, so that `return stk_op_fail(...)` ends a
// run.
enum stoker_status stk_op_fail(struct stk_op_run *r, int64_t i, enum stoker_status code,
                               const char *fmt, ...) STK_PRINTF(4, 5);
// 64 random bits: the same for the same seed, operation (salt) and element index, on any
// thread. draw numbers the bits of one element.
uint64_t stk_random_bits(uint64_t seed, uint64_t salt, int64_t index, uint64_t draw);

// What the embedding language (Python) does for an operation or a source.
struct stk_host {
    void *arg;
    // Calls function `id` on n elements; makes the outputs (uniform or varied, not bound).
    enum stoker_status (*call)(void *arg, int64_t id, int64_t n, const struct stk_col *const *in,
                               int n_in, struct stk_pool *pool, struct stk_col *out, int n_out,
                               int64_t *failed, struct stoker_err *failed_err,
                               struct stoker_err *err);
    // The same of a function that takes many elements at once.
    enum stoker_status (*call_many)(void *arg, int64_t id, int64_t n,
                                    const struct stk_col *const *in, int n_in,
                                    struct stk_pool *pool, struct stk_col *out, int n_out,
                                    int64_t *failed, struct stoker_err *failed_err,
                                    struct stoker_err *err);
    // A generator: opens, gives up to n elements (0: the end), closes.
    enum stoker_status (*gen_open)(void *arg, int64_t id, const struct stk_col *const *in, int n_in,
                                   void **gen, struct stoker_err *err);
    enum stoker_status (*gen_next)(void *arg, void *gen, int64_t n, struct stk_pool *pool,
                                   struct stk_block *out, struct stoker_err *err);
    void (*gen_close)(void *arg, void *gen);
};
