// SPDX-License-Identifier: Apache-2.0
// Merging the summaries of all ranks into the run: arrays are concatenated, causes and facts added,
// collectives matched, totals and medians computed. It is cheap: it reads no events.
//
// Limits: if only some ranks have device rows, the others are left out of the breakdown (the health
// check lists them), since host and device time don't add up.
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/sort.h"
#include "profile/model/collectives/collectives.h"
#include "profile/model/summary.h"
#include "profile/model/model_check.h"
#include "profile/model/sum/merge_causes.h"
#include "profile/model/sum/merge_rows.h"

static bool has_breakdown(const struct stk_rank_sum *r)
{
    for (uint32_t d = 0; d < r->device_count; d++) {
        if (r->devices[d].analysed && r->devices[d].wall_ns > 0) {
            return true;
        }
    }
    return false;
}

static bool copy_rows(struct stk_run_sum *run, struct stk_arena *arena, uint32_t *device_base,
                      uint32_t *step_base)
{
    for (uint32_t r = 0; r < run->rank_count; r++) {
        device_base[r] = run->device_count;
        step_base[r] = run->step_count;
        run->device_count += run->ranks[r]->device_count;
        run->step_count += run->ranks[r]->step_count;
    }
    run->devices = stk_arena_array(arena, run->device_count + 1, sizeof *run->devices);
    run->steps = stk_arena_array(arena, run->step_count + 1, sizeof *run->steps);
    if (!run->devices || !run->steps) {
        return false;
    }
    for (uint32_t r = 0; r < run->rank_count; r++) {
        const struct stk_rank_sum *rank = run->ranks[r];
        if (rank->device_count) {
            memcpy(run->devices + device_base[r], rank->devices,
                   rank->device_count * sizeof *run->devices);
        }
        for (uint32_t i = 0; i < rank->step_count; i++) {
            struct stk_step *s = &run->steps[step_base[r] + i];
            *s = rank->steps[i];
            if (s->device != STK_NONE) {
                s->device += device_base[r];
            }
        }
    }
    return true;
}

static void merge_source(struct stk_run_sum *a, const struct stk_rank_sum *b)
{
#define MEMBER STK_MERGE_MEMBER
#define FOLLOW STK_MERGE_FOLLOW
#include "profile/model/step_source.def"
#undef MEMBER
#undef FOLLOW
}

// The run takes the steps and confidence of the rank with the most steps.
static void merge_sources(struct stk_run_sum *run)
{
    run->source = STK_STEPS_NONE;
    for (uint32_t r = 0; r < run->rank_count; r++) {
        const struct stk_rank_sum *rank = run->ranks[r];
        uint32_t used = 0;
        int64_t last = INT64_MIN;
        for (uint32_t i = 0; i < rank->step_count; i++) {
            if (!rank->steps[i].excluded && (used == 0 || rank->steps[i].number != last)) {
                used += rank->steps[i].device == STK_NONE ||
                        rank->steps[i].device == rank->steps[0].device;
                last = rank->steps[i].number;
            }
        }
        if (r == 0) {
            run->source = rank->source;
            run->confidence = rank->confidence;
        }
        merge_source(run, rank);
        run->steps_used = STK_MERGE_MAX(run->steps_used, used);
    }
}

static void total_devices(struct stk_run_sum *run)
{
    for (uint32_t d = 0; d < run->device_count; d++) {
        const struct stk_device_sum *dev = &run->devices[d];
        int64_t sum = 0;
        if (!dev->analysed) {
            continue;
        }
        for (int p = 0; p < STK_PART_COUNT; p++) {
            run->parts[p] += dev->parts[p];
            sum += dev->parts[p];
        }
        STK_ASSERT(sum == dev->wall_ns);
        run->wall_ns += dev->wall_ns;
    }
}

static void total_host_steps(struct stk_run_sum *run)
{
    for (uint32_t i = 0; i < run->step_count; i++) {
        const struct stk_step *s = &run->steps[i];
        if (s->excluded || s->device != STK_NONE) {
            continue;
        }
        for (int p = 0; p < STK_PART_COUNT; p++) {
            run->parts[p] += s->parts[p];
        }
        run->wall_ns += s->dur_ns;
    }
}

static int by_duration(const void *pa, const void *pb)
{
    const struct stk_step *a = *(const struct stk_step *const *)pa;
    const struct stk_step *b = *(const struct stk_step *const *)pb;
    if (a->dur_ns != b->dur_ns) {
        return a->dur_ns < b->dur_ns ? -1 : 1;
    }
    return a->number < b->number ? -1 : a->number > b->number;
}

// Whether the durations of all steps, and the times of all devices, can be added up: a partial may
// say what no recordings of its ranks could.
static bool do_times_fit(const struct stk_run_sum *run)
{
    int64_t steps_ns = 0, devices_ns = 0;
    bool fit = true;
    for (uint32_t i = 0; i < run->step_count && fit; i++) {
        fit = !__builtin_add_overflow(steps_ns, run->steps[i].dur_ns, &steps_ns);
    }
    for (uint32_t d = 0; d < run->device_count && fit; d++) {
        bool is_used = run->devices[d].analysed;
        fit = !is_used || !__builtin_add_overflow(devices_ns, run->devices[d].wall_ns, &devices_ns);
    }
    return fit;
}

// Device with the most busy time whose steps give the median step; STK_NONE for host steps.
static uint32_t busiest_device(const struct stk_run_sum *run)
{
    uint32_t best = STK_NONE;
    for (uint32_t d = 0; d < run->device_count; d++) {
        if (run->devices[d].analysed &&
            (best == STK_NONE || run->devices[d].busy_ns > run->devices[best].busy_ns)) {
            best = d;
        }
    }
    return best;
}

static enum stoker_status step_statistics(struct stk_run_sum *run, struct stoker_err *err)
{
    run->median_step = STK_NONE;
    run->step_median_ns = run->step_mean_ns = run->step_p95_ns = -1;
    uint32_t device = busiest_device(run);
    const struct stk_step **used = stk_alloc_array(run->step_count + 1, sizeof *used);
    if (!used) {
        return stk_err_nomem(err);
    }
    uint32_t n = 0;
    int64_t total_ns = 0;
    for (uint32_t i = 0; i < run->step_count; i++) {
        const struct stk_step *s = &run->steps[i];
        if (!s->excluded && s->device == device) {
            used[n++] = s;
            total_ns += s->dur_ns;
        }
    }
    if (n > 0) {
        stk_sort(used, n, sizeof *used, by_duration);
        run->median_step = (uint32_t)(used[(n - 1) / 2] - run->steps);
        run->step_median_ns = used[(n - 1) / 2]->dur_ns;
        run->step_mean_ns = total_ns / n;
        run->step_p95_ns = used[(n * 95 + 99) / 100 - 1]->dur_ns;
    }
    stk_free(used);
    return STOKER_OK;
}

static void merge_slow_stages(struct stk_run_sum *run)
{
    int64_t most_ns = -1;
    for (uint32_t r = 0; r < run->rank_count; r++) {
        const struct stk_rank_sum *rank = run->ranks[r];
        if (rank->slow_stage.stage && rank->causes[STK_PART_INPUT].ns > most_ns) {
            most_ns = rank->causes[STK_PART_INPUT].ns;
            run->slow_stage = rank->slow_stage;
        }
    }
}

// The waiting that was moved out of communication, as a cause of its own.
static bool wait_cause(struct stk_run_sum *run)
{
    struct stk_cause *wait = &run->causes[STK_PART_COLLECTIVE_WAIT];
    struct stk_cause *comm = &run->causes[STK_PART_COMMUNICATION];
    int64_t moved = run->parts[STK_PART_COLLECTIVE_WAIT] - wait->ns;
    if (moved <= 0) {
        return true;
    }
    struct stk_gathered both;
    struct stk_cause source = *comm;
    source.ns = moved;
    source.owner_count = 0;
    stk_gathered_init(&both);
    stk_gathered_add(&both, wait);
    stk_gathered_add(&both, &source);
    both.sums.steps_affected = comm->steps_affected;
    comm->ns -= moved < comm->ns ? moved : comm->ns;
    return stk_gathered_finish(&both, wait);
}

// Ranks without a breakdown are left out if others have one.
static bool merge_causes(struct stk_run_sum *run, bool has_devices)
{
    bool ok = true;
    for (int p = 0; p < STK_PART_COUNT && ok; p++) {
        struct stk_gathered gathered;
        stk_gathered_init(&gathered);
        for (uint32_t r = 0; r < run->rank_count; r++) {
            if (has_breakdown(run->ranks[r]) == has_devices) {
                stk_gathered_add(&gathered, &run->ranks[r]->causes[p]);
            }
        }
        ok = stk_gathered_finish(&gathered, &run->causes[p]);
    }
    return ok;
}

enum stoker_status stk_model_merge(struct stk_rank_sum *const *ranks, uint32_t count,
                                   struct stk_arena *arena, struct stk_run_sum **out,
                                   struct stoker_err *err)
{
    STK_ASSERT(count == 0 || ranks);
    *out = NULL;
    struct stk_run_sum *run = stk_arena_alloc(arena, sizeof *run);
    uint32_t *base = stk_arena_array(arena, 2 * (size_t)count + 1, sizeof *base);
    if (run) {
        run->ranks = stk_arena_array(arena, (size_t)count + 1, sizeof *run->ranks);
    }
    if (!run || !base || !run->ranks) {
        return stk_err_nomem(err);
    }
    run->rank_count = count;
    bool any_device = false, any_host = false;
    for (uint32_t r = 0; r < count; r++) {
        run->ranks[r] = ranks[r];
        any_device |= has_breakdown(ranks[r]);
        any_host |= ranks[r]->host_scope;
        if (r == 0) {
            run->facts = ranks[r]->facts;
        } else {
            stk_facts_merge(&run->facts, &ranks[r]->facts);
        }
    }
    if (!merge_causes(run, any_device) || !copy_rows(run, arena, base, base + count)) {
        return stk_err_nomem(err);
    }
    if (!do_times_fit(run)) {
        return stk_err_set(
            err, STOKER_ELIMIT,
            "the steps take 292 years together: a profile, or a partial, is damaged");
    }
    merge_sources(run);
    merge_slow_stages(run);
    enum stoker_status status = stk_collectives_match(run, base, base + count, arena, err);
    if (status != STOKER_OK) {
        return status;
    }
    if (any_device) {
        total_devices(run);
    } else {
        total_host_steps(run);
    }
    run->scope = any_device ? (run->steps_used ? STK_SCOPE_STEPS : STK_SCOPE_SPAN)
                 : any_host ? STK_SCOPE_HOST
                            : STK_SCOPE_SPAN;
    status = wait_cause(run) ? step_statistics(run, err) : stk_err_nomem(err);
    if (status == STOKER_OK) {
        STK_ASSERT_SOUND(stk_run_sum_check(run));
    }
    *out = run;
    return status;
}
