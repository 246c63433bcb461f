// SPDX-License-Identifier: Apache-2.0
// All-reduces against their link's rate: small ones next to large ones, slow large ones, all at
// their bound, only one size, known links, waiting and overlapped time.
#include "rules_run.h"

#include "answers/rules/all_reduce_rate.h"
#include "profile/store/words.h"

#define MB 1000000
#define A_STEP 10

static struct fake f;
static struct stk_collective list[FAKE_RANKS][FAKE_STEPS * 2 * A_STEP];
static struct stk_collective_class classes[FAKE_RANKS][2 * A_STEP];
static struct stk_collective_series series[FAKE_RANKS][2 * A_STEP];
static struct stk_meeting meetings[2 * A_STEP][FAKE_STEPS * A_STEP];

// Steps of a rank with `n` all-reduces of a size that take so long, exposed, among two ranks.
static void add(uint32_t rank, int n, int64_t bytes, int64_t us)
{
    struct stk_rank_sum *r = &f.rank[rank];
    r->collectives = list[rank];
    r->steps = &f.steps[rank * FAKE_STEPS];
    r->step_count = FAKE_STEPS;
    uint32_t class = r->collective_class_count++;
    r->collective_series_count = r->collective_class_count;
    r->collective_classes = classes[rank];
    r->collective_series = series[rank];
    series[rank][class] = (struct stk_collective_series){.count = (uint32_t)n * FAKE_STEPS};
    classes[rank][class] =
        (struct stk_collective_class){.name = "ncclDevKernel_AllReduce_Sum_f32_RING_LL",
                                      .kind = STK_COLLECTIVE_ALL_REDUCE,
                                      .series = class,
                                      .bytes = bytes,
                                      .group_size = 2};
    for (int i = 0; i < n * FAKE_STEPS; i++) {
        struct stk_collective *c = &list[rank][r->collective_count++];
        *c = (struct stk_collective){.dur_ns = us * 1000,
                                     .exposed_ns = us * 1000,
                                     .step = (uint32_t)(i % FAKE_STEPS),
                                     .ordinal = (uint32_t)i};
        stk_collective_set_class(c, class);
    }
    f.devices[rank].communication_ns = 1;
}

static void begin(uint32_t ranks, double exposed)
{
    fake_init(&f, ranks, STK_SCOPE_STEPS);
    fake_part(&f, STK_PART_COMMUNICATION, exposed, -1);
    fake_name(&f, STK_PART_COMMUNICATION, "ncclDevKernel_AllReduce_Sum_f32_RING_LL");
}

static double most_saved(const struct stk_rep_finding *x)
{
    return x->saving.has_high ? x->saving.high_share : -1;
}

// 10 of 100 kB in 1 ms each, where one of 20 MB takes 2 ms: 10 GB/s, of which they reach a
// hundredth. At that rate they would take 10 us each: 9.9 ms of a step of 100 ms are lost.
static void small_ones(void)
{
    begin(1, 0.12);
    add(0, 10, MB / 10, 1000);
    add(0, 1, 20 * MB, 2000);
    fake_ask(&f);
    const struct stk_rep_finding *x = fake_finding(&f, "all-reduce-slow");
    CHECK_STR(x->title, "All-reduces are too small for their link");
    CHECK(most_saved(x) > 0.098 && most_saved(x) < 0.1);
    CHECK(says(x, "reach 1.75 GB/s; those of 20.0 MB reach 10.0 GB/s"));
    CHECK(says(x, "60 of 100 kB: 100 MB/s, 1.00 ms each instead of 10.0 us"));
    CHECK(says(x, "With one rank"));
    CHECK(advises(x, "bucket_cap_mb=100") == 0 && advises(x, "NCCL_DEBUG") < 0);
    x = fake_finding(&f, "communication-exposed"); // says it no second time, nor the contrary
    CHECK(x->id && advises(x, "bucket_cap_mb") < 0 && advises(x, "no_sync") >= 0);
    fake_done(&f);
}

// What is hidden is not lost, nor what ranks wait for each other.
static void hidden_and_waited(void)
{
    begin(1, 0.12);
    add(0, 10, MB / 10, 1000);
    add(0, 1, 20 * MB, 2000);
    for (uint32_t i = 0; i < f.rank[0].collective_count; i++) {
        list[0][i].exposed_ns /= 4;
    }
    fake_ask(&f);
    CHECK_STR(fake_state(&f, "all-reduce-slow"), "passed"); // 2.5 ms of 100 ms
    fake_done(&f);
    begin(2, 0.12);
    for (uint32_t r = 0; r < 2; r++) {
        add(r, 10, MB / 10, 1000);
        add(r, 1, 20 * MB, 2000);
        for (uint32_t k = 0; k < f.rank[r].collective_class_count; k++) {
            int64_t wait_ns = classes[r][k].bytes < MB ? 989000 : 0;
            for (uint32_t i = 0; i < series[r][k].count; i++) {
                meetings[k][i].shortest_ns = (k == 0 ? 1000000 : 2000000) - wait_ns;
            }
            series[r][k].meetings = meetings[k];
        }
    }
    fake_ask(&f);
    CHECK_STR(fake_state(&f, "all-reduce-slow"), "passed");
    fake_done(&f);
}

// 20 MB in 8 ms where 20.5 MB take 2: another way, or another setting.
static void large_ones(void)
{
    begin(1, 0.12);
    add(0, 1, 20 * MB, 8000);
    add(0, 1, 20 * MB + MB / 2, 2050);
    f.devices[0].name = "NVIDIA A100-SXM4-40GB";
    fake_ask(&f);
    const struct stk_rep_finding *x = fake_finding(&f, "all-reduce-slow");
    CHECK_STR(x->title, "All-reduces run below the rate of their link");
    CHECK(most_saved(x) > 0.059 && most_saved(x) < 0.061);
    CHECK(advises(x, "NCCL_DEBUG") == 0 && advises(x, "bucket_cap_mb") < 0);
    CHECK(says(
        x, "Links within a host reach 225 GB/s between such devices, so these take another path"));
    fake_done(&f);
    // At 70% they are near it: at their bound where half the size reaches as much, too.
    for (int half = 0; half < 2; half++) {
        begin(1, 0.12);
        add(0, 1, 20 * MB, 2900);
        add(0, 4, 20 * MB + MB / 2, 2050);
        add(0, half, 10 * MB, 1200);
        fake_ask(&f);
        CHECK_STR(fake_state(&f, "all-reduce-slow"), "passed");
        CHECK_EQ(says(fake_finding(&f, "communication-exposed"), "send less or overlap more"),
                 half == 1);
        fake_done(&f);
    }
}

// One size is its own bound, and proves nothing; devices of a process have links that are known.
static void one_size(void)
{
    begin(1, 0.12);
    add(0, 1, 20 * MB, 12000);
    f.devices[0].name = "NVIDIA A100-SXM4-40GB";
    fake_ask(&f);
    CHECK_STR(fake_state(&f, "all-reduce-slow"), "passed");
    CHECK(!says(fake_finding(&f, "communication-exposed"), "send less or overlap more"));
    fake_done(&f);
    begin(1, 0.12);
    add(0, 1, 20 * MB, 12000);
    f.devices[0].name = f.devices[1].name = "NVIDIA A100-SXM4-40GB";
    f.devices[1].communication_ns = 1;
    f.rank[0].device_count = f.run.device_count = 2;
    fake_ask(&f);
    const struct stk_rep_finding *x = fake_finding(&f, "all-reduce-slow");
    CHECK(says(x, "reach 1.67 GB/s; links between such devices reach 225 GB/s within a host"));
    CHECK(advises(x, "NCCL_DEBUG") == 0 && most_saved(x) > 0.11);
    fake_done(&f);
}

static void unknown(void)
{
    begin(1, 0.12);
    fake_ask(&f);
    CHECK_STR(fake_state(&f, "all-reduce-slow"), "not_applicable");
    fake_done(&f);
    begin(1, 0.12);
    add(0, 10, -1, 1000);
    add(0, 1, 20 * MB, 2000);
    fake_ask(&f);
    CHECK_STR(fake_state(&f, "all-reduce-slow"), "skipped");
    fake_done(&f);
    begin(1, 0.12);
    add(0, 10, MB / 10, 1000); // too small to tell what the link gives
    fake_ask(&f);
    CHECK_STR(fake_state(&f, "all-reduce-slow"), "skipped");
    fake_done(&f);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    CHECK_RUN(small_ones);
    CHECK_RUN(hidden_and_waited);
    CHECK_RUN(large_ones);
    CHECK_RUN(one_size);
    CHECK_RUN(unknown);
    return check_done("unit.rules_all_reduce");
}
