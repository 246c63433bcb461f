// SPDX-License-Identifier: Apache-2.0
// A timeline in a file, so that profiles viewed before open at once: traces, tracks and index as in
// memory (base/frozen.h), for this build on this machine. What needs the model they came from,
// mainly SQL, reads the profiles.
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "api/timeline_open.h"
#include "base/alloc.h"
#include "base/atomic_file.h"
#include "answers/query/query_frozen.h"
#include "results/print/document.h"
#include "profile/store/trace_frozen.h"
#include "stoker/version.h"

// Changes with the layout of what is stored; the version changes with its meaning.
static void name_builder(char out[STK_FROZEN_BUILDER])
{
    snprintf(out, STK_FROZEN_BUILDER, "%.24s %zu %zu %zu %zu %d %zu", stoker_version(),
             sizeof(struct stk_trace), sizeof(struct stk_tl_trace), sizeof(struct stk_ext),
             sizeof(struct stk_launch_config), STK_KIND_COUNT, sizeof(struct stk_ribbon_piece));
}

static int take_bytes(void *arg, const char *bytes, size_t n)
{
    char *to = stk_vec_push_n(arg, n);
    if (to && n) {
        memcpy(to, bytes, n);
    }
    return to ? 0 : -1;
}

static void freeze_profile(const struct stoker_profiles *p, struct stk_frost *f)
{
    struct stk_vec text;
    struct stk_sink sink;
    struct stoker_err err;
    stk_vec_init(&text, 1, PTRDIFF_MAX);
    stk_sink_init(&sink, take_bytes, &text);
    stk_json_document(&stk_rep_profile_info, stk_profiles_described(p), false, &sink);
    f->failed |= stk_sink_finish(&sink, &err) != STOKER_OK;
    if (text.count) {
        *(char *)stk_vec_at(&text, text.count - 1) = 0; // replaces the line end
    }
    stk_frost_put(f, text.items, text.count, 1);
    stk_vec_deinit(&text);
}

static void freeze(const struct stoker_timeline *t, const struct stoker_blob *note,
                   struct stk_frost *f)
{
    const struct stk_open_run *run = stk_profiles_run(t->profiles);
    stk_frost_put(f, note->data, note->size, 1);
    stk_query_freeze(t->index.q, f);
    stk_timeline_freeze(&t->index, f);
    stk_frost_put(f, &run->rank_count, 1, sizeof run->rank_count);
    for (uint32_t r = 0; r < run->rank_count; r++) {
        stk_text_freeze(f, run->ranks[r].job->path);
    }
    freeze_profile(t->profiles, f);
}

enum stoker_status stoker_timeline_save(const struct stoker_timeline *timeline, const char *path,
                                        const struct stoker_blob *note,
                                        int (*interrupted)(void *arg), void *arg,
                                        struct stoker_err *err)
{
    struct stk_atomic_file file;
    struct stk_frost frost;
    char builder[STK_FROZEN_BUILDER];
    if (!timeline || !path || !note || !timeline->profiles) {
        return stk_err_misuse(err, "stoker_timeline_save needs a timeline made from open "
                                   "profiles, a path and a note");
    }
    err = stk_err_begin(err, &(struct stoker_err){0});
    int failed = stk_atomic_file_open(&file, path);
    if (failed) {
        stk_err_set(err, STOKER_EOUTPUT, "%s can't be written: %s", path, strerror(failed));
        return stk_err_fail(err);
    }
    name_builder(builder);
    stk_frost_begin(&frost, file.fd);
    frost.failed |= fchmod(file.fd, 0600) != 0; // stk_thaw_open accepts no other mode
    frost.interrupted = interrupted;
    frost.arg = arg;
    freeze(timeline, note, &frost);
    bool is_whole = stk_frost_end(&frost, builder);
    failed = stk_atomic_file_close(&file, is_whole);
    if (!is_whole || failed) {
        stk_err_set(err, STOKER_EOUTPUT, "%s can't be written%s%s", path, failed ? ": " : "",
                    failed ? strerror(failed) : "");
        return stk_err_fail(err);
    }
    return stk_err_end(err, STOKER_OK);
}

static enum stoker_status fetch_args(void *arg, uint32_t rank, uint32_t event, stk_emit_fn *emit,
                                     void *emit_arg, struct stoker_err *err)
{
    struct stk_timeline_file *file = arg;
    for (uint32_t i = 0; i < file->query->trace_count; i++) {
        if (file->query->traces[i].rank == rank && rank < file->rank_count) {
            return stk_query_args_fetch(&file->args, file->paths[rank], file->query->traces[i].t,
                                        event, emit, emit_arg, err);
        }
    }
    return stk_err_set(err, STOKER_EUSAGE, "no such rank");
}

static enum stoker_status thaw(struct stoker_timeline *t, struct stoker_blob *note,
                               struct stoker_err *err)
{
    struct stk_timeline_file *file = t->file;
    size_t n;
    const char *bytes = stk_thaw_take(&file->map, 1, &n);
    enum stoker_status status = stk_query_thaw(&file->query, &file->map, err);
    if (status == STOKER_OK) {
        status = stk_timeline_thaw(&t->index, file->query, &file->map, err);
    }
    if (status != STOKER_OK) {
        return status;
    }
    const uint32_t *ranks = stk_thaw_array(&file->map, sizeof *ranks, 1);
    file->rank_count = file->map.failed ? 0 : *ranks;
    file->paths =
        stk_arena_array(&file->query->arena, (size_t)file->rank_count + 1, sizeof *file->paths);
    for (uint32_t r = 0; r < file->rank_count && file->paths; r++) {
        file->paths[r] = stk_text_thaw(&file->map);
    }
    file->profile_json = stk_text_thaw(&file->map);
    note->data = stk_alloc(n + 1);
    if (!note->data || !file->paths) {
        return stk_err_nomem(err);
    }
    memcpy(note->data, bytes, n);
    note->data[n] = 0;
    note->size = n;
    file->query->source.args = fetch_args;
    file->query->source.arg = file;
    return file->map.failed ? stk_err_set(err, STOKER_EMISSING, "the index is incomplete")
                            : STOKER_OK;
}

enum stoker_status stoker_timeline_load(const char *path, struct stoker_timeline **out,
                                        struct stoker_blob *note, struct stoker_err *err)
{
    char builder[STK_FROZEN_BUILDER];
    if (!path || !out || !note) {
        return stk_err_misuse(err, "stoker_timeline_load needs a path, and pointers for the "
                                   "timeline and the note");
    }
    *out = NULL;
    *note = (struct stoker_blob){.data = NULL};
    err = stk_err_begin(err, &(struct stoker_err){0});
    struct stoker_timeline *t = stk_alloc_zero(1, sizeof *t);
    struct stk_timeline_file *file = stk_alloc_zero(1, sizeof *file);
    if (!t || !file) {
        stk_free(t);
        stk_free(file);
        return stk_err_nomem(err);
    }
    t->file = file;
    name_builder(builder);
    enum stoker_status status = stk_thaw_open(&file->map, path, builder, err);
    if (status == STOKER_OK) {
        status = thaw(t, note, err);
    }
    if (status != STOKER_OK) {
        stoker_blob_free(note);
        stoker_timeline_free(t);
        return stk_err_fail(err);
    }
    *out = t;
    return stk_err_end(err, STOKER_OK);
}
