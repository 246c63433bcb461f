// SPDX-License-Identifier: Apache-2.0
// Elements in a compressed file that is read from start to end: a TFRecord file with GZIP. Its
// first record describes the components; the others are elements (element_code.h). Damage shows in
// its checksums, and in gzip's, which are missing if the file is truncated.
#pragma once

#include "engine/memory/col.h"

struct stk_packed_writer;

// Writes under a temporary name and renames at the end (element_file.h). STOKER_EOUTPUT: it can't
// be written.
STK_MUST_CHECK enum stoker_status stk_packed_create(struct stk_packed_writer **out,
                                                    const char *path, const struct stk_specs *specs,
                                                    struct stoker_err *err);
STK_MUST_CHECK enum stoker_status stk_packed_append(struct stk_packed_writer *w,
                                                    const struct stk_block *block,
                                                    struct stoker_err *err);
// Ends and frees in any case; without `keeps`, the file is deleted. Takes NULL.
STK_MUST_CHECK enum stoker_status stk_packed_finish(struct stk_packed_writer *w, bool keeps,
                                                    struct stoker_err *err);

struct stk_packed; // used by one reader

// The reader's memory counts against the pool.
STK_MUST_CHECK enum stoker_status stk_packed_open(struct stk_packed **out, const char *path,
                                                  struct stk_pool *pool, struct stoker_err *err);
void stk_packed_close(struct stk_packed *p);                    // takes NULL
struct stk_specs *stk_packed_specs(const struct stk_packed *p); // borrowed
// Up to `want` more elements; 0: the end. STOKER_EDAMAGE: the rest of the file is lost, and the
// next call is at the end.
STK_MUST_CHECK enum stoker_status stk_packed_read(struct stk_packed *p, int64_t want,
                                                  struct stk_block *out, struct stoker_err *err);
// Skips up to n elements; *done: how many there were.
STK_MUST_CHECK enum stoker_status stk_packed_skip(struct stk_packed *p, int64_t n, int64_t *done,
                                                  struct stoker_err *err);
