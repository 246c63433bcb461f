// SPDX-License-Identifier: Apache-2.0
// The partial of a run (stoker/partial.h): run.part, next to the profiles of its window. It is
// written when the window ends, so that it is there while the job goes on, or if it is killed; and
// once more when the job has ended, with what was recorded of the whole run.
#pragma once

#include <stdbool.h>
#include <sys/types.h>

struct stk_run_partial {
    bool was_started;
    pid_t writer; // 0: none
};

// The window is recorded: the program itself, with the lowest priority and one thread, writes the
// partial. The first call does it; others do nothing. Failures are left to the end.
void stk_run_partial_start(struct stk_run_partial *p, const char *folder);
// The job has ended: waits for that process.
void stk_run_partial_wait(struct stk_run_partial *p);
// After that: writes the partial here. A failure is a line on standard error.
void stk_run_partial_write(const char *folder);
