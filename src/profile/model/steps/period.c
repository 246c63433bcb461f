// SPDX-License-Identifier: Apache-2.0
// Steps without any marker: training repeats the same device operations, so the names on the
// busiest stream have a period. Candidates are the distances between equal names, rarest names
// first; score(P) is the share of operations whose name returns P places later. The smallest P
// close to the best score wins, if the score is at least 0.95 and three periods fit.
//
// Phase: a period says how long a step is, not where it begins. The cut is the place in the period
// with the largest typical (median) host gap between the end of one launch call and the start of
// the next, or device gap where launches are not recorded: that is where batches are fetched. A
// step begins where the launches of the previous one ended. Single extra operations (logging, an
// evaluation) don't shift later steps: each boundary is found again by its first names.
//
// Confidence is the score minus the best score of a distance that isn't a multiple of the period.
// Limits: a model of equal layers in a profile of a single step looks like many short steps;
// shapes that change the kernels from step to step have no period.
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sort.h"
#include "profile/model/analysis.h"
#include "profile/model/median.h"

#define ACCEPT 0.95 // share of operations that repeat
#define CLOSE 0.98  // of the best score: the smallest such period wins
#define MIN_PERIODS 3
#define SEARCH_OPS 262144 // operations that are searched for the period
#define MAX_VOTES 200000
#define MAX_CANDIDATES 256
#define CONTEXT 16 // names that identify the beginning of a step
#define CONTEXT_MATCH 0.75
#define LINKED_SHARE 0.95 // of launches recorded, to use host gaps
#define COVER_PERCENT 50  // of the device's span in steps: a small part's period isn't a step

struct sequence {
    uint32_t *op; // index into line->ops, in start order: a stream runs in launch order
    uint32_t *name;
    uint32_t n;
};

struct candidate {
    uint32_t distance, votes;
    double score;
};

// Operations of the stream that has the most.
static bool busiest_stream(const struct stk_analysis *a, const struct stk_device_line *line,
                           struct sequence *s)
{
    uint32_t *counts = stk_alloc_zero((size_t)a->t->track_count + 1, sizeof *counts);
    uint32_t *stream = stk_alloc_array((size_t)line->op_count + 1, sizeof *stream);
    s->op = stk_alloc_array((size_t)line->op_count + 1, sizeof *s->op);
    s->name = stk_alloc_array((size_t)line->op_count + 1, sizeof *s->name);
    bool ok = counts && stream && s->op && s->name;
    uint32_t best = 0;
    for (uint32_t i = 0; i < line->op_count && ok; i++) {
        stream[i] = stk_thread_of(a, line->ops[i].event);
        if (stream[i] < a->t->track_count) {
            counts[stream[i]]++;
        }
    }
    for (uint32_t k = 0; k < a->t->track_count && ok; k++) {
        best = counts[k] > counts[best] ? k : best;
    }
    for (uint32_t i = 0; i < line->op_count && ok; i++) {
        if (stream[i] != best) {
            continue;
        }
        s->op[s->n] = i;
        s->name[s->n++] = a->t->name[line->ops[i].event];
    }
    stk_free(counts);
    stk_free(stream);
    return ok;
}

static double score_of(const struct sequence *s, uint32_t n, uint32_t distance, uint32_t stride)
{
    uint32_t same = 0, seen = 0;
    for (uint32_t i = 0; i + distance < n; i += stride, seen++) {
        same += s->name[i] == s->name[i + distance];
    }
    return seen ? (double)same / seen : 0;
}

STK_ORDER(by_votes, struct candidate, STK_DOWN(votes) STK_UP(distance))

// Names of the sequence with how often each occurs, rarest first.
struct name_count {
    uint32_t name, count;
};
STK_ORDER(by_count, struct name_count, STK_UP(count) STK_UP(name))

// Distances between equal names (next, second and third next), rarest names first.
static bool vote(const struct sequence *s, uint32_t n, size_t strings, struct stk_vec *out)
{
    struct name_count *names = stk_alloc_zero(strings + 1, sizeof *names);
    uint32_t *rank = stk_alloc_array(strings + 1, sizeof *rank); // place of a name among the rarest
    uint32_t(*last)[3] = NULL;
    struct stk_map at;
    stk_map_init(&at, MAX_VOTES);
    bool ok = names && rank;
    uint32_t kept = 0;
    uint64_t budget = MAX_VOTES / 3;
    if (ok) {
        for (uint32_t i = 0; i < n; i++) {
            names[s->name[i]].name = s->name[i];
            names[s->name[i]].count++;
        }
        stk_sort(names, strings, sizeof *names, by_count);
        memset(rank, 0xff, (strings + 1) * sizeof *rank);
        for (size_t k = 0; k < strings; k++) {
            if (names[k].count < 2 || (kept && names[k].count > budget)) {
                continue;
            }
            budget -= names[k].count < budget ? names[k].count : budget;
            rank[names[k].name] = kept++;
        }
        last = stk_alloc_zero((size_t)kept + 1, sizeof *last);
        ok = last != NULL;
    }
    for (uint32_t i = 0; i < n && ok; i++) {
        uint32_t r = rank[s->name[i]];
        for (int lag = 0; r != UINT32_MAX && lag < 3 && ok && last[r][lag]; lag++) {
            uint32_t distance = i + 1 - last[r][lag]; // positions are stored plus one
            int created;
            uint32_t *slot = distance <= n / 2
                                 ? stk_map_put(&at, distance, 0, (uint32_t)out->count, &created)
                                 : NULL;
            if (!slot) {
                continue;
            }
            if (created) {
                struct candidate *c = stk_vec_push(out);
                if (!(ok = c != NULL)) {
                    break;
                }
                c->distance = distance;
            }
            ((struct candidate *)stk_vec_at(out, *slot))->votes++;
        }
        if (r != UINT32_MAX && ok) {
            last[r][2] = last[r][1];
            last[r][1] = last[r][0];
            last[r][0] = i + 1;
        }
    }
    stk_map_deinit(&at);
    stk_free(names);
    stk_free(rank);
    stk_free(last);
    return ok;
}

// The period, or 0; its score, and the best score of a distance that isn't a multiple of it.
static uint32_t choose_period(const struct sequence *s, uint32_t n, struct candidate *c,
                              size_t count, double *score, double *other)
{
    double best = 0;
    stk_sort(c, count, sizeof *c, by_votes);
    count = count < MAX_CANDIDATES ? count : MAX_CANDIDATES;
    for (size_t i = 0; i < count; i++) {
        bool sampled = n > 16384 && score_of(s, n, c[i].distance, n / 4096) < best * 0.5;
        c[i].score = sampled ? 0 : score_of(s, n, c[i].distance, 1);
        best = c[i].score > best ? c[i].score : best;
    }
    uint32_t period = 0;
    for (size_t i = 0; i < count; i++) {
        if (c[i].score >= CLOSE * best && (period == 0 || c[i].distance < period)) {
            period = c[i].distance;
            *score = c[i].score;
        }
    }
    *other = 0;
    for (size_t i = 0; i < count && period; i++) {
        if (c[i].distance % period != 0 && c[i].score > *other) {
            *other = c[i].score;
        }
    }
    return period;
}

// Time from the end of the previous launch to the launch of operation i; device time without launch
// rows.
static int64_t gap_before(const struct stk_analysis *a, const struct stk_device_line *line,
                          const struct sequence *s, uint32_t i, bool linked)
{
    const struct stk_device_op *before = &line->ops[s->op[i - 1]], *op = &line->ops[s->op[i]];
    if (!linked) {
        return op->start_ns - before->end_ns;
    }
    uint32_t x = stk_launch_of(a, before->event), y = stk_launch_of(a, op->event);
    return x == STK_NONE || y == STK_NONE ? 0 : a->t->start_ns[y] - stk_end_ns(a->t, x);
}

// An operation that begins a step: it has the typical gap of the phase whose gaps are largest. (A
// phase counted from the start may drift when the job does something extra.)
static bool find_phase(const struct stk_analysis *a, const struct stk_device_line *line,
                       const struct sequence *s, uint32_t n, uint32_t period, bool linked,
                       uint32_t *like)
{
    int64_t *gaps = stk_alloc_array((size_t)n / period + 2, sizeof *gaps), best = INT64_MIN;
    if (!gaps) {
        return false;
    }
    for (uint32_t p = 0; p < period; p++) {
        size_t k = 0;
        for (uint32_t i = p ? p : period; i < n; i += period) {
            gaps[k++] = gap_before(a, line, s, i, linked);
        }
        int64_t median = k ? stk_median_low(gaps, k) : INT64_MIN;
        if (k == 0 || median <= best) {
            continue;
        }
        best = median;
        int64_t closest = INT64_MAX;
        for (uint32_t i = p ? p : period; i + CONTEXT <= n; i += period) {
            int64_t off = gap_before(a, line, s, i, linked) - median;
            if ((off < 0 ? -off : off) < closest) {
                closest = off < 0 ? -off : off;
                *like = i;
            }
        }
    }
    stk_free(gaps);
    return true;
}

// Do the names from `at` on look like those from `like` on?
static bool looks_like(const struct sequence *s, uint32_t at, uint32_t like, uint32_t period)
{
    uint32_t length = period < CONTEXT ? period : CONTEXT, same = 0, seen = 0;
    for (uint32_t i = 0; i < length && at + i < s->n && like + i < s->n; i++, seen++) {
        same += s->name[at + i] == s->name[like + i];
    }
    return seen == length && (double)same >= CONTEXT_MATCH * length;
}

// First operation of the step after the one at `at`: where its names repeat, about one period
// later.
static uint32_t next_boundary(const struct sequence *s, uint32_t at, uint32_t like, uint32_t period)
{
    uint32_t expected = at + period;
    if (expected + CONTEXT >= s->n || looks_like(s, expected, like, period)) {
        return expected;
    }
    for (uint32_t d = 1; d < 2 * period; d++) {
        if (expected + d < s->n && looks_like(s, expected + d, like, period)) {
            return expected + d;
        }
        if (d <= period / 4 && looks_like(s, expected - d, like, period)) {
            return expected - d;
        }
    }
    return UINT32_MAX; // the job does something else from here on
}

static uint32_t find_boundaries(const struct sequence *s, uint32_t like, uint32_t period,
                                uint32_t *out)
{
    uint32_t n = 0, at = 0;
    while (at < like && !looks_like(s, at, like, period)) {
        at++;
    }
    while (at < s->n) {
        out[n++] = at;
        uint32_t next = next_boundary(s, at, like, period);
        if (next == UINT32_MAX) {
            break;
        }
        at = next;
    }
    if (at >= s->n && at == s->n) { // the last step is complete
        out[n++] = s->n;
    }
    return n;
}

// When the step that begins with operation i begins, and the previous one ends.
static int64_t boundary_time(const struct stk_analysis *a, const struct stk_device_line *line,
                             const struct sequence *s, uint32_t i, bool linked)
{
    const struct stk_device_op *op = &line->ops[s->op[i ? i - 1 : 0]];
    if (!linked) {
        return i ? op->end_ns : op->start_ns;
    }
    uint32_t launch = stk_launch_of(a, op->event);
    if (launch == STK_NONE) {
        return i ? op->end_ns : op->start_ns;
    }
    return i ? stk_end_ns(a->t, launch) : a->t->start_ns[launch];
}

// One launch may start many operations (a graph): then the host's times don't separate steps.
static bool launches_differ(const struct stk_analysis *a, const struct stk_device_line *line,
                            const struct sequence *s, const uint32_t *bounds, uint32_t count)
{
    uint32_t apart = 0;
    for (uint32_t i = 0; i + 1 < count; i++) {
        apart += boundary_time(a, line, s, bounds[i], true) <
                 boundary_time(a, line, s, bounds[i + 1], true);
    }
    return apart + 1 >= count - count / 10;
}

static bool covers_span(const struct stk_device_line *line, const struct sequence *s,
                        const uint32_t *bounds, uint32_t count)
{
    int64_t from = line->ops[s->op[bounds[0]]].start_ns;
    int64_t to = line->ops[s->op[bounds[count - 1] - 1]].end_ns;
    int64_t span = line->busy.v[line->busy.count - 1].end_ns - line->busy.v[0].start_ns;
    return to - from >= span / 100 * COVER_PERCENT;
}

static bool make_steps(struct stk_analysis *a, const struct stk_device_line *line,
                       const struct sequence *s, const uint32_t *bounds, uint32_t count,
                       bool linked)
{
    a->steps = stk_arena_array(&a->scratch, (size_t)count + 1, sizeof *a->steps);
    if (!a->steps) {
        return false;
    }
    int64_t start = boundary_time(a, line, s, bounds[0], linked);
    for (uint32_t i = 0; i + 1 < count; i++) {
        int64_t end = boundary_time(a, line, s, bounds[i + 1], linked);
        end = end > start ? end : start;
        a->steps[i] =
            (struct stk_host_step){.number = i, .start_ns = start, .end_ns = end, .mark = STK_NONE};
        start = end;
    }
    a->step_count = count - 1;
    a->steps_on_device = !linked;
    a->sum->source = STK_STEPS_INFERRED;
    return true;
}

static bool infer_from(struct stk_analysis *a, const struct stk_device_line *line,
                       struct sequence *s)
{
    struct stk_vec candidates;
    stk_vec_init(&candidates, sizeof(struct candidate), MAX_VOTES);
    uint32_t n = s->n < SEARCH_OPS ? s->n : SEARCH_OPS, like = 0, count = 0;
    uint32_t *bounds = NULL;
    bool ok = vote(s, n, a->t->strings.count, &candidates);
    double score = 0, other = 0;
    uint32_t period =
        ok ? choose_period(s, n, candidates.items, candidates.count, &score, &other) : 0;
    bool linked = (double)line->linked >= LINKED_SHARE * line->op_count;
    if (period > 1 && line->busy.count && score >= ACCEPT && s->n / period >= MIN_PERIODS) {
        bounds = stk_alloc_array((size_t)s->n + 2, sizeof *bounds);
        ok = bounds && find_phase(a, line, s, n, period, linked, &like);
        count = ok ? find_boundaries(s, like, period, bounds) : 0;
        if (ok && count > MIN_PERIODS && covers_span(line, s, bounds, count)) {
            linked = linked && launches_differ(a, line, s, bounds, count);
            ok = make_steps(a, line, s, bounds, count, linked);
            a->sum->confidence = score > other ? score - other : 0;
            a->sum->facts.period_score = score;
        }
    }
    stk_free(bounds);
    stk_vec_deinit(&candidates);
    return ok;
}

enum stoker_status stk_steps_infer(struct stk_analysis *a, struct stoker_err *err)
{
    const struct stk_device_line *busiest = NULL;
    int64_t most_ns = 0;
    for (uint32_t d = 0; d < a->sum->device_count; d++) {
        if (a->sum->devices[d].analysed && a->sum->devices[d].busy_ns > most_ns) {
            busiest = &a->lines[d];
            most_ns = a->sum->devices[d].busy_ns;
        }
    }
    if (!busiest) {
        return STOKER_OK;
    }
    struct sequence s = {NULL, NULL, 0};
    bool ok =
        busiest_stream(a, busiest, &s) && (s.n < 2 * MIN_PERIODS || infer_from(a, busiest, &s));
    stk_free(s.op);
    stk_free(s.name);
    return ok ? STOKER_OK : stk_err_nomem(err);
}
