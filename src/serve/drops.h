// SPDX-License-Identifier: Apache-2.0
// Profiles that a person drops on the page: each is written to a private folder as it comes, opened
// as profiles that were named on the command line are, and served next to them (?profile=N) until
// the server ends. Only who has the token may send one. Limits: DROP_BYTES a file, DROPS_MAX of
// them.
#pragma once

#include <stdatomic.h>

#include "serve/documents.h"

#define STK_DROP_BYTES ((uint64_t)1 << 30)
enum { STK_DROPS_MAX = 8 };

struct stk_drop {
    _Atomic(struct stk_documents *) documents; // NULL: not open
    char *path;
    const char *paths[1];
};

struct stk_drops {
    const char *folder; // private, the caller's, who removes it; NULL: nothing may be dropped
    struct stk_drop list[STK_DROPS_MAX];
    atomic_int count; // files that were begun
};

// A file that comes in pieces.
struct stk_drop_file {
    int fd; // -1: none
    int index;
    uint64_t bytes;
    struct stoker_err err; // why it was refused, once it was
    bool failed;
};

void stk_drops_open(struct stk_drops *d, const char *folder);
void stk_drops_close(struct stk_drops *d);
// `name`: of the sender's choice; what is no plain name of a file becomes one.
void stk_drop_begin(struct stk_drops *d, struct stk_drop_file *f, const char *name);
void stk_drop_write(struct stk_drop_file *f, const char *bytes, size_t n);
// All of it is there: opened as `beside` was, alone or compared with its profile. *number is its
// ?profile=.
STK_MUST_CHECK enum stoker_status stk_drop_finish(struct stk_drops *d, struct stk_drop_file *f,
                                                  const struct stk_view_plan *beside,
                                                  bool is_compared, int *number,
                                                  struct stoker_err *err);
void stk_drop_cancel(struct stk_drop_file *f); // after finishing, too
// Documents of ?profile=N, from 1, or NULL.
struct stk_documents *stk_drops_documents(struct stk_drops *d, const char *number);
