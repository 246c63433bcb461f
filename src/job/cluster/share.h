// SPDX-License-Identifier: Apache-2.0
// A helper process that reads the files of a share of a plan (stoker/partial.h), each in a separate
// process: if one is killed, mostly for lack of memory, only its file is missing from the report.
// It is started before MPI, which doesn't work in a process that forks.
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/vec.h"
#include "stoker/report.h"

struct stk_share_reader {
    pid_t pid;
    int to, from; // pipes; -1: closed
};

STK_MUST_CHECK enum stoker_status stk_share_start(struct stk_share_reader *r,
                                                  const struct stoker_why_options *options,
                                                  struct stoker_err *err);
// Sends it the plan, and appends the partials of the share's files to *out, of char. They name
// files that can't be read. False: no memory.
bool stk_share_read(struct stk_share_reader *r, const struct stk_vec *plan, size_t share,
                    struct stk_vec *out);
void stk_share_end(struct stk_share_reader *r);
