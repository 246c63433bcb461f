// SPDX-License-Identifier: Apache-2.0
// Folders that stoker makes for the time of a run, and removes at its end: the hooks of a job, and
// folders of its own below /tmp. Where stoker is killed they stay; the next stoker that comes by
// finds and removes them.
#ifndef STK_CAPTURE_PARENT_LEFTOVER_H
#define STK_CAPTURE_PARENT_LEFTOVER_H

#include "base/err.h"

// A private folder below /tmp, {NULL, -1} while there is none.
struct stk_scratch {
    char *path;
    int mark;
};
// above: NULL: TMPDIR, or /tmp.
STK_MUST_CHECK enum stoker_status stk_scratch_make(const char *above, struct stk_scratch *to,
                                                   struct stoker_err *err);
void stk_scratch_remove(struct stk_scratch *s); // and all that is in it

// Removes the hooks of dead runs in the folders beside `folder` and, of searches (`stoker tune`),
// one level deeper; and the profiles that they had not written to the end.
void stk_leftover_sweep_beside(const char *folder);
// Removes scratch folders whose processes are dead.
void stk_leftover_sweep_scratch(void);

#endif
