// SPDX-License-Identifier: Apache-2.0
// Profiles below the current folder, for `stoker` without a word (internal to cli).
#ifndef STK_CLI_SEARCH_H
#define STK_CLI_SEARCH_H

#include <stdbool.h>
#include <stdint.h>

enum { STK_SEARCH_KEPT = 8, STK_SEARCH_PATH = 1024 };

struct stk_search_find {
    char path[STK_SEARCH_PATH];
    int64_t time_ns; // of its last change
};
struct stk_search {
    struct stk_search_find found[STK_SEARCH_KEPT]; // the newest first
    int count;                                     // kept
    uint64_t total;                                // found
    uint64_t scanned;                              // names
    bool is_partial;                               // a limit ended the search
};
extern const char stk_search_names[]; // what it looks for, for people

void stk_search_below(const char *folder, struct stk_search *out);

#endif
