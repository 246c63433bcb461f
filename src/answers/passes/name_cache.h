// SPDX-License-Identifier: Apache-2.0
// Names of a trace as C strings, each copied once.
#pragma once

#include "profile/store/trace.h"

// The most rows by name in a table of one rank; all further names share a row per device or side.
#define STK_NAMED_ROWS_MAX (1u << 17)

// A NUL-terminated copy of a trace's string in the arena; one copy per id. NULL: no memory.
struct stk_name_cache {
    const char **text; // per string id
    const struct stk_trace *t;
    struct stk_arena *arena;
};
bool stk_name_cache_init(struct stk_name_cache *c, const struct stk_trace *t,
                         struct stk_arena *arena);
void stk_name_cache_deinit(struct stk_name_cache *c);
const char *stk_name_cache_get(struct stk_name_cache *c, uint32_t id);
