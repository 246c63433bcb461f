// SPDX-License-Identifier: Apache-2.0
// The partial of a run (stoker/partial.h): run.part, next to the profiles of its window. It is
// written when the window ends, so that it exists while the job runs, or if it is killed; and again
// when the job has ended, with the records of the whole run.
#pragma once

#include <stdbool.h>
#include <sys/types.h>

struct stk_run_partial {
    bool was_started;
    pid_t writer; // 0: none
};

// After the window: starts this program again, with the lowest priority and one thread, to write
// the partial. Only the first call does so. Failures are reported at the end.
void stk_run_partial_start(struct stk_run_partial *p, const char *folder);
// After the job: waits for that process.
void stk_run_partial_wait(struct stk_run_partial *p);
// Then writes the partial in this process. A failure is a line on standard error.
void stk_run_partial_write(const char *folder);
