// SPDX-License-Identifier: Apache-2.0
// Compresses its input to one gzip member (RFC 1952), for outputs named *.gz.
#pragma once

#include <stddef.h>

struct stk_gzip_write;

// Receives the compressed bytes; returns non-zero if it can't.
typedef int stk_gzip_write_fn(void *arg, const char *bytes, size_t n);

// zlib's levels. The fast one shrinks traces about tenfold and works for files of any size; the
// small one takes several times as long, for a file that must stay below a limit.
enum stk_gzip_level { STK_GZIP_FAST = 1, STK_GZIP_SMALL = 9 };

// NULL: no memory.
struct stk_gzip_write *stk_gzip_write_open(enum stk_gzip_level level, stk_gzip_write_fn *write,
                                           void *arg);
// A stk_gzip_write_fn over the writer itself.
int stk_gzip_write_bytes(void *writer, const char *bytes, size_t n);
// Writes the rest and the trailer. Non-zero if anything couldn't be written.
int stk_gzip_write_finish(struct stk_gzip_write *w);
void stk_gzip_write_close(struct stk_gzip_write *w); // takes NULL
