// SPDX-License-Identifier: Apache-2.0
// Stored bytes of an input by position: a regular file, or a pipe that may be spooled to a
// temporary file so that earlier bytes can be read again.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct stk_source {
    char *path;        // as given; "-" is standard input
    const char *shown; // for messages
    int fd, spool_fd;  // -1: none
    bool regular;      // seekable
    uint64_t base;     // where the input starts in fd (standard input may be partly read)
    uint64_t size;     // of a regular file, else 0
    uint64_t pipe_pos; // bytes taken from the pipe so far
};

STK_MUST_CHECK enum stoker_status stk_source_open(struct stk_source *s, const char *path,
                                                  bool spool, struct stoker_err *err);
void stk_source_close(struct stk_source *s); // also after a failed open
// Bytes from `offset` on: as many as requested unless the input ends. A pipe that isn't spooled can
// only be read at its current position (STOKER_EINVAL otherwise).
STK_MUST_CHECK enum stoker_status stk_source_read(struct stk_source *s, uint64_t offset, void *buf,
                                                  size_t cap, size_t *got, struct stoker_err *err);
