// SPDX-License-Identifier: Apache-2.0
// Reads a run and keeps its traces. Frees traces of ranks that weren't selected.
#include "api/open.h"

#include <unistd.h>

#define LEAST_BYTES (UINT64_C(1) << 30) // if the system doesn't report its memory

uint64_t stk_open_cap_bytes(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    uint64_t bytes = pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page / 4 * 3 : 0;
    return bytes > LEAST_BYTES ? bytes : LEAST_BYTES;
}

static struct stk_job *owner_of(const struct stk_collected *c, const struct stk_rank_sum *sum)
{
    for (size_t i = 0; i < c->job_count; i++) {
        for (uint32_t k = 0; c->jobs[i].status == STOKER_OK && k < c->jobs[i].rank_count; k++) {
            if (c->jobs[i].ranks[k] == sum) {
                return &c->jobs[i];
            }
        }
    }
    return NULL;
}

static void free_unselected(struct stk_open_run *o)
{
    for (size_t i = 0; i < o->in.job_count; i++) {
        struct stk_job *job = &o->in.jobs[i];
        bool used = false;
        for (uint32_t r = 0; r < o->rank_count; r++) {
            used |= o->ranks[r].job == job;
        }
        if (used) {
            continue;
        }
        stk_trace_free(job->trace);
        job->trace = NULL;
    }
}

static enum stoker_status place_ranks(struct stk_open_run *o, struct stoker_err *err)
{
    const struct stk_run_sum *run = o->in.run;
    o->ranks = stk_arena_array(&o->in.arena, (size_t)run->rank_count + 1, sizeof *o->ranks);
    if (!o->ranks) {
        return stk_err_nomem(err);
    }
    for (uint32_t r = 0; r < run->rank_count; r++) {
        const struct stk_job *job = owner_of(&o->in, run->ranks[r]);
        if (!job || !job->trace) {
            return stk_err_set(err, STOKER_EBUG, "a rank without its trace: please report this");
        }
        o->ranks[o->rank_count++] =
            (struct stk_open_rank){.sum = run->ranks[r],
                                   .job = job,
                                   .trace = job->trace,
                                   .shift_ns = job->trace->base_ns - run->ranks[r]->base_ns};
    }
    return STOKER_OK;
}

enum stoker_status stk_open_run_read(struct stk_open_run *o, const char *const *paths, size_t count,
                                     const struct stoker_why_options *options,
                                     const struct stk_view_hook *hook, struct stoker_err *err)
{
    stk_arena_init(&o->in.arena, 0);
    o->in.keep_bytes = stk_open_cap_bytes();
    enum stoker_status status = stk_collect(&o->in, paths, count, options, hook, err);
    if (status == STOKER_OK) {
        status = place_ranks(o, err);
    }
    if (status != STOKER_OK) {
        return status;
    }
    free_unselected(o);
    if (options->redact) {
        status = stk_redact_traces(o->in.jobs, o->in.job_count, &o->in.arena, err);
    }
    return status;
}

void stk_open_run_free(struct stk_open_run *o)
{
    stk_collected_free(&o->in);
}
