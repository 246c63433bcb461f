// SPDX-License-Identifier: Apache-2.0
// Arguments of events of an open run: the record is read again from its file.
#pragma once

#include "api/open.h"
#include "base/stream.h"

struct stk_query_args {
    bool redact; // texts among the values are not given
    // The file that was asked last, open.
    const char *path;          // borrowed from who asked; the same pointer is the same file
    struct stk_stream *stream; // NULL for readers that open the path themselves
    const struct stk_reader *reader;
    void *state; // of readers that keep some from event to event
    bool spools; // a compressed file is unpacked into a temporary one: for many events
};
// Arguments of an event of the trace that was read from the file.
STK_MUST_CHECK enum stoker_status stk_query_args_fetch(struct stk_query_args *a, const char *path,
                                                       const struct stk_trace *t, uint32_t event,
                                                       stk_emit_fn *emit, void *arg,
                                                       struct stoker_err *err);
void stk_query_args_free(struct stk_query_args *a);
