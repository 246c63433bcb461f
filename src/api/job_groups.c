// SPDX-License-Identifier: Apache-2.0
// Groups files by job. A file joins the first job in which it is compatible with every file
// (same_job.h). A file without information about its job (a recording, a failed file) joins the
// only job; with several, the one from its time, or none. Of one job's runs found in a directory,
// the newest is kept (runs.c). Limit: files are compared in pairs, at most STK_INPUTS_FILES_MAX^2 /
// 2.
#include <string.h>

#include "api/api.h"
#include "api/same_job.h"
#include "base/alloc.h"

struct sorting {
    struct stk_job *jobs;
    size_t count;
    struct stk_arena *arena;
    struct stk_kin *kin; // of each file
    size_t *group;       // of each file; NO_GROUP
    size_t groups;
};
#define NO_GROUP SIZE_MAX

static bool has_profile(const struct sorting *s)
{
    for (size_t i = 0; i < s->count; i++) {
        if (s->jobs[i].status == STOKER_OK && !stk_job_is_record(&s->jobs[i])) {
            return true;
        }
    }
    return false;
}

static bool are_kin(const struct stk_kin *a, const struct stk_kin *b)
{
    enum stk_kinship k = stk_kinship_of(a, b);
    return k == STK_KIN_SAME_RUN ||
           (k == STK_KIN_OTHER_RUN && a->job->is_found && b->job->is_found);
}

static bool fits(const struct sorting *s, size_t file, size_t group)
{
    for (size_t i = 0; i < file; i++) {
        if (s->group[i] == group && !are_kin(&s->kin[file], &s->kin[i])) {
            return false;
        }
    }
    return true;
}

static enum stoker_status sort_out(struct sorting *s, struct stoker_err *err)
{
    bool beside = has_profile(s), failed;
    for (size_t i = 0; i < s->count; i++) {
        bool tells = stk_kin_of(&s->jobs[i], s->arena, &s->kin[i], &failed);
        if (failed) {
            return stk_err_nomem(err);
        }
        s->group[i] = NO_GROUP;
        if (!tells || (beside && stk_job_is_record(&s->jobs[i]))) {
            continue;
        }
        size_t g = 0;
        while (g < s->groups && !fits(s, i, g)) {
            g++;
        }
        s->group[i] = g;
        s->groups += g == s->groups;
    }
    return STOKER_OK;
}

// The job in which a recording of stoker.data was made.
static size_t group_of_record(const struct sorting *s, size_t record)
{
    for (size_t i = 0; i < s->count; i++) {
        if (s->group[i] != NO_GROUP && s->jobs[record].status == STOKER_OK &&
            stk_runs_same(&s->jobs[record], &s->jobs[i])) {
            return s->group[i];
        }
    }
    return NO_GROUP;
}

static const char *why_skipped(const struct stk_job *job)
{
    return job->status != STOKER_OK ? job->err.message
           : stk_job_is_record(job) ? "a record that belongs to one of them: give both"
           : job->rank_count == 0   ? "it has no events of a job"
                                    : "it has no events";
}

static enum stoker_status skip(struct sorting *s, struct stk_job *job, struct stk_jobs_skipped *row,
                               struct stoker_err *err)
{
    *row = (struct stk_jobs_skipped){job->path, stk_arena_strdup(s->arena, why_skipped(job))};
    stk_job_free(job);
    return row->why ? STOKER_OK : stk_err_nomem(err);
}

// Sorts the files by job; frees those that belong to none.
static enum stoker_status put_in_order(struct sorting *s, size_t *count, struct stk_groups *out,
                                       struct stoker_err *err)
{
    struct stk_job *sorted = stk_alloc_array(s->count, sizeof *sorted);
    struct stk_jobs_skipped *skipped = stk_arena_array(s->arena, s->count, sizeof *skipped);
    enum stoker_status status = sorted && skipped ? STOKER_OK : stk_err_nomem(err);
    size_t n = 0;
    for (size_t i = 0; i < s->count; i++) {
        s->group[i] = s->group[i] == NO_GROUP ? group_of_record(s, i) : s->group[i];
    }
    for (size_t g = 0; status == STOKER_OK && g < s->groups; g++) {
        out->first[g] = n;
        for (size_t i = 0; i < s->count; i++) {
            if (s->group[i] == g) {
                sorted[n++] = s->jobs[i];
            }
        }
    }
    if (status == STOKER_OK) {
        out->skipped.items = skipped;
        out->first[s->groups] = n;
        for (size_t i = 0; i < s->count; i++) {
            if (s->group[i] == NO_GROUP &&
                skip(s, &s->jobs[i], &skipped[out->skipped.count++], err) != STOKER_OK) {
                status = STOKER_ENOMEM;
            }
        }
        memcpy(s->jobs, sorted, n * sizeof *sorted);
        *count = n;
    }
    stk_free(sorted);
    return status;
}

// Keeps the newest of a job's runs.
static enum stoker_status newest_runs(struct sorting *s, size_t *count, struct stk_groups *out,
                                      struct stoker_err *err)
{
    for (size_t g = 0; g < out->count; g++) {
        struct stk_job *jobs = s->jobs + out->first[g];
        size_t before = out->first[g + 1] - out->first[g], after = before;
        enum stoker_status status = stk_runs_choose(jobs, &after, s->arena, &out->notes[g], err);
        size_t gone = before - after;
        memmove(jobs + after, jobs + before, (*count - out->first[g + 1]) * sizeof *jobs);
        *count -= gone;
        for (size_t k = g + 1; k <= out->count; k++) {
            out->first[k] -= gone;
        }
        if (status != STOKER_OK) {
            return status;
        }
    }
    return STOKER_OK;
}

enum stoker_status stk_groups_make(struct stk_job *jobs, size_t *count, struct stk_arena *arena,
                                   struct stk_groups *out, struct stoker_err *err)
{
    struct sorting s = {.jobs = jobs, .count = *count, .arena = arena};
    *out = (struct stk_groups){.count = 0};
    s.kin = stk_arena_array(arena, *count + 1, sizeof *s.kin);
    s.group = stk_arena_array(arena, *count + 1, sizeof *s.group);
    if (!s.kin || !s.group) {
        return stk_err_nomem(err);
    }
    enum stoker_status status = *count > 1 ? sort_out(&s, err) : STOKER_OK;
    if (status != STOKER_OK || s.groups < 2) {
        return status;
    }
    out->first = stk_arena_array(arena, s.groups + 1, sizeof *out->first);
    out->notes = stk_arena_array(arena, s.groups, sizeof *out->notes);
    if (!out->first || !out->notes) {
        return stk_err_nomem(err);
    }
    out->count = s.groups;
    status = put_in_order(&s, count, out, err);
    return status == STOKER_OK ? newest_runs(&s, count, out, err) : status;
}
