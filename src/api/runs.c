// SPDX-License-Identifier: Apache-2.0
// Distinguishes runs from ranks. Files of one directory without a rank in name and content are
// ranks of one run only if recorded at the same time by different processes. Recordings one after
// the other are runs, of which the newest is taken. A recording of stoker.data next to another
// profile of the same time is one run recorded twice: not another rank.
#include <string.h>

#include "api/api.h"
#include "base/sort.h"
#include "profile/model/intervals.h"

struct recording {
    struct stk_job *job;
    int64_t start_ns, end_ns; // on the file's own clock
};

static bool extent_of(const struct stk_job *job, struct recording *out)
{
    *out = (struct recording){(struct stk_job *)job, INT64_MAX, INT64_MIN};
    for (uint32_t i = 0; i < job->rank_count; i++) {
        const struct stk_rank_sum *r = job->ranks[i];
        int64_t start = stk_add_ns(r->base_ns, r->facts.first_ns);
        int64_t end = stk_add_ns(r->base_ns, r->facts.last_ns);
        out->start_ns = start < out->start_ns ? start : out->start_ns;
        out->end_ns = end > out->end_ns ? end : out->end_ns;
    }
    return out->start_ns < out->end_ns;
}

// Found in a directory, with no rank in its name or content.
static bool may_be_run(const struct stk_job *job)
{
    return job->is_found && job->status == STOKER_OK && job->rank_count == 1 &&
           (job->rank_hint < 0 || job->is_numbered) && job->ranks[0]->rank < 0 &&
           !strstr(job->path, "plugins/profile/"); // its folders are runs
}

static int by_start(const void *pa, const void *pb)
{
    const struct recording *a = pa, *b = pb;
    if (a->start_ns != b->start_ns) {
        return a->start_ns < b->start_ns ? -1 : 1;
    }
    return strcmp(a->job->path, b->job->path);
}

bool stk_job_is_record(const struct stk_job *job)
{
    return job->info.format && strcmp(job->info.format, "stk") == 0;
}

// Is there a profile other than stoker's own recordings?
static bool has_other(const struct stk_job *jobs, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (jobs[i].status == STOKER_OK && !stk_job_is_record(&jobs[i])) {
            return true;
        }
    }
    return false;
}

// Marks recordings next to profiles whose time matches none of the chosen ones. Those of a loader's
// workers have no steps to compare, and stay.
static bool mark_strangers(struct stk_job *jobs, size_t count)
{
    bool any = false;
    for (size_t i = 0; i < count; i++) {
        struct stk_job *job = &jobs[i];
        bool is_stranger = stk_job_is_record(job) && job->is_found && job->rank_count > 0;
        for (size_t k = 0; k < count && is_stranger; k++) {
            is_stranger = jobs[k].is_older || !stk_runs_same(job, &jobs[k]);
        }
        job->is_older |= is_stranger;
        any |= is_stranger;
    }
    return any;
}

// Drops the jobs of older runs.
static size_t compact(struct stk_job *jobs, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (jobs[i].is_older) {
            stk_job_free(&jobs[i]);
        } else {
            jobs[kept++] = jobs[i];
        }
    }
    return kept;
}

// Recordings that overlap in time are one run. Marks those of all runs but the last, and returns
// the number of runs.
static size_t mark_older(struct recording *r, size_t n)
{
    size_t runs = n > 0, first = 0;
    int64_t end_ns = n ? r[0].end_ns : 0;
    for (size_t i = 1; i < n; i++) {
        if (r[i].start_ns >= end_ns) {
            runs++;
            first = i;
        }
        end_ns = r[i].end_ns > end_ns ? r[i].end_ns : end_ns;
    }
    for (size_t i = 0; i < first; i++) {
        r[i].job->is_older = true;
    }
    return runs;
}

enum stoker_status stk_runs_choose(struct stk_job *jobs, size_t *count, struct stk_arena *arena,
                                   const char **note, struct stoker_err *err)
{
    struct recording *found = stk_arena_array(arena, *count + 1, sizeof *found);
    size_t n = 0;
    *note = NULL;
    if (!found) {
        return stk_err_nomem(err);
    }
    bool beside = has_other(jobs, *count);
    for (size_t i = 0; i < *count; i++) {
        bool is_run = may_be_run(&jobs[i]) && !(beside && stk_job_is_record(&jobs[i]));
        n += is_run && extent_of(&jobs[i], &found[n]);
    }
    stk_sort(found, n, sizeof *found, by_start);
    size_t runs = mark_older(found, n);
    bool strangers = beside && mark_strangers(jobs, *count);
    if (runs < 2 && !strangers) {
        return STOKER_OK;
    }
    const char *newest = runs ? strrchr(found[n - 1].job->path, '/') : NULL;
    *note = runs < 2
                ? "left out a stoker.data record of another time"
                : stk_arena_printf(arena,
                                   "newest of %zu runs, recorded one after another: %s (%zu "
                                   "older left out)",
                                   runs, newest ? newest + 1 : found[n - 1].job->path, runs - 1);
    *count = compact(jobs, *count);
    return *note ? STOKER_OK : stk_err_nomem(err);
}

bool stk_runs_same(const struct stk_job *record, const struct stk_job *other)
{
    struct recording a, b;
    return stk_job_is_record(record) && !stk_job_is_record(other) && other->rank_count == 1 &&
           extent_of(record, &a) && extent_of(other, &b) && a.start_ns < b.end_ns &&
           b.start_ns < a.end_ns;
}
