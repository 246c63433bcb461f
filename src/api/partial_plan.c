// SPDX-License-Identifier: Apache-2.0
// Plans (stoker/partial.h): which process reads which file of a job, for processes that don't share
// memory. The process that finds the files lists them, so that all agree, even if another machine
// lists a folder differently or later.
//
// A plan has a row per file: its share, its rank (from the name) and two flags, as text, then its
// path; each ends with a zero byte. Shares are assigned greedily: the largest file goes to the
// share with the fewest bytes, which is at most a third above the optimum.
#include "stoker/partial.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "answers/partial/partial.h"
#include "api/api.h"
#include "base/alloc.h"
#include "base/sort.h"

struct planned {
    const struct stk_job *job;
    uint64_t bytes;
    size_t index, share;
};

struct row {
    unsigned long share;
    long rank_hint;
    int is_numbered, is_found;
    const char *path;
};

static int largest_first(const void *pa, const void *pb)
{
    const struct planned *a = pa, *b = pb;
    return a->bytes != b->bytes  ? (a->bytes < b->bytes ? 1 : -1)
           : a->index < b->index ? -1
                                 : a->index > b->index;
}

static bool settle_shares(struct planned *files, size_t count, size_t shares)
{
    uint64_t *bytes = stk_alloc_zero(shares, sizeof *bytes);
    if (!bytes) {
        return false;
    }
    stk_sort(files, count, sizeof *files, largest_first);
    for (size_t i = 0; i < count; i++) {
        size_t least = 0;
        for (size_t k = 1; k < shares; k++) {
            least = bytes[k] < bytes[least] ? k : least;
        }
        files[i].share = least;
        bytes[least] += files[i].bytes + 1; // spread files of unknown size, too
    }
    stk_free(bytes);
    return true;
}

static void put_row(struct stk_sink *sink, const struct planned *f)
{
    stk_sink_printf(sink, "%zu %ld %d %d", f->share, (long)f->job->rank_hint, f->job->is_numbered,
                    f->job->is_found);
    stk_sink_put(sink, "", 1);
    stk_sink_put(sink, f->job->path, strlen(f->job->path) + 1);
}

static enum stoker_status put_plan(const struct stk_collected *c, size_t shares,
                                   stoker_write_fn write, void *arg, struct stoker_err *err)
{
    struct planned *files = stk_alloc_array(c->job_count + 1, sizeof *files);
    struct stk_sink sink;
    for (size_t i = 0; files && i < c->job_count; i++) {
        struct stat st;
        bool is_file = stat(c->jobs[i].path, &st) == 0 && S_ISREG(st.st_mode);
        files[i] = (struct planned){&c->jobs[i], is_file ? (uint64_t)st.st_size : 0, i, 0};
    }
    if (!files || !settle_shares(files, c->job_count, shares)) {
        stk_free(files);
        return stk_err_nomem(err);
    }
    stk_sink_init(&sink, write, arg);
    for (size_t i = 0; i < c->job_count; i++) {
        put_row(&sink, &files[i]);
    }
    stk_free(files);
    return stk_sink_finish(&sink, err);
}

enum stoker_status stoker_plan_make(const char *const *paths, size_t count,
                                    const struct stoker_why_options *options, size_t shares,
                                    stoker_write_fn write, void *arg, struct stoker_err *err)
{
    struct stoker_why_options defaults;
    struct stk_collected c = {0};
    if (!paths || count == 0 || !write || shares == 0) {
        return stk_err_misuse(err, "stoker_plan_make needs paths, shares and a callback");
    }
    stoker_why_options_default(&defaults);
    err = stk_err_begin(err, &(struct stoker_err){0});
    stk_arena_init(&c.arena, 0);
    enum stoker_status status =
        stk_collect_find(&c, paths, count, options ? options : &defaults, err);
    for (size_t i = 0; i < c.job_count && status == STOKER_OK; i++) {
        if (strcmp(c.jobs[i].path, "-") == 0) {
            status = stk_err_set(err, STOKER_EUSAGE,
                                 "standard input (-) can't be shared by processes: name files");
        }
    }
    status = status == STOKER_OK ? stk_partials_check(&c.select, err) : status;
    status = status == STOKER_OK ? put_plan(&c, shares, write, arg, err) : status;
    stk_free(c.jobs); // nothing was read
    stk_arena_deinit(&c.arena);
    return status == STOKER_OK ? STOKER_OK : stk_err_fail(err);
}

// The row of file k of a share. False: no such row, or the bytes aren't a plan.
static bool find_row(const char *plan, size_t size, size_t share, size_t k, struct row *row)
{
    const char *end = plan + size;
    for (const char *p = plan; p < end;) {
        const char *numbers = p, *path = memchr(p, 0, (size_t)(end - p));
        const char *last = path && ++path < end ? memchr(path, 0, (size_t)(end - path)) : NULL;
        if (!last || sscanf(numbers, "%lu %ld %d %d", &row->share, &row->rank_hint,
                            &row->is_numbered, &row->is_found) != 4) {
            return false;
        }
        row->path = path;
        if (row->share == share && k-- == 0) {
            return true;
        }
        p = last + 1;
    }
    return false;
}

const char *stoker_plan_file(const char *plan, size_t size, size_t share, size_t k)
{
    struct row row;
    return plan && find_row(plan, size, share, k, &row) ? row.path : NULL;
}

// Makes a failed job report its reason, as if all were read at once.
static enum stoker_status fail_job(struct stk_collected *c, const char *why, struct stoker_err *err)
{
    struct stk_job *job = &c->jobs[0];
    if (!job->is_decoded && job->info.path == NULL) {
        stk_arena_init(&job->arena, 0);
        job->info.path = job->path;
    }
    if (why) {
        stk_err_set(&job->err, STOKER_EINPUT, "%s", why);
        job->status = STOKER_EINPUT;
    }
    return stk_job_note_failure(job) ? STOKER_OK : stk_err_nomem(err);
}

static enum stoker_status
read_file(struct stk_collected *c, const struct stoker_why_options *options, struct stoker_err *err)
{
    enum stoker_status status = stk_partials_expand(c, &stk_partial_hook, err);
    if (status == STOKER_OK) {
        status =
            stk_jobs_read(c->jobs, c->job_count, options, &c->select, &stk_partial_hook, 0, err);
    }
    if (status == STOKER_OK || status == STOKER_ENOMEM || status == STOKER_EINTR) {
        return status;
    }
    struct stoker_err own = *err;
    bool was_read = c->jobs[0].info.path != NULL; // else its partial failed
    c->jobs[0].status = status;
    c->jobs[0].err = own;
    return fail_job(c, was_read ? NULL : own.message, err);
}

enum stoker_status stoker_plan_read(const char *plan, size_t size, size_t share, size_t k,
                                    const char *failed, const struct stoker_why_options *options,
                                    stoker_write_fn write, void *arg, struct stoker_err *err)
{
    struct row row;
    struct stoker_why_options defaults;
    struct stk_collected c = {0};
    if (!plan || !write || !find_row(plan, size, share, k, &row)) {
        return stk_err_misuse(err, "stoker_plan_read needs a file of a plan and a callback");
    }
    stoker_why_options_default(&defaults);
    err = stk_err_begin(err, &(struct stoker_err){0});
    stk_arena_init(&c.arena, 0);
    c.jobs = stk_alloc_zero(1, sizeof *c.jobs);
    enum stoker_status status = c.jobs ? STOKER_OK : stk_err_nomem(err);
    if (status == STOKER_OK) {
        c.job_count = 1;
        c.jobs[0] = (struct stk_job){.path = row.path,
                                     .rank_hint = (int32_t)row.rank_hint,
                                     .is_numbered = row.is_numbered,
                                     .is_found = row.is_found};
        status =
            failed ? fail_job(&c, failed, err) : read_file(&c, options ? options : &defaults, err);
    }
    status = status == STOKER_OK ? stk_partials_write(&c, write, arg, err) : status;
    stk_collected_free(&c);
    return status == STOKER_OK ? STOKER_OK : stk_err_fail(err);
}
