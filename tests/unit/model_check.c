// SPDX-License-Identifier: Apache-2.0
// The checks of interval sets, parts, steps and summaries find broken ones, and say what is wrong.
#include "profile/model/model_check.h"

#include "synth.h"

enum { MAIN = 1, STREAM = 7, STEPS = 6 };

static void check_text(const char *text, const char *part)
{
    CHECK(text && strstr(text, part));
    if (!text || !strstr(text, part)) {
        fprintf(stderr, "wanted \"%s\", got %s\n", part, text ? text : "(nothing)");
    }
}

static void spans(void)
{
    struct stk_span v[3] = {{0, 10}, {20, 30}, {40, 50}};
    struct stk_spans s = {v, 3, 3};
    CHECK(stk_spans_check(&s) == NULL);
    v[1].start_ns = 10;
    check_text(stk_spans_check(&s), "interval 1 begins at 10");
    v[1] = (struct stk_span){30, 30};
    check_text(stk_spans_check(&s), "interval 1 is empty");
    v[1] = (struct stk_span){45, 60};
    check_text(stk_spans_check(&s), "interval 2 begins at 40");
    s.count = 4;
    check_text(stk_spans_check(&s), "in the room of 3");
}

static void parts(void)
{
    int64_t p[STK_PART_COUNT] = {0};
    p[STK_PART_COMPUTE] = 70;
    p[STK_PART_UNKNOWN] = 30;
    CHECK(stk_parts_check(p, 100) == NULL);
    check_text(stk_parts_check(p, 101), "sum to 100 ns and not to 101");
    p[STK_PART_COMPUTE] = -1;
    check_text(stk_parts_check(p, 29), "is -1 ns");
    p[STK_PART_COMPUTE] = INT64_MAX;
    check_text(stk_parts_check(p, 29), "overflows");
}

static void steps(void)
{
    struct stk_step s[2] = {{.number = 0, .start_ns = 0, .dur_ns = 10},
                            {.number = 1, .start_ns = 10, .dur_ns = 5}};
    s[0].parts[STK_PART_COMPUTE] = 10;
    s[1].parts[STK_PART_COMPUTE] = 5;
    CHECK(stk_steps_check(s, 2, 1) == NULL);
    check_text(stk_steps_check(s, 2, 0), "of device 0 of 0");
    s[1].start_ns = 9;
    check_text(stk_steps_check(s, 2, 1), "begins at 9, the one before it ends at 10");
    int64_t start_ns = s[0].start_ns;
    s[0].start_ns = INT64_MAX; // its end is beyond all numbers
    check_text(stk_steps_check(s, 2, 1), "begins at 9");
    s[0].start_ns = start_ns;
    s[1].rank = 1; // another rank's clock
    CHECK(stk_steps_check(s, 2, 1) == NULL);
    s[0].parts[STK_PART_COMPUTE] = 9;
    check_text(stk_steps_check(s, 2, 1), "step 0 (row 0): parts sum to 9");
}

static void windows(void)
{
    struct stk_window w[2] = {{.start_ns = 0, .end_ns = 10}, {.start_ns = 10, .end_ns = 10}};
    CHECK(stk_windows_check(w, 2) == NULL);
    w[1].start_ns = 11;
    check_text(stk_windows_check(w, 2), "window 1 is [11, 10)");
    w[1].end_ns = 20;
    check_text(stk_windows_check(w, 2), "the one before it ends at 10");
}

static void lines(void)
{
    struct stk_device_op ops[2] = {{.start_ns = 0, .end_ns = 10, .part = STK_PART_COMPUTE},
                                   {.start_ns = 10, .end_ns = 20, .part = STK_PART_COMPUTE}};
    struct stk_span busy = {0, 20}, half = {0, 10};
    struct stk_device_line line = {.ops = ops, .op_count = 2, .busy = {&busy, 1, 1}};
    line.exposed[STK_PART_COMPUTE] = line.busy;
    CHECK(stk_line_check(&line) == NULL);
    line.exposed[STK_PART_COMPUTE].v = &half;
    check_text(stk_line_check(&line), "busy for 20 ns, its parts for 10");
    ops[0].start_ns = 15;
    check_text(stk_line_check(&line), "operation 0");
    ops[0] = (struct stk_device_op){.start_ns = 11, .end_ns = 12};
    check_text(stk_line_check(&line), "operation 1");
}

static struct stk_run_sum *sound_run(struct synth *s)
{
    struct stk_run_sum *run = NULL;
    synth_begin(s);
    for (int i = 0; i < STEPS; i++) {
        double at = 1000.0 * i;
        synth_step(s, MAIN, at, 1000, i);
        synth_launch(s, MAIN, at + 20, 5, "gemm", at + 40, 400, STREAM);
        synth_launch(s, MAIN, at + 500, 5, "relu", at + 520, 300, STREAM);
    }
    CHECK(synth_summarize(s) != NULL);
    CHECK_EQ(stk_model_merge(s->ranks, s->rank_count, &s->arena, &run, &s->err), STOKER_OK);
    return run;
}

static void sums(struct stk_rank_sum *rank, struct stk_run_sum *run)
{
    CHECK(stk_rank_sum_check(rank) == NULL && stk_run_sum_check(run) == NULL);
    rank->confidence = 2;
    check_text(stk_rank_sum_check(rank), "confidence");
    rank->confidence = 1;
    rank->devices[0].linked_ops += 100;
    check_text(stk_rank_sum_check(rank), "operations linked");
    rank->devices[0].linked_ops -= 100;
    rank->devices[0].wall_ns++;
    check_text(stk_rank_sum_check(rank), "device 0/0: parts sum");
    rank->devices[0].wall_ns--;
    rank->causes[0].name_count = STK_CAUSE_NAMES + 1;
    check_text(stk_rank_sum_check(rank), "names");
    rank->causes[0].name_count = 0;
    rank->causes[0].owners[0].name = NULL;
    rank->causes[0].owner_count = 1;
    check_text(stk_rank_sum_check(rank), "1 owners");
    rank->causes[0].owner_count = 0;
    run->median_step = run->step_count;
    check_text(stk_run_sum_check(run), "median step");
    run->median_step = STK_NONE;
    run->wall_ns++;
    check_text(stk_run_sum_check(run), "parts sum");
    run->wall_ns--;
    run->step_p95_ns = 0;
    check_text(stk_run_sum_check(run), "p95");
}

static void dumps(const struct stk_run_sum *run)
{
    static char text[20000];
    struct stk_span v[60];
    struct stk_spans s = {v, 60, 60};
    for (int i = 0; i < 60; i++) {
        v[i] = (struct stk_span){10 * i, 10 * i + 5};
    }
    FILE *f = tmpfile();
    if (!f) {
        exit(2);
    }
    stk_spans_dump(&s, f);
    stk_run_sum_dump(run, f);
    rewind(f);
    text[fread(text, 1, sizeof text - 1, f)] = 0;
    fclose(f);
    CHECK(strstr(text, "60 intervals, 300 ns in all") && strstr(text, "... and 20 more"));
    CHECK(strstr(text, "run: 1 ranks, scope steps") && strstr(text, "Test GPU"));
    CHECK(strstr(text, "compute") && strstr(text, "step 0, rank"));
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    struct synth s;
    CHECK_RUN(spans);
    CHECK_RUN(parts);
    CHECK_RUN(steps);
    CHECK_RUN(windows);
    CHECK_RUN(lines);
    struct stk_run_sum *run = sound_run(&s);
    if (run) {
        CHECK_RUN(dumps, run);
        CHECK_RUN(sums, s.ranks[0], run);
    }
    CHECK_RUN(synth_end, &s);
    return check_done("unit.model_check");
}
