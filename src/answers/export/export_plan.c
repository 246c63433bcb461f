// SPDX-License-Identifier: Apache-2.0
// What an export adds to the events: process numbers that are unique in the run, and stoker's own
// lanes: the verdict, each finding with its evidence, the steps, the critical path of a usual step,
// the parts of each device's time. Slices in one lane never overlap: a finding with overlapping
// evidence gets more lanes.
//
// Limits: evidence without a time is shown at the verdict's; parts are known only for devices in
// the breakdown.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/human.h"
#include "base/map.h"
#include "base/sort.h"
#include "base/vec.h"
#include "answers/export/export.h"

// Some formats use device numbers as process numbers, so small ones are taken.
#define PID_LEAST 4096
#define PID_OWN 1000000000
#define LANES_MAX ((size_t)1 << 20)

struct plan {
    struct stk_export *x;
    struct stk_vec lanes; // struct stk_export_lane
    bool failed;
};

static const char *const unknown = "";

// ---- processes ----

static bool number_processes(struct stk_export *x)
{
    struct stk_map taken;
    stk_map_init(&taken, SIZE_MAX);
    int64_t own = PID_OWN;
    bool ok = true;
    for (uint32_t i = 0; i < x->file_count && ok; i++) {
        struct stk_export_file *f = &x->files[i];
        for (uint32_t p = 0; p < f->t->process_count && ok; p++) {
            int64_t pid = f->t->processes[p].pid;
            int created = 0;
            if (pid >= PID_LEAST && pid < PID_OWN) {
                ok = stk_map_put(&taken, (uint64_t)pid, 0, 0, &created) != NULL;
            }
            f->processes[p].pid = created ? pid : own++;
        }
    }
    stk_map_deinit(&taken);
    return ok;
}

// ---- lanes ----

static void *array(struct plan *p, size_t n, size_t size)
{
    void *items = stk_arena_array(p->x->arena, n ? n : 1, size);
    p->failed |= !items;
    return items;
}

static const char *plan_print(struct plan *p, const char *fmt, ...) STK_PRINTF(2, 3);
static const char *plan_print(struct plan *p, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    const char *text = stk_arena_vprintf(p->x->arena, fmt, args);
    va_end(args);
    p->failed |= !text;
    return text ? text : unknown;
}

static struct stk_export_lane *add_lane(struct plan *p, enum stk_export_lane_kind kind,
                                        const char *name)
{
    struct stk_export_lane *lane = stk_vec_push(&p->lanes);
    p->failed |= !lane;
    if (lane) {
        *lane = (struct stk_export_lane){.kind = kind, .name = name, .device = STK_NONE};
    }
    return lane;
}

static void note(struct stk_export_note *notes, size_t *count, const char *key, const char *text)
{
    if (text && *count < STK_EXPORT_NOTES) {
        notes[(*count)++] = (struct stk_export_note){.key = key, .text = text};
    }
}

static void note_number(struct stk_export_note *notes, size_t *count, const char *key,
                        int64_t number)
{
    if (*count < STK_EXPORT_NOTES) {
        notes[(*count)++] = (struct stk_export_note){.key = key, .number = number};
    }
}

// The selected time of a rank, in its trace's time: of any of its processes.
static void selected_time(const struct stk_export *x, uint32_t rank, int64_t *from_ns,
                          int64_t *to_ns)
{
    const struct stk_export_rank *r = &x->ranks[rank];
    const struct stk_export_file *f = &x->files[r->file];
    *from_ns = INT64_MIN;
    *to_ns = INT64_MAX;
    for (uint32_t p = 0; p < f->t->process_count; p++) {
        if (r->sum->in_rank[p]) {
            *from_ns = f->processes[p].from_ns;
            *to_ns = f->processes[p].to_ns;
        }
    }
}

// From the first event of the selected ranks to the last, cut to the selected time.
static void whole_time(const struct stk_export *x, int64_t *start_ns, int64_t *end_ns)
{
    *start_ns = INT64_MAX;
    *end_ns = INT64_MIN;
    for (uint32_t i = 0; i < x->rank_count; i++) {
        const struct stk_facts *f = &x->ranks[i].sum->facts;
        int64_t from_ns, to_ns, shift_ns = x->files[x->ranks[i].file].shift_ns;
        selected_time(x, i, &from_ns, &to_ns);
        if (f->events == 0) {
            continue;
        }
        int64_t first_ns = f->first_ns, last_ns = f->last_ns;
        if (from_ns > first_ns - shift_ns) {
            first_ns = from_ns + shift_ns;
        }
        if (to_ns < last_ns - shift_ns) {
            last_ns = to_ns + shift_ns;
        }
        *start_ns = first_ns < *start_ns ? first_ns : *start_ns;
        *end_ns = last_ns > *end_ns ? last_ns : *end_ns;
    }
    if (*start_ns > *end_ns) {
        *start_ns = *end_ns = 0;
    }
}

static void add_verdict(struct plan *p, int64_t start_ns, int64_t end_ns)
{
    const struct stk_report *r = p->x->report;
    struct stk_export_slice *slice = array(p, 1, sizeof *slice);
    struct stk_export_note *notes = array(p, STK_EXPORT_NOTES, sizeof *notes);
    struct stk_export_lane *lane = add_lane(p, STK_EXPORT_VERDICT, "verdict");
    if (p->failed) {
        return;
    }
    *slice = (struct stk_export_slice){.start_ns = start_ns,
                                       .dur_ns = end_ns - start_ns,
                                       .name = r->verdict.sentence,
                                       .notes = notes};
    note(notes, &slice->note_count, "verdict", stk_verdict_key(r->verdict.kind));
    note(notes, &slice->note_count, "confidence", stk_level_key(r->verdict.confidence));
    note(notes, &slice->note_count, "health", r->profile.health.status);
    for (size_t i = 0; i < r->profile.health.why.count; i++) {
        note(notes, &slice->note_count, "health why",
             ((const char *const *)r->profile.health.why.items)[i]);
    }
    for (size_t i = 0; i < p->x->selection_count; i++) {
        note(notes, &slice->note_count, "selection", p->x->selection[i]);
    }
    note(notes, &slice->note_count, "written by", plan_print(p, "stoker %s", p->x->version));
    lane->slices = slice;
    lane->count = 1;
}

static void describe_finding(struct plan *p, const struct stk_rep_finding *f,
                             const struct stk_rep_evidence *e, struct stk_export_slice *slice)
{
    struct stk_export_note *notes = array(p, STK_EXPORT_NOTES, sizeof *notes);
    char share[STK_HUMAN_MAX];
    if (p->failed) {
        return;
    }
    slice->name = f->title;
    slice->notes = notes;
    note(notes, &slice->note_count, "rule", f->id);
    note(notes, &slice->note_count, "severity", stk_level_key(f->severity));
    note(notes, &slice->note_count, "confidence", stk_level_key(f->confidence));
    if (e) {
        note(notes, &slice->note_count, "evidence", e->text);
        note(notes, &slice->note_count, "on", e->track);
    }
    if (f->saving.has_high) {
        note(notes, &slice->note_count, "saves at most",
             plan_print(p, "%s of the step", stk_human_share(f->saving.high_share, share)));
    }
    if (f->fix.count) {
        note(notes, &slice->note_count, "fix", ((const struct stk_rep_fix *)f->fix.items)[0].text);
    }
    note(notes, &slice->note_count, "more", f->explain);
}

STK_ORDER(by_start, struct stk_export_slice, STK_UP(start_ns) STK_DOWN(dur_ns))

// Splits `slices` into lanes without overlap: each lane takes those that fit from the rest.
static void add_disjoint(struct plan *p, const char *name, struct stk_export_slice *slices,
                         size_t n)
{
    stk_sort(slices, n, sizeof *slices, by_start);
    for (int row = 1; n > 0 && !p->failed; row++) {
        struct stk_export_slice *taken = array(p, n, sizeof *taken);
        struct stk_export_lane *lane = add_lane(
            p, STK_EXPORT_FINDING, row == 1 ? name : plan_print(p, "%s (row %d)", name, row));
        size_t left = 0;
        int64_t end_ns = INT64_MIN;
        if (p->failed) {
            return;
        }
        for (size_t i = 0; i < n; i++) {
            if (slices[i].start_ns >= end_ns) {
                end_ns = slices[i].start_ns + slices[i].dur_ns;
                taken[lane->count++] = slices[i];
            } else {
                slices[left++] = slices[i];
            }
        }
        lane->slices = taken;
        n = left;
    }
}

static void add_finding(struct plan *p, const struct stk_rep_finding *f, int64_t start_ns,
                        int64_t end_ns)
{
    const struct stk_rep_evidence *e = f->evidence.items;
    struct stk_export_slice *slices = array(p, f->evidence.count + 1, sizeof *slices);
    size_t n = 0;
    for (size_t i = 0; i < f->evidence.count && !p->failed; i++) {
        if (!e[i].has_time || e[i].dur_ns < 0) {
            continue;
        }
        slices[n] = (struct stk_export_slice){.start_ns = e[i].start_ns, .dur_ns = e[i].dur_ns};
        describe_finding(p, f, &e[i], &slices[n++]);
    }
    if (n == 0 && !p->failed) {
        slices[0] = (struct stk_export_slice){.start_ns = start_ns, .dur_ns = end_ns - start_ns};
        describe_finding(p, f, f->evidence.count ? e : NULL, &slices[n++]);
    }
    if (!p->failed) {
        add_disjoint(p, plan_print(p, "finding: %s", f->id), slices, n);
    }
}

static const char *lane_name(struct plan *p, uint32_t rank, uint32_t device, const char *what)
{
    const struct stk_export_rank *r = &p->x->ranks[rank];
    char prefix[32] = "", on[64] = "the host";
    if (p->x->rank_count > 1) {
        snprintf(prefix, sizeof prefix, "rank %" PRId32 ": ", r->sum->rank);
    }
    if (device != STK_NONE) {
        snprintf(on, sizeof on, "%s %" PRId64,
                 r->sum->devices[device].kind == STK_DEVICE_TPU ? "TPU" : "GPU",
                 r->sum->devices[device].ordinal);
    }
    return plan_print(p, "%s%s on %s", prefix, what, on);
}

static void describe_step(struct plan *p, const struct stk_step *s, bool with_parts,
                          struct stk_export_slice *slice)
{
    struct stk_export_note *notes = array(p, (size_t)STK_PART_COUNT + 2, sizeof *notes);
    if (p->failed) {
        return;
    }
    slice->name = plan_print(p, "step %" PRId64, s->number);
    slice->notes = notes;
    note_number(notes, &slice->note_count, "step", s->number);
    note(notes, &slice->note_count, "left out of the verdict", s->excluded);
    for (int k = 0; k < STK_PART_COUNT && with_parts; k++) {
        if (s->parts[k]) {
            note_number(notes, &slice->note_count, plan_print(p, "%s_ns", stk_part_info(k)->key),
                        s->parts[k]);
        }
    }
}

// The steps of one device, or of the host: each device has rows with the same host steps, so only
// the first device's are used.
static void add_steps(struct plan *p, uint32_t rank, uint32_t device)
{
    const struct stk_rank_sum *sum = p->x->ranks[rank].sum;
    struct stk_export_slice *slices = array(p, sum->step_count, sizeof *slices);
    size_t n = 0;
    uint32_t first = sum->step_count ? sum->steps[0].device : STK_NONE;
    for (uint32_t i = 0; i < sum->step_count && !p->failed; i++) {
        const struct stk_step *s = &sum->steps[i];
        bool on_host = device == STK_NONE;
        if (on_host ? s->device != first || s->host_dur_ns < 0 : s->device != device) {
            continue;
        }
        if (s->excluded && strcmp(s->excluded, STK_EXCLUDED_UNSELECTED) == 0) {
            continue;
        }
        slices[n] = (struct stk_export_slice){.start_ns = on_host ? s->host_start_ns : s->start_ns,
                                              .dur_ns = on_host ? s->host_dur_ns : s->dur_ns};
        describe_step(p, s, !on_host || sum->host_scope, &slices[n++]);
    }
    if (n == 0 || p->failed) {
        return;
    }
    struct stk_export_lane *lane =
        add_lane(p, STK_EXPORT_STEPS, lane_name(p, rank, device, "steps"));
    if (!lane) {
        return;
    }
    lane->rank = rank;
    lane->device = device;
    lane->slices = slices;
    lane->count = n;
}

// The critical path of a usual step, in pieces within the selected time. They share a row, so if
// two overlap, the later one begins where the other ends.
static void add_path(struct plan *p, uint32_t rank)
{
    const struct stk_export_rank *r = &p->x->ranks[rank];
    int64_t from_ns, to_ns, shift_ns = p->x->files[r->file].shift_ns;
    struct stk_export_slice *slices = array(p, r->path.count, sizeof *slices);
    int64_t end_ns = INT64_MIN;
    size_t n = 0;
    selected_time(p->x, rank, &from_ns, &to_ns);
    for (size_t i = 0; i < r->path.count && !p->failed; i++) {
        const struct stk_path_piece *e = &r->path.v[i];
        struct stk_export_note *notes = array(p, 2, sizeof *notes);
        int64_t start_ns = e->start_ns < end_ns ? end_ns : e->start_ns;
        if (p->failed || start_ns >= e->start_ns + e->dur_ns) {
            continue;
        }
        end_ns = e->start_ns + e->dur_ns;
        if (start_ns >= to_ns || end_ns <= from_ns) {
            continue;
        }
        slices[n] = (struct stk_export_slice){.start_ns = start_ns + shift_ns,
                                              .dur_ns = end_ns - start_ns,
                                              .name = e->name ? e->name : e->kind,
                                              .notes = notes};
        note(notes, &slices[n].note_count, "waits for", e->kind);
        note(notes, &slices[n].note_count, "on", e->where);
        n++;
    }
    if (n == 0 || p->failed) {
        return;
    }
    const char *what = plan_print(p, "critical path of step %" PRId64, r->path.step);
    char prefix[32] = "";
    if (p->x->rank_count > 1) {
        snprintf(prefix, sizeof prefix, "rank %" PRId32 ": ", r->sum->rank);
    }
    struct stk_export_lane *lane =
        add_lane(p, STK_EXPORT_PATH, plan_print(p, "%s%s", prefix, what));
    if (lane) {
        lane->rank = rank;
        lane->slices = slices;
        lane->count = n;
    }
}

static void add_parts(struct plan *p, uint32_t rank)
{
    const struct stk_export_rank *r = &p->x->ranks[rank];
    size_t first = 0;
    int64_t from_ns, to_ns;
    selected_time(p->x, rank, &from_ns, &to_ns);
    while (first < r->piece_count && !p->failed) {
        size_t end = first;
        uint32_t device = r->pieces[first].device;
        while (end < r->piece_count && r->pieces[end].device == device) {
            end++;
        }
        size_t at = first, last = end;
        while (at < last && r->pieces[at].end_ns <= from_ns) {
            at++;
        }
        while (last > at && r->pieces[last - 1].start_ns >= to_ns) {
            last--;
        }
        first = end;
        if (at == last || (p->x->has_device && r->sum->devices[device].ordinal != p->x->device)) {
            continue;
        }
        struct stk_export_lane *lane =
            add_lane(p, STK_EXPORT_PARTS, lane_name(p, rank, device, "parts of the time"));
        if (!lane) {
            return;
        }
        lane->rank = rank;
        lane->device = device;
        lane->first = at;
        lane->count = last - at;
    }
}

static void add_lanes(struct plan *p)
{
    const struct stk_report *r = p->x->report;
    const struct stk_rep_finding *findings = r->findings.items;
    int64_t start_ns, end_ns;
    whole_time(p->x, &start_ns, &end_ns);
    add_verdict(p, start_ns, end_ns);
    for (size_t i = 0; i < r->findings.count && !p->failed; i++) {
        add_finding(p, &findings[i], start_ns, end_ns);
    }
    for (uint32_t i = 0; i < p->x->rank_count && !p->failed; i++) {
        add_steps(p, i, STK_NONE);
        for (uint32_t d = 0; d < p->x->ranks[i].sum->device_count && !p->failed; d++) {
            if (!p->x->has_device || p->x->ranks[i].sum->devices[d].ordinal == p->x->device) {
                add_steps(p, i, d);
            }
        }
        add_path(p, i);
        add_parts(p, i);
    }
}

enum stoker_status stk_export_plan(struct stk_export *x, struct stoker_err *err)
{
    struct plan p = {.x = x};
    stk_vec_init(&p.lanes, sizeof(struct stk_export_lane), LANES_MAX);
    p.failed = !number_processes(x);
    if (!p.failed) {
        add_lanes(&p);
    }
    x->lanes = p.failed ? NULL : stk_arena_items(x->arena, &p.lanes);
    x->lane_count = x->lanes ? (uint32_t)p.lanes.count : 0;
    stk_vec_deinit(&p.lanes);
    return !x->lanes ? stk_err_nomem(err) : STOKER_OK;
}

void stk_export_lane_at(const struct stk_export *x, const struct stk_export_lane *lane, size_t i,
                        struct stk_export_lane_capacity *capacity, struct stk_export_slice *out)
{
    if (lane->slices) {
        *out = lane->slices[i];
        return;
    }
    const struct stk_export_rank *r = &x->ranks[lane->rank];
    const struct stk_export_file *f = &x->files[r->file];
    const struct stk_export_piece *piece = &r->pieces[lane->first + i];
    *out = (struct stk_export_slice){.start_ns = piece->start_ns + f->shift_ns,
                                     .dur_ns = piece->end_ns - piece->start_ns,
                                     .name = stk_part_info(piece->part)->label,
                                     .notes = capacity->notes};
    note(capacity->notes, &out->note_count, "part", stk_part_info(piece->part)->key);
    if (piece->event == STK_NONE || piece->event >= f->t->count) {
        return;
    }
    struct stk_str cause = stk_export_text(f, f->t->name[piece->event]);
    snprintf(capacity->cause, sizeof capacity->cause, "%.*s", (int)(cause.n < 500 ? cause.n : 500),
             cause.p);
    note(capacity->notes, &out->note_count, "what", capacity->cause);
}
