// SPDX-License-Identifier: Apache-2.0
// Progress on stderr: only on a terminal, and only if reading takes noticeably long.
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct stk_progress_line {
    bool wanted;
    bool drawn;
    int64_t started_ms, drawn_ms;
};

void stk_progress_start(struct stk_progress_line *p, bool quiet);
// A stoker_why_options.progress callback over struct stk_progress_line; never interrupts.
int stk_progress_update(void *line, const char *path, uint64_t done_bytes, uint64_t total_bytes);
// The same for things whose number isn't known beforehand, such as records.
void stk_progress_count(struct stk_progress_line *p, const char *path, uint64_t count,
                        const char *what);
void stk_progress_end(struct stk_progress_line *p); // clears the line
