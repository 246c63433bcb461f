// SPDX-License-Identifier: Apache-2.0
// What stoker can advise: one text file per fix, src/fixes/text/ID.txt, from which
// cmake/fixes.cmake writes fixes_data.h into the build folder. A rule's table names the fixes that
// it may give, `[FIX_TPU] = STK_FIX(transfer_exposed_tpu)` for transfer-exposed.tpu, so an id that
// no file has does not compile.
//
// A file holds lines `key: value`, then `---` and the advice (one paragraph, whose lines are joined
// by a blank), then, where there is code to paste, another `---` and that code as it is. Keys:
//   framework  pytorch, tensorflow, jax, cuda, or any
//   price      the what-if that does what the advice says; may be absent
//   tries      the fix of `stoker tune` that makes this change; may be absent
//   changes    numerics: what tries it changes what the job computes; may be absent
//
// Where `stoker tune` makes the very change, the file bears tune's id; else it is RULE.SHORT-NAME.
#ifndef STK_FIXES_FIXES_H
#define STK_FIXES_FIXES_H

#include "base/err.h"
#include "base/terms.h"

// The members stand in the order of fixes_data.h.
struct stk_rep_fix {
    const char *id;               // "transfer-exposed.tpu"
    enum stk_framework framework; // STK_FW_ANY: of none alone
    const char *text;
    const char *snippet, *price, *tries; // may be NULL
    const char *changes;                 // "numerics" or NULL
};

extern const struct stk_rep_fix stk_fix_rows[]; // by id
extern const int stk_fix_row_count;

const struct stk_rep_fix *stk_fix_row_find(const char *id); // NULL: none

// What a fix names besides its advice.
enum stk_fix_link { STK_FIX_PRICE, STK_FIX_TRIES };
// What the fix with this id names; NULL: it names none, or there is no such fix.
const char *stk_fix_row_link(const char *id, enum stk_fix_link link);
// Why `id`, which stands for nothing where it was given, is no use there: a fix without that link,
// with the nearest that has one; else an unknown id, with `near` (NULL: none) of what was meant.
// STOKER_EUSAGE.
enum stoker_status stk_fix_row_refuse(const char *id, enum stk_fix_link link, const char *near,
                                      struct stoker_err *err);
// The message about an id that nothing has: "no fix 'x'; did you mean 'y'?". STOKER_EUSAGE.
enum stoker_status stk_fix_row_unknown(const char *id, const char *near, struct stoker_err *err);
// The nearer of `near` (NULL: none) and all fixes' ids to what was typed (base/near.h).
const char *stk_fix_row_near(const char *id, const char *near);

#endif
