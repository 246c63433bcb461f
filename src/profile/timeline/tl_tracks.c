// SPDX-License-Identifier: Apache-2.0
// The tracks as a viewer lists them: which group each belongs to, what it is called; and the names
// of events by id.
#include <stdio.h>
#include <string.h>

#include "profile/timeline/timeline.h"

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

// "stream 7", with the recorded name behind it where that says more; the device or the rank in
// front where there are several.
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
    if (name.n) {
        snprintf(out, size, "%s%.*s", front, name.n < 400 ? (int)name.n : 400, name.p);
    } else {
        snprintf(out, size, "%s%s", front, number);
    }
}

static void track_json(const struct stk_timeline *t, const struct stk_tl_trace *x, uint32_t root,
                       struct stk_json *j)
{
    const struct stk_query_track *known = &x->x->tracks[root];
    char label[512];
    label_of(t, x, root, label, sizeof label);
    stk_json_open(j, '{', true);
    stk_json_key(j, "id");
    stk_json_i64(j, stk_query_id(x->index, root));
    stk_json_key(j, "label");
    stk_json_text(j, label);
    stk_json_key(j, "group");
    stk_json_text(j, group_of(x, root));
    stk_json_key(j, "rank");
    if (known->rank >= 0) {
        stk_json_i64(j, known->rank);
    } else {
        stk_json_null(j);
    }
    stk_json_key(j, "device");
    if (known->device) {
        stk_json_text(j, known->device);
    } else {
        stk_json_null(j);
    }
    stk_json_key(j, "rows");
    stk_json_u64(j, x->tracks[root].row_count);
    stk_json_key(j, "events");
    stk_json_u64(j, x->tracks[root].event_count);
    stk_json_close(j, '}');
}

// Where the zero of each trace's own clock lies in the time of the run.
static void clocks_json(const struct stk_timeline *t, struct stk_json *j)
{
    stk_json_key(j, "clocks");
    stk_json_open(j, '[', false);
    for (uint32_t i = 0; i < t->trace_count; i++) {
        const struct stk_tl_trace *x = &t->traces[i];
        int32_t rank = -1;
        for (uint32_t k = 0; k < x->t->track_count && rank < 0; k++) {
            rank = x->x->tracks[k].taken ? x->x->tracks[k].rank : -1;
        }
        stk_json_open(j, '{', true);
        stk_json_key(j, "rank");
        if (rank >= 0) {
            stk_json_i64(j, rank);
        } else {
            stk_json_null(j);
        }
        stk_json_key(j, "zero_ns");
        stk_json_i64(j, x->x->shift_ns);
        stk_json_close(j, '}');
    }
    stk_json_close(j, ']');
}

void stk_tl_tracks_json(const struct stk_timeline *t, struct stk_json *j)
{
    stk_json_open(j, '{', false);
    stk_json_key(j, "first_ns");
    stk_json_i64(j, t->first_ns);
    stk_json_key(j, "last_ns");
    stk_json_i64(j, t->last_ns);
    stk_json_key(j, "events");
    stk_json_u64(j, t->events);
    clocks_json(t, j);
    stk_json_key(j, "tracks");
    stk_json_open(j, '[', false);
    for (uint32_t i = 0; i < t->trace_count; i++) {
        const struct stk_tl_trace *x = &t->traces[i];
        for (uint32_t k = 0; k < x->t->track_count; k++) {
            if (x->tracks[k].event_count) {
                track_json(t, x, k, j);
            }
        }
    }
    stk_json_close(j, ']');
    stk_json_close(j, '}');
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

void stk_tl_names_json(const struct stk_timeline *t, const int64_t *ids, size_t count,
                       struct stk_json *j)
{
    stk_json_open(j, '{', false);
    stk_json_key(j, "names");
    stk_json_open(j, '{', false);
    for (size_t i = 0; i < count; i++) {
        const struct stk_tl_trace *x = trace_of_name(t, ids[i]);
        if (x) {
            char key[32];
            snprintf(key, sizeof key, "%lld", (long long)ids[i]);
            stk_json_key(j, key);
            stk_json_text(j, stk_strpool_get(&x->t->strings, (uint32_t)(ids[i] - x->name_base)).p);
        }
    }
    stk_json_close(j, '}');
    stk_json_close(j, '}');
}
