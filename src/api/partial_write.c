// SPDX-License-Identifier: Apache-2.0
// Writes jobs as a partial: packs those that were read, copies those from partials unchanged. They
// are already sorted (partial_jobs.c), so the same profiles give the same bytes.

#include "answers/partial/partial.h"
#include "api/api.h"
#include "base/sink.h"
#include "stoker/version.h"

static enum stoker_status put_job(struct stk_sink *sink, struct stk_job *job,
                                  struct stoker_err *err)
{
    struct stk_partial_packed made;
    if (job->packed) {
        stk_partial_put(sink, job->packed);
        return STOKER_OK;
    }
    struct stk_partial_item item = {
        .path = job->path,
        .rank_hint = job->rank_hint,
        .status = (int32_t)job->status,
        .is_numbered = job->is_numbered,
        .is_found = job->is_found,
        .info = &job->info,
        .ranks = job->ranks,
        .rank_count = job->rank_count,
        .workers = &job->workers,
        .machine = job->machine,
    };
    enum stoker_status status = stk_partial_pack(&item, &job->arena, &made, err);
    if (status == STOKER_OK) {
        stk_partial_put(sink, &made);
    }
    return status;
}

enum stoker_status stk_partials_write(const struct stk_collected *c, stoker_write_fn write,
                                      void *arg, struct stoker_err *err)
{
    struct stk_sink sink;
    stk_sink_init(&sink, write, arg);
    stk_partial_begin(&sink, stoker_version());
    enum stoker_status status = STOKER_OK;
    for (size_t i = 0; i < c->job_count && status == STOKER_OK; i++) {
        status = put_job(&sink, &c->jobs[i], err);
    }
    stk_partial_end(&sink);
    return status == STOKER_OK ? stk_sink_finish(&sink, err) : status;
}

enum stoker_status stk_partials_hand_on(struct stk_collected *c,
                                        const struct stoker_why_options *options,
                                        const struct stk_view_hook *hook, struct stoker_err *err)
{
    bool all_read = true;
    enum stoker_status status = stk_partials_check(&c->select, err);
    for (size_t i = 0; i < c->job_count; i++) {
        all_read &= !c->jobs[i].is_decoded;
    }
    if (status == STOKER_OK && all_read) {
        status = stk_partials_write(c, options->partial, options->partial_arg, err);
        status = status == STOKER_EOUTPUT ? STOKER_OK : status;
    }
    for (size_t i = 0; i < c->job_count; i++) {
        for (uint32_t k = 0; k < c->jobs[i].rank_count && !c->jobs[i].is_decoded; k++) {
            struct stk_rank_sum *rank = c->jobs[i].ranks[k];
            rank->partial = stk_partial_keep(hook, rank->partial);
        }
    }
    return status;
}
