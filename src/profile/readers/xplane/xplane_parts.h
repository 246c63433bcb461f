// SPDX-License-Identifier: Apache-2.0
// The functions in the XPlane reader's descriptor, one file each.
#pragma once

#include "profile/readers/reader.h"

int stk_xp_sniff(const uint8_t *head, size_t n, const char **why_not);
STK_MUST_CHECK enum stoker_status stk_xp_args_open(struct stk_stream *stream, const char *path,
                                                   void **state, struct stoker_err *err);
STK_MUST_CHECK enum stoker_status stk_xp_args_next(void *state, const struct stk_trace *t,
                                                   uint32_t event, stk_emit_fn *emit, void *arg,
                                                   struct stoker_err *err);
void stk_xp_args_close(void *state); // takes NULL
