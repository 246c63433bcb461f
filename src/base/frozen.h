// SPDX-License-Identifier: Apache-2.0
// Arrays stored one after another in a file that is mapped later: a cache for this build on this
// machine, not an exchange format. Each array has its item count and size. The reader requests them
// in the same order and gets pointers into the map. A checksum (CRC-32C) and the builder's name in
// the first block reject a truncated, damaged or foreign file before any of it is used. Limit:
// truncating the file after that check crashes the process. The file is the user's own, and writers
// replace it whole.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

// Writing. After a failure (disk full, interrupted) further arrays are ignored.
struct stk_frost {
    int fd;
    uint64_t bytes; // written after the first block
    uint32_t crc;
    bool failed;
    int (*interrupted)(void *arg); // called every few megabytes; NULL: never
    void *arg;
};
// `fd` is the caller's: empty, open for writing. `builder`: a text that changes whenever the
// contents change, at most STK_FROZEN_BUILDER - 1 characters.
enum { STK_FROZEN_BUILDER = 64 };
void stk_frost_begin(struct stk_frost *f, int fd);
void stk_frost_put(struct stk_frost *f, const void *items, size_t count, size_t size);
// Writes the first block. False: the file is incomplete.
bool stk_frost_end(struct stk_frost *f, const char *builder);

// Reading.
struct stk_thaw {
    const char *map;
    size_t size, at;
    bool failed; // a requested array was missing: discard what was thawed
};
// STOKER_EMISSING: the file is missing, incomplete, or from another builder.
STK_MUST_CHECK enum stoker_status stk_thaw_open(struct stk_thaw *t, const char *path,
                                                const char *builder, struct stoker_err *err);
void stk_thaw_close(struct stk_thaw *t);
// The next array, 16-byte aligned, valid until the map is closed. Never NULL: empty after a
// failure. Read-only.
void *stk_thaw_take(struct stk_thaw *t, size_t size, size_t *count);
// The same, if the count must be this.
void *stk_thaw_array(struct stk_thaw *t, size_t size, size_t count);
