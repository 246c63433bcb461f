// SPDX-License-Identifier: Apache-2.0
// Ranks merged and judged, on summaries made by hand: waits across ranks, the late rank with and
// without a common clock, exact sums, and every branch of the decision.
#include "check.h"
#include "profile/model/collectives/culprit.h"
#include "profile/model/verdict/verdict.h"

#define MS 1000000

static struct stk_arena arena;

// A rank with one device and `count` equal steps whose parts are those given, in ms.
static struct stk_rank_sum *rank_of(int32_t number, uint32_t count, const int64_t *parts_ms)
{
    struct stk_rank_sum *r = stk_arena_alloc(&arena, sizeof *r);
    struct stk_device_sum *d = stk_arena_alloc(&arena, sizeof *d);
    r->rank = number;
    r->devices = d;
    r->device_count = 1;
    r->steps = stk_arena_array(&arena, count, sizeof *r->steps);
    r->step_count = r->step_marks = count;
    r->source = STK_STEPS_ANNOTATED;
    r->confidence = 1;
    d->id = "0/0";
    d->analysed = true;
    d->kernels = 100;
    for (uint32_t i = 0; i < count; i++) {
        struct stk_step *s = &r->steps[i];
        s->number = i;
        s->start_ns = d->wall_ns;
        for (int p = 0; p < STK_PART_COUNT; p++) {
            s->parts[p] = parts_ms[p] * MS;
            s->dur_ns += s->parts[p];
            d->parts[p] += s->parts[p];
        }
        d->wall_ns += s->dur_ns;
    }
    d->span_ns = d->wall_ns;
    r->facts.last_ns = d->wall_ns;
    r->facts.host_events = r->facts.events = 1000;
    r->facts.device_ops = 100;
    r->facts.has_device_rows = r->facts.has_runtime = true;
    return r;
}

static struct stk_run_sum *merge(struct stk_rank_sum **ranks, uint32_t count)
{
    struct stk_run_sum *run = NULL;
    struct stoker_err err;
    CHECK_EQ(stk_model_merge(ranks, count, &arena, &run, &err), STOKER_OK);
    int64_t sum = 0;
    for (int p = 0; p < STK_PART_COUNT; p++) {
        sum += run->parts[p];
    }
    CHECK_EQ(sum, run->wall_ns);
    return run;
}

static struct stk_verdict judge(struct stk_run_sum *run)
{
    struct stk_verdict v;
    struct stoker_err err;
    CHECK_EQ(stk_verdict_decide(run, &arena, &v, &err), STOKER_OK);
    CHECK(v.sentence && v.sentence[0]);
    return v;
}

static enum stk_verdict_kind kind_of(const int64_t *parts_ms)
{
    struct stk_rank_sum *r = rank_of(0, 5, parts_ms);
    struct stk_run_sum *run = merge(&r, 1);
    CHECK_EQ(run->steps_used, 5);
    CHECK_EQ(run->scope, STK_SCOPE_STEPS);
    return judge(run).kind;
}

#define PARTS(...) ((const int64_t[STK_PART_COUNT]){__VA_ARGS__})

static void test_losses(void)
{
    CHECK_EQ(kind_of(PARTS([STK_PART_COMPUTE] = 85, [STK_PART_INPUT] = 15)), STK_VERDICT_COMPUTE);
    CHECK_EQ(kind_of(PARTS([STK_PART_COMPUTE] = 70, [STK_PART_INPUT] = 20, [STK_PART_LAUNCH] = 10)),
             STK_VERDICT_INPUT);
    CHECK_EQ(kind_of(PARTS([STK_PART_COMPUTE] = 50, [STK_PART_INPUT] = 25, [STK_PART_HOST] = 25)),
             STK_VERDICT_MIXED);
    CHECK_EQ(kind_of(PARTS([STK_PART_COMPUTE] = 50, [STK_PART_LAUNCH] = 20, [STK_PART_HOST] = 20,
                           [STK_PART_ALLOC] = 10)),
             STK_VERDICT_HOST);
    CHECK_EQ(kind_of(PARTS([STK_PART_COMPUTE] = 60, [STK_PART_SYNC] = 40)), STK_VERDICT_SYNC);
    CHECK_EQ(kind_of(PARTS([STK_PART_COMPUTE] = 60, [STK_PART_H2D] = 25, [STK_PART_D2H] = 15)),
             STK_VERDICT_TRANSFER);
    CHECK_EQ(kind_of(PARTS([STK_PART_COMPUTE] = 60, [STK_PART_COMMUNICATION] = 40)),
             STK_VERDICT_COMMUNICATION);
    CHECK_EQ(kind_of(PARTS([STK_PART_COMPUTE] = 40, [STK_PART_UNKNOWN] = 60)),
             STK_VERDICT_CANNOT_TELL);
    CHECK_EQ(kind_of(PARTS([STK_PART_COMPUTE] = 75, [STK_PART_UNKNOWN] = 25)), STK_VERDICT_COMPUTE);
    CHECK_EQ(kind_of(PARTS([STK_PART_COMPUTE] = 70, [STK_PART_INPUT] = 8, [STK_PART_SYNC] = 8,
                           [STK_PART_HOST] = 8, [STK_PART_H2D] = 6)),
             STK_VERDICT_COMPUTE);
}

static void test_cold_and_recurring(void)
{
    struct stk_rank_sum *r = rank_of(0, 5, PARTS([STK_PART_COMPUTE] = 30, [STK_PART_COMPILE] = 70));
    r->cold_ns = r->devices[0].parts[STK_PART_COMPILE];
    CHECK_EQ(judge(merge(&r, 1)).kind, STK_VERDICT_COLD);
    // The same time, but it returns in every step: a cost of the host's steady state.
    r = rank_of(0, 5, PARTS([STK_PART_COMPUTE] = 30, [STK_PART_COMPILE] = 70));
    r->facts.compile_recurring_ns = r->devices[0].parts[STK_PART_COMPILE];
    CHECK_EQ(judge(merge(&r, 1)).kind, STK_VERDICT_HOST);
    // The first two steps compile most, but the others go on.
    r = rank_of(0, 5, PARTS([STK_PART_COMPUTE] = 30, [STK_PART_COMPILE] = 70));
    int64_t compile_ns = r->devices[0].parts[STK_PART_COMPILE];
    r->cold_ns = compile_ns * 7 / 10;
    r->facts.compile_recurring_ns = compile_ns * 3 / 10;
    CHECK_EQ(judge(merge(&r, 1)).kind, STK_VERDICT_COLD);
    r->cold_ns = compile_ns * 6 / 10;
    r->facts.compile_recurring_ns = compile_ns * 4 / 10;
    CHECK_EQ(judge(merge(&r, 1)).kind, STK_VERDICT_HOST);
}

static void test_abstains(void)
{
    struct stk_rank_sum *r = rank_of(0, 0, PARTS([STK_PART_COMPUTE] = 0));
    r->devices[0].analysed = false;
    r->devices[0].kernels = 0;
    struct stk_verdict v = judge(merge(&r, 1));
    CHECK_EQ(v.kind, STK_VERDICT_CANNOT_TELL);
    CHECK_STR(stk_reason_key(v.reason), "no-kernels");
    r->facts.launches = 1; // the host asked for work
    CHECK_STR(stk_reason_key(judge(merge(&r, 1)).reason), "kernels-not-recorded");
    r->facts.is_cut = true; // the missing part may have held them
    CHECK_STR(stk_reason_key(judge(merge(&r, 1)).reason), "cut-short");
    r->facts.host_events = 3;
    CHECK_STR(stk_reason_key(judge(merge(&r, 1)).reason), "empty");
}

// What remains to judge of an input that ends early, and that the report says so.
static void test_cut(void)
{
    struct stk_rank_sum *r = rank_of(0, 4, PARTS([STK_PART_COMPUTE] = 20, [STK_PART_INPUT] = 80));
    r->facts.whole_until_ns = INT64_MAX;
    struct stk_verdict v = judge(merge(&r, 1));
    CHECK_EQ(v.confidence, STK_LEVEL_HIGH);
    CHECK(!strstr(v.sentence, "cut"));
    r->facts.is_cut = true; // behind all that counts
    v = judge(merge(&r, 1));
    CHECK_EQ(v.confidence, STK_LEVEL_HIGH);
    CHECK(strstr(v.sentence, ". The file is truncated: 4 complete steps used"));
    r->facts.whole_until_ns = 350 * (int64_t)MS;
    r->steps[3].excluded = STK_EXCLUDED_CUT;
    for (int p = 0; p < STK_PART_COUNT; p++) {
        r->devices[0].parts[p] -= r->steps[3].parts[p];
        r->devices[0].wall_ns -= r->steps[3].parts[p];
    }
    v = judge(merge(&r, 1));
    CHECK_EQ(v.kind, STK_VERDICT_INPUT);
    CHECK_EQ(v.confidence, STK_LEVEL_MEDIUM);
    CHECK(strstr(v.sentence, ". The file is truncated: 3 complete steps used"));
    for (uint32_t i = 0; i < r->step_count; i++) {
        r->steps[i].excluded = STK_EXCLUDED_CUT;
    }
    r->devices[0].wall_ns = 0;
    memset(r->devices[0].parts, 0, sizeof r->devices[0].parts);
    v = judge(merge(&r, 1));
    CHECK_EQ(v.kind, STK_VERDICT_CANNOT_TELL);
    CHECK_STR(stk_reason_key(v.reason), "cut-steps");
    CHECK_STR(v.sentence,
              "Cannot tell: the file is truncated, and no step is known to be complete");
    // Of two ranks one is whole.
    struct stk_rank_sum *both[2] = {
        rank_of(0, 4, PARTS([STK_PART_COMPUTE] = 20, [STK_PART_INPUT] = 80)), r};
    both[0]->facts.whole_until_ns = INT64_MAX;
    v = judge(merge(both, 2));
    CHECK_EQ(v.kind, STK_VERDICT_INPUT);
    CHECK(strstr(v.sentence, ". A file is truncated: 4 complete steps used"));
}

static void test_host_scope(void)
{
    struct stk_rank_sum *r = rank_of(0, 4, PARTS([STK_PART_COMPUTE] = 40, [STK_PART_INPUT] = 60));
    r->device_count = 0;
    r->host_scope = true;
    r->facts.has_device_rows = r->facts.has_runtime = false;
    r->facts.host_event_fill = 0.9;
    for (uint32_t i = 0; i < r->step_count; i++) {
        r->steps[i].device = STK_NONE;
    }
    struct stk_run_sum *run = merge(&r, 1);
    CHECK_EQ(run->scope, STK_SCOPE_HOST);
    CHECK_EQ(run->step_median_ns, 100 * MS);
    struct stk_verdict v = judge(run);
    CHECK_EQ(v.kind, STK_VERDICT_INPUT);
    CHECK_EQ(v.confidence, STK_LEVEL_MEDIUM);
    CHECK(strncmp(v.sentence, "No GPU events in this profile. ", 31) == 0);
}

// A host's steps of 100 ms; with or without recorded fetches of their batches.
static struct stk_verdict host_verdict(const int64_t *parts_ms, bool fetches)
{
    struct stk_rank_sum *r = rank_of(0, 5, parts_ms);
    r->device_count = 0;
    r->host_scope = true;
    r->facts.has_device_rows = r->facts.has_runtime = false;
    r->facts.has_fetches = fetches;
    for (uint32_t i = 0; i < r->step_count; i++) {
        r->steps[i].device = STK_NONE;
    }
    return judge(merge(&r, 1));
}

static void test_host_losses(void)
{
    struct stk_verdict v = host_verdict(
        PARTS([STK_PART_COMPUTE] = 58, [STK_PART_INPUT] = 40, [STK_PART_HOST] = 2), true);
    CHECK_EQ(v.kind, STK_VERDICT_INPUT); // not mixed, with 2% of other work
    v = host_verdict(PARTS([STK_PART_COMPUTE] = 65, [STK_PART_INPUT] = 18, [STK_PART_HOST] = 17),
                     true);
    CHECK_EQ(v.kind, STK_VERDICT_COMPUTE);
    CHECK(strstr(v.sentence, "little is left") == NULL); // a third is no little
    CHECK(strstr(v.sentence, "65% model, 18% input, 17% Python") != NULL);
    v = host_verdict(PARTS([STK_PART_COMPUTE] = 40, [STK_PART_INPUT] = 31, [STK_PART_HOST] = 29),
                     true);
    CHECK_EQ(v.kind, STK_VERDICT_MIXED);
    CHECK(strstr(v.sentence, "40% model, 31% input, 29% Python") != NULL); // all of the bar
    v = host_verdict(PARTS([STK_PART_COMPUTE] = 60, [STK_PART_WAIT] = 40), true);
    CHECK_EQ(v.kind, STK_VERDICT_HOST);
    // Time without events: the program's own code where fetches are recorded, else nobody knows.
    v = host_verdict(PARTS([STK_PART_COMPUTE] = 69, [STK_PART_UNKNOWN] = 31), false);
    CHECK_EQ(v.kind, STK_VERDICT_CANNOT_TELL);
    CHECK_STR(stk_reason_key(v.reason), "host-unseen");
    v = host_verdict(PARTS([STK_PART_COMPUTE] = 69, [STK_PART_UNKNOWN] = 31), true);
    CHECK_EQ(v.kind, STK_VERDICT_HOST);
    CHECK_EQ(v.confidence, STK_LEVEL_LOW);
    CHECK_EQ((int)(v.unrecorded_share * 100 + 0.5), 31);
    v = host_verdict(PARTS([STK_PART_COMPUTE] = 80, [STK_PART_UNKNOWN] = 20), false);
    CHECK_EQ(v.kind, STK_VERDICT_COMPUTE);
    CHECK(strstr(v.sentence, "at least") != NULL);
    v = host_verdict(PARTS([STK_PART_COMPUTE] = 25, [STK_PART_INPUT] = 45, [STK_PART_UNKNOWN] = 30),
                     false);
    CHECK_EQ(v.kind, STK_VERDICT_INPUT); // more than what is unknown
    CHECK(strstr(v.sentence, "at least 45%") != NULL);
}

// A loop that hands three of five steps over, and waits in the others for what it handed over: what
// a usual step says counts only where it is a good part of the mean.
static void test_hands_over(int64_t handed_ms, enum stk_verdict_kind usual)
{
    struct stk_rank_sum *r = rank_of(0, 5, PARTS([STK_PART_COMPUTE] = 65));
    r->device_count = 0;
    r->host_scope = true;
    r->facts.has_device_rows = r->facts.has_runtime = false;
    for (uint32_t i = 0; i < r->step_count; i++) {
        struct stk_step *s = &r->steps[i];
        s->device = STK_NONE;
        if (i % 2 == 0) {
            s->dur_ns = handed_ms * MS;
            s->parts[STK_PART_COMPUTE] = 0;
            s->parts[STK_PART_HOST] = s->dur_ns;
        }
    }
    struct stk_verdict v = judge(merge(&r, 1));
    CHECK_EQ(v.kind, STK_VERDICT_COMPUTE);
    CHECK_EQ(v.median_kind, usual);
    CHECK((strstr(v.sentence, "host-bound") == NULL) == (usual == STK_VERDICT_COMPUTE));
}

// Four collectives a step; on all ranks but the late one they last longer, by its lateness.
static void add_collectives(struct stk_rank_sum *r, int64_t wait_ms, int64_t clock_shift_ns)
{
    r->collective_count = 4 * r->step_count;
    r->collectives = stk_arena_array(&arena, r->collective_count, sizeof *r->collectives);
    r->collective_series = stk_arena_array(&arena, 1, sizeof *r->collective_series);
    r->collective_classes = stk_arena_array(&arena, 1, sizeof *r->collective_classes);
    r->collective_series_count = r->collective_class_count = 1;
    *r->collective_series =
        (struct stk_collective_series){.name_hash = 7, .count = r->collective_count};
    *r->collective_classes = (struct stk_collective_class){.name = "ncclDevKernel_AllReduce"};
    for (uint32_t i = 0; i < r->collective_count; i++) {
        struct stk_collective *c = &r->collectives[i];
        c->ordinal = i;
        c->step = i / 4;
        c->dur_ns = c->exposed_ns = (1 + wait_ms) * MS;
        c->start_ns = (int64_t)i * 20 * MS - c->dur_ns + clock_shift_ns;
    }
}

static void test_straggler(int64_t clock_shift_ns)
{
    struct stk_rank_sum *ranks[3];
    for (int i = 0; i < 3; i++) {
        int64_t wait = i == 1 ? 0 : 5;
        ranks[i] = rank_of(
            i, 3, PARTS([STK_PART_COMPUTE] = 60, [STK_PART_COMMUNICATION] = 4 * (1 + wait)));
        add_collectives(ranks[i], wait, i * clock_shift_ns);
    }
    struct stk_run_sum *run = merge(ranks, 3);
    CHECK(run->straggler.fired);
    CHECK_EQ(run->straggler.rank, 1);
    CHECK_EQ(run->straggler.wait_ns, 2 * 12 * 5 * MS);
    CHECK_EQ(run->straggler.clocks_agree, clock_shift_ns == 0);
    CHECK_EQ(run->parts[STK_PART_COLLECTIVE_WAIT], 2 * 12 * 5 * MS);
    CHECK_EQ(run->steps[0].parts[STK_PART_COLLECTIVE_WAIT], 20 * MS);
    CHECK_EQ(judge(run).kind, STK_VERDICT_STRAGGLER);
    ranks[2]->collective_series->count =
        --ranks[2]->collective_count; // unequal counts: nothing can be matched
    run = merge(ranks, 3);
    CHECK(!run->straggler.fired);
    CHECK_EQ(run->rank_events_unequal, 35);
}

// Of 16 ranks those of a mask are late, all of them or each in one step of its own; clocks differ.
static struct stk_run_sum *late_ranks(uint32_t mask, bool is_once, bool has_hosts)
{
    struct stk_rank_sum *ranks[16];
    for (int i = 0; i < 16; i++) {
        bool is_late = mask >> i & 1;
        ranks[i] = rank_of(i, 4, PARTS([STK_PART_COMPUTE] = 60, [STK_PART_COMMUNICATION] = 24));
        ranks[i]->host = !has_hosts ? "" : i < 8 ? "node0" : "node1";
        add_collectives(ranks[i], 5, i * MS);
        for (uint32_t k = 0; k < ranks[i]->collective_count; k++) {
            struct stk_collective *c = &ranks[i]->collectives[k];
            int64_t less =
                is_late && (!is_once || k / 4 == (uint32_t)i % 4) ? 5 * MS - i * 1000 : 0;
            c->start_ns += less;
            c->dur_ns -= less;
            c->exposed_ns -= less;
        }
    }
    return merge(ranks, 16);
}

static void test_late_ranks(void)
{
    struct stk_run_sum *run = late_ranks(1u << 3 | 1u << 9, false, true);
    CHECK(run->straggler.fired);
    CHECK_EQ(run->straggler.late_count, 2);
    CHECK_STR(stk_culprit_text(run, &arena), "ranks 3 and 9");
    CHECK_STR(stk_culprit_ranks(run, &arena), "3,9");
    CHECK(stk_culprit_host(run) == NULL);
    CHECK(stk_culprit_is(run, 9) && !stk_culprit_is(run, 4));
    CHECK_EQ(run->clock_ns[15] - run->clock_ns[0], 15 * MS);
    run = late_ranks(0xff00, false, true);
    CHECK(run->straggler.fired);
    CHECK_STR(stk_culprit_text(run, &arena), "host node1 (ranks 8 to 15)");
    run = late_ranks(0xff00, false, false);
    CHECK_STR(stk_culprit_text(run, &arena), "ranks 8 to 15");
    CHECK(!late_ranks(1u << 3 | 1u << 6, true, true)->straggler.fired); // an accident each
}

// One rank is late, and something else may take more time than the others wait for it.
static void test_straggler_beside(enum stk_part part, int64_t ms, enum stk_level confidence)
{
    struct stk_rank_sum *ranks[2];
    int64_t parts[STK_PART_COUNT] = {[STK_PART_COMPUTE] = 40};
    parts[part] += ms;
    for (int i = 0; i < 2; i++) {
        int64_t wait = i == 1 ? 0 : 10;
        parts[STK_PART_COMMUNICATION] = 4 * (1 + wait) + (part == STK_PART_COMMUNICATION ? ms : 0);
        ranks[i] = rank_of(i, 3, parts);
        add_collectives(ranks[i], wait, 0);
    }
    struct stk_run_sum *run = merge(ranks, 2);
    CHECK_EQ(run->parts[STK_PART_COLLECTIVE_WAIT], 3 * 40 * MS); // 20 ms of a rank's step
    struct stk_verdict v = judge(run);
    CHECK_EQ(v.kind, STK_VERDICT_STRAGGLER);
    CHECK_EQ(v.confidence, confidence);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    stk_arena_init(&arena, 0);
    CHECK_RUN(test_losses);
    CHECK_RUN(test_cold_and_recurring);
    CHECK_RUN(test_abstains);
    CHECK_RUN(test_cut);
    CHECK_RUN(test_host_scope);
    CHECK_RUN(test_host_losses);
    CHECK_RUN(test_hands_over, 7, STK_VERDICT_COMPUTE); // a mean of 30 ms
    CHECK_RUN(test_hands_over, 10, STK_VERDICT_HOST);   // of 32 ms
    CHECK_RUN(test_straggler, 0);
    CHECK_RUN(test_straggler, 3 * MS);
    CHECK_RUN(test_late_ranks);
    CHECK_RUN(test_straggler_beside, STK_PART_INPUT, 15, STK_LEVEL_HIGH);
    CHECK_RUN(test_straggler_beside, STK_PART_INPUT, 25, STK_LEVEL_MEDIUM);
    CHECK_RUN(test_straggler_beside, STK_PART_COMMUNICATION, 25, STK_LEVEL_MEDIUM);
    CHECK_RUN(test_straggler_beside, STK_PART_UNKNOWN, 25, STK_LEVEL_HIGH);
    stk_arena_deinit(&arena);
    return check_done("unit.run_verdict");
}
