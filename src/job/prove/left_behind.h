// SPDX-License-Identifier: Apache-2.0
// Ends processes that a command left running, in any process group or session: while the command
// runs, this process acts as init for its descendants (PR_SET_CHILD_SUBREAPER), so processes that
// lose their parents become its children, which the kernel lists.
// Limits: if the kernel doesn't list children (no CONFIG_PROC_CHILDREN), nothing is ended; after
// two seconds of trying, the rest is left running. Other threads of this process must not start
// children meanwhile: they would also be ended.
#pragma once

#include <stdbool.h>
#include <sys/types.h>

enum { STK_LEFT_BEHIND_OTHERS = 16 };
struct stk_left_behind {
    int was_reaper;
    bool is_off;                          // this process has too many children of its own
    pid_t others[STK_LEFT_BEHIND_OTHERS]; // earlier children of this process: they stay
    int other_count;
};
void stk_left_behind_begin(struct stk_left_behind *l); // before the command is started
void stk_left_behind_end(struct stk_left_behind *l);   // once it has ended
