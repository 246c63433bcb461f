// SPDX-License-Identifier: Apache-2.0
// A trace as text, for debugging only. At most LINES_MAX rows
// of each list; the rest is counted. Indices beyond the end are printed but not followed, so
// that a broken trace can be inspected too.
#include <inttypes.h>

#include "profile/store/trace_check.h"

#define LINES_MAX 40u

static int shown(struct stk_str s)
{
    return s.n < 120 ? (int)s.n : 120;
}

static struct stk_str text_of(const struct stk_trace *t, uint32_t id)
{
    return id < t->strings.count ? stk_strpool_get(&t->strings, id) : STK_STR("(no such string)");
}

static void more(FILE *to, uint32_t count)
{
    if (count > LINES_MAX) {
        fprintf(to, "  ... and %u more\n", count - LINES_MAX);
    }
}

static const char *track_kind(enum stk_track_kind kind)
{
    static const char *const words[] = {"thread", "stream", "derived", "counter", "other"};
    return (unsigned)kind < sizeof words / sizeof *words ? words[kind] : "?";
}

static void dump_tracks(const struct stk_trace *t, FILE *to)
{
    fprintf(to, "%u tracks\n", t->track_count);
    for (uint32_t i = 0; i < t->track_count && i < LINES_MAX; i++) {
        const struct stk_track *k = &t->tracks[i];
        struct stk_str name = text_of(t, k->name);
        fprintf(to, "  %u: %s %" PRId64 " \"%.*s\", process %u", i, track_kind(k->kind), k->id,
                shown(name), name.p, k->process);
        if (k->device != STK_NONE) {
            fprintf(to, ", device %u", k->device);
        }
        if (k->parent != STK_NONE) {
            fprintf(to, ", sub-row of %u", k->parent);
        }
        fprintf(to, ": events [%u, %u)\n", k->first, k->first + k->count);
    }
    more(to, t->track_count);
}

static void dump_places(const struct stk_trace *t, FILE *to)
{
    fprintf(to, "%u processes\n", t->process_count);
    for (uint32_t i = 0; i < t->process_count && i < LINES_MAX; i++) {
        const struct stk_process *p = &t->processes[i];
        struct stk_str name = text_of(t, p->name);
        fprintf(to, "  %u: pid %" PRId64 ", rank %d, \"%.*s\"\n", i, p->pid, p->rank, shown(name),
                name.p);
    }
    more(to, t->process_count);
    fprintf(to, "%u devices\n", t->device_count);
    for (uint32_t i = 0; i < t->device_count && i < LINES_MAX; i++) {
        const struct stk_device *d = &t->devices[i];
        struct stk_str name = text_of(t, d->name);
        fprintf(to, "  %u: number %" PRId64 " of process %u, \"%.*s\"\n", i, d->ordinal, d->process,
                shown(name), name.p);
    }
    more(to, t->device_count);
}

void stk_trace_dump(const struct stk_trace *t, FILE *to)
{
    struct stk_str producer = text_of(t, t->producer);
    fprintf(to,
            "trace: %s by \"%.*s\", %u events (%" PRIu64 " records read, %" PRIu64
            " dropped), %u strings, base %" PRId64 " ns, rank %d of %d\n",
            t->format, shown(producer), producer.p, t->count, t->read, t->dropped, t->strings.count,
            t->base_ns, t->rank, t->world_size);
    for (int k = 0; k < STK_KIND_COUNT; k++) {
        if (t->by_kind[k]) {
            fprintf(to, "  %s: %" PRIu64 "\n", stk_kind_key((enum stk_kind)k), t->by_kind[k]);
        }
    }
    dump_places(t, to);
    dump_tracks(t, to);
    for (int i = 0; i < STK_ISSUE_COUNT; i++) {
        if (t->issues[i].count) {
            struct stk_str note = text_of(t, t->issues[i].note);
            fprintf(to, "issue %s: %" PRIu64 ", \"%.*s\"\n",
                    stk_issue_info((enum stk_issue_id)i)->key, t->issues[i].count, shown(note),
                    note.p);
        }
    }
}

static void dump_line(const struct stk_trace *t, uint32_t e, FILE *to)
{
    struct stk_str name = text_of(t, t->name[e]);
    fprintf(to, "%10u %14" PRId64 " ns + %12" PRId64 " ns %*s%s \"%.*s\"\n", e, t->start_ns[e],
            stk_dur_ns(t, e), t->depth[e] < 30 ? 2 * t->depth[e] : 60, "",
            stk_kind_key((enum stk_kind)t->kind[e]), shown(name), name.p);
}

static void dump_values(const struct stk_trace *t, uint32_t e, FILE *to)
{
    const struct stk_ext *x = t->ref[e] < t->ext_count ? stk_ext_of(t, e) : NULL;
    if (!x) {
        return;
    }
    fprintf(to, "  values %u: flags %#x, value %" PRId64 ", direction %u, memories %u to %u\n",
            t->ref[e], x->flags, x->value, x->dir, x->src_mem, x->dst_mem);
    uint32_t count;
    const struct stk_detail *d = stk_details_of(t, e, &count);
    for (uint32_t i = 0; i < count && i < LINES_MAX; i++) {
        struct stk_str text = text_of(t, d[i].text);
        switch (stk_detail_type_of(d[i].key)) {
        case STK_DETAIL_INT:
            fprintf(to, "  detail %d: %" PRId64 "\n", (int)d[i].key, d[i].number);
            break;
        case STK_DETAIL_REAL:
            fprintf(to, "  detail %d: %g\n", (int)d[i].key, d[i].real);
            break;
        case STK_DETAIL_TEXT:
            fprintf(to, "  detail %d: \"%.*s\"\n", (int)d[i].key, shown(text), text.p);
            break;
        }
    }
    more(to, count);
}

void stk_event_dump(const struct stk_trace *t, uint32_t event, FILE *to)
{
    if (event >= t->count) {
        fprintf(to, "no event %u: the trace has %u\n", event, t->count);
        return;
    }
    uint32_t track = stk_track_of(t, event);
    dump_line(t, event, to);
    fprintf(to, "  on track %u, byte %" PRIu64 " of the input\n", track, stk_pos(t, event));
    dump_values(t, event, to);
    if (t->kind[event] == STK_KIND_RUNTIME) {
        uint32_t at = t->ref[event], lines = 0;
        for (; at < t->count && stk_ext_of(t, at) && lines < LINES_MAX; lines++) {
            fprintf(to, "  launched\n");
            dump_line(t, at, to);
            at = stk_ext_of(t, at)->next;
        }
    } else if (stk_kind_is_device_work(t->kind[event])) {
        uint32_t call = stk_link_of(t, event);
        fprintf(to, "  %s\n", call < t->count ? "launched by" : "its launch call is not recorded");
        if (call < t->count) {
            dump_line(t, call, to);
        }
    }
}

void stk_track_dump(const struct stk_trace *t, uint32_t track, uint32_t from, FILE *to)
{
    if (track >= t->track_count) {
        fprintf(to, "no track %u: the trace has %u\n", track, t->track_count);
        return;
    }
    const struct stk_track *k = &t->tracks[track];
    for (uint32_t i = from; i < k->count && i - from < LINES_MAX; i++) {
        dump_line(t, k->first + i, to);
    }
    more(to, k->count > from ? k->count - from : 0);
}
