// SPDX-License-Identifier: Apache-2.0
// Files of partial results (answers/partial/partial.h). They have no events, so no trace can be
// made from one: why and diff read their items (api/partial_jobs.c) before any reader is tried, and
// every other command gets the error here.
#include <string.h>

#include "profile/readers/reader.h"
#include "wire/partial.h"

static int sniff(const uint8_t *head, size_t n, const char **why_not)
{
    (void)why_not;
    size_t magic = sizeof STK_PARTIAL_MAGIC - 1;
    return n >= magic && memcmp(head, STK_PARTIAL_MAGIC, magic) == 0 ? 2 : 0;
}

static enum stoker_status refuse(const struct stk_read_ctx *ctx, struct stk_trace **out,
                                 struct stoker_err *err)
{
    *out = NULL;
    return stk_err_set(err, STOKER_EUSAGE,
                       "%s: a partial has no events: give this command the profile that it was "
                       "written from (stoker why lists it)",
                       ctx->path);
}

static const struct stk_reader_suffix suffixes[] = {{".part", false}, {NULL, false}};

const struct stk_reader stk_reader_partial = {
    .name = "partial",
    .summary = "partial results of stoker partial: no events, for why and diff",
    .files = "*.part (partial results of stoker)",
    .suffixes = suffixes,
    .mistaken = "not a partial of stoker",
    .folder_rank = 5, // a profile answers more
    .is_eventless = true,
    .made_of_folder = STK_PARTIAL_OF_RUN,
    .sniff = sniff,
    .read = refuse,
};
