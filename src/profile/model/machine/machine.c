// SPDX-License-Identifier: Apache-2.0
// Samples of a record of the machine, by series; see machine.h. A track may hold several counters,
// and its events are in the order of time: two passes over them, one that counts and one that
// copies.
#include "profile/model/machine/machine.h"

#include "base/alloc.h"
#include "base/map.h"
#include "base/vec.h"
#include "profile/model/intervals.h"

#define SERIES_MAX (STK_SAMPLE_COUNT * ((size_t)1 << 17))

bool stk_machine_is_record(const struct stk_trace *t)
{
    struct stk_str producer = stk_strpool_get(&t->strings, t->producer);
    return stk_str_starts(producer, STK_STR(STK_SAMPLE_PRODUCER " "));
}

struct maker {
    const struct stk_trace *t;
    struct stk_arena *arena;
    uint8_t *sample_of;    // of a string: its counter, STK_SAMPLE_COUNT for none
    struct stk_map known;  // (track, counter) -> series
    struct stk_vec series; // struct stk_machine_series
};
_Static_assert(STK_SAMPLE_COUNT < 256, "a counter fits a byte");

static struct stk_machine_series *series_of(struct maker *m, uint32_t track,
                                            enum stk_sampled sample)
{
    const struct stk_track *k = &m->t->tracks[track];
    int created;
    uint32_t *at = stk_map_put(&m->known, track, sample, (uint32_t)m->series.count, &created);
    if (!at) {
        return NULL;
    }
    if (!created) {
        return stk_vec_at(&m->series, *at);
    }
    struct stk_machine_series *s = stk_vec_push(&m->series);
    struct stk_str name = stk_strpool_get(&m->t->strings, k->name);
    const char *copy = stk_arena_strndup(m->arena, name.p, name.n);
    if (!s || !copy) {
        return NULL;
    }
    *s = (struct stk_machine_series){.sample = sample,
                                     .process = m->t->processes[k->process].pid,
                                     .number = k->id,
                                     .name = copy};
    return s;
}

// Once for each sample, in the order of tracks and times: counts it, or copies it to its place.
static bool each_sample(struct maker *m, struct stk_machine *out)
{
    const struct stk_trace *t = m->t;
    for (uint32_t k = 0; k < t->track_count; k++) {
        const struct stk_track *track = &t->tracks[k];
        uint32_t of = track->parent == STK_NONE ? k : track->parent;
        for (uint32_t e = track->first; e < track->first + track->count; e++) {
            enum stk_sampled sample = m->sample_of[t->name[e]];
            const struct stk_detail *d = stk_detail_find(t, e, STK_DETAIL_VALUE);
            if (track->kind != STK_TRACK_COUNTER || sample == STK_SAMPLE_COUNT || !d ||
                !stk_sample_is_value(d->real)) {
                continue;
            }
            struct stk_machine_series *s = series_of(m, of, sample);
            if (!s) {
                return false;
            }
            if (out->value) {
                out->time_ns[s->first + s->count] = stk_add_ns(t->base_ns, t->start_ns[e]);
                out->value[s->first + s->count] =
                    stk_machine_is_whole(d->real) ? d->real : (double)(float)d->real;
            }
            s->count++;
        }
    }
    return true;
}

static bool place(struct maker *m, struct stk_machine *out)
{
    size_t total = 0;
    for (size_t i = 0; i < m->series.count; i++) {
        struct stk_machine_series *s = stk_vec_at(&m->series, i);
        s->first = (uint32_t)total;
        total += s->count;
        s->count = 0;
    }
    out->sample_count = (uint32_t)total;
    out->time_ns = stk_arena_array(m->arena, total + 1, sizeof *out->time_ns);
    out->value = stk_arena_array(m->arena, total + 1, sizeof *out->value);
    return out->time_ns && out->value;
}

static bool finish(struct maker *m, struct stk_machine *out)
{
    out->series_count = (uint32_t)m->series.count;
    out->series = stk_arena_array(m->arena, m->series.count + 1, sizeof *out->series);
    if (!out->series) {
        return false;
    }
    out->first_ns = INT64_MAX;
    out->last_ns = INT64_MIN;
    for (uint32_t i = 0; i < out->series_count; i++) {
        struct stk_machine_series *s = &out->series[i];
        *s = *(struct stk_machine_series *)stk_vec_at(&m->series, i);
        s->info = stk_sample_info(s->sample);
        int64_t first = out->time_ns[s->first], last = out->time_ns[s->first + s->count - 1];
        out->first_ns = first < out->first_ns ? first : out->first_ns;
        out->last_ns = last > out->last_ns ? last : out->last_ns;
        out->looks = s->sample == STK_SAMPLE_OF_TICK ? s : out->looks;
        out->scans = s->sample == STK_SAMPLE_OF_SCAN ? s : out->scans;
    }
    if (out->series_count == 0) {
        out->first_ns = out->last_ns = 0;
    }
    return true;
}

struct stk_machine *stk_machine_see(const struct stk_trace *t, struct stk_arena *arena)
{
    struct stk_machine *out = stk_arena_alloc(arena, sizeof *out);
    struct maker m = {.t = t, .arena = arena};
    m.sample_of = stk_alloc((size_t)t->strings.count + 1);
    stk_map_init(&m.known, SERIES_MAX);
    stk_vec_init(&m.series, sizeof(struct stk_machine_series), SERIES_MAX);
    bool ok = out && m.sample_of;
    for (uint32_t i = 0; ok && i < t->strings.count; i++) {
        struct stk_str name = stk_strpool_get(&t->strings, i);
        m.sample_of[i] = (uint8_t)stk_sample_find(name.p, name.n);
    }
    if (ok) {
        ok = each_sample(&m, out) && place(&m, out) && each_sample(&m, out) && finish(&m, out);
    }
    stk_free(m.sample_of);
    stk_map_deinit(&m.known);
    stk_vec_deinit(&m.series);
    return ok ? out : NULL;
}
