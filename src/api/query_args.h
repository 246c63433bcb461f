// SPDX-License-Identifier: Apache-2.0
// Arguments of an open run's events: the record is read again from its file.
#pragma once

#include "api/open.h"
#include "base/stream.h"

struct stk_query_args {
    bool redact; // leave out texts among the values
    // The file used last, open.
    const char *path;          // borrowed from the caller; the same pointer means the same file
    struct stk_stream *stream; // NULL for readers that open the path themselves
    const struct stk_reader *reader;
    void *state; // of readers that keep state from event to event
    bool spools; // unpack a compressed file into a temporary one: for many events
};
// The arguments of an event of the trace read from the file.
STK_MUST_CHECK enum stoker_status stk_query_args_fetch(struct stk_query_args *a, const char *path,
                                                       const struct stk_trace *t, uint32_t event,
                                                       stk_emit_fn *emit, void *arg,
                                                       struct stoker_err *err);
void stk_query_args_free(struct stk_query_args *a);
