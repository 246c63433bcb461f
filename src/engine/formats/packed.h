// SPDX-License-Identifier: Apache-2.0
// Elements in a compressed file, read from its start to its end: a TFRecord file under GZIP whose
// first record says what the components are and whose others are elements (element_code.h). Its
// checksums, and gzip's, which miss where it is cut off, tell damage.
#pragma once

#include "engine/memory/col.h"

struct stk_packed_writer;

// Writes beside `path` and renames at the end (element_file.h). STOKER_EOUTPUT: it cannot be
// written.
STK_MUST_CHECK enum stoker_status stk_packed_create(struct stk_packed_writer **out,
                                                    const char *path, const struct stk_specs *specs,
                                                    struct stoker_err *err);
STK_MUST_CHECK enum stoker_status stk_packed_append(struct stk_packed_writer *w,
                                                    const struct stk_block *block,
                                                    struct stoker_err *err);
// Ends and frees in any case; without `keeps` nothing of the file stays. Takes NULL.
STK_MUST_CHECK enum stoker_status stk_packed_finish(struct stk_packed_writer *w, bool keeps,
                                                    struct stoker_err *err);

struct stk_packed; // one reader's

// What the reader takes counts as in use of the pool.
STK_MUST_CHECK enum stoker_status stk_packed_open(struct stk_packed **out, const char *path,
                                                  struct stk_pool *pool, struct stoker_err *err);
void stk_packed_close(struct stk_packed *p);                    // takes NULL
struct stk_specs *stk_packed_specs(const struct stk_packed *p); // borrowed
// Up to `want` more elements, 0 at the end. STOKER_EDAMAGE: the rest of the file is lost; the call
// after that is at the end.
STK_MUST_CHECK enum stoker_status stk_packed_read(struct stk_packed *p, int64_t want,
                                                  struct stk_block *out, struct stoker_err *err);
// Passes over up to n elements; *done: how many there were.
STK_MUST_CHECK enum stoker_status stk_packed_skip(struct stk_packed *p, int64_t n, int64_t *done,
                                                  struct stoker_err *err);
