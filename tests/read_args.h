// SPDX-License-Identifier: Apache-2.0
// Arguments of one event, of a reader that keeps a state between events.
#ifndef TESTS_READ_ARGS_H
#define TESTS_READ_ARGS_H

#include "profile/readers/reader.h"

static inline enum stoker_status read_args(const struct stk_reader *r, struct stk_stream *stream,
                                           const char *path, const struct stk_trace *t,
                                           uint32_t event, stk_emit_fn *emit, void *arg,
                                           struct stoker_err *err)
{
    void *state = NULL;
    enum stoker_status status = r->args_open(stream, path, &state, err);
    if (status == STOKER_OK) {
        status = r->args_next(state, t, event, emit, arg, err);
    }
    r->args_close(state);
    return status;
}

#endif
