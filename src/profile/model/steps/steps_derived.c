// SPDX-License-Identifier: Apache-2.0
// Steps that the profiler derived for each device: XPlane's line "Steps" of a device plane, present
// if an analyzer has grouped the file's events. Each lasts from the first to the last device
// operation of a step. It is a hint for when steps happen, never busy time.
//
// Method: the pieces of a step (gaps and other steps' work split it) are joined by name. The step
// begins where the host event that launched its first operation begins: the outermost one that is
// not much longer than the step itself. A step lasts to the start of the next on its device, the
// last to its own end. Devices without such a line are left out.
// Limits: if the work of two steps interleaves on a device, the steps are too short.
#include <string.h>

#include "base/alloc.h"
#include "profile/model/analysis.h"

#define CONFIDENCE 0.8
#define HOST_MAX 2     // times the device's step: a longer host event contains more than the step
#define WALK_MAX 65536 // events before a launch that are searched for the one around it

// The first such line of each device of the trace, STK_NONE without one. NULL: no memory.
static uint32_t *derived_tracks(const struct stk_analysis *a)
{
    const struct stk_trace *t = a->t;
    uint32_t *tracks = stk_alloc_array((size_t)t->device_count + 1, sizeof *tracks);
    for (uint32_t d = 0; tracks && d < t->device_count; d++) {
        tracks[d] = STK_NONE;
    }
    for (uint32_t k = 0; tracks && k < t->track_count; k++) {
        const struct stk_track *track = &t->tracks[k];
        if (track->kind == STK_TRACK_DERIVED && track->device < t->device_count && track->count &&
            tracks[track->device] == STK_NONE &&
            stk_str_eq(stk_strpool_get(&t->strings, track->name), STK_STR("Steps"))) {
            tracks[track->device] = k;
        }
    }
    return tracks;
}

// The derived track of an analyzed device.
static uint32_t derived_track(const struct stk_analysis *a, const uint32_t *tracks, uint32_t line)
{
    return a->sum->devices[line].analysed ? tracks[a->lines[line].device] : STK_NONE;
}

// First operation of the device at or after a time, or NULL.
static const struct stk_device_op *first_op(const struct stk_device_line *line, int64_t t_ns)
{
    uint32_t low = 0, high = line->op_count;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (line->ops[mid].start_ns < t_ns) {
            low = mid + 1;
        } else {
            high = mid;
        }
    }
    return low < line->op_count ? &line->ops[low] : NULL;
}

// Where the host began the step whose device work runs over [start, end).
static int64_t host_start(const struct stk_analysis *a, uint32_t line, int64_t start_ns,
                          int64_t end_ns)
{
    const struct stk_device_op *op = first_op(&a->lines[line], start_ns);
    uint32_t launch = op ? stk_launch_of(a, op->event) : STK_NONE;
    if (launch == STK_NONE || a->t->start_ns[launch] > start_ns) {
        return start_ns;
    }
    int64_t call_ns = a->t->start_ns[launch], found_ns = call_ns;
    uint32_t track = stk_track_of(a->t, launch);
    const struct stk_track *row = &a->t->tracks[track];
    int64_t longest_ns = HOST_MAX * (end_ns - start_ns);
    uint32_t stop = launch - row->first > WALK_MAX ? launch - WALK_MAX : row->first;
    for (uint32_t e = launch; e > stop; e--) {
        int64_t from_ns = a->t->start_ns[e - 1];
        if (a->t->depth[e - 1] < a->t->depth[launch] && stk_end_ns(a->t, e - 1) > call_ns &&
            stk_end_ns(a->t, e - 1) - from_ns <= longest_ns && from_ns < found_ns) {
            found_ns = from_ns;
        }
        if (a->t->depth[e - 1] == 0) {
            break;
        }
    }
    return found_ns;
}

static void add_step(struct stk_analysis *a, uint32_t line, uint32_t event, int64_t ordinal)
{
    int64_t number = ordinal, start_ns = a->t->start_ns[event], end_ns = stk_end_ns(a->t, event);
    struct stk_host_step *last = a->step_count ? &a->steps[a->step_count - 1] : NULL;
    if (last && last->line == line && a->t->name[last->mark] == a->t->name[event]) {
        last->end_ns = end_ns > last->end_ns ? end_ns : last->end_ns;
        return;
    }
    stk_str_to_i64(stk_name_of(a->t, event), &number);
    int64_t begin_ns = host_start(a, line, start_ns, end_ns);
    if (last && last->line == line) {
        begin_ns = begin_ns > last->start_ns ? begin_ns : start_ns;
        last->end_ns = begin_ns;
    }
    a->steps[a->step_count++] = (struct stk_host_step){
        .number = number, .start_ns = begin_ns, .end_ns = end_ns, .mark = event, .line = line};
}

static void add_device(struct stk_analysis *a, uint32_t line, uint32_t track)
{
    const struct stk_track *row = &a->t->tracks[track];
    for (uint32_t e = row->first; e < row->first + row->count; e++) {
        if (a->t->start_ns[e] >= a->from_ns && stk_end_ns(a->t, e) <= a->to_ns) {
            add_step(a, line, e, (int64_t)(e - row->first));
        }
    }
}

// False: no memory.
static bool make_steps(struct stk_analysis *a, const uint32_t *tracks)
{
    size_t most = 0;
    for (uint32_t d = 0; d < a->sum->device_count; d++) {
        uint32_t track = derived_track(a, tracks, d);
        most += track == STK_NONE ? 0 : a->t->tracks[track].count;
    }
    if (most == 0) {
        return true;
    }
    a->steps = stk_arena_array(&a->scratch, most + 1, sizeof *a->steps);
    if (!a->steps) {
        return false;
    }
    for (uint32_t d = 0; d < a->sum->device_count; d++) {
        uint32_t track = derived_track(a, tracks, d);
        uint32_t before = a->step_count;
        if (track != STK_NONE) {
            add_device(a, d, track);
        }
        if (a->step_count == before && a->sum->devices[d].analysed) {
            a->sum->devices[d].analysed = false;
            a->sum->devices[d].left_out = "no step is marked on it";
        }
    }
    a->steps_per_device = a->step_count > 0;
    a->sum->source = a->step_count ? STK_STEPS_FRAMEWORK : STK_STEPS_NONE;
    a->sum->confidence = a->step_count ? CONFIDENCE : 0;
    return true;
}

enum stoker_status stk_steps_from_derived(struct stk_analysis *a, struct stoker_err *err)
{
    uint32_t *tracks = derived_tracks(a);
    bool ok = tracks && make_steps(a, tracks);
    stk_free(tracks);
    return ok ? STOKER_OK : stk_err_nomem(err);
}
