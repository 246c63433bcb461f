// SPDX-License-Identifier: Apache-2.0
// The result of `stoker tune`, as plain structs in the order of the JSON contract (stoker.tune/1).
// Rows in results/tune_fields.c; job/tune/tune_json.c fills it, from what the search holds.
#ifndef STK_RESULTS_TUNE_H
#define STK_RESULTS_TUNE_H

#include "results/interval.h"

#define STK_TUNE_SCHEMA "stoker.tune/1"

struct stk_tune_doc_tried {
    const char *fix; // id and value
    const char *state, *why;
    unsigned changes; // words of their rows
    unsigned numerics;
    bool is_expected; // expected_share and basis are known
    double expected_share;
    const char *basis;
    bool has_pairs; // ratio and pairs
    struct stk_interval ratio;
    uint64_t pairs;
};
struct stk_tune_doc_place {
    const char *file; // NULL: not known, nor is the line
    bool has_line;
    int64_t line;
    const char *text;
};
struct stk_tune_doc {
    const char *schema;
    struct stk_list command; // texts
    const char *framework;
    int64_t baseline_step_ns, best_step_ns;
    bool has_proof;
    struct stk_interval ratio;
    uint64_t pairs;
    unsigned verdict;
    const char *sentence;
    double noise_share;
    int64_t spent_ns;
    struct stk_list tried; // struct stk_tune_doc_tried
    struct {
        struct stk_list env;  // struct stk_entry of texts
        struct stk_list wrap; // texts
        struct stk_list code; // struct stk_tune_doc_place
    } apply;
    bool has_strong;
    struct {
        struct stk_list fixes; // texts
        bool has_step;
        int64_t step_ns;
    } strong;
};
extern const struct stk_struct_info stk_tune_info;

#endif
