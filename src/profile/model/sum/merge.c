// SPDX-License-Identifier: Apache-2.0
// Merging the summaries of all ranks into the run: arrays are concatenated, causes and facts added,
// collectives matched, totals and medians computed. Small: no events are looked at.
//
// Limits: where some ranks have device rows and others none, those without are left out of the
// breakdown (they are named by the health check), since host and device time do not add up.
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/sort.h"
#include "profile/model/collectives/collectives.h"
#include "profile/model/summary.h"
#include "profile/model/model_check.h"

static void add_to_list(struct stk_cause_name *list, int *count, int most,
                        const struct stk_cause_name *from)
{
    for (int i = 0; i < *count; i++) {
        if (strcmp(list[i].name, from->name) == 0) {
            list[i].ns += from->ns;
            list[i].count += from->count;
            return;
        }
    }
    if (*count < most) {
        list[(*count)++] = *from;
        return;
    }
    int least = 0;
    for (int i = 1; i < most; i++) {
        if (list[i].ns < list[least].ns) {
            least = i;
        }
    }
    if (from->ns > list[least].ns) {
        list[least] = *from;
    }
}

static void add_name(struct stk_cause *into, const struct stk_cause_name *from)
{
    add_to_list(into->names, &into->name_count, STK_CAUSE_NAMES, from);
}

static void add_example(struct stk_cause *into, const struct stk_example *from)
{
    int at = into->example_count;
    while (at > 0 && into->examples[at - 1].dur_ns < from->dur_ns) {
        at--;
    }
    if (at == STK_CAUSE_EXAMPLES) {
        return;
    }
    int last =
        into->example_count < STK_CAUSE_EXAMPLES ? into->example_count++ : STK_CAUSE_EXAMPLES - 1;
    memmove(&into->examples[at + 1], &into->examples[at], (size_t)(last - at) * sizeof *from);
    into->examples[at] = *from;
}

static int names_by_ns(const void *pa, const void *pb)
{
    const struct stk_cause_name *a = pa, *b = pb;
    return a->ns > b->ns ? -1 : a->ns < b->ns;
}

static int owners_by_weight(const void *pa, const void *pb)
{
    const struct stk_cause_name *a = pa, *b = pb;
    int64_t wa = stk_owner_weight(a->ns, a->count), wb = stk_owner_weight(b->ns, b->count);
    return wa > wb ? -1 : wa < wb;
}

static void merge_cause(struct stk_cause *into, const struct stk_cause *from)
{
    into->ns += from->ns;
    into->intervals += from->intervals;
    into->steps_affected += from->steps_affected;
    for (int i = 0; i < from->name_count; i++) {
        add_name(into, &from->names[i]);
    }
    for (int i = 0; i < from->example_count; i++) {
        add_example(into, &from->examples[i]);
    }
    for (int i = 0; i < from->owner_count; i++) {
        add_to_list(into->owners, &into->owner_count, STK_CAUSE_OWNERS, &from->owners[i]);
    }
    stk_sort(into->names, (size_t)into->name_count, sizeof *into->names, names_by_ns);
    stk_sort(into->owners, (size_t)into->owner_count, sizeof *into->owners, owners_by_weight);
}

static void merge_counts(struct stk_facts *a, const struct stk_facts *b)
{
    a->events += b->events;
    a->host_events += b->host_events;
    a->python_events += b->python_events;
    a->runtime_calls += b->runtime_calls;
    a->device_ops += b->device_ops;
    a->unlinked_ops += b->unlinked_ops;
    a->queued_ops += b->queued_ops;
    a->launches_without_work += b->launches_without_work;
    a->pageable_copies += b->pageable_copies;
    a->pageable_copy_ns += b->pageable_copy_ns;
    a->pageable_bytes += b->pageable_bytes;
    a->pinned_copies += b->pinned_copies;
    a->copies += b->copies;
    a->copy_ns += b->copy_ns;
    a->sync_calls += b->sync_calls;
    a->sync_call_ns += b->sync_call_ns;
    a->alloc_calls += b->alloc_calls;
    a->alloc_call_ns += b->alloc_call_ns;
    a->launches += b->launches;
    a->launch_call_ns += b->launch_call_ns;
    a->graph_launches += b->graph_launches;
    a->negative_delays += b->negative_delays;
    a->loader_fetches += b->loader_fetches;
    a->batch_fetches += b->batch_fetches;
    a->loader_fetch_ns += b->loader_fetch_ns;
    a->own_batches += b->own_batches;
    a->own_handing_ns += b->own_handing_ns;
    a->input_asleep_ns += b->input_asleep_ns;
    a->fetch_calls += b->fetch_calls;
    a->fetch_ops += b->fetch_ops;
    a->fetch_stacks += b->fetch_stacks;
    a->fetch_fine_ns += b->fetch_fine_ns;
    a->fetch_draw_ns += b->fetch_draw_ns;
    a->prep_ops += b->prep_ops;
    a->eager_rounds += b->eager_rounds;
    a->list_handing_ns += b->list_handing_ns;
    a->evaluated_fetch_ns += b->evaluated_fetch_ns;
    a->runs_ahead |= b->runs_ahead;
    a->sees_operators |= b->sees_operators;
    a->sees_training |= b->sees_training;
    a->evaluations += b->evaluations;
    a->evaluation_ns = stk_add_ns(a->evaluation_ns, b->evaluation_ns);
    a->evaluation_of_ns = stk_add_ns(a->evaluation_of_ns, b->evaluation_of_ns);
    a->standstill_ns += b->standstill_ns;
    a->standstill_rest_ns += b->standstill_rest_ns;
    a->lock_ns += b->lock_ns;
    a->serialized_launches += b->serialized_launches;
    a->compile_recurring_ns += b->compile_recurring_ns;
    a->profiler_overhead_ns += b->profiler_overhead_ns;
    a->host_collective_ns += b->host_collective_ns;
    a->startup_ns += b->startup_ns;
    a->first_use_ns += b->first_use_ns;
    a->host_steps += b->host_steps;
    for (int i = 0; i < STK_SIGN_COUNT; i++) {
        a->signs[i].count += b->signs[i].count;
        a->signs[i].outer += b->signs[i].outer;
        a->signs[i].ns += b->signs[i].ns;
        a->signs[i].work_ns += b->signs[i].work_ns;
    }
}

static void merge_grids(struct stk_grid_fill *a, const struct stk_grid_fill *b)
{
    a->kernels_ns = stk_add_ns(a->kernels_ns, b->kernels_ns);
    a->known_ns = stk_add_ns(a->known_ns, b->known_ns);
    a->empty_ns = stk_add_ns(a->empty_ns, b->empty_ns);
    a->kernels += b->kernels;
    a->small += b->small;
    a->multiprocessors =
        b->multiprocessors > a->multiprocessors ? b->multiprocessors : a->multiprocessors;
    if (b->emptiest_ns > a->emptiest_ns) {
        a->emptiest_ns = b->emptiest_ns;
        a->emptiest = b->emptiest;
    }
}

static void merge_stagger(struct stk_stagger *a, const struct stk_stagger *b)
{
    a->devices = b->devices > a->devices ? b->devices : a->devices;
    a->steps += b->steps;
    a->one_thread_steps += b->one_thread_steps;
    a->steps_ns = stk_add_ns(a->steps_ns, b->steps_ns);
    a->late_ns = stk_add_ns(a->late_ns, b->late_ns);
    if (b->latest_ns > a->latest_ns) {
        a->latest_ns = b->latest_ns;
        a->latest = b->latest;
    }
}

static void merge_kernels(struct stk_kernel_work *a, const struct stk_kernel_work *b)
{
    a->all_ns += b->all_ns;
    for (int i = 0; i < STK_KERNEL_KINDS; i++) {
        a->kind_ns[i] += b->kind_ns[i];
        a->kind_count[i] += b->kind_count[i];
        if (b->longest_ns[i] > a->longest_ns[i]) {
            a->longest_ns[i] = b->longest_ns[i];
            a->longest[i] = b->longest[i];
        }
    }
    a->devices_busy_ns += b->devices_busy_ns;
    a->any_busy_ns += b->any_busy_ns;
    merge_stagger(&a->stagger, &b->stagger);
    a->devices = b->devices > a->devices ? b->devices : a->devices;
    merge_grids(&a->grids, &b->grids);
}

static void merge_facts(struct stk_facts *a, const struct stk_facts *b)
{
    merge_counts(a, b);
    merge_kernels(&a->kernels, &b->kernels);
    a->first_ns = b->first_ns < a->first_ns ? b->first_ns : a->first_ns;
    a->last_ns = b->last_ns > a->last_ns ? b->last_ns : a->last_ns;
    if (b->delay_median_ns > a->delay_median_ns) {
        a->delay_median_ns = b->delay_median_ns;
    }
    if (b->launch_call_median_ns > a->launch_call_median_ns) {
        a->launch_call_median_ns = b->launch_call_median_ns;
    }
    if (b->worst_negative_ns > a->worst_negative_ns) {
        a->worst_negative_ns = b->worst_negative_ns;
    }
    if (b->loader_workers_seen > a->loader_workers_seen) {
        a->loader_workers_seen = b->loader_workers_seen;
    }
    if (b->period_score > a->period_score) {
        a->period_score = b->period_score;
    }
    if (b->host_event_fill < a->host_event_fill) {
        a->host_event_fill = b->host_event_fill;
    }
    a->frameworks |= b->frameworks;
    a->has_fetches &= b->has_fetches;
    a->has_python |= b->has_python;
    a->has_runtime |= b->has_runtime;
    a->has_device_rows |= b->has_device_rows;
    a->has_host_rows |= b->has_host_rows;
    a->has_iterators |= b->has_iterators;
    a->has_launch_rows |= b->has_launch_rows;
    a->unknown_accelerator |= b->unknown_accelerator;
    a->is_cut |= b->is_cut;
    a->whole_until_ns =
        b->whole_until_ns < a->whole_until_ns ? b->whole_until_ns : a->whole_until_ns;
    if (!a->input_limit) {
        a->input_limit = b->input_limit;
    }
    if (b->long_period > a->long_period) {
        a->long_period = b->long_period;
        a->long_twice = b->long_twice;
    }
    if (b->recompiled[0].later > a->recompiled[0].later || !a->recompiled[0].name) {
        memcpy(a->recompiled, b->recompiled, sizeof a->recompiled);
    }
    if (!a->recorded_limit) {
        a->recorded_limit = b->recorded_limit;
    }
    if (!a->long_what) {
        a->long_what = b->long_what;
        a->long_what_is_usual = b->long_what_is_usual;
    }
    if (!a->input_filler) {
        a->input_filler = b->input_filler;
    }
    if (!a->owner_calls) {
        a->owner_calls = b->owner_calls;
        a->owner_calling = b->owner_calling;
        a->owner_calls_share = b->owner_calls_share;
    }
    if (!a->warm_up_what) {
        a->warm_up_what = b->warm_up_what;
    }
    if (!a->accelerator) {
        a->accelerator = b->accelerator;
    }
    if (b->first_use.name && b->first_use.dur_ns > a->first_use.dur_ns) {
        a->first_use = b->first_use;
    }
}

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

// Steps and confidence of the rank with the most steps stand for the run.
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
        if (r == 0 || rank->step_marks > run->step_marks) {
            run->source = rank->source;
            run->confidence = rank->confidence;
            run->step_marks = rank->step_marks;
        }
        if (used > run->steps_used) {
            run->steps_used = used;
        }
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
static void wait_cause(struct stk_run_sum *run)
{
    int64_t moved = run->parts[STK_PART_COLLECTIVE_WAIT] - run->causes[STK_PART_COLLECTIVE_WAIT].ns;
    if (moved <= 0) {
        return;
    }
    struct stk_cause *wait = &run->causes[STK_PART_COLLECTIVE_WAIT];
    struct stk_cause *comm = &run->causes[STK_PART_COMMUNICATION];
    wait->ns += moved;
    comm->ns -= moved < comm->ns ? moved : comm->ns;
    for (int i = 0; i < comm->name_count; i++) {
        add_name(wait, &comm->names[i]);
    }
    for (int i = 0; i < comm->example_count; i++) {
        add_example(wait, &comm->examples[i]);
    }
    wait->steps_affected = comm->steps_affected;
    wait->intervals += comm->intervals;
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
            merge_facts(&run->facts, &ranks[r]->facts);
        }
    }
    for (uint32_t r = 0; r < count; r++) {
        for (int p = 0; p < STK_PART_COUNT && has_breakdown(ranks[r]) == any_device; p++) {
            merge_cause(&run->causes[p], &ranks[r]->causes[p]);
        }
    }
    if (!copy_rows(run, arena, base, base + count)) {
        return stk_err_nomem(err);
    }
    merge_sources(run);
    merge_slow_stages(run);
    enum stoker_status status = stk_collectives_match(run, base, base + count, err);
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
    wait_cause(run);
    status = step_statistics(run, err);
    if (status == STOKER_OK) {
        STK_ASSERT_SOUND(stk_run_sum_check(run));
    }
    *out = run;
    return status;
}
