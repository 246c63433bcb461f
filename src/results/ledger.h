// SPDX-License-Identifier: Apache-2.0
// The lines of the ledger, and the result of `stoker ledger`, in the order of the JSON contract
// (stoker.ledger/1). Rows in results/ledger_fields.c.
#ifndef STK_RESULTS_LEDGER_H
#define STK_RESULTS_LEDGER_H

#include "results/interval.h"

#define STK_LEDGER_SCHEMA "stoker.ledger/1"

enum { STK_LEDGER_TEXT = 160 };

struct stk_ledger_line {
    char time[32];             // UTC, "2026-11-25T19:40:12Z"
    char profile[32];          // hash of the profile that was predicted from; "": none
    char fix[STK_LEDGER_TEXT]; // id of a what-if or of a fix; else what B was
    struct stk_interval predicted, measured; // time after over time before
    int64_t pairs;
    char framework[STK_LEDGER_TEXT]; // and versions
    char device[STK_LEDGER_TEXT];
    char stoker[32];
};
struct stk_ledger_doc {
    const char *schema, *file;
    struct stk_list lines; // struct stk_ledger_line; left_out: older ones
    uint64_t lines_damaged;
    struct {
        uint64_t predictions;
        bool has_any;
        double inside_share, intervals_meet_share, too_optimistic_share, median_error_share;
    } calibration;
};
extern const struct stk_struct_info stk_ledger_info;

#endif
