// SPDX-License-Identifier: Apache-2.0
// The summary of each rank in a trace, step by step:
//   1. time lines of the devices          device_timeline.c
//   2. threads, marks and facts           host_scan.c (side by side with 1), first_use.c; until
//      when rows are whole, where the input ends early: cut.c
//   3. steps, and which are not used      steps.c, period.c, exclude.c
//   4. windows of the steps per device    windows.c
//   5. time of each device to parts       device_steps.c, idle_cause.c; without one host_steps.c
//   6. evidence, collectives, facts       causes.c, collective_list.c, facts.c
// Every window's parts sum to its length exactly. This is asserted: a failure is a bug in stoker.
//
// Ranks: each process with its own rank number is a rank. If no numbers are known, each process
// with device work is one; otherwise all processes together are one.
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "profile/model/analysis.h"
#include "profile/model/idle/causes.h"
#include "profile/model/input/input_stages.h"
#include "profile/model/model_check.h"
#include "profile/model/idle/owners.h"
#include "profile/model/threads/python_frame.h"
#include "profile/model/view.h"

#define SCRATCH_CAP ((size_t)16 << 30)
#define MAX_RANKS 4096 // in one file
// Each rank visits all tracks and names. That is cheap compared with its events, unless a file has
// only tracks and names.
#define RANKS_TIMES_OBJECTS ((uint64_t)8 << 20)
#define RANKS_TIMES_OBJECTS_EACH 16 // more for each event

// Limits of what is analyzed step by step. No host drives that many devices, and every device of a
// job runs many operations in every step.
#define STEPS_MAX (1u << 17)
#define DEVICES_MAX 256u     // of a rank
#define DEVICES_LEAST 16u    // of a rank, for any host activity
#define DEVICES_CUT 8u       // times all events / host events: more devices than DEVICES_LEAST
#define ROWS_FREE (1u << 16) // steps times devices; more if there are more operations
#define LEFT_OUT "less busy than others, of more devices and steps than are looked at one by one"

void stk_analysis_deinit(struct stk_analysis *a)
{
    for (uint32_t d = 0; d < a->sum->device_count; d++) {
        struct stk_device_line *line = &a->lines[d];
        stk_free(line->ops);
        stk_free(line->busy_sums);
        stk_spans_deinit(&line->busy);
        for (int p = 0; p < STK_BUSY_PARTS; p++) {
            stk_spans_deinit(&line->exposed[p]);
        }
    }
    stk_free(a->calls);
    stk_free(a->fetches.v);
    stk_free(a->compiles.v);
    stk_free(a->overheads.v);
    stk_free(a->host_collectives.v);
    stk_free(a->nexts.v);
    stk_free(a->waits.v);
    stk_free(a->lets_go.v);
    stk_free(a->step_events.v);
    stk_vec_deinit(&a->gaps);
    stk_vec_deinit(&a->host_pieces);
    stk_spans_deinit(&a->compile_idle);
    stk_causes_free(a->causes);
    stk_causes_free(a->evidence);
    stk_arena_deinit(&a->scratch);
}

static enum stoker_status analyse_host(struct stk_analysis *a, struct stoker_err *err)
{
    struct stk_window *w = stk_arena_array(&a->scratch, (size_t)a->step_count + 1, sizeof *w);
    a->causes = stk_causes_new(a);
    if (!w || !a->causes) {
        return stk_err_nomem(err);
    }
    for (uint32_t i = 0; i < a->step_count; i++) {
        w[i] = (struct stk_window){a->steps[i].start_ns, a->steps[i].end_ns, i, STK_NONE,
                                   a->steps[i].excluded == NULL};
    }
    uint32_t first_row = a->sum->step_count;
    STK_ASSERT_SOUND(stk_windows_check(w, a->step_count));
    stk_step_rows_make(a, STK_NONE, w, a->step_count);
    a->sum->host_scope = true;
    if (!stk_causes_begin(a->causes, w, a->step_count)) {
        return stk_err_nomem(err);
    }
    enum stoker_status status = stk_host_steps_attribute(a, w, a->step_count, err);
    if (status != STOKER_OK) {
        return status;
    }
    stk_causes_settle(a->causes, NULL);
    status = stk_step_rows_check(a, first_row, a->sum->step_count, err);
    if (status == STOKER_OK && !stk_causes_merge(a->evidence, a->causes)) {
        status = stk_err_nomem(err);
    }
    return status;
}

// If rows are missing, a device's span is meaningless: without steps there is nothing to describe.
static void leave_out_cut_devices(struct stk_analysis *a)
{
    for (uint32_t d = 0; d < a->sum->device_count && a->step_count == 0; d++) {
        if (a->sum->devices[d].analysed) {
            a->sum->devices[d].analysed = false;
            a->sum->devices[d].left_out =
                "the file is truncated, and no step is known to be complete";
        }
    }
}

// If none of the steps can be used, the device's span is described instead.
static void drop_useless_steps(struct stk_analysis *a)
{
    if (a->whole_until_ns != INT64_MAX) {
        leave_out_cut_devices(a);
        return;
    }
    for (uint32_t i = 0; i < a->step_count; i++) {
        if (!a->steps[i].excluded) {
            return;
        }
    }
    if (a->select->has_steps) {
        return;
    }
    a->step_count = 0;
    a->sum->source = STK_STEPS_NONE;
    a->sum->confidence = 0;
}

static int by_busy_time(const void *pa, const void *pb)
{
    const struct stk_device_sum *a = *(struct stk_device_sum *const *)pa;
    const struct stk_device_sum *b = *(struct stk_device_sum *const *)pb;
    if (a->busy_ns != b->busy_ns) {
        return a->busy_ns > b->busy_ns ? -1 : 1;
    }
    return a < b ? -1 : a > b;
}

// How many devices are analyzed step by step. There are at most as many step rows as operations.
// The host's events cut the gaps of each device into pieces, which are limited to some times the
// number of events.
static uint64_t devices_allowed(const struct stk_analysis *a)
{
    uint64_t rows = 0, steps = a->step_count && !a->steps_per_device ? a->step_count : 1;
    for (uint32_t d = 0; d < a->sum->device_count; d++) {
        rows += a->sum->devices[d].ops;
    }
    rows = (rows > ROWS_FREE ? rows : ROWS_FREE) / steps;
    uint64_t host = a->sum->facts.host_events ? a->sum->facts.host_events : 1;
    uint64_t cut = (uint64_t)DEVICES_CUT * a->t->count / host;
    cut = cut > DEVICES_LEAST ? cut : DEVICES_LEAST;
    uint64_t allowed = rows < cut ? rows : cut;
    return allowed == 0 ? 1 : allowed < DEVICES_MAX ? allowed : DEVICES_MAX;
}

// Keep the `allowed` busiest devices in the breakdown. False: no memory.
static bool limit_devices(struct stk_analysis *a, uint64_t allowed)
{
    uint64_t n = 0;
    struct stk_device_sum **analysed =
        stk_alloc_array((size_t)a->sum->device_count + 1, sizeof *analysed);
    if (!analysed) {
        return false;
    }
    for (uint32_t d = 0; d < a->sum->device_count; d++) {
        if (a->sum->devices[d].analysed) {
            analysed[n++] = &a->sum->devices[d];
        }
    }
    if (n > allowed) {
        qsort(analysed, n, sizeof *analysed, by_busy_time);
        a->sum->devices_left_out += (uint32_t)(n - allowed);
    }
    for (uint64_t i = allowed; i < n; i++) {
        analysed[i]->analysed = false;
        analysed[i]->left_out = LEFT_OUT;
    }
    stk_free(analysed);
    return true;
}

static enum stoker_status analyse_steps(struct stk_analysis *a, struct stoker_err *err)
{
    uint32_t analysed = 0;
    bool has_kernels = false;
    if (!limit_devices(a, devices_allowed(a))) {
        return stk_err_nomem(err);
    }
    for (uint32_t d = 0; d < a->sum->device_count; d++) {
        analysed += a->sum->devices[d].analysed;
        has_kernels |= a->sum->devices[d].kernels > 0;
    }
    uint32_t rows = a->step_count * (analysed ? analysed : 1);
    a->sum->steps = stk_arena_array(a->out, (size_t)rows + 1, sizeof *a->sum->steps);
    a->evidence = stk_owners_mark_threads(a) ? stk_causes_new(a) : NULL;
    if (!a->sum->steps || !a->evidence) {
        return stk_err_nomem(err);
    }
    enum stoker_status status = stk_devices_attribute(a, err);
    if (!has_kernels && a->step_count && status == STOKER_OK) {
        status = analyse_host(a, err);
    }
    if (status == STOKER_OK && !stk_causes_finish(a->evidence)) {
        status = stk_err_nomem(err);
    }
    return status;
}

// Steps of a rank are counted once, not per device.
static uint32_t count_marks(const struct stk_analysis *a)
{
    uint32_t most = 0, run = 0;
    for (uint32_t i = 0; i < a->step_count && a->steps_per_device; i++) {
        run = i > 0 && a->steps[i].line == a->steps[i - 1].line ? run + 1 : 1;
        most = run > most ? run : most;
    }
    return a->steps_per_device ? most : a->step_count;
}

// Which steps are used depends on their lengths on the busiest device, or without a device on the
// CPU.
static bool exclude_steps(struct stk_analysis *a)
{
    size_t n = (size_t)a->step_count + 1;
    int64_t *length_ns = stk_arena_array(&a->scratch, n, sizeof *length_ns);
    struct stk_window *w = stk_arena_array(&a->scratch, n, sizeof *w);
    uint32_t busiest = STK_NONE, count = 0;
    if (!length_ns || !w) {
        return false;
    }
    for (uint32_t d = 0; d < a->sum->device_count; d++) {
        if (a->sum->devices[d].analysed &&
            (busiest == STK_NONE ||
             a->sum->devices[d].busy_ns > a->sum->devices[busiest].busy_ns)) {
            busiest = d;
        }
    }
    if (a->step_count && busiest != STK_NONE && !stk_windows_place(a, busiest, w, &count)) {
        return false;
    }
    for (uint32_t i = 0; i < a->step_count; i++) {
        length_ns[i] = a->steps[i].end_ns - a->steps[i].start_ns;
    }
    // If each device has its own steps, those of the other devices keep the length above.
    for (uint32_t i = 0; i < count; i++) {
        if (w[i].step != STK_NONE) {
            length_ns[w[i].step] = w[i].end_ns - w[i].start_ns;
        }
    }
    return stk_steps_exclude(a, length_ns) && stk_long_steps_name(a);
}

static enum stoker_status summarize_rank(struct stk_analysis *a, struct stoker_err *err)
{
    enum stoker_status status = stk_lines_build(a, err);
    if (status == STOKER_OK && !limit_devices(a, DEVICES_MAX)) {
        status = stk_err_nomem(err);
    }
    if (status == STOKER_OK && !stk_cut_find(a)) {
        status = stk_err_nomem(err);
    }
    if (status == STOKER_OK) {
        status = stk_collectives_list(a, err);
    }
    if (status == STOKER_OK) {
        status = stk_first_use_find(a, err);
    }
    if (status == STOKER_OK) {
        status = stk_steps_find(a, err);
    }
    // In a part of the work, a shorter period may be found, or the marks may be in the missing
    // part.
    if (a->sum->source == STK_STEPS_INFERRED && a->whole_until_ns != INT64_MAX) {
        a->whole_until_ns = INT64_MIN;
    }
    if (a->step_count > STEPS_MAX) {
        a->sum->steps_left_out = a->step_count - STEPS_MAX;
        a->step_count = STEPS_MAX;
    }
    if (status == STOKER_OK && !exclude_steps(a)) {
        status = stk_err_nomem(err);
    }
    if (status == STOKER_OK) {
        drop_useless_steps(a);
        a->sum->step_marks = count_marks(a);
        status = analyse_steps(a, err);
    }
    return status == STOKER_OK ? stk_facts_collect(a, err) : status;
}

// From this share of the time on, the limiting stage of the input pipeline is determined. A
// device's wait is a finding from here on (rule input-wait), a host's only from a larger share.
#define WAITS_SHARE 0.03

static bool waits_for_input(const struct stk_rank_sum *sum)
{
    int64_t all_ns = 0;
    for (int p = 0; p < STK_PART_COUNT; p++) {
        all_ns = stk_add_ns(all_ns, sum->causes[p].ns);
    }
    return (double)sum->causes[STK_PART_INPUT].ns > WAITS_SHARE * (double)all_ns;
}

// Which processes make a rank: group[p] is the rank's index in the trace, or UINT32_MAX.
struct grouping {
    uint32_t *group;
    int32_t *rank; // per group
    uint32_t count;
};

// Sets work[p] if the process has device work.
static void find_work(const struct stk_trace *t, uint8_t *work)
{
    for (uint32_t k = 0; k < t->track_count; k++) {
        const struct stk_track *track = &t->tracks[k];
        if (track->kind == STK_TRACK_STREAM && track->count && track->device < t->device_count) {
            work[t->devices[track->device].process] = 1;
        }
    }
}

static bool group_by_rank(const struct stk_trace *t, struct grouping *g)
{
    struct stk_map groups;
    stk_map_init(&groups, (size_t)t->process_count + 1);
    bool ok = true;
    for (uint32_t p = 0; p < t->process_count && ok; p++) {
        int32_t rank = t->processes[p].rank;
        int created = 0;
        g->group[p] = UINT32_MAX;
        if (rank < 0) {
            continue;
        }
        uint32_t *slot = stk_map_put(&groups, (uint32_t)rank, 0, g->count, &created);
        ok = slot != NULL;
        g->group[p] = ok ? *slot : UINT32_MAX;
        if (created) {
            g->rank[g->count++] = rank;
        }
    }
    stk_map_deinit(&groups);
    return ok;
}

// `work` has a zero byte per process.
static bool group_processes(const struct stk_trace *t, struct grouping *g, uint8_t *work)
{
    if (!group_by_rank(t, g)) {
        return false;
    }
    find_work(t, work);
    if (g->count > 1) {
        return true;
    }
    int32_t only = g->count == 1 ? g->rank[0] : t->rank;
    g->count = 0;
    for (uint32_t p = 0; p < t->process_count; p++) {
        g->group[p] = UINT32_MAX;
        if (work[p]) {
            g->rank[g->count] = (int32_t)g->count;
            g->group[p] = g->count++;
        }
    }
    if (g->count > 1) {
        return true;
    }
    g->count = 1;
    g->rank[0] = only;
    for (uint32_t p = 0; p < t->process_count; p++) {
        g->group[p] = 0;
    }
    return true;
}

static bool name_rank(struct stk_rank_sum *sum, const struct stk_trace *t, const uint8_t *in_rank,
                      struct stk_arena *arena)
{
    uint32_t host = 0;
    for (uint32_t p = 0; p < t->process_count; p++) {
        if (in_rank[p] && host == 0) {
            host = t->processes[p].host;
        }
    }
    struct stk_str text = stk_strpool_get(&t->strings, host ? host : t->host);
    sum->host = stk_arena_strndup(arena, text.n ? text.p : "", text.n);
    sum->base_ns = t->base_ns;
    sum->world_size = t->world_size;
    uint8_t *processes = stk_arena_array(arena, (size_t)t->process_count + 1, 1);
    if (processes && t->process_count) {
        memcpy(processes, in_rank, t->process_count);
    }
    sum->in_rank = processes;
    return sum->host && processes;
}

static void assert_sound(const struct stk_analysis *a)
{
    for (uint32_t d = 0; d < a->sum->device_count; d++) {
        STK_ASSERT_SOUND(stk_line_check(&a->lines[d]));
    }
    STK_ASSERT_SOUND(stk_rank_sum_check(a->sum));
}

static enum stoker_status run_rank(const struct stk_trace *t, const struct stk_select *select,
                                   const struct stk_view_hook *hook, int threads,
                                   const uint32_t *classes, const uint8_t *in_rank, int32_t rank,
                                   struct stk_arena *arena, struct stk_rank_sum **out,
                                   struct stoker_err *err)
{
    struct stk_analysis a = {.t = t,
                             .worker_count = threads,
                             .select = select,
                             .out = arena,
                             .classes = classes,
                             .in_rank = in_rank,
                             .driver = STK_NONE,
                             .from_ns = INT64_MIN,
                             .to_ns = INT64_MAX,
                             .whole_until_ns = INT64_MAX,
                             .keeps_gaps = hook && hook->wants_gaps,
                             .keeps_ribbon = hook && hook->wants_ribbon};
    stk_arena_init(&a.scratch, SCRATCH_CAP);
    stk_vec_init(&a.gaps, sizeof(struct stk_gap_piece), UINT32_MAX);
    stk_vec_init(&a.host_pieces, sizeof(struct stk_gap_piece), UINT32_MAX);
    if (select->has_from) {
        a.from_ns = select->from_ns;
    }
    if (select->has_to) {
        a.to_ns = select->to_ns;
    }
    a.sum = *out = stk_arena_alloc(arena, sizeof **out);
    if (!a.sum) {
        return stk_err_nomem(err);
    }
    a.sum->rank = rank;
    enum stoker_status status =
        name_rank(a.sum, t, in_rank, arena) ? summarize_rank(&a, err) : stk_err_nomem(err);
    if (status == STOKER_OK) {
        assert_sound(&a);
    }
    if (status == STOKER_OK && (!hook || hook->diagnoses) && waits_for_input(a.sum)) {
        status = stk_input_slow_find(&a, err);
    }
    if (status == STOKER_OK && hook && hook->see) {
        status = hook->see(&a, arena, &a.sum->partial, err);
    }
    stk_analysis_deinit(&a);
    return status;
}

// The loop over results of a pool of processes or threads: Pool.imap, Executor.map.
static bool is_pools_next(struct stk_str name)
{
    struct stk_python_frame frame = stk_python_frame_parse(name);
    return frame.is_source && ((stk_str_eq(frame.function, STK_STR("next")) &&
                                stk_str_ends(frame.file, STK_STR("pool.py"))) ||
                               (stk_str_eq(frame.function, STK_STR("result_iterator")) &&
                                stk_str_ends(frame.file, STK_STR("_base.py"))));
}

// "$builtins next", "<built-in function next>", "$loop.py:12 __next__", "loader.py(12): __next__".
static bool is_python_next(struct stk_str name)
{
    return is_pools_next(name) || stk_str_eq(name, STK_STR("$builtins next")) ||
           stk_str_starts(name, STK_STR("<built-in function next>")) ||
           (name.n && name.p[0] == '$' && stk_str_ends(name, STK_STR(" __next__"))) ||
           stk_str_ends(name, STK_STR("): __next__"));
}

// On a CPU, XLA ends the row of each operation, "dot.2", with an instant "end: dot.2", which shows
// the names of operations. If they are recorded, the call that runs an executable only launches,
// and what it computes right away is inside it. Reading an array then isn't a wait for a device:
// the operations' rows show what it waits for.
static void classify_xla_ops(const struct stk_trace *t, uint32_t *classes)
{
    struct stk_str end = STK_STR("end: ");
    bool any = false;
    for (uint32_t i = 0; i < t->strings.count; i++) {
        struct stk_str name = stk_strpool_get(&t->strings, i);
        uint32_t op = stk_str_starts(name, end)
                          ? stk_strpool_find(&t->strings, name.p + end.n, name.n - end.n)
                          : STK_STRPOOL_FAILED;
        if (op != STK_STRPOOL_FAILED && classes[op] == 0) {
            classes[op] = STK_NAME_MODEL_OP;
            any = true;
        }
    }
    for (uint32_t i = 0; i < t->strings.count && any; i++) {
        struct stk_str name = stk_strpool_get(&t->strings, i);
        if (stk_str_contains(name, STK_STR("Executable::Execute"))) {
            classes[i] &= ~STK_NAME_MODEL_OP;
        } else if (stk_str_eq(name, STK_STR("np.asarray(jax.Array)"))) {
            classes[i] &= ~STK_NAME_SYNC;
        }
    }
}

// Class bits of the names, with those that only the model needs.
static uint32_t *classify(const struct stk_trace *t)
{
    uint32_t *classes = stk_names_classify(t);
    if (classes) {
        classify_xla_ops(t, classes);
    }
    for (uint32_t i = 0; classes && i < t->strings.count; i++) {
        struct stk_str name = stk_strpool_get(&t->strings, i);
        classes[i] &= STK_NAME_PY_NEXT - 1; // the bits above are the model's
        if ((classes[i] & (STK_NAME_PREP | STK_NAME_COMPILE))) {
            classes[i] &= ~stk_python_frame_denies(name);
        }
        if (stk_str_starts(name, STK_STR("PjitFunction("))) {
            classes[i] |= STK_NAME_PJIT;
        } else if (stk_str_starts(name, STK_STR("EagerLocalExecute: __"))) {
            classes[i] |= STK_NAME_FUNCTION;
        } else if (stk_str_starts(name, STK_STR("IteratorGetNext"))) {
            classes[i] |= STK_NAME_GET_NEXT;
        } else if (stk_str_starts(name, STK_STR("enumerate(DataLoader)")) ||
                   stk_str_starts(name, STK_STR("enumerate(DataPipe)"))) {
            classes[i] |= STK_NAME_LOADER_NEXT;
        } else if (is_python_next(name)) {
            classes[i] |= STK_NAME_PY_NEXT;
        } else if ((classes[i] & STK_NAME_FETCH) && stk_str_ends(name, STK_STR("__next__"))) {
            classes[i] |= STK_NAME_ITER_NEXT;
        }
    }
    return classes;
}

static enum stoker_status check_ranks(const struct stk_trace *t, uint32_t ranks,
                                      struct stoker_err *err)
{
    uint64_t objects = (uint64_t)t->track_count + t->strings.count;
    if (ranks > MAX_RANKS) {
        return stk_err_set(err, STOKER_ELIMIT,
                           "the profile merges %u ranks, more than %d: give the files of the "
                           "ranks that matter",
                           ranks, MAX_RANKS);
    }
    if (ranks > 1 &&
        ranks * objects > RANKS_TIMES_OBJECTS + RANKS_TIMES_OBJECTS_EACH * (uint64_t)t->count) {
        return stk_err_set(err, STOKER_ELIMIT,
                           "the profile merges %u ranks, with %u threads and %u names and only %u "
                           "events: give the files of the ranks that matter",
                           ranks, t->track_count, t->strings.count, t->count);
    }
    return STOKER_OK;
}

enum stoker_status stk_model_summarize(const struct stk_trace *t, const struct stk_select *select,
                                       struct stk_arena *arena, struct stk_rank_sum ***ranks,
                                       uint32_t *count, struct stoker_err *err)
{
    return stk_model_summarize_with(t, select, NULL, 1, arena, ranks, count, err);
}

enum stoker_status stk_model_summarize_with(const struct stk_trace *t,
                                            const struct stk_select *select,
                                            const struct stk_view_hook *hook, int threads,
                                            struct stk_arena *arena, struct stk_rank_sum ***ranks,
                                            uint32_t *count, struct stoker_err *err)
{
    STK_ASSERT(threads > 0 && ranks && count);
    enum stoker_status status = STOKER_OK;
    struct grouping g = {.count = 0};
    size_t n = (size_t)t->process_count + 1;
    *count = 0;
    uint32_t *classes = classify(t);
    uint8_t *in_rank = stk_alloc_zero(n, 1);
    g.group = stk_alloc_zero(n, sizeof *g.group);
    g.rank = stk_alloc_zero(n, sizeof *g.rank);
    *ranks = stk_arena_array(arena, n, sizeof **ranks);
    if (!classes || !in_rank || !g.group || !g.rank || !*ranks) {
        status = stk_err_nomem(err);
        goto done;
    }
    if (!group_processes(t, &g, in_rank)) {
        status = stk_err_nomem(err);
        goto done;
    }
    status = check_ranks(t, g.count, err);
    if (status != STOKER_OK) {
        goto done;
    }
    for (uint32_t i = 0; i < g.count && status == STOKER_OK; i++) {
        int32_t known = g.rank[i] < 0 ? 0 : g.rank[i];
        if (select->has_rank && select->rank != known) {
            continue;
        }
        for (uint32_t p = 0; p < t->process_count; p++) {
            in_rank[p] = g.group[p] == i;
        }
        status = run_rank(t, select, hook, threads, classes, in_rank, g.rank[i], arena,
                          &(*ranks)[*count], err);
        *count += status == STOKER_OK;
    }
done:
    stk_free(classes);
    stk_free(in_rank);
    stk_free(g.group);
    stk_free(g.rank);
    return status;
}
