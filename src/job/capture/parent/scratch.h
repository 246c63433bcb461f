// SPDX-License-Identifier: Apache-2.0
// Private folders for a time, below /tmp or where TMPDIR says: this user alone may look into them.
// Where stoker is killed they stay; the next stoker removes them.
#pragma once

#include "base/err.h"

// All zero, or STK_NO_SCRATCH: no folder.
struct stk_scratch {
    char *path; // absolute, without links
    int folder; // a descriptor of it
    int mark;   // that it is needed (mark.h)
};
#define STK_NO_SCRATCH ((struct stk_scratch){NULL, -1, -1})

// above: NULL: TMPDIR, or /tmp.
STK_MUST_CHECK enum stoker_status stk_scratch_make(const char *above, struct stk_scratch *to,
                                                   struct stoker_err *err);
// One that no other user can replace (whose.h): in TMPDIR, /tmp,
// XDG_RUNTIME_DIR, or HOME.
STK_MUST_CHECK enum stoker_status stk_scratch_make_safe(struct stk_scratch *to,
                                                        struct stoker_err *err);
void stk_scratch_remove(struct stk_scratch *s); // and all that is in it
// Removes those whose processes are dead.
void stk_scratch_sweep(void);
