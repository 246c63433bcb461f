// SPDX-License-Identifier: Apache-2.0
// Which files belong to one job: the rule on invented facts, and what it groups together.
#include "api/api.h"
#include "api/same_job.h"
#include "check.h"
#include "profile/store/names.h"

#define EPOCH INT64_C(1700000000000000000)
#define SECOND INT64_C(1000000000)

static struct stk_rank_sum sums[2];
static struct stk_rank_sum *lists[2][1];
static struct stk_job jobs[2];
static struct stk_kin kin[2];

// Two files that are alike in everything, recorded at one time, without ranks.
static void setup(void)
{
    for (int i = 0; i < 2; i++) {
        sums[i] = (struct stk_rank_sum){.rank = -1, .world_size = -1};
        lists[i][0] = &sums[i];
        jobs[i] = (struct stk_job){.path = i ? "logs/b.json" : "logs/a.json",
                                   .rank_hint = -1,
                                   .ranks = lists[i],
                                   .rank_count = 1,
                                   .info = {.format = "kineto"}};
        kin[i] = (struct stk_kin){.job = &jobs[i],
                                  .frameworks = 1u << STK_FW_PYTORCH,
                                  .device = "A100",
                                  .has_device = true,
                                  .world_size = -1,
                                  .steps = 10,
                                  .step_ns = SECOND,
                                  .start_ns = EPOCH,
                                  .end_ns = EPOCH + 10 * SECOND};
    }
}

static enum stk_kinship kinship(void)
{
    enum stk_kinship one = stk_kinship_of(&kin[0], &kin[1]);
    CHECK_EQ(one, stk_kinship_of(&kin[1], &kin[0]));
    return one;
}

static void say_ranks(int32_t a, int32_t b, int32_t world_a, int32_t world_b)
{
    sums[0].rank = a;
    sums[1].rank = b;
    kin[0].world_size = world_a;
    kin[1].world_size = world_b;
    kin[0].says_rank = kin[1].says_rank = true;
}

static void move(int64_t by_ns)
{
    kin[1].start_ns += by_ns;
    kin[1].end_ns += by_ns;
}

static void test_without_ranks(void)
{
    setup();
    CHECK_EQ(kinship(), STK_KIN_SAME_RUN);
    kin[1].step_ns = 14 * SECOND / 10; // they wait for one another
    CHECK_EQ(kinship(), STK_KIN_SAME_RUN);
    kin[1].step_ns = 2 * SECOND;
    CHECK_EQ(kinship(), STK_KIN_NONE);
    kin[1].step_ns = kin[1].steps = 0; // not known
    CHECK_EQ(kinship(), STK_KIN_SAME_RUN);
    setup();
    kin[1].frameworks = 1u << STK_FW_JAX;
    CHECK_EQ(kinship(), STK_KIN_NONE);
    kin[1].frameworks = 0;
    CHECK_EQ(kinship(), STK_KIN_SAME_RUN);
    jobs[1].info.format = "nsys";
    CHECK_EQ(kinship(), STK_KIN_NONE);
    setup();
    kin[1].device = "H100";
    CHECK_EQ(kinship(), STK_KIN_NONE);
    kin[1].device = "";
    CHECK_EQ(kinship(), STK_KIN_SAME_RUN);
    kin[1].has_device = false;
    CHECK_EQ(kinship(), STK_KIN_NONE);
}

static void test_times(void)
{
    setup();
    move(9 * SECOND);
    CHECK_EQ(kinship(), STK_KIN_SAME_RUN);
    move(SECOND); // one begins when the other ends
    CHECK_EQ(kinship(), STK_KIN_OTHER_RUN);
    move(400 * 86400 * SECOND);
    CHECK_EQ(kinship(), STK_KIN_OTHER_RUN);
    kin[1].step_ns = 12 * SECOND / 10;
    CHECK_EQ(kinship(), STK_KIN_NONE);
    jobs[0].path = "logs/host_17.1694128201545.pt.trace.json";
    jobs[1].path = "logs/host_8.1694128299999.pt.trace.json";
    CHECK_EQ(kinship(), STK_KIN_OTHER_RUN);
    setup();
    kin[1].start_ns = 5; // a clock that counts from the start of its machine
    kin[1].end_ns = 10 * SECOND;
    CHECK(!stk_kin_on_one_clock(&kin[0], &kin[1]));
    CHECK_EQ(kinship(), STK_KIN_SAME_RUN);
    kin[1].step_ns = 12 * SECOND / 10;
    CHECK_EQ(kinship(), STK_KIN_NONE);
    setup();
    kin[1].start_ns = INT64_MIN;
    kin[1].end_ns = INT64_MAX;
    CHECK(!stk_kin_on_one_clock(&kin[0], &kin[1]) && !stk_kin_overlap(&kin[0], &kin[1]));
}

static void test_ranks(void)
{
    setup();
    say_ranks(0, 1, 2, 2);
    kin[1].step_ns = 99 * SECOND; // regardless of other differences
    kin[1].device = "H100";
    kin[1].has_device = false;
    move(99999 * SECOND);
    CHECK_EQ(kinship(), STK_KIN_SAME_RUN);
    say_ranks(0, 1, 2, 4);
    CHECK_EQ(kinship(), STK_KIN_NONE);
    say_ranks(0, 0, 1, 1);
    CHECK_EQ(kinship(), STK_KIN_NONE);
    say_ranks(0, 1, -1, -1);
    CHECK_EQ(kinship(), STK_KIN_SAME_RUN);
    jobs[1].info.format = "xplane";
    CHECK_EQ(kinship(), STK_KIN_NONE);
    setup();
    say_ranks(3, 3, 4, 4); // ranks.c refuses two recordings of one rank
    CHECK_EQ(kinship(), STK_KIN_SAME_RUN);
    kin[1].device = "H100";
    CHECK_EQ(kinship(), STK_KIN_NONE);
    setup();
    say_ranks(-1, -1, -1, -1);
    jobs[0].rank_hint = 0; // by their names
    jobs[1].rank_hint = 1;
    move(99 * SECOND);
    CHECK_EQ(kinship(), STK_KIN_SAME_RUN);
}

static void test_run_folder(void)
{
    setup();
    kin[1].step_ns = 9 * SECOND;
    move(3600 * SECOND);
    jobs[0].path = "logs/plugins/profile/2024/a.xplane.pb";
    jobs[1].path = "logs/plugins/profile/2024/b.xplane.pb";
    CHECK_EQ(kinship(), STK_KIN_SAME_RUN);
    jobs[1].path = "logs/plugins/profile/2025/b.xplane.pb";
    CHECK_EQ(kinship(), STK_KIN_NONE);
}

// What a file tells, from its summary.
static void test_facts(void)
{
    struct stk_arena arena;
    struct stk_kin k;
    bool failed;
    struct stk_step steps[] = {
        {.dur_ns = 5}, {.dur_ns = 900, .excluded = "warm-up"}, {.dur_ns = 7}};
    struct stk_device_sum device = {.name = "A100", .ops = 3};
    setup();
    stk_arena_init(&arena, 0);
    CHECK(!stk_kin_of(&jobs[0], &arena, &k, &failed) && !failed); // no events
    jobs[0].info.read = 1;
    sums[0].facts.frameworks = 1u << STK_FW_PYTORCH | 1u << STK_FW_CUDA;
    sums[0].facts.last_ns = 50;
    sums[0].base_ns = EPOCH;
    sums[0].steps = steps;
    sums[0].step_count = sums[0].step_marks = 3;
    sums[0].devices = &device;
    sums[0].device_count = 1;
    CHECK(stk_kin_of(&jobs[0], &arena, &k, &failed));
    CHECK_EQ(k.frameworks, 1u << STK_FW_PYTORCH);
    CHECK_EQ(k.steps, 3);
    CHECK_EQ(k.step_ns, 5);
    CHECK_EQ(k.start_ns, EPOCH);
    CHECK_EQ(k.end_ns, EPOCH + 50);
    CHECK(k.has_device && strcmp(k.device, "A100") == 0 && !k.says_rank);
    jobs[0].rank_hint = 2;
    CHECK(stk_kin_of(&jobs[0], &arena, &k, &failed) && k.says_rank);
    jobs[0].is_numbered = true; // by the order of hosts: nobody said it
    CHECK(stk_kin_of(&jobs[0], &arena, &k, &failed) && !k.says_rank);
    jobs[0].status = STOKER_EINPUT;
    CHECK(!stk_kin_of(&jobs[0], &arena, &k, &failed));
    stk_arena_deinit(&arena);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    CHECK_RUN(test_without_ranks);
    CHECK_RUN(test_times);
    CHECK_RUN(test_ranks);
    CHECK_RUN(test_run_folder);
    CHECK_RUN(test_facts);
    return check_done("unit.same_job");
}
