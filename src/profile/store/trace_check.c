// SPDX-License-Identifier: Apache-2.0
// Invariants of every trace, even of a broken file. Method: one pass over the tracks and their
// events, one over the chains of linked work; nothing is allocated. Limits: depths of 255 and more
// are saturated and only compared with their neighbors.
#include "profile/store/trace_check.h"

#include <inttypes.h>
#include <stdarg.h>

static __attribute__((format(printf, 1, 2))) const char *wrong(const char *format, ...)
{
    static _Thread_local char text[160];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return text;
}

static bool is_string(const struct stk_trace *t, uint32_t id)
{
    return id < t->strings.count;
}

static const char *check_facts(const struct stk_trace *t)
{
    uint64_t kinds = 0;
    if (!t->strings.count || !t->format) {
        return "there is no empty string, or no format";
    }
    if (t->count && (!t->start_ns || !t->dur_low || !t->name || !t->ref || !t->pos_low ||
                     !t->pos_high || !t->kind || !t->depth)) {
        return "a column is missing";
    }
    if (!is_string(t, t->host) || !is_string(t, t->producer) || t->rank < -1) {
        return "host, producer or rank is out of range";
    }
    for (int i = 0; i < STK_TOLD_PLACES; i++) {
        if (!is_string(t, t->told.places[i])) {
            return "a place in the job's code is out of range";
        }
    }
    for (int k = 0; k < STK_KIND_COUNT; k++) {
        kinds += t->by_kind[k];
    }
    if (kinds != t->read) {
        return wrong("%" PRIu64 " records were read and %" PRIu64 " are counted by kind", t->read,
                     kinds);
    }
    for (int i = 0; i < STK_ISSUE_COUNT; i++) {
        const struct stk_issue *issue = &t->issues[i];
        if (!is_string(t, issue->note) || (issue->count == 0 && issue->events_lost > 0)) {
            return wrong("issue %s: %" PRIu64 " times, note %u, %" PRIu64 " events lost",
                         stk_issue_info((enum stk_issue_id)i)->key, issue->count, issue->note,
                         issue->events_lost);
        }
    }
    return NULL;
}

static const char *check_places(const struct stk_trace *t)
{
    for (uint32_t i = 0; i < t->process_count; i++) {
        const struct stk_process *p = &t->processes[i];
        if (p->rank < -1 || !is_string(t, p->name) || !is_string(t, p->host)) {
            return wrong("process %u: rank %d, name %u, host %u", i, p->rank, p->name, p->host);
        }
    }
    for (uint32_t i = 0; i < t->device_count; i++) {
        const struct stk_device *d = &t->devices[i];
        if (d->process >= t->process_count || !is_string(t, d->name) ||
            !is_string(t, d->source_id) || d->kind > STK_DEVICE_OTHER) {
            return wrong("device %u: process %u, name %u, source %u", i, d->process, d->name,
                         d->source_id);
        }
    }
    return NULL;
}

static const char *check_programs(const struct stk_trace *t)
{
    for (uint32_t i = 0; i < t->program_count; i++) {
        const struct stk_program *p = &t->programs[i];
        if (!is_string(t, p->name) || p->first > t->argument_count ||
            p->count > t->argument_count - p->first) {
            return wrong("program %u: name %u, arguments %u from %u on", i, p->name, p->count,
                         p->first);
        }
    }
    for (uint32_t i = 0; i < t->argument_count; i++) {
        if (!is_string(t, t->arguments[i].name) || !is_string(t, t->arguments[i].type)) {
            return wrong("argument %u: name %u, type %u", i, t->arguments[i].name,
                         t->arguments[i].type);
        }
    }
    return NULL;
}

static const char *check_track(const struct stk_trace *t, uint32_t i, uint32_t first)
{
    const struct stk_track *k = &t->tracks[i];
    if (k->first != first || k->count > t->count - first) {
        return wrong("track %u has %u events from %u on, but the earlier ones end at %u of %u", i,
                     k->count, k->first, first, t->count);
    }
    if (k->process >= t->process_count || !is_string(t, k->name) || k->kind > STK_TRACK_OTHER ||
        (k->device != STK_NONE && k->device >= t->device_count)) {
        return wrong("track %u: process %u, device %u, name %u", i, k->process, k->device, k->name);
    }
    if (k->parent == STK_NONE) {
        return NULL;
    }
    const struct stk_track *of = k->parent < i ? &t->tracks[k->parent] : NULL;
    if (!of || of->parent != STK_NONE || of->process != k->process || of->device != k->device ||
        of->kind != k->kind) {
        return wrong("track %u isn't a sub-row of track %u", i, k->parent);
    }
    return NULL;
}

static const char *check_ext(const struct stk_trace *t, uint32_t e)
{
    const struct stk_ext *x = stk_ext_of(t, e);
    if (!x) {
        return NULL;
    }
    if (x->dir > STK_DIR_H2H || x->src_mem > STK_MEM_MANAGED || x->dst_mem > STK_MEM_MANAGED) {
        return wrong("event %u: direction %u, memories %u and %u", e, x->dir, x->src_mem,
                     x->dst_mem);
    }
    if ((x->flags & STK_EXT_CONFIG) && (uint64_t)x->value >= t->config_count) {
        return wrong("event %u: launch configuration %" PRId64 " of %u", e, x->value,
                     t->config_count);
    }
    return NULL;
}

// Checks one event alone. stk_dur_ns must not be called before its table is checked.
static const char *check_event(const struct stk_trace *t, uint32_t e)
{
    bool is_call = t->kind[e] == STK_KIND_RUNTIME;
    if (t->kind[e] >= STK_KIND_COUNT || !is_string(t, t->name[e])) {
        return wrong("event %u: kind %u, name %u of %u", e, t->kind[e], t->name[e],
                     t->strings.count);
    }
    if (t->ref[e] != STK_NONE && t->ref[e] >= (is_call ? t->count : t->ext_count)) {
        return wrong("event %u refers to %u, beyond the end", e, t->ref[e]);
    }
    int64_t end;
    if (stk_dur_ns(t, e) < 0 || __builtin_add_overflow(t->start_ns[e], stk_dur_ns(t, e), &end)) {
        return wrong("event %u lasts %" PRId64 " ns from %" PRId64 " on", e, stk_dur_ns(t, e),
                     t->start_ns[e]);
    }
    return check_ext(t, e);
}

static const char *check_order(const struct stk_trace *t, const struct stk_track *k)
{
    int64_t ends[256]; // of the last event of each depth
    for (uint32_t e = k->first; e < k->first + k->count; e++) {
        const char *text = check_event(t, e);
        if (text) {
            return text;
        }
        bool is_first = e == k->first;
        int64_t start = t->start_ns[e], end = stk_end_ns(t, e);
        if (start < 0 &&
            k->kind != STK_TRACK_DERIVED) { // derived events may be outside of the others' time
            return wrong("event %u begins at %" PRId64, e, start);
        }
        unsigned depth = t->depth[e], before = is_first ? 0 : t->depth[e - 1];
        if (!is_first && (start < t->start_ns[e - 1] ||
                          (start == t->start_ns[e - 1] && end > stk_end_ns(t, e - 1)))) {
            return wrong("event %u is before event %u of its track, or around it", e, e - 1);
        }
        if (depth > before + !is_first) {
            return wrong("event %u has depth %u after one of depth %u", e, depth, before);
        }
        if (depth > 0 && depth < 255 && (end > ends[depth - 1] || start >= ends[depth - 1])) {
            return wrong("event %u is not inside its parent", e);
        }
        if (!is_first && depth <= before && depth < 255 && start < ends[depth]) {
            return wrong("event %u overlaps one of its depth", e);
        }
        ends[depth] = end;
    }
    return NULL;
}

// Every call's chain of device work leads back to it, and no work is outside a chain.
static const char *check_links(const struct stk_trace *t)
{
    uint64_t linked = 0, chained = 0;
    for (uint32_t e = 0; e < t->count; e++) {
        if (t->kind[e] != STK_KIND_RUNTIME) {
            const struct stk_ext *x = stk_ext_of(t, e);
            linked += x && x->link != STK_NONE;
            continue;
        }
        uint32_t at = t->ref[e];
        while (at != STK_NONE) {
            const struct stk_ext *x = at < t->count ? stk_ext_of(t, at) : NULL;
            if (!x || !stk_kind_is_device_work(t->kind[at]) || x->link != e) {
                return wrong("call %u leads to event %u, which does not lead back", e, at);
            }
            if (++chained > t->count) {
                return wrong("the links of call %u form a cycle", e);
            }
            at = x->next;
        }
    }
    return linked == chained
               ? NULL
               : wrong("%" PRIu64 " events have a launch call, %" PRIu64 " belong to one", linked,
                       chained);
}

static const char *check_long_durs(const struct stk_trace *t)
{
    uint64_t marked = 0;
    for (uint32_t e = 0; e < t->count; e++) {
        marked += t->dur_low[e] == UINT32_MAX;
    }
    if (marked != t->long_dur_count) {
        return wrong("%" PRIu64 " events say that they are long, %u are listed", marked,
                     t->long_dur_count);
    }
    for (uint32_t i = 0; i < t->long_dur_count; i++) {
        const struct stk_long_dur *d = &t->long_durs[i];
        if (d->event >= t->count || t->dur_low[d->event] != UINT32_MAX ||
            (i && d->event <= t->long_durs[i - 1].event)) {
            return wrong("long duration %u is of event %u", i, d->event);
        }
    }
    return NULL;
}

static const char *check_details(const struct stk_trace *t)
{
    if (!t->detail_first) {
        return t->detail_count ? "details belong to nothing" : NULL;
    }
    for (uint32_t i = 0; i < t->ext_count; i++) {
        if (t->detail_first[i] > t->detail_first[i + 1]) {
            return wrong("details of values %u end before they begin", i);
        }
    }
    if (t->detail_first[t->ext_count] > t->detail_count) {
        return "details end beyond their end";
    }
    for (uint32_t i = 0; i < t->detail_count; i++) {
        const struct stk_detail *d = &t->details[i];
        if ((unsigned)d->key >= STK_DETAIL_COUNT ||
            (stk_detail_type_of(d->key) == STK_DETAIL_TEXT && !is_string(t, d->text))) {
            return wrong("detail %u has key %d", i, (int)d->key);
        }
    }
    return NULL;
}

const char *stk_trace_check(const struct stk_trace *t)
{
    uint32_t covered = 0;
    const char *text = check_facts(t);
    text = text ? text : check_places(t);
    text = text ? text : check_programs(t);
    text = text ? text : check_long_durs(t);
    for (uint32_t i = 0; i < t->track_count && !text; i++) {
        text = check_track(t, i, covered);
        text = text ? text : check_order(t, &t->tracks[i]);
        covered += t->tracks[i].count;
    }
    if (!text && covered != t->count) {
        text = wrong("tracks have %u of %u events", covered, t->count);
    }
    text = text ? text : check_details(t);
    return text ? text : check_links(t);
}
