// SPDX-License-Identifier: Apache-2.0
// The result of `stoker prove`, as plain structs in the order of the JSON contract
// (stoker.proof/1). Rows in results/proof_fields.c; job/prove/proof_json.c fills it.
#ifndef STK_RESULTS_PROOF_H
#define STK_RESULTS_PROOF_H

#include "results/interval.h"

#define STK_PROOF_SCHEMA "stoker.proof/1"

struct stk_proof_doc_side {
    const char *label;
    bool has_steps; // what is of steps
    int64_t median_step_ns, mean_step_ns;
    uint64_t steps_of_a_run;
    const char *versions;
    double median;
    const char *unit;
    uint64_t runs;
    struct stk_list values; // doubles
};
struct stk_proof_doc {
    const char *schema;
    struct stk_proof_doc_side a, b;
    uint64_t pairs, pairs_stalled;
    struct stk_interval ratio;
    bool has_without;
    struct stk_interval ratio_without_stalled;
    const char *verdict;
    bool has_noise;
    double noise_share;
    bool has_mechanism;
    struct {
        const char *part;
        int64_t expected_ns, gone_ns;
        bool explains;
    } mechanism;
    bool has_predicted;
    struct {
        double low, expected, high;
        const char *fix;
    } predicted;
    unsigned measured;  // word of its row
    const char *metric; // NULL: none
    bool is_rate;
    struct stk_list warnings; // texts
};
extern const struct stk_struct_info stk_proof_info;

#endif
