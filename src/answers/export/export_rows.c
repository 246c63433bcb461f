// SPDX-License-Identifier: Apache-2.0
// Selects and names the rows of a trace, and merges the events of a track with sub-rows by time
// (with a heap of the rows by their next event; of events that start together, the longest comes
// first, as within a row).
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/text.h"
#include "answers/export/export.h"

bool stk_export_takes_track(const struct stk_export *x, const struct stk_export_file *f,
                            const struct stk_track *track)
{
    if (track->count == 0 || !f->processes[track->process].taken) {
        return false;
    }
    return !x->has_device || track->device == STK_NONE ||
           f->t->devices[track->device].ordinal == x->device;
}

static size_t rows_clamp(int n, size_t size)
{
    return n < 0 ? 0 : (size_t)n < size ? (size_t)n : size - 1;
}

static const char *noun_of(const struct stk_track *track)
{
    switch (track->kind) {
    case STK_TRACK_THREAD:
        return "thread";
    case STK_TRACK_STREAM:
        return "stream";
    case STK_TRACK_COUNTER:
        return "counter";
    default:
        return "line";
    }
}

// Whether the name already begins with the row's label: "thread 7 (loader)", "stream 7 ", "Stream
// #7".
static bool says_itself(struct stk_str name, const char *noun, int64_t id)
{
    char text[48];
    const char *const marks[] = {"", "#"};
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
        snprintf(text, sizeof text, "%s %s%" PRId64, noun, marks[i], id);
        struct stk_str form = stk_str_from(text);
        if (stk_str_starts_nocase(name, form) &&
            (name.n == form.n || name.p[form.n] < '0' || name.p[form.n] > '9')) {
            return true;
        }
    }
    return false;
}

size_t stk_export_track_name(const struct stk_export_file *f, uint32_t track, char *buffer,
                             size_t size)
{
    const struct stk_track *k = &f->t->tracks[track];
    uint32_t root = k->parent == STK_NONE ? track : k->parent;
    const struct stk_track *own = &f->t->tracks[root];
    struct stk_str name = stk_export_text(f, own->name);
    const char *noun = noun_of(own);
    while (name.n && name.p[name.n - 1] == ' ') {
        name.n--;
    }
    int shown = (int)(name.n < 200 ? name.n : 200);
    bool numbered = own->kind == STK_TRACK_THREAD || own->kind == STK_TRACK_STREAM;
    int n;
    if (numbered && name.n && !says_itself(name, noun, own->id)) {
        n = snprintf(buffer, size, "%s %" PRId64 " (%.*s)", noun, own->id, shown, name.p);
    } else if (name.n) {
        n = snprintf(buffer, size, "%.*s", shown, name.p);
    } else {
        n = snprintf(buffer, size, "%s %" PRId64, noun, own->id);
    }
    size_t used = rows_clamp(n, size);
    if (root != track) {
        used +=
            rows_clamp(snprintf(buffer + used, size - used, " (row %" PRIu32 ")", track - root + 1),
                       size - used);
    }
    return used;
}

size_t stk_export_device_label(const struct stk_export *x, const struct stk_export_file *f,
                               uint32_t device, char *buffer, size_t size)
{
    static const char *const nouns[] = {
        [STK_DEVICE_GPU] = "GPU", [STK_DEVICE_TPU] = "TPU", [STK_DEVICE_OTHER] = "device"};
    const struct stk_device *d = &f->t->devices[device];
    const struct stk_export_process *p = &f->processes[d->process];
    struct stk_str name = stk_export_text(f, d->name);
    char rank[32] = "";
    if (x->rank_count > 1 && p->rank >= 0) {
        snprintf(rank, sizeof rank, "rank %" PRId32 ": ", p->rank);
    }
    int shown = (int)(name.n < 100 ? name.n : 100);
    int n = name.n ? snprintf(buffer, size, "%s%s %" PRId64 " (%.*s)", rank, nouns[d->kind],
                              d->ordinal, shown, name.p)
                   : snprintf(buffer, size, "%s%s %" PRId64, rank, nouns[d->kind], d->ordinal);
    return rows_clamp(n, size);
}

static size_t digits_at(struct stk_str s, size_t i)
{
    size_t n = 0;
    while (i + n < s.n && s.p[i + n] >= '0' && s.p[i + n] <= '9') {
        n++;
    }
    return n;
}

enum stk_export_number stk_export_number(struct stk_str s, int64_t *whole, double *real)
{
    char text[64];
    size_t i = s.n && s.p[0] == '-', n = digits_at(s, i);
    if (n == 0 || s.n >= sizeof text || (n > 1 && s.p[i] == '0')) {
        return STK_EXPORT_NO_NUMBER;
    }
    i += n;
    if (i == s.n && stk_str_to_i64(s, whole)) {
        return STK_EXPORT_WHOLE;
    }
    if (i < s.n && s.p[i] == '.') {
        n = digits_at(s, i + 1);
        if (n == 0) {
            return STK_EXPORT_NO_NUMBER;
        }
        i += 1 + n;
    }
    if (i < s.n && (s.p[i] == 'e' || s.p[i] == 'E')) {
        i += 1 + (i + 1 < s.n && (s.p[i + 1] == '+' || s.p[i + 1] == '-'));
        n = digits_at(s, i);
        i += n;
        if (n == 0) {
            return STK_EXPORT_NO_NUMBER;
        }
    }
    if (i != s.n) {
        return STK_EXPORT_NO_NUMBER;
    }
    memcpy(text, s.p, s.n);
    text[s.n] = 0;
    *real = stk_text_to_real(text, NULL);
    return *real - *real == 0 ? STK_EXPORT_REAL : STK_EXPORT_NO_NUMBER;
}

bool stk_export_next_sample(const struct stk_detail *details, uint32_t count, uint32_t *at,
                            struct stk_export_sample *out)
{
    STK_ASSERT(*at <= count);
    *out = (struct stk_export_sample){.device = -1};
    for (uint32_t i = 0; i < *at; i++) {
        if (details[i].key == STK_DETAIL_DEVICE) {
            out->device = details[i].number;
        }
    }
    for (; *at < count; ++*at) {
        const struct stk_detail *d = &details[*at];
        if (d->key == STK_DETAIL_DEVICE) {
            out->device = d->number;
        } else if (d->key == STK_DETAIL_SERIES) {
            out->series = d->text;
        } else if (d->key == STK_DETAIL_VALUE) {
            out->value = d->real;
            ++*at;
            return true;
        }
    }
    return false;
}

size_t stk_export_details(const struct stk_ext *e, bool with_own,
                          char buffer[STK_EXPORT_DETAILS_MAX])
{
    const size_t size = STK_EXPORT_DETAILS_MAX;
    const char *src = stk_mem_key(e->src_mem), *dst = stk_mem_key(e->dst_mem);
    const char *dir = stk_dir_key(e->dir);
    int n = snprintf(buffer, size, "kind_src:%s kind_dst:%s", src ? src : "unknown",
                     dst ? dst : "unknown");
    if (e->flags & STK_EXT_VALUE) {
        n += snprintf(buffer + n, size - (size_t)n, " size:%" PRId64, e->value);
    }
    if (e->flags & (STK_EXT_ASYNC | STK_EXT_SYNCHRONOUS)) {
        n += snprintf(buffer + n, size - (size_t)n, " async:%d", (e->flags & STK_EXT_ASYNC) != 0);
    }
    if (with_own && dir) {
        n += snprintf(buffer + n, size - (size_t)n, " dir:%s", dir);
    }
    if (with_own && e->flags & STK_EXT_WAITS) {
        n += snprintf(buffer + n, size - (size_t)n, " waits:1");
    }
    return (size_t)n;
}

// ---- events of a track and its sub-rows ----

static bool before(const struct stk_trace *t, const struct stk_export_row *a,
                   const struct stk_export_row *b)
{
    int64_t sa = t->start_ns[a->next], sb = t->start_ns[b->next];
    if (sa != sb) {
        return sa < sb;
    }
    int64_t da = stk_dur_ns(t, a->next), db = stk_dur_ns(t, b->next);
    return da != db ? da > db : a->next < b->next;
}

static void sift_down(struct stk_export_rows *r, uint32_t at)
{
    for (;;) {
        uint32_t least = at, left = 2 * at + 1;
        for (uint32_t k = left; k < left + 2 && k < r->count; k++) {
            if (before(r->t, &r->heap[k], &r->heap[least])) {
                least = k;
            }
        }
        if (least == at) {
            return;
        }
        struct stk_export_row row = r->heap[at];
        r->heap[at] = r->heap[least];
        r->heap[least] = row;
        at = least;
    }
}

bool stk_export_rows_begin(struct stk_export_rows *r, const struct stk_trace *t, uint32_t track)
{
    uint32_t last = track;
    while (last + 1 < t->track_count && t->tracks[last + 1].parent == track) {
        last++;
    }
    *r = (struct stk_export_rows){.t = t};
    r->heap = stk_alloc_array((size_t)(last - track) + 1, sizeof *r->heap);
    if (!r->heap) {
        return false;
    }
    for (uint32_t k = track; k <= last; k++) {
        if (t->tracks[k].count) {
            r->heap[r->count++] = (struct stk_export_row){t->tracks[k].first,
                                                          t->tracks[k].first + t->tracks[k].count};
        }
    }
    for (uint32_t i = r->count / 2; i-- > 0;) {
        sift_down(r, i);
    }
    return true;
}

uint32_t stk_export_rows_next(struct stk_export_rows *r)
{
    if (r->count == 0) {
        return STK_NONE;
    }
    struct stk_export_row *top = r->heap;
    uint32_t event = top->next++;
    if (top->next == top->end) {
        *top = r->heap[--r->count];
    }
    if (r->count > 1) {
        sift_down(r, 0);
    }
    return event;
}

void stk_export_rows_end(struct stk_export_rows *r)
{
    stk_free(r->heap);
    r->heap = NULL;
    r->count = 0;
}
