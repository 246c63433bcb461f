// SPDX-License-Identifier: Apache-2.0
// Restores jobs from partial results (answers/partial/partial.h): reads what partial_write.c
// stored, instead of the profiles.
//
// Jobs from partials are sorted like paths given together (inputs.c), so the order of partials, and
// how they were merged, doesn't matter. An item that occurs twice, byte for byte, is one profile
// that was merged twice, and is taken once.
#include <string.h>

#include "answers/partial/partial.h"
#include "answers/passes/diff/diff.h"
#include "answers/replay/graph.h"
#include "api/api.h"
#include "api/inputs_impl.h"
#include "base/alloc.h"
#include "base/sort.h"
#include "base/stream.h"
#include "stoker/version.h"

struct expansion {
    struct stk_collected *c;
    const struct stk_view_hook *hook;
    struct stk_vec jobs; // struct stk_job: from partials, and the others
    struct stk_map seen; // (hash, size) of items
    bool any, has_streams;
};

void *stk_partial_keep(const struct stk_view_hook *hook, struct stk_partial_kept *kept)
{
    return hook == &stk_partial_hook ? kept
           : !kept                   ? NULL
           : hook == &stk_diff_hook  ? kept->names
                                     : kept->graph;
}

static void fill_job(struct stk_job *job, const struct stk_partial_item *item,
                     const struct stk_view_hook *hook)
{
    job->path = item->path;
    job->is_numbered = item->is_numbered;
    job->is_found = item->is_found;
    job->info = *item->info;
    job->info.path = item->path;
    job->ranks = item->ranks;
    job->rank_count = item->rank_count;
    job->workers = *item->workers;
    job->machine = item->machine;
    job->status = (enum stoker_status)item->status;
    if (job->status != STOKER_OK) {
        const char *note = job->info.issue_notes[STK_ISSUE_INPUT_FAILED];
        stk_err_set(&job->err, job->status, "%s", note ? note : "could not be read");
    }
    for (uint32_t i = 0; i < job->rank_count; i++) {
        job->ranks[i]->partial = stk_partial_keep(hook, job->ranks[i]->partial);
        if (!hook->diagnoses) { // as if it had been read for this command
            job->ranks[i]->slow_stage = (struct stk_slow_stage){0};
        }
    }
}

// The job of an item, unless it was already taken. The job owns its memory.
static enum stoker_status take_item(struct expansion *x, const struct stk_partial_packed *packed,
                                    struct stk_arena *arena, struct stoker_err *err)
{
    int created = 0;
    uint64_t hash = stk_hash_bytes(packed->bytes, packed->size);
    if (!stk_map_put(&x->seen, hash, packed->size, 0, &created)) {
        return stk_err_nomem(err);
    }
    if (!created) {
        stk_arena_deinit(arena);
        return STOKER_OK;
    }
    struct stk_job *job = stk_vec_push(&x->jobs);
    if (!job) {
        return stk_err_nomem(err);
    }
    job->arena = *arena;
    *arena = (struct stk_arena){0};
    stk_err_init(&job->err);
    job->is_decoded = true;
    job->path = job->info.path = packed->path;
    job->rank_hint = packed->rank_hint;
    if (x->hook == &stk_partial_hook) { // it is merged unchanged
        struct stk_partial_packed *kept = stk_arena_alloc(&job->arena, sizeof *kept);
        if (!kept) {
            return stk_err_nomem(err);
        }
        *kept = *packed;
        job->packed = kept;
        job->info.read = 1; // nonzero is enough: events were read
        return STOKER_OK;
    }
    struct stk_partial_item item;
    struct stk_arena bytes = job->arena; // the packed ones aren't needed any more
    stk_arena_init(&job->arena, 0);
    enum stoker_status status = stk_partial_unpack(packed, &job->arena, &item, err);
    if (status == STOKER_OK) {
        fill_job(job, &item, x->hook);
    }
    stk_arena_deinit(&bytes);
    return status;
}

static enum stoker_status take_file(struct expansion *x, struct stk_partial_file *f,
                                    const char *path, struct stoker_err *err)
{
    enum stoker_status status = STOKER_OK;
    for (size_t taken = 0; status == STOKER_OK; taken++) {
        struct stk_arena arena;
        struct stk_partial_packed packed;
        stk_arena_init(&arena, 0);
        status = stk_partial_next(f, &arena, &packed, err);
        if (status == STOKER_OK && packed.size == 0) {
            stk_arena_deinit(&arena);
            return taken ? STOKER_OK
                         : stk_err_set(err, STOKER_EINPUT, "%s: the partial has no profile", path);
        }
        if (status == STOKER_OK) {
            status = take_item(x, &packed, &arena, err);
        }
        stk_arena_deinit(&arena);
    }
    return status;
}

// A file that isn't a partial stays: reading it will say what is wrong. Takes the stream.
static enum stoker_status keep_job(struct expansion *x, const struct stk_job *job,
                                   struct stk_stream *stream, struct stoker_err *err)
{
    struct stk_job *same = stk_vec_push(&x->jobs);
    if (!same) {
        stk_stream_close(stream);
        return stk_err_nomem(err);
    }
    *same = *job;
    same->stream = stream;
    x->has_streams |= stream != NULL;
    if (strcmp(job->path, "-") == 0 && x->c->stdin_name) {
        same->path = x->c->stdin_name;
        same->rank_hint = stk_inputs_rank_of_name(stk_input_base(same->path).p);
    }
    return STOKER_OK;
}

// Takes a job unchanged, or those in its partial.
static enum stoker_status take_job(struct expansion *x, const struct stk_job *job,
                                   struct stoker_err *err)
{
    struct stk_partial_file *f = NULL;
    struct stk_stream *rest = NULL;
    enum stoker_status status = stk_partial_open(job->path, stoker_version(), &f, &rest, err);
    if (status == STOKER_OK && f) {
        x->any = true;
        status = take_file(x, f, job->path, err);
    } else if (status == STOKER_OK) {
        status = keep_job(x, job, rest, err);
    }
    stk_partial_close(f);
    return status;
}

static int by_rank_and_path(const void *pa, const void *pb)
{
    const struct stk_job *a = pa, *b = pb;
    if (a->rank_hint != b->rank_hint) {
        return (uint32_t)a->rank_hint < (uint32_t)b->rank_hint ? -1 : 1;
    }
    return stk_input_compare(a->path, b->path);
}

enum stoker_status stk_partials_check(const struct stk_select *s, struct stoker_err *err)
{
    const char *option = s->has_steps    ? "--steps"
                         : s->has_device ? "--device"
                         : s->has_from   ? "--from"
                         : s->has_to     ? "--to"
                                         : NULL;
    return option ? stk_err_set(err, STOKER_EUSAGE,
                                "%s: a partial has only sums over the whole recording: give the "
                                "profiles instead, or leave the option out",
                                option)
                  : STOKER_OK;
}

static void drop(struct expansion *x)
{
    for (size_t i = 0; i < x->jobs.count; i++) {
        struct stk_job *job = stk_vec_at(&x->jobs, i);
        stk_stream_close(job->stream);
        if (job->is_decoded) {
            stk_arena_deinit(&job->arena);
        }
    }
}

// Replaces the jobs by those of x, in their order.
static enum stoker_status put_back(struct expansion *x, struct stoker_err *err)
{
    struct stk_collected *c = x->c;
    struct stk_job *jobs = stk_alloc_array(x->jobs.count + 1, sizeof *jobs);
    if (!jobs) {
        return stk_err_nomem(err);
    }
    stk_sort(x->jobs.items, x->jobs.count, sizeof *jobs, by_rank_and_path);
    memcpy(jobs, x->jobs.items, x->jobs.count * sizeof *jobs);
    stk_free(c->jobs);
    c->jobs = jobs;
    c->job_count = x->jobs.count;
    return STOKER_OK;
}

static bool holds_for(const struct stk_view_hook *hook)
{
    return hook == &stk_replay_brief_hook || hook == &stk_diff_hook || hook == &stk_partial_hook;
}

enum stoker_status stk_partials_expand(struct stk_collected *c, const struct stk_view_hook *hook,
                                       struct stoker_err *err)
{
    if (!holds_for(hook)) {
        return STOKER_OK;
    }
    struct expansion x = {.c = c, .hook = hook};
    stk_vec_init(&x.jobs, sizeof(struct stk_job), STK_PARTIAL_ITEMS_MAX + STK_INPUTS_FILES_MAX);
    stk_map_init(&x.seen, STK_PARTIAL_ITEMS_MAX + STK_INPUTS_FILES_MAX);
    enum stoker_status status = STOKER_OK;
    for (size_t i = 0; i < c->job_count && status == STOKER_OK; i++) {
        status = take_job(&x, &c->jobs[i], err);
    }
    if (status == STOKER_OK && x.any) {
        status = stk_partials_check(&c->select, err);
    }
    if (status == STOKER_OK && (x.any || x.has_streams)) {
        status = put_back(&x, err);
    }
    if (status != STOKER_OK) {
        drop(&x);
    }
    stk_vec_deinit(&x.jobs);
    stk_map_deinit(&x.seen);
    return status;
}
