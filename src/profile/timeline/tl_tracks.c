// SPDX-License-Identifier: Apache-2.0
// The tracks as a viewer lists them, with group and label; and the names of events by id.
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "profile/timeline/timeline.h"
#include "results/print/document.h"
#include "results/view.h"

// Whether most events of a track and its sub-rows are of the kind.
static bool is_mostly(const struct stk_tl_trace *x, uint32_t root, enum stk_kind kind)
{
    const struct stk_tl_track *track = &x->tracks[root];
    uint32_t found = 0;
    for (uint32_t r = 0; r < track->row_count; r++) {
        const struct stk_tl_row *row = &x->rows[track->first_row + r];
        for (uint32_t at = row->first; at < row->end; at++) {
            found += x->t->kind[stk_tl_event(x, row, at)] == kind;
        }
    }
    return found > track->event_count / 2;
}

static const char *group_of(const struct stk_tl_trace *x, uint32_t root)
{
    switch (x->t->tracks[root].kind) {
    case STK_TRACK_STREAM:
        return is_mostly(x, root, STK_KIND_COLLECTIVE) ? "comm" : "device";
    case STK_TRACK_THREAD:
        return is_mostly(x, root, STK_KIND_INPUT) ? "input" : "host";
    case STK_TRACK_COUNTER:
        return "counter";
    default:
        return "other";
    }
}

// "stream 7", followed by the recorded name if that adds anything; the device or the rank first if
// there are several.
static void label_of(const struct stk_timeline *t, const struct stk_tl_trace *x, uint32_t root,
                     char *out, size_t size)
{
    const struct stk_track *track = &x->t->tracks[root];
    const struct stk_query_track *known = &x->x->tracks[root];
    struct stk_str name = stk_strpool_get(&x->t->strings, track->name);
    char front[64] = "", number[64];
    if (known->device) {
        snprintf(front, sizeof front, "%.40s ", known->device);
    } else if (known->rank >= 0 && t->q->source.rank_count > 1) {
        snprintf(front, sizeof front, "rank %d ", (int)known->rank);
    }
    snprintf(number, sizeof number, "%s %lld",
             track->kind == STK_TRACK_STREAM ? "stream" : "thread", (long long)track->id);
    bool has_number = track->id != -1 && track->id != UINT32_MAX; // profilers' values for "none"
    if (!has_number) {
        snprintf(number, sizeof number, "events of no %s",
                 track->kind == STK_TRACK_STREAM ? "stream" : "thread");
    }
    if (name.n) {
        snprintf(out, size, "%s%.*s", front, name.n < 400 ? (int)name.n : 400, name.p);
    } else {
        snprintf(out, size, "%s%s", front, number);
    }
}

static bool fill_tracks(const struct stk_timeline *t, struct stk_arena *arena,
                        struct stk_list *list)
{
    size_t count = 0;
    for (uint32_t i = 0; i < t->trace_count; i++) {
        count += t->traces[i].t->track_count;
    }
    struct stk_view_doc_track *rows = stk_list_room(arena, list, count, sizeof *rows);
    for (uint32_t i = 0; rows && i < t->trace_count; i++) {
        const struct stk_tl_trace *x = &t->traces[i];
        for (uint32_t root = 0; root < x->t->track_count; root++) {
            const struct stk_query_track *known = &x->x->tracks[root];
            char label[512];
            if (!x->tracks[root].event_count) {
                continue;
            }
            label_of(t, x, root, label, sizeof label);
            rows[list->count] = (struct stk_view_doc_track){.id = stk_query_id(x->index, root),
                                                            .label = stk_arena_strdup(arena, label),
                                                            .group = group_of(x, root),
                                                            .has_rank = known->rank >= 0,
                                                            .rank = known->rank,
                                                            .device = known->device,
                                                            .rows = x->tracks[root].row_count,
                                                            .events = x->tracks[root].event_count};
            if (!rows[list->count++].label) {
                return false;
            }
        }
    }
    return rows != NULL;
}

// The run's time at which each trace's own clock is zero.
static bool fill_clocks(const struct stk_timeline *t, struct stk_arena *arena,
                        struct stk_list *list)
{
    struct stk_view_doc_clock *rows = stk_list_room(arena, list, t->trace_count, sizeof *rows);
    for (uint32_t i = 0; rows && i < t->trace_count; i++) {
        const struct stk_tl_trace *x = &t->traces[i];
        int32_t rank = -1;
        for (uint32_t k = 0; k < x->t->track_count && rank < 0; k++) {
            rank = x->x->tracks[k].taken ? x->x->tracks[k].rank : -1;
        }
        rows[list->count++] = (struct stk_view_doc_clock){
            .has_rank = rank >= 0, .rank = rank, .zero_ns = x->x->shift_ns};
    }
    return rows != NULL;
}

enum stoker_status stk_tl_tracks_json(const struct stk_timeline *t, struct stk_sink *to,
                                      struct stoker_err *err)
{
    struct stk_view_doc_tracks doc = {
        .has_timeline = true, .first_ns = t->first_ns, .last_ns = t->last_ns, .events = t->events};
    struct stk_arena arena;
    stk_arena_init(&arena, 0);
    bool ok = fill_clocks(t, &arena, &doc.clocks) && fill_tracks(t, &arena, &doc.tracks);
    if (ok) {
        stk_json_document(&stk_view_doc_tracks_info, &doc, false, to);
    }
    stk_arena_deinit(&arena);
    return ok ? STOKER_OK : stk_err_nomem(err);
}

static const struct stk_tl_trace *trace_of_name(const struct stk_timeline *t, int64_t id)
{
    for (uint32_t i = 0; i < t->trace_count; i++) {
        const struct stk_tl_trace *x = &t->traces[i];
        if (id >= x->name_base && id - x->name_base < x->t->strings.count) {
            return x;
        }
    }
    return NULL;
}

enum stoker_status stk_tl_names_json(const struct stk_timeline *t, const int64_t *ids, size_t count,
                                     struct stk_sink *to, struct stoker_err *err)
{
    struct stk_arena arena;
    struct stk_view_names doc = {.names = {.count = 0}};
    stk_arena_init(&arena, 0);
    struct stk_entry *entries = stk_list_room(&arena, &doc.names, count, sizeof *entries);
    bool ok = entries != NULL;
    for (size_t i = 0; ok && i < count; i++) {
        const struct stk_tl_trace *x = trace_of_name(t, ids[i]);
        if (x) {
            const char *key = stk_arena_printf(&arena, "%lld", (long long)ids[i]);
            const char *name = stk_strpool_get(&x->t->strings, (uint32_t)(ids[i] - x->name_base)).p;
            entries[doc.names.count++] = (struct stk_entry){.key = key, .text = name};
            ok = key != NULL;
        }
    }
    if (ok) {
        stk_json_document(&stk_view_names_info, &doc, false, to);
    }
    stk_arena_deinit(&arena);
    return ok ? STOKER_OK : stk_err_nomem(err);
}
