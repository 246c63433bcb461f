// SPDX-License-Identifier: Apache-2.0
// Profiles below the current folder, for `stoker` without a word (internal to cli).
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { STK_NEWEST_KEPT = 8, STK_NEWEST_PATH = 1024 };

struct stk_newest_find {
    char path[STK_NEWEST_PATH];
    int64_t time_ns; // of its last change
};
struct stk_newest {
    struct stk_newest_find found[STK_NEWEST_KEPT]; // the newest first
    int count;                                     // kept
    uint64_t total;                                // found
    uint64_t scanned;                              // names
    bool is_partial;                               // a limit ended the search
};
extern const char stk_newest_names[]; // what it looks for, for people

void stk_newest_below(const char *folder, struct stk_newest *out);
