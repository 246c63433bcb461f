// SPDX-License-Identifier: Apache-2.0
// Ranks of several files: numbers, a common clock, selection; and redaction of their contents.
#include "api/api.h"
#include "base/alloc.h"
#include "check.h"

struct world {
    struct stk_arena arena;
    struct stk_job jobs[3];
    struct stk_rank_sum sums[3], *lists[3][1];
    struct stk_device_sum devices[3];
    struct stk_step steps[3];
};

// Three files of one rank each, without a rank of their own.
static void setup(struct world *w)
{
    memset(w, 0, sizeof *w);
    stk_arena_init(&w->arena, 0);
    static const char *const paths[] = {"c.json", "a.json", "b.json"};
    for (int i = 0; i < 3; i++) {
        w->devices[i] = (struct stk_device_sum){
            .id = "0/1", .source_id = "host-a/7", .host = "node17", .first_ns = 5};
        w->steps[i] = (struct stk_step){
            .number = 1, .start_ns = 10, .dur_ns = 20, .host_start_ns = -1, .host_dur_ns = -1};
        w->sums[i] = (struct stk_rank_sum){.rank = -1,
                                           .host = "node17",
                                           .base_ns = 1000 - 100 * i,
                                           .devices = &w->devices[i],
                                           .device_count = 1,
                                           .steps = &w->steps[i],
                                           .step_count = 1};
        w->sums[i].causes[STK_PART_INPUT] = (struct stk_cause){
            .names = {{"/home/me/train.py(3): load", 5, 1}, {"aten::item", 4, 1}},
            .name_count = 2,
            .examples = {{3, 4, "/home/me/train.py(3): load", "thread 77", 1}},
            .example_count = 1};
        w->lists[i][0] = &w->sums[i];
        w->jobs[i] = (struct stk_job){
            .path = paths[i], .rank_hint = -1, .ranks = w->lists[i], .rank_count = 1};
        w->jobs[i].info.path = paths[i];
    }
}

static enum stoker_status collect(struct world *w, const struct stk_select *select,
                                  struct stk_rank_sum ***ranks, uint32_t *count,
                                  struct stoker_err *err)
{
    stk_err_init(err);
    uint32_t again;
    return stk_ranks_collect(w->jobs, 3, select, &w->arena, ranks, count, &again, err);
}

static void test_numbers_and_clock(void)
{
    struct world w;
    struct stoker_err err;
    struct stk_rank_sum **ranks;
    struct stk_select all = {0};
    uint32_t count;
    setup(&w);
    CHECK(collect(&w, &all, &ranks, &count, &err) == STOKER_OK);
    CHECK_EQ(count, 3);
    CHECK_EQ(w.sums[0].rank, 2); // by name: a, b, c
    CHECK_EQ(w.sums[1].rank, 0);
    CHECK_EQ(w.sums[2].rank, 1);
    CHECK_STR(w.devices[0].id, "2/1");
    CHECK_EQ(w.steps[2].rank, 1);
    CHECK_EQ(w.jobs[0].info.ranks[0], 2);
    CHECK_EQ(w.jobs[0].info.issues[STK_ISSUE_RANKS_NUMBERED].count, 1);
    // The clocks: bases 1000, 900, 800; time 0 becomes 800.
    CHECK_EQ(w.sums[0].base_ns, 800);
    CHECK_EQ(w.steps[0].start_ns, 210);
    CHECK_EQ(w.steps[2].start_ns, 10);
    CHECK_EQ(w.steps[0].host_start_ns, -1);
    CHECK_EQ(w.devices[1].first_ns, 105);
    CHECK_EQ(w.sums[1].causes[STK_PART_INPUT].examples[0].start_ns, 103);
    stk_arena_deinit(&w.arena);
}

static void test_unrelated_clocks(void)
{
    struct world w;
    struct stoker_err err;
    struct stk_rank_sum **ranks;
    struct stk_select all = {0};
    uint32_t count;
    setup(&w);
    w.sums[0].base_ns = INT64_MAX;
    w.sums[1].base_ns = INT64_MIN;
    CHECK(collect(&w, &all, &ranks, &count, &err) == STOKER_OK);
    CHECK_EQ(w.steps[0].start_ns, 10);
    CHECK_EQ(w.steps[1].start_ns, 10);
    stk_arena_deinit(&w.arena);
}

static void test_known_ranks(void)
{
    struct world w;
    struct stoker_err err;
    struct stk_rank_sum **ranks;
    struct stk_select one = {.has_rank = true, .rank = 5};
    uint32_t count;
    setup(&w);
    w.sums[0].rank = 5;
    w.jobs[1].rank_hint = 0;
    CHECK(collect(&w, &one, &ranks, &count, &err) == STOKER_OK);
    CHECK(count == 1 && ranks[0] == &w.sums[0]);
    stk_arena_deinit(&w.arena);
    setup(&w);
    one.rank = 9;
    CHECK(collect(&w, &one, &ranks, &count, &err) == STOKER_EUSAGE);
    CHECK(strstr(err.message, "rank 0 to 2") != NULL);
    stk_arena_deinit(&w.arena);
    setup(&w);
    w.sums[0].rank = w.sums[1].rank = 3; // two files of one rank are two runs
    CHECK(collect(&w, &one, &ranks, &count, &err) == STOKER_EUSAGE);
    CHECK(strstr(err.message, "a.json") && strstr(err.message, "c.json"));
    stk_arena_deinit(&w.arena);
}

static void test_failed_file(void)
{
    struct world w;
    struct stoker_err err;
    struct stk_rank_sum **ranks;
    struct stk_select all = {0};
    uint32_t count;
    setup(&w);
    w.jobs[1].status = STOKER_EINPUT;
    CHECK(collect(&w, &all, &ranks, &count, &err) == STOKER_OK);
    CHECK_EQ(count, 2);
    CHECK_EQ(w.sums[1].rank, -1);
    stk_arena_deinit(&w.arena);
}

static void test_redaction(void)
{
    struct world w;
    struct stoker_err err;
    setup(&w);
    w.jobs[0].info.issue_notes[STK_ISSUE_TRUNCATED] = "/home/me/x";
    w.sums[0].facts.first_use = (struct stk_example){1, 2, "my_kernel", "trainer of node17", 0};
    CHECK(stk_redact(w.jobs, 3, &w.arena, &err) == STOKER_OK);
    CHECK_STR(w.jobs[0].info.path, "input-1");
    CHECK_STR(w.jobs[2].info.path, "input-3");
    CHECK_STR(w.sums[0].host, "host-1");
    CHECK_STR(w.devices[2].host, "host-1"); // the same text, the same number
    CHECK(!strstr(w.devices[0].source_id, "host-a"));
    CHECK(w.jobs[0].info.issue_notes[STK_ISSUE_TRUNCATED] == NULL);
    const struct stk_cause *c = &w.sums[1].causes[STK_PART_INPUT];
    CHECK(strncmp(c->names[0].name, "name-", 5) == 0);
    CHECK_STR(c->names[1].name, "aten::item");
    CHECK_STR(c->examples[0].name, c->names[0].name);
    CHECK_STR(c->examples[0].track, "thread 77");
    CHECK(strncmp(w.sums[0].facts.first_use.name, "name-", 5) == 0);
    CHECK(strncmp(w.sums[0].facts.first_use.track, "track-", 6) == 0);
    stk_arena_deinit(&w.arena);
}

// Recordings of a directory that say no rank: one after the other they are runs, side by side
// ranks.
static void test_runs(void)
{
    struct world w;
    struct stoker_err err;
    const char *note;
    static const int64_t start[2][3] = {{5000, 1000, 3000}, {1000, 1400, 1800}};
    for (int side_by_side = 0; side_by_side < 2; side_by_side++) {
        size_t count = 3;
        setup(&w);
        stk_err_init(&err);
        for (int i = 0; i < 3; i++) {
            w.jobs[i].is_found = true;
            w.sums[i].base_ns = start[side_by_side][i];
            w.sums[i].facts.last_ns = 1500;
        }
        CHECK_EQ(stk_runs_choose(w.jobs, &count, &w.arena, &note, &err), STOKER_OK);
        CHECK_EQ(count, side_by_side ? 3 : 1);
        CHECK_EQ(note == NULL, side_by_side);
        if (!side_by_side) {
            CHECK_STR(w.jobs[0].path, "c.json");
            CHECK(strstr(note, "2 older left out") != NULL);
        }
        stk_arena_deinit(&w.arena);
    }
    // Files that the user names are taken as given, and so are those that say their rank.
    size_t count = 3;
    setup(&w);
    for (int i = 0; i < 3; i++) {
        w.sums[i].base_ns = start[0][i];
        w.sums[i].facts.last_ns = 1500;
        w.jobs[i].is_found = i > 0;
        w.jobs[i].rank_hint = i == 1 ? 1 : -1;
    }
    CHECK_EQ(stk_runs_choose(w.jobs, &count, &w.arena, &note, &err), STOKER_OK);
    CHECK_EQ(count, 3);
    CHECK(note == NULL);
    stk_arena_deinit(&w.arena);
}

// Records of stoker.data beside a profile: that of its time goes with it, a newer one does not
// take its place.
static void test_records_beside(void)
{
    struct world w;
    struct stoker_err err;
    const char *note;
    size_t count = 3;
    setup(&w);
    stk_err_init(&err);
    for (int i = 0; i < 3; i++) {
        w.jobs[i].is_found = true;
        w.jobs[i].info.format = i == 0 ? "xplane" : "stk";
        w.sums[i].base_ns = i == 2 ? 9000 : 1000;
        w.sums[i].facts.last_ns = 500;
    }
    CHECK_EQ(stk_runs_choose(w.jobs, &count, &w.arena, &note, &err), STOKER_OK);
    CHECK_EQ(count, 2);
    CHECK_STR(w.jobs[0].path, "c.json");
    CHECK_STR(w.jobs[1].path, "a.json");
    CHECK(note && strstr(note, "another time"));
    stk_arena_deinit(&w.arena);
}

// A record of stoker.data of the same time is the same run seen again: no rank, but on its clock.
static void test_seen_again(void)
{
    struct world w;
    struct stoker_err err;
    struct stk_rank_sum **ranks;
    struct stk_select all = {0};
    uint32_t count, again;
    for (int apart = 0; apart < 2; apart++) {
        setup(&w);
        stk_err_init(&err);
        w.jobs[0].info.format = "xplane";
        w.jobs[1].info.format = "stk";
        w.sums[0].facts.last_ns = w.sums[1].facts.last_ns = 500;
        w.sums[1].base_ns = apart ? 5000 : 700;
        w.sums[1].facts.input_limit = "read||file|90";
        w.sums[0].host_scope = true;
        w.steps[0].parts[STK_PART_UNKNOWN] = 15;
        w.steps[0].parts[STK_PART_COMPUTE] = 5;
        w.steps[1].start_ns = 300; // the profile's step: 310 to 330 on the clock of both
        w.steps[1].parts[STK_PART_INPUT] = w.steps[1].dur_ns;
        CHECK_EQ(stk_ranks_collect(w.jobs, 2, &all, &w.arena, &ranks, &count, &again, &err),
                 STOKER_OK);
        CHECK_EQ(count, apart ? 2 : 1);
        CHECK_EQ(again, apart ? 0 : 1);
        if (!apart) {
            CHECK(ranks[0] == &w.sums[0] && ranks[1] == &w.sums[1]);
            CHECK_STR(ranks[0]->facts.recorded_limit, "read||file|90");
            CHECK(ranks[0]->facts.input_limit == NULL); // judged as the profile it is
            CHECK_EQ(ranks[0]->base_ns, 700);
            CHECK_EQ(ranks[0]->facts.first_ns, 300);
        }
        CHECK_EQ(w.steps[0].parts[STK_PART_INPUT], apart ? 0 : 10);
        CHECK_EQ(w.steps[0].parts[STK_PART_UNKNOWN], apart ? 15 : 5);
        CHECK_EQ(w.sums[0].causes[STK_PART_INPUT].ns, apart ? 0 : 10);
        CHECK_EQ(w.sums[0].facts.has_fetches, !apart);
        stk_arena_deinit(&w.arena);
    }
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    CHECK_RUN(test_numbers_and_clock);
    CHECK_RUN(test_unrelated_clocks);
    CHECK_RUN(test_known_ranks);
    CHECK_RUN(test_failed_file);
    CHECK_RUN(test_redaction);
    CHECK_RUN(test_runs);
    CHECK_RUN(test_records_beside);
    CHECK_RUN(test_seen_again);
    return check_done("unit.api_ranks");
}
