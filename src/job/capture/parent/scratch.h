// SPDX-License-Identifier: Apache-2.0
// Temporary private folders in TMPDIR or /tmp: only this user may read them. If stoker is killed
// they stay; the next stoker removes them.
#pragma once

#include "base/err.h"

// All zero, or STK_NO_SCRATCH: no folder.
struct stk_scratch {
    char *path; // absolute, without links
    int folder; // its file descriptor
    int mark;   // marks it as needed (mark.h)
};
#define STK_NO_SCRATCH ((struct stk_scratch){NULL, -1, -1})

// above: the parent folder; NULL: TMPDIR, or /tmp.
STK_MUST_CHECK enum stoker_status stk_scratch_make(const char *above, struct stk_scratch *to,
                                                   struct stoker_err *err);
// One that no other user can replace (whose.h): in TMPDIR, /tmp,
// XDG_RUNTIME_DIR, or HOME.
STK_MUST_CHECK enum stoker_status stk_scratch_make_safe(struct stk_scratch *to,
                                                        struct stoker_err *err);
void stk_scratch_remove(struct stk_scratch *s); // with its contents
// Removes those whose processes are dead.
void stk_scratch_sweep(void);
