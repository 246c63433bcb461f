// SPDX-License-Identifier: Apache-2.0
// The log of rewrites on a pipeline, as its plan prints it; one line each: "name: what (where):
// reason".
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct stk_rewrite_row {
    const char *name, *reason;
};

struct stk_rewrite_log {
    char *text; // NULL: nothing
    size_t size;
};

// False: no memory. where may be NULL.
bool stk_rewrite_note(struct stk_rewrite_log *log, const struct stk_rewrite_row *row,
                      const char *what, const char *where);
bool stk_rewrite_append(struct stk_rewrite_log *log, const char *text); // takes NULL
void stk_rewrite_log_end(struct stk_rewrite_log *log);
