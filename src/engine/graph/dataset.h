// SPDX-License-Identifier: Apache-2.0
// Datasets: an immutable graph of sources and transformations. To add a kind: one file in sources/
// or transformations/ that ends in its descriptor `const struct stk_dataset_kind
// stk_dataset_<name>`, and one line X(<name>) in datasets.def. How datasets run: engine/run/iter.h.
#pragma once

#include "engine/graph/arg.h"
#include "engine/graph/fn.h"

#define STK_INFINITE (-1)
#define STK_CARDINALITY_UNKNOWN (-2)

struct stk_dataset;
struct stk_iter;

// What a kind does, for whoever asks what it means that it stands where it does (rewrites, reports,
// the tuner's consumer): nothing else of the engine knows kinds by name.
enum stk_dataset_role {
    STK_DS_NONE,     // no kind's
    STK_DS_SOURCE,   // computes elements, or was given them
    STK_DS_FILES,    // reads them from files
    STK_DS_PROGRAM,  // asks the program around for them; "id" is a number of this process alone
    STK_DS_FUNCTION, // runs a function on them
    STK_DS_NESTED,   // runs a function that gives datasets, and gives the elements of those
    STK_DS_BATCH,    // neighbors become one element, their values as they were
    STK_DS_PAD,      // neighbors of unequal shapes become one element
    STK_DS_FORM,     // cuts elements up, collects or numbers them
    STK_DS_SEVERAL,  // elements of several datasets
    // These hand on the elements of their only input as they came:
    STK_DS_ORDER,  // some of them, in another order, more than once
    STK_DS_AHEAD,  // all of them, made ahead of whoever asks; no work of its own
    STK_DS_ERRORS, // those that did not fail
    STK_DS_CACHE,  // keeps them in memory for the iterators that follow
    STK_DS_STORE,  // keeps them in files
    STK_DS_COUNT
};

struct stk_dataset_kind {
    const char *name, *summary;
    enum stk_dataset_role role;
    // Its name in records of a run, where its own does not begin with a word that tells what such
    // stages do (profile/model/input/input_kinds.def): "range_squares". NULL: its own.
    const char *called;
    const char *holds_less_with; // what makes it hold less memory: "a smaller buffer_size"; NULL
    bool keeps_blocks; // hands on whole blocks: what holds for the input's groups holds for its own
    const struct stk_arg_row *args; // ends with a NULL name
    // Input datasets of a kind of SEVERAL, -1: any number. Sources take none, all others one.
    int n_in_min, n_in_max;
    // Checks the arguments and makes ds->specs. Attributes may be BOUND (see attr.h): then take
    // what is unknown for unknown.
    enum stoker_status (*infer)(struct stk_dataset *ds, struct stoker_err *err);
    int64_t (*cardinality)(const struct stk_dataset *ds);
    size_t state_bytes; // of it->state, zeroed
    bool opens_inputs;  // open does it itself (repeat, concatenate, flat_map); else it->in are open
    enum stoker_status (*open)(struct stk_iter *it, struct stoker_err *err); // may be NULL
    enum stoker_status (*next)(struct stk_iter *it, int64_t want, struct stk_block *out,
                               struct stoker_err *err);
    // Passes over up to n elements; *done may be less only at the end. NULL: pulls and drops them.
    enum stoker_status (*skip)(struct stk_iter *it, int64_t n, int64_t *done,
                               struct stoker_err *err);
    // Random access: elements of the given positions, in that order. NULL: not supported. If
    // `has_at` is NULL, every dataset of the kind supports it.
    bool (*has_at)(const struct stk_dataset *ds);
    enum stoker_status (*at)(struct stk_iter *it, const int64_t *index, int64_t n,
                             struct stk_block *out, struct stoker_err *err);
    void (*close)(struct stk_iter *it);     // after a failed open, too; joins its threads
    void (*forget)(struct stk_dataset *ds); // ends ds->shared; may be NULL
};

struct stk_dataset {
    int refs; // atomic
    const struct stk_dataset_kind *kind;
    struct stk_attrs *attrs;
    int n_in;
    struct stk_dataset **in;
    struct stk_specs *specs; // of its elements
    int64_t seed;            // given by the user, or -1
    char *where;             // source line that made it; NULL: unknown
    void *shared;            // what its iterators share (a cache); the kind's affair; atomic
    // Where the last run of it was quicker without threads (run/tuner.c): ns that an element took
    // with them, and looks since threads were tried. 0: it was not, or is not known. Atomic.
    double inline_ns;
    int inline_looks;
    // Of what a rewrite made (engine/rewrites/rewrite.h):
    // Stages taken out between it and its first input, which keeps their path. -1 (the attribute
    // "keeps_paths"): it is seen as no stage itself, and what is drawn below it stays the same.
    int hops;
    char *reason; // what was done, a line for each rewrite; NULL: none
    // Its own rewritten form by policy (enum stk_on_error), held once it was asked for; atomic.
    struct stk_dataset *rewritten[2];
};

#define X(name) extern const struct stk_dataset_kind stk_dataset_##name;
#include "engine/datasets.def"
#undef X
extern const struct stk_dataset_kind *const stk_dataset_kinds[];
extern const int stk_dataset_kind_count;
const struct stk_dataset_kind *stk_dataset_kind_find(const char *name); // NULL: none

// STOKER_EUSAGE: no such kind. STOKER_EINVAL: arguments that do not fit. Holds inputs and attrs.
STK_MUST_CHECK enum stoker_status stk_dataset_make(struct stk_dataset **out, const char *kind,
                                                   struct stk_dataset *const *in, int n_in,
                                                   struct stk_attrs *attrs, const char *where,
                                                   struct stoker_err *err);
// A buffer that holds the dataset, for the `keep` of a column of datasets. NULL: no memory.
struct stk_buf *stk_dataset_buf(struct stk_dataset *ds);
int64_t stk_dataset_cardinality(const struct stk_dataset *ds);
bool stk_dataset_role_hands_on(
    enum stk_dataset_role role); // ORDER, AHEAD or ERRORS: nothing is kept or made
bool stk_dataset_has_at(const struct stk_dataset *ds); // and all it is made of
// A cardinality: that of the only input.
int64_t stk_dataset_as_many(const struct stk_dataset *ds);
// A dataset's spec set to that of an input (the usual case of infer).
enum stoker_status stk_dataset_like_input(struct stk_dataset *ds, struct stoker_err *err);

// What becomes of an element that failed.
enum stk_on_error { STK_ON_ERROR_STOP, STK_ON_ERROR_SKIP };
