// SPDX-License-Identifier: Apache-2.0
// The fixes that a job's report advises, each with the price and place of its finding, and whether
// it needs an edit of the program, which `stoker tune` can't make.
#pragma once

#include "base/vec.h"
#include "fixes/fixes.h"
#include "job/tune/choice.h"
#include "stoker/report.h"
#include "stoker/whatif.h"

enum { STK_TUNE_ADVICE = 256, STK_TUNE_FILE = 304, STK_TUNE_FINDING = 64 };

struct stk_tune_advice {
    const struct stk_rep_fix *fix;
    char finding[STK_TUNE_FINDING]; // id of the rule
    char file[STK_TUNE_FILE];       // "": the finding has no place
    int64_t line;
    struct stoker_saving saving; // of the fix's what-if if `is_priced`, else of the finding
    bool is_priced;
    bool takes_edit;  // no trial can make this change
    int rank;         // among its finding's advice that needs an edit, from 0
    bool is_answered; // another fix for the finding was kept
};

// Fills `to` (struct stk_tune_advice), most valuable finding first; leaves out advice that could
// save less than `least` of a step. prices may be NULL.
STK_MUST_CHECK enum stoker_status stk_advice_find(const struct stoker_result *result,
                                                  const struct stoker_whatif *prices, double least,
                                                  struct stk_vec *to, struct stoker_err *err);
// Marks the advice of findings for which the set has another fix.
void stk_advice_answer(struct stk_vec *advice, const struct stk_tune_set *kept);
// The share of a step that it could save: expected, else at most.
double stk_advice_share(const struct stk_tune_advice *advice);
// "saves up to 94 %" or "saves 49 % [7, 77]", of a step.
enum { STK_ADVICE_PRICE = 64 };
void stk_advice_price(const struct stk_tune_advice *advice, char to[STK_ADVICE_PRICE]);
