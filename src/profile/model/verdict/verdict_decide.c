// SPDX-License-Identifier: Apache-2.0
// From parts to one verdict: abstain first, then straggler, cold start, compute, the largest loss.
// Every figure is in thresholds.def. The same decision is made for the median step alone. If its
// kind differs, confidence is low and the sentence names both.
//
// Limits: the order decides if several kinds apply (a straggler also looks like communication). A
// single rank can't separate a slow network from a late peer, and its sentence says so.
#include <string.h>

#include "base/assert.h"
#include "profile/model/verdict/busy_work.h"
#include "profile/model/verdict/crowded.h"
#include "profile/model/intervals.h"
#include "profile/model/verdict/verdict.h"
#include "profile/model/verdict/verdict_text.h"
#include "profile/model/thresholds.h"

#define HANDS_OVER 0.25 // at most this share of the mean step: a step that waits for nothing

#define AT(name) stk_threshold_value(STK_T_##name)

static enum stk_verdict_kind kind_of_group(enum stk_group group)
{
    static const enum stk_verdict_kind kinds[STK_GROUP_COUNT] = {
        [STK_GROUP_COMPUTE] = STK_VERDICT_COMPUTE,
        [STK_GROUP_INPUT] = STK_VERDICT_INPUT,
        [STK_GROUP_HOST] = STK_VERDICT_HOST,
        [STK_GROUP_SYNC] = STK_VERDICT_SYNC,
        [STK_GROUP_TRANSFER] = STK_VERDICT_TRANSFER,
        [STK_GROUP_COMMUNICATION] = STK_VERDICT_COMMUNICATION,
        [STK_GROUP_COLD] = STK_VERDICT_COLD,
        [STK_GROUP_UNKNOWN] = STK_VERDICT_CANNOT_TELL,
    };
    return kinds[group];
}

// Shares of the groups. Profiler overhead is in none of them.
static void shares_of(const int64_t *parts, int64_t wall_ns, double *share)
{
    STK_ASSERT(wall_ns >= 0);
    for (int g = 0; g < STK_GROUP_COUNT; g++) {
        share[g] = 0;
    }
    if (wall_ns <= 0) {
        return;
    }
    for (int p = 0; p < STK_PART_COUNT; p++) {
        if (p != STK_PART_OVERHEAD) {
            share[stk_part_info(p)->group] += (double)parts[p] / (double)wall_ns;
        }
    }
}

// The two largest losses, except idle time of unknown cause.
static void rank_losses(const double *share, enum stk_group *first, enum stk_group *second)
{
    *first = STK_GROUP_INPUT;
    *second = STK_GROUP_HOST;
    if (share[*second] > share[*first]) {
        *first = STK_GROUP_HOST;
        *second = STK_GROUP_INPUT;
    }
    for (int g = STK_GROUP_SYNC; g < STK_GROUP_UNKNOWN; g++) {
        if (share[g] > share[*first]) {
            *second = *first;
            *first = g;
        } else if (share[g] > share[*second]) {
            *second = g;
        }
    }
}

// The verdict if idle time of unknown cause is the largest loss.
static enum stk_verdict_kind decide_unknown(const struct stk_run_sum *run, const double *share)
{
    const struct stk_facts *f = &run->facts;
    uint64_t kernels = 0, brief = 0;
    for (uint32_t d = 0; d < run->device_count; d++) {
        kernels += run->devices[d].kernels;
        brief += run->devices[d].short_kernels;
    }
    bool unlinked = f->device_ops && (double)f->unlinked_ops > 0.5 * (double)f->device_ops;
    if (unlinked && kernels >= AT(UNLINKED_KERNELS) &&
        (double)brief >= AT(UNLINKED_SHORT) * (double)kernels && f->host_events > 0) {
        return STK_VERDICT_HOST;
    }
    if (share[STK_GROUP_COMPUTE] >= AT(UNKNOWN_COMPUTE) &&
        share[STK_GROUP_UNKNOWN] < AT(UNKNOWN_COMPUTE_MAX)) {
        return STK_VERDICT_COMPUTE;
    }
    return STK_VERDICT_CANNOT_TELL;
}

static int64_t cold_ns_of(const struct stk_run_sum *run)
{
    int64_t cold_ns = 0;
    for (uint32_t r = 0; r < run->rank_count; r++) {
        cold_ns = stk_add_ns(cold_ns, run->ranks[r]->cold_ns);
    }
    return cold_ns;
}

// Does compilation continue after the first two steps?
static bool compile_goes_on(const struct stk_run_sum *run)
{
    return (double)run->facts.compile_recurring_ns >= AT(COLD_RETURNS) * (double)cold_ns_of(run);
}

// Compilation that recurs in later steps is a steady cost of the host, not warm-up. If it
// continues, so is that of the first two steps. Returns the share that was moved.
static double move_recurring_compile(const struct stk_run_sum *run, double *share)
{
    double recurring =
        run->wall_ns > 0 ? (double)run->facts.compile_recurring_ns / (double)run->wall_ns : 0;
    if (recurring < AT(COMPILE_RECURRING)) {
        return 0;
    }
    if (recurring > share[STK_GROUP_COLD] || compile_goes_on(run)) {
        recurring = share[STK_GROUP_COLD];
    }
    share[STK_GROUP_COLD] -= recurring;
    share[STK_GROUP_HOST] += recurring;
    return recurring;
}

// Without a device: if the job's fetches (or that it has none) and the framework's operations are
// known, the driving thread's time without events is the program's own code. Returns the share that
// was moved to the host.
static double move_unrecorded(const struct stk_run_sum *run, double *share)
{
    double unrecorded = share[STK_GROUP_UNKNOWN];
    if (run->scope != STK_SCOPE_HOST || !stk_knows_fetches(&run->facts) || run->facts.input_limit ||
        run->parts[STK_PART_COMPUTE] <= 0) {
        return 0;
    }
    share[STK_GROUP_UNKNOWN] = 0;
    share[STK_GROUP_HOST] += unrecorded;
    return unrecorded;
}

// Without a device: in steps of thousands of tiny operations, call overhead is the host's loss, not
// the model's work. This only applies if that overhead or the rest of the host's work is a loss by
// itself, since a model may consist of small operations. Shares are then of the step without such
// operations' wait for a core. Returns the share that was moved to the host; *held: that wait, of
// the whole step.
static double move_tiny(const struct stk_run_sum *run, double *share, double *held)
{
    double tiny = run->scope == STK_SCOPE_HOST ? stk_tiny_share(run) : 0;
    double wait = tiny > 0 ? (double)stk_held_ns(run) / (double)run->wall_ns : 0;
    double works = share[STK_GROUP_COMPUTE];
    double most = works - (wait > 0 ? stk_calls_share(run) : 0); // the operators' rest stays
    wait = wait < most ? wait : most > 0 ? most : 0;
    tiny = tiny < works - wait ? tiny : works - wait;
    double left = 1 - wait;
    *held = 0;
    if (left <= 0 ||
        (tiny < AT(HOST_LOSS) * left && share[STK_GROUP_HOST] < AT(HOST_LOSS) * left)) {
        return 0;
    }
    share[STK_GROUP_COMPUTE] -= wait + tiny;
    share[STK_GROUP_HOST] += tiny;
    for (int g = 0; g < STK_GROUP_COUNT; g++) {
        share[g] /= left;
    }
    *held = wait;
    return tiny / left;
}

// The steady part of the decision: compute, then the largest loss. Used for all steps and for the
// median step.
static enum stk_verdict_kind decide_losses(const struct stk_run_sum *run, const double *share)
{
    enum stk_group first, second;
    rank_losses(share, &first, &second);
    if (share[STK_GROUP_COMPUTE] >= AT(COMPUTE_BOUND)) {
        return STK_VERDICT_COMPUTE;
    }
    if (share[STK_GROUP_UNKNOWN] >= AT(LOSS) && share[STK_GROUP_UNKNOWN] > share[first]) {
        return decide_unknown(run, share);
    }
    if (share[first] < AT(LOSS)) {
        return share[STK_GROUP_COMPUTE] >= AT(COMPUTE_NO_LOSS) ? STK_VERDICT_COMPUTE
                                                               : STK_VERDICT_MIXED;
    }
    if (share[second] > AT(SECOND) * share[first]) {
        return STK_VERDICT_MIXED;
    }
    return kind_of_group(first);
}

// Without a device: time without events may be anything, most likely input.
static bool host_is_unseen(const double *share, double first)
{
    double unknown = share[STK_GROUP_UNKNOWN];
    bool is_largest = unknown > share[STK_GROUP_COMPUTE] && unknown > first;
    return is_largest || (unknown >= AT(HOST_UNKNOWN) && unknown > first);
}

// Without a device: the host's own step, in which work is sequential.
static enum stk_verdict_kind decide_host(const double *share)
{
    enum stk_group first, second;
    rank_losses(share, &first, &second);
    if (host_is_unseen(share, share[first])) {
        return STK_VERDICT_CANNOT_TELL;
    }
    if (share[first] < AT(HOST_LOSS)) {
        return STK_VERDICT_COMPUTE;
    }
    return share[second] > AT(SECOND) * share[first] ? STK_VERDICT_MIXED : kind_of_group(first);
}

static uint64_t kernels_of(const struct stk_run_sum *run)
{
    uint64_t kernels = 0;
    for (uint32_t d = 0; d < run->device_count; d++) {
        kernels += run->devices[d].kernels;
    }
    return kernels;
}

// The input ends early, and rows that matter are missing.
static bool lacks_rows(const struct stk_facts *f)
{
    return f->is_cut && f->whole_until_ns != INT64_MAX;
}

// Why there is no verdict, if so.
static enum stk_reason abstain(const struct stk_run_sum *run, const double *share)
{
    const struct stk_facts *f = &run->facts;
    uint64_t kernels = kernels_of(run);
    if (run->machine && run->rank_count == 0) {
        return STK_REASON_MACHINE_ALONE;
    }
    // A pipeline that reports itself leaves out short calls, so a few steps have few events.
    bool is_pipeline = f->input_limit && run->steps_used >= AT(HOST_STEPS);
    if (kernels < AT(MIN_KERNELS) && f->host_events < AT(MIN_HOST_EVENTS) && !is_pipeline) {
        return STK_REASON_EMPTY;
    }
    if (kernels == 0 && f->unknown_accelerator) {
        return STK_REASON_UNKNOWN_ACCELERATOR;
    }
    if (kernels == 0 && lacks_rows(f)) {
        return STK_REASON_CUT_SHORT;
    }
    if (kernels == 0 && f->launches > 0) {
        return STK_REASON_KERNELS_NOT_RECORDED;
    }
    if (kernels == 0 && f->has_device_rows) {
        return STK_REASON_NO_KERNELS;
    }
    if (lacks_rows(f) && run->steps_used == 0) {
        return STK_REASON_CUT_STEPS;
    }
    if (run->scope != STK_SCOPE_HOST) {
        return run->wall_ns > 0 ? STK_REASON_NONE : STK_REASON_NO_DEVICE_EVENTS;
    }
    if (run->steps_used < AT(HOST_STEPS)) {
        return STK_REASON_NO_DEVICE_EVENTS;
    }
    // Other ranks' profiles show who is late, and a job of one rank has no peers to wait for.
    bool is_alone = run->rank_count == 1 && run->ranks[0]->world_size != 1;
    double collective = run->wall_ns > 0 ? (double)f->host_collective_ns / (double)run->wall_ns : 0;
    if (is_alone && collective > AT(HOST_COLLECTIVE) && collective > share[STK_GROUP_INPUT]) {
        return STK_REASON_HOST_COLLECTIVE;
    }
    return STK_REASON_NONE;
}

// A window of `stoker run` opens after the job's warm-up. Extra time in its first steps is
// run-to-run noise or other programs, unless it is compilation.
static bool is_behind_start(const struct stk_run_sum *run, const double *share)
{
    return run->facts.told[STK_TOLD_LINE] && share[STK_GROUP_COLD] < AT(COMPILE_RECURRING);
}

static bool cold_start(const struct stk_run_sum *run)
{
    int64_t span_ns = 0;
    for (uint32_t r = 0; r < run->rank_count; r++) {
        span_ns += run->ranks[r]->facts.last_ns - run->ranks[r]->facts.first_ns;
    }
    return span_ns > 0 && (double)cold_ns_of(run) >= AT(COLD) * (double)span_ns &&
           !compile_goes_on(run);
}

static enum stk_verdict_kind decide_steady(const struct stk_run_sum *run, const double *share)
{
    return run->scope == STK_SCOPE_HOST ? decide_host(share) : decide_losses(run, share);
}

// The group whose share in these steps exceeds its share in the used steps most.
static enum stk_group excess_group(const struct stk_run_sum *run, const int64_t *parts,
                                   int64_t wall_ns)
{
    double most = 0, own[STK_GROUP_COUNT], usual[STK_GROUP_COUNT];
    enum stk_group best = STK_GROUP_COMPUTE;
    shares_of(parts, wall_ns, own);
    shares_of(run->parts, run->wall_ns, usual);
    for (int g = 0; g < STK_GROUP_COUNT; g++) {
        if (own[g] - usual[g] > most) {
            most = own[g] - usual[g];
            best = (enum stk_group)g;
        }
    }
    return best;
}

// Do the first two steps, excluded because they are long, take most of the time for a reason that
// the others don't have? Then it is a cold start.
static bool starts_slowly(const struct stk_run_sum *run, struct stk_verdict *v)
{
    int64_t parts[STK_PART_COUNT] = {0}, first_ns = 0, all_ns = 0;
    for (uint32_t i = 0; i < run->step_count; i++) {
        const struct stk_step *s = &run->steps[i];
        bool is_row = run->scope == STK_SCOPE_HOST
                          ? s->device == STK_NONE
                          : s->device != STK_NONE && run->devices[s->device].analysed;
        bool is_unseen = s->excluded && (strcmp(s->excluded, STK_EXCLUDED_UNSELECTED) == 0 ||
                                         strcmp(s->excluded, STK_EXCLUDED_CUT) == 0);
        if (!is_row || is_unseen) {
            continue;
        }
        all_ns = stk_add_ns(all_ns, s->dur_ns);
        for (int p = 0; p < STK_PART_COUNT && s->is_warm_up; p++) {
            parts[p] += s->parts[p];
        }
        first_ns = stk_add_ns(first_ns, s->is_warm_up ? s->dur_ns : 0);
    }
    if (first_ns == 0 || (double)first_ns < AT(ONE_OFF) * (double)all_ns) {
        return false;
    }
    v->one_off = excess_group(run, parts, first_ns);
    v->steady_kind = decide_steady(run, v->group_share);
    if (kind_of_group(v->one_off) == v->steady_kind) {
        return false;
    }
    v->one_off_share = (double)first_ns / (double)all_ns;
    return true;
}

// A late rank takes precedence over the largest loss. If another loss is larger than the ranks'
// waiting, confidence is lower, and lowest if more of the host's time is unrecorded. A device's
// waiting is measured even if the profile lacks other work.
static enum stk_level straggler_confidence(const struct stk_run_sum *run, const double *share)
{
    double wait = stk_straggler_share(run);
    if (run->scope == STK_SCOPE_HOST && share[STK_GROUP_UNKNOWN] > wait) {
        return STK_LEVEL_LOW;
    }
    bool is_largest = share[STK_GROUP_COMMUNICATION] <= 2 * wait;
    for (int g = STK_GROUP_INPUT; g < STK_GROUP_UNKNOWN; g++) {
        is_largest &= g == STK_GROUP_COMMUNICATION || share[g] <= wait;
    }
    return is_largest && run->straggler.clocks_agree && run->straggler.matched >= 8
               ? STK_LEVEL_HIGH
               : STK_LEVEL_MEDIUM;
}

static enum stk_level confidence_of(const struct stk_run_sum *run, const struct stk_verdict *v)
{
    const struct stk_facts *f = &run->facts;
    const double *share = v->group_share;
    if (v->kind == STK_VERDICT_CANNOT_TELL) {
        return stk_reason_leaves_shares(v->reason) ? STK_LEVEL_LOW : STK_LEVEL_HIGH;
    }
    if (v->kind == STK_VERDICT_STRAGGLER) {
        return straggler_confidence(run, share);
    }
    // Work queued before the recording doesn't hide a step's idle time.
    bool unlinked = f->device_ops && (double)(f->unlinked_ops - f->queued_ops) >
                                         AT(UNLINKED_LOW) * (double)f->device_ops;
    double unseen = share[STK_GROUP_UNKNOWN] + v->unrecorded_share;
    if (unseen >= AT(UNKNOWN_HIGH) || v->median_kind != v->kind) {
        return STK_LEVEL_LOW;
    }
    if (v->kind != STK_VERDICT_COLD && v->kind != STK_VERDICT_COMPUTE &&
        (unlinked || run->source == STK_STEPS_INFERRED || run->steps_used == 1)) {
        return STK_LEVEL_LOW;
    }
    bool by_host = run->scope == STK_SCOPE_HOST || v->kind != STK_VERDICT_COMPUTE;
    if (by_host && stk_was_crowded_out(run)) {
        return STK_LEVEL_LOW;
    }
    if (run->scope == STK_SCOPE_HOST || v->kind == STK_VERDICT_MIXED) {
        return STK_LEVEL_MEDIUM;
    }
    bool steady = run->steps_used >= 3 || v->kind == STK_VERDICT_COLD;
    bool clear = v->kind == STK_VERDICT_COMPUTE
                     ? share[STK_GROUP_COMPUTE] >= AT(COMPUTE_BOUND) + 0.05
                     : share[v->first] >= 2 * AT(LOSS) && share[v->first] >= 2 * share[v->second];
    return steady && clear && share[STK_GROUP_UNKNOWN] < AT(UNKNOWN_LOW) ? STK_LEVEL_HIGH
                                                                         : STK_LEVEL_MEDIUM;
}

// Without a device, the collectives' own time is part of the step. If it is far more than the
// waiting, fewer or cheaper collectives would gain more than an even load.
static bool straggles(const struct stk_run_sum *run)
{
    return run->straggler.fired &&
           (run->scope != STK_SCOPE_HOST ||
            (double)run->parts[STK_PART_COMMUNICATION] <=
                AT(STRAGGLER_OWN) * (double)run->parts[STK_PART_COLLECTIVE_WAIT]);
}

// While other programs hold the cores, operators on several threads take more of a step than alone.
// Would something else lead if they didn't?
static bool may_be_stretched(const struct stk_run_sum *run, const double *share)
{
    double alone[STK_GROUP_COUNT];
    if (run->scope != STK_SCOPE_HOST || !stk_threads_were_crowded_out(run)) {
        return false;
    }
    double computes = share[STK_GROUP_COMPUTE] / AT(CROWDED_STRETCH);
    double all = computes + 1 - share[STK_GROUP_COMPUTE];
    for (int g = 0; g < STK_GROUP_COUNT; g++) {
        alone[g] = (g == STK_GROUP_COMPUTE ? computes : share[g]) / all;
    }
    return decide_host(alone) != STK_VERDICT_COMPUTE;
}

static enum stk_verdict_kind decide(const struct stk_run_sum *run, struct stk_verdict *v)
{
    v->reason = abstain(run, v->group_share);
    if (v->reason != STK_REASON_NONE) {
        return STK_VERDICT_CANNOT_TELL;
    }
    if (straggles(run)) {
        return STK_VERDICT_STRAGGLER;
    }
    bool may_start = !is_behind_start(run, v->group_share);
    if (may_start && cold_start(run)) {
        return STK_VERDICT_COLD;
    }
    v->recompile_share = move_recurring_compile(run, v->group_share);
    v->unrecorded_share = move_unrecorded(run, v->group_share);
    v->tiny_share = move_tiny(run, v->group_share, &v->held_share);
    rank_losses(v->group_share, &v->first, &v->second);
    if (may_start && starts_slowly(run, v)) {
        return STK_VERDICT_COLD;
    }
    enum stk_verdict_kind kind = decide_steady(run, v->group_share);
    if (kind == STK_VERDICT_COMPUTE && may_be_stretched(run, v->group_share)) {
        v->is_stretched = true;
        return STK_VERDICT_MIXED;
    }
    if (kind == STK_VERDICT_CANNOT_TELL) {
        v->reason = run->scope == STK_SCOPE_HOST ? STK_REASON_HOST_UNSEEN : STK_REASON_UNKNOWN_IDLE;
    }
    return kind;
}

// If a loop runs ahead of its work (JAX on a CPU) and waits for it every few steps, a usual step
// only launches its work: it is short, and contains none of the model's work.
static bool only_hands_over(const struct stk_run_sum *run, const struct stk_verdict *v,
                            const struct stk_step *median)
{
    return v->kind == STK_VERDICT_COMPUTE && run->scope == STK_SCOPE_HOST &&
           (double)median->dur_ns < HANDS_OVER * (double)run->step_mean_ns;
}

// The verdict of the median step alone; the whole run's if there is no such step, or if an earlier
// check decided.
static enum stk_verdict_kind decide_median(const struct stk_run_sum *run,
                                           const struct stk_verdict *v)
{
    bool steady = v->kind != STK_VERDICT_STRAGGLER && v->kind != STK_VERDICT_COLD &&
                  v->kind != STK_VERDICT_CANNOT_TELL && !v->is_stretched;
    if (!steady || run->median_step == STK_NONE || run->steps_used < 3) {
        return v->kind;
    }
    double share[STK_GROUP_COUNT];
    const struct stk_step *s = &run->steps[run->median_step];
    if (only_hands_over(run, v, s)) {
        return v->kind;
    }
    shares_of(s->parts, s->dur_ns, share);
    move_recurring_compile(run, share);
    move_unrecorded(run, share);
    move_tiny(run, share, &(double){0});
    return decide_steady(run, share);
}

enum stoker_status stk_verdict_decide(const struct stk_run_sum *run, struct stk_arena *arena,
                                      struct stk_verdict *out, struct stoker_err *err)
{
    memset(out, 0, sizeof *out);
    shares_of(run->parts, run->wall_ns, out->group_share);
    rank_losses(out->group_share, &out->first, &out->second);
    out->kind = decide(run, out);
    out->median_kind = decide_median(run, out);
    out->confidence = confidence_of(run, out);
    if (lacks_rows(&run->facts) && out->kind != STK_VERDICT_CANNOT_TELL &&
        out->confidence < STK_LEVEL_MEDIUM) { // confidence was capped at less before
        out->confidence = STK_LEVEL_MEDIUM;
    }
    out->sentence = stk_verdict_sentence(run, out, arena);
    return out->sentence ? STOKER_OK : stk_err_nomem(err);
}
