// SPDX-License-Identifier: Apache-2.0
// The engine's own file of elements: written once, read in any order. For data sets converted from
// slower formats, and for caches.
//
//   header   "stkidx\0\1", count of components, of each its type and shape (-1: unknown)
//   records  one for each element: its components in order, padded to 8 bytes; then the
//            CRC-32C of the record and 4 bytes of zero
//   index    offsets of the records, and the end of the last one; then the CRC-32C of the header
//            and these offsets
//   trailer  24 bytes: where the index is, how many records, "stkidx\0\2"
// A component of known shape is just its values; one of unknown shape starts with its dimensions
// (int64 each, after the rank if that is unknown too). A string is its length (uint64) and bytes.
// Everything is little-endian. The file is mapped; aligned values aren't copied.
//
// Damage: a record with a wrong checksum makes its element an error. A file without a valid trailer
// is rejected: it wasn't finished. If a file is truncated while it is read, it gives no more
// elements, and strings already returned may read as zeros.
#pragma once

#include "engine/memory/col.h"

struct stk_indexed_writer;

// Writes under a temporary name next to `path` and renames at the end, so `path` is never half a
// file. Errors: STOKER_EMISSING (the folder), STOKER_EDENIED, STOKER_ELIMIT (disk full) or
// STOKER_EOUTPUT.
STK_MUST_CHECK enum stoker_status stk_indexed_create(struct stk_indexed_writer **out,
                                                     const char *path,
                                                     const struct stk_specs *specs,
                                                     struct stoker_err *err);
STK_MUST_CHECK enum stoker_status stk_indexed_append(struct stk_indexed_writer *w,
                                                     const struct stk_block *block,
                                                     struct stoker_err *err);
// Ends and frees in any case; without `keeps`, the file is deleted. Takes NULL.
STK_MUST_CHECK enum stoker_status stk_indexed_finish(struct stk_indexed_writer *w, bool keeps,
                                                     struct stoker_err *err);

struct stk_indexed; // immutable: any number of threads may read

STK_MUST_CHECK enum stoker_status stk_indexed_open(struct stk_indexed **out, const char *path,
                                                   struct stoker_err *err);
struct stk_indexed *stk_indexed_hold(struct stk_indexed *x);
void stk_indexed_drop(struct stk_indexed *x);                     // takes NULL
struct stk_specs *stk_indexed_specs(const struct stk_indexed *x); // borrowed
int64_t stk_indexed_count(const struct stk_indexed *x);
// Reads elements index[0..n) into `out`. *failed: the first damaged one, or n; `why` says how.
STK_MUST_CHECK enum stoker_status stk_indexed_read(struct stk_indexed *x, struct stk_pool *pool,
                                                   const int64_t *index, int64_t n,
                                                   struct stk_block *out, int64_t *failed,
                                                   struct stoker_err *why, struct stoker_err *err);
// Was it truncated since it was opened? And the error for that.
bool stk_indexed_is_torn(const struct stk_indexed *x);
enum stoker_status stk_indexed_torn(const struct stk_indexed *x, struct stoker_err *err);
