// SPDX-License-Identifier: Apache-2.0
// A proof as text, as Markdown for a pull request, and as JSON ("stoker.proof/1"). Each form is one
// file, proof_<form>.c.
#pragma once

#include "base/sink.h"
#include "job/prove/proof.h"

void stk_proof_text(const struct stk_proof_plan *plan, const struct stk_proof *proof,
                    struct stk_sink *to);
void stk_proof_markdown(const struct stk_proof_plan *plan, const struct stk_proof *proof,
                        struct stk_sink *to);
void stk_proof_json(const struct stk_proof_plan *plan, const struct stk_proof *proof,
                    struct stk_sink *to);

// Shared by the forms.
enum { STK_PROOF_SENTENCE = 640, STK_PROOF_WARNINGS = 6 };
// "B is 1.61x faster [1.54, 1.70], 6 pairs"
void stk_proof_sentence(const struct stk_paired *result, int pairs, char to[STK_PROOF_SENTENCE]);
// Reasons to doubt a proof; returns their number.
int stk_proof_warnings(const struct stk_proof_plan *plan, const struct stk_proof *proof,
                       char to[STK_PROOF_WARNINGS][STK_PROOF_SENTENCE]);
const char *stk_proof_verdict(enum stk_paired_verdict verdict); // as in JSON
// Half the width of the interval, as a share of the estimate.
double stk_proof_noise(const struct stk_paired *result);
// The least, median and largest value of one side.
struct stk_proof_spread {
    double least, median, most;
};
struct stk_proof_spread stk_proof_spread(const struct stk_proof *proof, int side);
// The median of the median steps of one side's runs, in seconds.
double stk_proof_median_step(const struct stk_proof *proof, int side);
// The result from the profiles, or "".
void stk_proof_mechanism(const struct stk_proof *proof, char to[STK_PROOF_SENTENCE]);
void stk_proof_predicted(const struct stk_proof_plan *plan, const struct stk_proof *proof,
                         char to[STK_PROOF_SENTENCE]);
// "the mean of the steps after the first 10, by the hooks of stoker run (torch 2.13.0)".
void stk_proof_measured(const struct stk_proof_plan *plan, const struct stk_proof *proof,
                        char to[STK_PROOF_SENTENCE]);
