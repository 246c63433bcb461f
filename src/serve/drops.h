// SPDX-License-Identifier: Apache-2.0
// Profiles dropped on the page: each is written to a private folder as it arrives, opened like
// profiles on the command line, and served next to them (?profile=N) until the server ends. Sending
// one requires the token. Limits: DROP_BYTES per file, DROPS_MAX files.
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
    const char *folder; // private, owned and removed by the caller; NULL: dropping is off
    struct stk_drop list[STK_DROPS_MAX];
    atomic_int count; // files started
};

// A file that arrives in pieces.
struct stk_drop_file {
    int fd; // -1: none
    int index;
    uint64_t bytes;
    struct stoker_err err; // why it was rejected, if so
    bool failed;
};

void stk_drops_open(struct stk_drops *d, const char *folder);
void stk_drops_close(struct stk_drops *d);
// `name`: chosen by the sender; turned into a plain file name.
void stk_drop_begin(struct stk_drops *d, struct stk_drop_file *f, const char *name);
void stk_drop_write(struct stk_drop_file *f, const char *bytes, size_t n);
// The file is complete: opens it like `beside`, alone or compared with its profile. *number is its
// ?profile=.
STK_MUST_CHECK enum stoker_status stk_drop_finish(struct stk_drops *d, struct stk_drop_file *f,
                                                  const struct stk_view_plan *beside,
                                                  bool is_compared, int *number,
                                                  struct stoker_err *err);
void stk_drop_cancel(struct stk_drop_file *f); // also after finishing
// Documents of ?profile=N, from 1, or NULL.
struct stk_documents *stk_drops_documents(struct stk_drops *d, const char *number);
