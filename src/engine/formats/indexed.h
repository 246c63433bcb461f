// SPDX-License-Identifier: Apache-2.0
// The engine's own file of elements: written once, read in any order. For data sets converted from
// slower formats, and for caches.
//
//   header   "stkidx\0\1", count of components, of each its type and shape (-1: unknown)
//   records  one for each element: its components in order, padded to 8 bytes; then the
//            CRC-32C of the record and 4 bytes of zero
//   index    offsets of the records, one more than there are records; then the CRC-32C of the
//            header and these
//   trailer  24 bytes: where the index is, how many records, "stkidx\0\2"
// A component of known shape is its values; one of unknown shape has its dimensions first (int64
// each, the rank before them if that is unknown too). A string is its length (uint64) and bytes.
// Everything is little-endian. The file is mapped; values that lie aligned are not copied.
//
// Damage: a record whose checksum is wrong is an error of its element. A file without a good
// trailer is refused: it was not finished. From a file that is cut short while it is read no
// element comes any more, and strings of it that were given out may read as zeros.
#pragma once

#include "engine/memory/col.h"

struct stk_indexed_writer;

// Writes beside `path` and renames at the end: there is never half a file of that name.
// It cannot be written: STOKER_EMISSING (the folder), STOKER_EDENIED, STOKER_ELIMIT (no room) or
// STOKER_EOUTPUT.
STK_MUST_CHECK enum stoker_status stk_indexed_create(struct stk_indexed_writer **out,
                                                     const char *path,
                                                     const struct stk_specs *specs,
                                                     struct stoker_err *err);
STK_MUST_CHECK enum stoker_status stk_indexed_append(struct stk_indexed_writer *w,
                                                     const struct stk_block *block,
                                                     struct stoker_err *err);
// Ends and frees in any case; without `keeps` nothing of the file stays. Takes NULL.
STK_MUST_CHECK enum stoker_status stk_indexed_finish(struct stk_indexed_writer *w, bool keeps,
                                                     struct stoker_err *err);

struct stk_indexed; // immutable: any number of threads may read

STK_MUST_CHECK enum stoker_status stk_indexed_open(struct stk_indexed **out, const char *path,
                                                   struct stoker_err *err);
struct stk_indexed *stk_indexed_hold(struct stk_indexed *x);
void stk_indexed_drop(struct stk_indexed *x);                     // takes NULL
struct stk_specs *stk_indexed_specs(const struct stk_indexed *x); // borrowed
int64_t stk_indexed_count(const struct stk_indexed *x);
// Elements index[0..n) into `out`. *failed: the first that is damaged, or n; `why` says how.
STK_MUST_CHECK enum stoker_status stk_indexed_read(struct stk_indexed *x, struct stk_pool *pool,
                                                   const int64_t *index, int64_t n,
                                                   struct stk_block *out, int64_t *failed,
                                                   struct stoker_err *why, struct stoker_err *err);
// Was it cut short since it was opened? And the error that says so.
bool stk_indexed_is_torn(const struct stk_indexed *x);
enum stoker_status stk_indexed_torn(const struct stk_indexed *x, struct stoker_err *err);
