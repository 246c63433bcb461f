// SPDX-License-Identifier: Apache-2.0
// Ends processes that a command left running, in any process group or session: while it runs, this
// process acts as init for its descendants (PR_SET_CHILD_SUBREAPER), so those that lose
// their parents become its children, which the kernel lists.
// Limits: where the kernel does not list children (no CONFIG_PROC_CHILDREN), nothing is ended; what
// is left after two seconds of trying is left running. Other threads of this process start no
// children meanwhile: they would be ended, too.
#pragma once

#include <stdbool.h>
#include <sys/types.h>

enum { STK_LEFT_BEHIND_OTHERS = 16 };
struct stk_left_behind {
    int was_reaper;
    bool is_off;                          // this process has too many children of its own
    pid_t others[STK_LEFT_BEHIND_OTHERS]; // children that this process had before: they stay
    int other_count;
};
void stk_left_behind_begin(struct stk_left_behind *l); // before the command is started
void stk_left_behind_end(struct stk_left_behind *l);   // once it has ended
