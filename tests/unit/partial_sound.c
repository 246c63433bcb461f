// SPDX-License-Identifier: Apache-2.0
// What is taken from a partial that somebody else wrote: texts that belong together are there
// together, times aren't negative, estimates are those of a step, and sums stay in range.
#include "answers/partial/code_graph.h"
#include "answers/partial/code_rank.h"
#include "answers/partial/partial.h"
#include "answers/replay/taken.h"
#include "profile/model/summary.h"

#include "check.h"

static struct stk_rank_sum rank;

static void begin(void)
{
    rank = (struct stk_rank_sum){.host = "host", .facts.whole_until_ns = INT64_MAX};
}

static void stages(void)
{
    begin();
    CHECK(stk_rank_is_sound(&rank));
    rank.slow_stage.stage = "Iterator::Map";
    CHECK(!stk_rank_is_sound(&rank));
    rank.slow_stage.kind = "preprocess";
    CHECK(stk_rank_is_sound(&rank));
    rank.slow_stage.next = "Iterator::Batch";
    CHECK(!stk_rank_is_sound(&rank));
    rank.slow_stage.next_kind = "batch";
    CHECK(stk_rank_is_sound(&rank));
    rank.slow_stage.self_ns = -1;
    CHECK(!stk_rank_is_sound(&rank));
}

static void times(void)
{
    struct stk_worker_sum workers = {0};
    begin();
    rank.facts.delay_median_ns = -1; // not known
    CHECK(stk_rank_is_sound(&rank));
    rank.facts.loader_fetch_ns = -1;
    CHECK(!stk_rank_is_sound(&rank));
    begin();
    rank.facts.kernels.stagger.late_ns = -1;
    CHECK(!stk_rank_is_sound(&rank));
    begin();
    rank.facts.signs[STK_SIGN_COUNT - 1].work_ns = -1;
    CHECK(!stk_rank_is_sound(&rank));
    begin();
    rank.facts.launches = STK_CODE_NUMBER_MOST;
    CHECK(stk_rank_is_sound(&rank));
    rank.facts.launches++;
    CHECK(!stk_rank_is_sound(&rank));
    begin();
    rank.facts.told_permille[STK_TOLD_EVALUATION] = 1001;
    CHECK(!stk_rank_is_sound(&rank));
    begin();
    rank.causes[STK_PART_HOST].name_count = 1;
    rank.causes[STK_PART_HOST].names[0] = (struct stk_cause_name){"f", 1, 1};
    CHECK(stk_rank_is_sound(&rank));
    rank.causes[STK_PART_HOST].names[0].ns = -1;
    CHECK(!stk_rank_is_sound(&rank));
    CHECK(stk_workers_are_sound(&workers));
    workers.collate_ns = -1;
    CHECK(!stk_workers_are_sound(&workers));
}

static void devices(void)
{
    struct stk_device_sum device = {.id = "0/0", .source_id = "", .name = "", .host = ""};
    begin();
    rank.devices = &device;
    rank.device_count = 1;
    device.span_ns = device.busy_ns = 5;
    CHECK(stk_rank_is_sound(&rank));
    device.busy_ns = 6;
    CHECK(!stk_rank_is_sound(&rank));
}

static void compiled_again(void)
{
    begin();
    struct stk_recompiled *r = &rank.facts.recompiled[0];
    *r = (struct stk_recompiled){.name = "PjitFunction(f)", .programs = 2, .changed_count = 1};
    CHECK(!stk_rank_is_sound(&rank));
    r->changed[0] = (struct stk_changed){.name = "x", .type_count = 2};
    CHECK(!stk_rank_is_sound(&rank));
    r->changed[0].types[0] = "f32[8]";
    CHECK(stk_rank_is_sound(&rank));
    r->changed[0].type_count = 0;
    CHECK(!stk_rank_is_sound(&rank));
}

// More arguments differ than are kept: their number comes back.
static void many_arguments_differ(void)
{
    struct stk_rank_sum *ranks[] = {&rank};
    struct stk_input_info info = {.format = "xplane"};
    struct stk_worker_sum workers = {0};
    struct stk_partial_item item = {
        .path = "a", .info = &info, .ranks = ranks, .rank_count = 1, .workers = &workers};
    struct stk_partial_item read;
    struct stk_arena arena;
    struct stk_vec bytes;
    begin();
    struct stk_recompiled *r = &rank.facts.recompiled[0];
    *r = (struct stk_recompiled){.name = "PjitFunction(f)", .programs = 3, .changed_count = 40};
    for (int i = 0; i < STK_CHANGED; i++) {
        r->changed[i] = (struct stk_changed){"x", {"f32[8]", "f32[9]"}, 2};
    }
    stk_arena_init(&arena, 0);
    CHECK(stk_partial_encode(&item, &bytes));
    bool is_read = stk_partial_decode(bytes.items, bytes.count, &arena, &read);
    CHECK(is_read);
    if (is_read) {
        CHECK_EQ(read.ranks[0]->facts.recompiled[0].changed_count, 40);
    }
    stk_vec_deinit(&bytes);
    stk_arena_deinit(&arena);
}

static void estimates(void)
{
    struct stk_taken_price price = {.text = "input-free"};
    struct stk_taken taken = {.gate.ok = true, .prices = &price, .price_count = 1};
    struct stk_graph g = {.taken = &taken};
    CHECK(stk_graph_is_sound(&g));
    price.after[STK_PRICE_LOW].mean_ns = -1; // could not be replayed
    CHECK(stk_graph_is_sound(&g));
    price.after[STK_PRICE_LOW].mean_ns = 1e300;
    CHECK(!stk_graph_is_sound(&g));
    price.after[STK_PRICE_LOW].mean_ns = 0;
    taken.untouched[STK_PRICE_HIGH].inner_ns = -1e300;
    CHECK(!stk_graph_is_sound(&g));
    taken.untouched[STK_PRICE_HIGH].inner_ns = 0;
    taken.gate.unexplained = -1;
    CHECK(!stk_graph_is_sound(&g));
    taken.gate.unexplained = 0;
    taken.gate.slowest_ns = 1e300;
    CHECK(!stk_graph_is_sound(&g));
}

// Steps in any order would pass as those of several ranks, and become those of one when the rank
// gets its number.
static void steps_of_another_rank(void)
{
    struct stk_step steps[] = {
        {.device = STK_NONE, .start_ns = 900, .dur_ns = 10, .parts[STK_PART_HOST] = 10},
        {.device = STK_NONE, .start_ns = 100, .dur_ns = 10, .parts[STK_PART_HOST] = 10}};
    begin();
    rank.steps = steps;
    rank.step_count = 1;
    CHECK(stk_rank_is_sound(&rank));
    rank.step_count = 2;
    CHECK(!stk_rank_is_sound(&rank)); // out of order
    steps[1].rank = 1;
    CHECK(!stk_rank_is_sound(&rank));
    steps[1].rank = 0;
    steps[1].start_ns = 910;
    CHECK(stk_rank_is_sound(&rank));
}

// Steps that no recordings could hold, of one rank after the other.
static void long_steps(void)
{
    enum { STEPS = 3 };
    struct stk_step steps[STEPS];
    struct stk_rank_sum *ranks[] = {&rank};
    struct stk_run_sum *run;
    struct stk_arena arena;
    struct stoker_err err;
    begin();
    rank.host_scope = true;
    rank.steps = steps;
    for (rank.step_count = 0; rank.step_count < STEPS; rank.step_count++) {
        steps[rank.step_count] = (struct stk_step){.number = rank.step_count,
                                                   .rank = (int32_t)rank.step_count,
                                                   .device = STK_NONE,
                                                   .dur_ns = INT64_MAX / 2,
                                                   .parts[STK_PART_HOST] = INT64_MAX / 2};
    }
    stk_arena_init(&arena, 0);
    stk_err_init(&err);
    CHECK_EQ(stk_model_merge(ranks, 1, &arena, &run, &err), STOKER_ELIMIT);
    rank.step_count = 2;
    CHECK_EQ(stk_model_merge(ranks, 1, &arena, &run, &err), STOKER_OK);
    stk_arena_deinit(&arena);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    CHECK_RUN(stages);
    CHECK_RUN(times);
    CHECK_RUN(devices);
    CHECK_RUN(compiled_again);
    CHECK_RUN(many_arguments_differ);
    CHECK_RUN(estimates);
    CHECK_RUN(steps_of_another_rank);
    CHECK_RUN(long_steps);
    return check_done("unit.partial_sound");
}
