// SPDX-License-Identifier: Apache-2.0
// Profiles of other formats next to those chosen in a folder. They are either the same run recorded
// by another profiler, or other jobs. Only their times show which: they are read, and those from
// another time are kept. Those from the same time, or on a clock that can't be compared, are left
// out again. A note says which was done.
#include <string.h>

#include "api/api.h"
#include "api/inputs.h"
#include "api/same_job.h"
#include "base/alloc.h"

static size_t folder_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash - path) + 1 : 0;
}

static bool same_folder(const char *a, const char *b)
{
    size_t n = folder_length(a);
    return n == folder_length(b) && memcmp(a, b, n) == 0;
}

static bool lies_beside(const struct stk_collected *c, const struct stk_input *in)
{
    for (size_t i = 0; in->is_other_format && i < c->job_count; i++) {
        if (c->jobs[i].is_found && same_folder(c->jobs[i].path, in->path)) {
            return true;
        }
    }
    return false;
}

// Is it from another time than every chosen profile?
static enum stoker_status is_apart(struct stk_collected *c, const struct stk_job *job, bool *apart,
                                   struct stoker_err *err)
{
    struct stk_kin own, other;
    bool failed;
    *apart = stk_kin_of(job, &c->arena, &own, &failed);
    for (size_t i = 0; *apart && i < c->job_count; i++) {
        if (!stk_kin_of(&c->jobs[i], &c->arena, &other, &failed)) {
            continue;
        }
        *apart = stk_kin_on_one_clock(&own, &other) && !stk_kin_overlap(&own, &other);
    }
    return failed ? stk_err_nomem(err) : STOKER_OK;
}

static enum stoker_status note_left_out(struct stk_collected *c, size_t n, struct stoker_err *err)
{
    const char *before = c->inputs->note;
    c->inputs->note = stk_arena_printf(
        &c->arena, "%s%sleft out %zu profile%s of another format in the same folder",
        before ? before : "", before ? "; " : "", n, n == 1 ? "" : "s");
    return c->inputs->note ? STOKER_OK : stk_err_nomem(err);
}

// Moves those that belong to other jobs from `found` to the end.
static enum stoker_status take(struct stk_collected *c, struct stk_job *found, size_t count,
                               struct stoker_err *err)
{
    enum stoker_status status = STOKER_OK;
    size_t kept = 0, left_out = 0;
    for (size_t i = 0; i < count; i++) {
        bool apart = false;
        if (status == STOKER_OK) {
            status = is_apart(c, &found[i], &apart, err);
        }
        if (apart) {
            found[kept++] = found[i];
        } else {
            left_out++;
            stk_job_free(&found[i]);
        }
    }
    struct stk_job *all =
        status == STOKER_OK && kept ? stk_alloc_array(c->job_count + kept, sizeof *all) : NULL;
    if (!all) {
        status = kept && status == STOKER_OK ? stk_err_nomem(err) : status;
        for (size_t i = 0; i < kept; i++) {
            stk_job_free(&found[i]);
        }
    } else {
        memcpy(all, c->jobs, c->job_count * sizeof *all);
        memcpy(all + c->job_count, found, kept * sizeof *all);
        stk_free(c->jobs);
        c->jobs = all;
        c->job_count += kept;
        c->inputs->left_out -= kept;
    }
    return status == STOKER_OK && left_out ? note_left_out(c, left_out, err) : status;
}

enum stoker_status stk_beside_read(struct stk_collected *c,
                                   const struct stoker_why_options *options,
                                   const struct stk_view_hook *hook, struct stoker_err *err)
{
    size_t count = 0;
    struct stk_job *found = NULL;
    for (uint32_t i = c->inputs->taken; i < c->inputs->count; i++) {
        count += lies_beside(c, &c->inputs->entries[i]);
    }
    if (count == 0) {
        return STOKER_OK;
    }
    found = stk_alloc_zero(count, sizeof *found);
    if (!found) {
        return stk_err_nomem(err);
    }
    size_t n = 0;
    for (uint32_t i = c->inputs->taken; i < c->inputs->count; i++) {
        const struct stk_input *in = &c->inputs->entries[i];
        if (lies_beside(c, in)) {
            found[n++] =
                (struct stk_job){.path = in->path, .rank_hint = in->rank_hint, .is_found = true};
        }
    }
    // leave out a file that can't be read: the user didn't name it
    enum stoker_status status = stk_jobs_read(found, n, options, &c->select, hook, 0, err);
    if (status == STOKER_ENOMEM || status == STOKER_EINTR) {
        stk_jobs_free(found, n);
        return status;
    }
    stk_err_init(err);
    status = take(c, found, n, err);
    stk_free(found);
    return status;
}
