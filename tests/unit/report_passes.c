// SPDX-License-Identifier: Apache-2.0
// From a run's summary to the report and to its outputs: a run made by hand, with every value
// known.
#include <stdbool.h>

#include "base/arena.h"
#include "check.h"
#include "results/print/out.h"
#include "answers/passes/pass.h"

#define MS INT64_C(1000000)

struct world {
    struct stk_arena arena;
    struct stk_run_sum run;
    struct stk_verdict verdict;
    struct stk_select select;
    struct stk_input_info input;
    struct stk_report report;
};

static void fill_step(struct stk_step *s, int number)
{
    *s = (struct stk_step){.number = number,
                           .start_ns = number * 100 * MS,
                           .dur_ns = 100 * MS,
                           .host_start_ns = -1,
                           .host_dur_ns = -1};
    s->parts[STK_PART_COMPUTE] = 60 * MS;
    s->parts[STK_PART_INPUT] = 40 * MS - 1;
    s->parts[STK_PART_LAUNCH] = 1;
    if (number == 0) {
        s->excluded = "longer than twice the median";
    }
}

static void fill_device(struct stk_device_sum *d, const char *id, const char *left_out)
{
    *d = (struct stk_device_sum){.id = id,
                                 .source_id = "0",
                                 .name = "",
                                 .host = "node17",
                                 .rank = -1,
                                 .ops = left_out ? 0 : 10,
                                 .kernels = left_out ? 0 : 9,
                                 .span_ns = 400 * MS,
                                 .busy_ns = 240 * MS,
                                 .idle_ns = 160 * MS,
                                 .analysed = !left_out,
                                 .left_out = left_out};
}

static void setup(struct world *w)
{
    memset(w, 0, sizeof *w);
    stk_arena_init(&w->arena, 0);
    struct stk_run_sum *r = &w->run;
    static struct stk_device_sum devices[2];
    static struct stk_step steps[4];
    static struct stk_rank_sum rank, *ranks[1] = {&rank};
    fill_device(&devices[0], "0/0", NULL);
    fill_device(&devices[1], "0/1", "a few copies only");
    for (int i = 0; i < 4; i++) {
        fill_step(&steps[i], i);
    }
    rank.base_ns = 12345;
    *r = (struct stk_run_sum){.ranks = ranks,
                              .rank_count = 1,
                              .devices = devices,
                              .device_count = 2,
                              .steps = steps,
                              .step_count = 4,
                              .source = STK_STEPS_ANNOTATED,
                              .confidence = 1,
                              .step_marks = 4,
                              .steps_used = 3,
                              .wall_ns = 300 * MS,
                              .median_step = 2,
                              .step_median_ns = 100 * MS,
                              .step_mean_ns = 100 * MS,
                              .step_p95_ns = 100 * MS};
    for (int s = 1; s < 4; s++) {
        for (int p = 0; p < STK_PART_COUNT; p++) {
            r->parts[p] += steps[s].parts[p];
        }
    }
    r->facts.has_device_rows = r->facts.has_host_rows = true;
    r->facts.device_ops = 10;
    w->verdict = (struct stk_verdict){.kind = STK_VERDICT_INPUT,
                                      .confidence = STK_LEVEL_HIGH,
                                      .sentence = "GPU waits 40% of each step, mostly for input"};
    w->input = (struct stk_input_info){
        .path = "a/b.json", .format = "kineto", .bytes = 2000, .read = 4812330};
    w->input.by_kind[STK_KIND_KERNEL] = 9;
}

static enum stoker_status fill(struct world *w, uint64_t limit, struct stoker_err *err)
{
    struct stk_pass_ctx ctx = {&w->input, 1, &w->run, &w->verdict, &w->select, limit, &w->arena};
    memset(&w->report, 0, sizeof w->report);
    w->report.schema = "stoker.report/1";
    w->report.stoker.version = "0";
    for (int i = 0; i < stk_pass_count; i++) {
        enum stoker_status status = stk_passes[i]->describe(&ctx, &w->report, err);
        if (status != STOKER_OK) {
            return status;
        }
    }
    return STOKER_OK;
}

static char text[1 << 20];
static size_t used;

static int take(void *arg, const char *bytes, size_t n)
{
    (void)arg;
    if (n > sizeof text - 1 - used) {
        return -1;
    }
    memcpy(text + used, bytes, n);
    used += n;
    text[used] = 0;
    return 0;
}

static const char *print(const struct world *w, const char *format, struct stk_out_options options)
{
    struct stk_sink sink;
    struct stoker_err err;
    used = 0;
    stk_sink_init(&sink, take, NULL);
    stk_out_find("report", format)->write(&w->report, &options, &sink);
    CHECK(stk_sink_finish(&sink, &err) == STOKER_OK);
    return text;
}

static bool has(const char *where, const char *what)
{
    if (strstr(where, what)) {
        return true;
    }
    fprintf(stderr, "not found: %s\n", what);
    return false;
}

static void test_json(void)
{
    struct world w;
    struct stoker_err err;
    setup(&w);
    CHECK(fill(&w, 3, &err) == STOKER_OK);
    const char *json = print(&w, "json", (struct stk_out_options){.columns = 80});
    CHECK(has(json,
              "{\"path\": \"a/b.json\", \"format\": \"kineto\", \"bytes\": 2000, \"ranks\": []}"));
    CHECK(has(json, "\"base_ns\": 12345"));
    CHECK(has(json, "\"read\": 4812330, \"dropped\": 0"));
    CHECK(has(json, "\"health\": {\"status\": \"good\", \"why\": []}"));
    CHECK(has(
        json,
        "{\"number\": 0, \"device\": \"0/0\", \"start_ns\": 0, \"dur_ns\": 100000000, \"parts\": "
        "{\"compute\": 60000000, \"input_wait\": 39999999, \"kernel_launch\": 1}}"));
    CHECK(has(json, "\"rows_left_out\": 1"));
    CHECK(has(json, "{\"step\": 0, \"why\": \"longer than twice the median\"}"));
    CHECK(has(json, "{\"id\": \"compute\", \"ns\": 180000000, \"share\": 0.6}"));
    CHECK(has(json, "{\"id\": \"0/1\", \"why\": \"a few copies only\"}"));
    CHECK(has(json, "\"kind\": \"input-bound\""));
    CHECK(!strstr(json, "null"));
    CHECK(!strstr(json, "\"name\"")); // the device's name is not known: absent
    CHECK(!strstr(json, "host_start_ns"));
    // Of a device without operations the span is not known.
    const char *second = strstr(json, "\"0/1\"");
    CHECK(second && !strstr(second, "span_ns"));
    stk_arena_deinit(&w.arena);
}

static void test_nothing_known(void)
{
    struct world w;
    struct stoker_err err;
    setup(&w);
    w.run = (struct stk_run_sum){
        .median_step = STK_NONE, .step_median_ns = -1, .step_mean_ns = -1, .step_p95_ns = -1};
    w.verdict = (struct stk_verdict){.kind = STK_VERDICT_CANNOT_TELL,
                                     .confidence = STK_LEVEL_HIGH,
                                     .sentence = "Cannot tell: the profile is empty",
                                     .reason = STK_REASON_EMPTY};
    w.input.read = 0;
    CHECK(fill(&w, 0, &err) == STOKER_OK);
    const char *json = print(&w, "json", (struct stk_out_options){.columns = 80});
    CHECK(has(json, "\"status\": \"unusable\""));
    CHECK(has(json, "\"source\": \"none\""));
    CHECK(!strstr(json, "median_ns"));
    CHECK(!strstr(json, "\"scope\""));
    CHECK(!strstr(json, "\"median_step\""));
    CHECK(has(json, "\"devices\": []"));
    const char *page =
        print(&w, "text", (struct stk_out_options){.columns = 80, .ascii = true, .verbosity = 1});
    CHECK(has(page, "capture unusable"));
    CHECK(has(page, "no event could be read"));
    stk_arena_deinit(&w.arena);
}

static void test_health(void)
{
    struct world w;
    struct stoker_err err;
    setup(&w);
    w.run.steps_used = 1;
    w.run.facts.unlinked_ops = 5;
    w.input.issues[STK_ISSUE_TRUNCATED].count = 2;
    w.input.issue_notes[STK_ISSUE_TRUNCATED] = "at byte 77";
    CHECK(fill(&w, 0, &err) == STOKER_OK);
    CHECK_STR(w.report.profile.health.status, "limited");
    CHECK_EQ(w.report.profile.health.why.count, 3);
    const struct stk_rep_issue *issue = w.report.profile.issues.items;
    CHECK_EQ(w.report.profile.issues.count, 1);
    CHECK_STR(issue->id, "truncated");
    CHECK_EQ(issue->severity, STK_SEVERITY_LOSS);
    CHECK_EQ(issue->count, 2);
    stk_arena_deinit(&w.arena);
}

// Three bad records of millions limit nothing; as many of a few do.
static void test_bad_records(void)
{
    struct world w;
    struct stoker_err err;
    setup(&w);
    w.input.issues[STK_ISSUE_TIME_INVALID].count = 3;
    CHECK(fill(&w, 0, &err) == STOKER_OK);
    CHECK_STR(w.report.profile.health.status, "good");
    CHECK_EQ(w.report.profile.issues.count, 1);
    w.input.read = 100;
    CHECK(fill(&w, 0, &err) == STOKER_OK);
    CHECK_STR(w.report.profile.health.status, "limited");
    stk_arena_deinit(&w.arena);
}

static void test_selection(void)
{
    struct world w;
    struct stoker_err err;
    setup(&w);
    w.select = (struct stk_select){
        .has_steps = true, .step_first = 2, .step_last = 5, .has_to = true, .to_ns = 1500 * MS};
    CHECK(fill(&w, 0, &err) == STOKER_OK);
    const char *const *texts = w.report.profile.selection.items;
    CHECK_EQ(w.report.profile.selection.count, 2);
    CHECK_STR(texts[0], "steps 2:5");
    CHECK_STR(texts[1], "from the start to 1500ms");
    stk_arena_deinit(&w.arena);
}

static int widest_line(const char *page)
{
    int widest = 0, width = 0;
    for (const char *p = page; *p; p++) {
        if (((unsigned char)*p & 0xc0) != 0x80) { // once per code point
            width++;
        }
        if (*p == '\n') {
            widest = width - 1 > widest ? width - 1 : widest;
            width = 0;
        }
    }
    return widest;
}

static void test_text(void)
{
    struct world w;
    struct stoker_err err;
    setup(&w);
    w.input.path = "x\033[31m\xff.json";
    CHECK(fill(&w, 20, &err) == STOKER_OK);
    const char *page = print(&w, "text", (struct stk_out_options){.columns = 80});
    CHECK(has(page, "4,812,330 events, none lost"));
    CHECK(has(page, "3 of 4 steps"));
    CHECK(has(page, "GPU waits 40% of each step, mostly for input"));
    CHECK(has(page, "input 40%"));
    CHECK(!strchr(page, '\033')); // neither from the options nor from the profile
    CHECK_EQ(strlen(page) > 0 && widest_line(page) <= 80, true);
    page = print(&w, "text", (struct stk_out_options){.columns = 40, .ascii = true});
    CHECK(widest_line(page) <= 60); // names are not broken, the bar is
    for (const char *p = page; *p; p++) {
        if ((unsigned char)*p >= 0x80) {
            CHECK(false);
            break;
        }
    }
    page = print(&w, "text", (struct stk_out_options){.columns = 80, .colour = true});
    CHECK(strchr(page, '\033') != NULL);
    page = print(&w, "text", (struct stk_out_options){.columns = 80, .verbosity = -1});
    CHECK_STR(page, "GPU waits 40% of each step, mostly for input\n");
    stk_arena_deinit(&w.arena);
}

// The bar fills its columns exactly, for any shares.
static void test_bar(void)
{
    struct world w;
    struct stoker_err err;
    setup(&w);
    for (int shape = 2; shape < 60; shape++) {
        int64_t sum = 0;
        for (int p = 0; p < STK_PART_COUNT; p++) {
            sum += w.run.parts[p] =
                (int64_t)((unsigned)(shape * 7919 + p * 104729) % (unsigned)(shape * shape)) *
                (p % 3 ? 1 : 50);
        }
        w.run.wall_ns = sum;
        CHECK(fill(&w, 1, &err) == STOKER_OK);
        const char *page = print(
            &w, "text", (struct stk_out_options){.columns = 80, .ascii = true, .verbosity = 1});
        const char *line = strstr(page, "high confidence\n\n");
        CHECK(line != NULL);
        if (line && sum > 0) {
            line += strlen("high confidence\n\n  ");
            CHECK_EQ(strspn(line, "#=>.x!-?|"), 76);
        }
    }
    stk_arena_deinit(&w.arena);
}

// Running out of memory at any place is reported, never printed.
static void test_memory(void)
{
    int refused = 0;
    for (size_t cap = 16; cap < 20000; cap += 64) {
        struct world w;
        struct stoker_err err;
        setup(&w);
        stk_arena_deinit(&w.arena);
        stk_arena_init(&w.arena, cap);
        enum stoker_status status = fill(&w, 0, &err);
        CHECK(status == STOKER_OK || status == STOKER_ENOMEM);
        refused += status != STOKER_OK;
        stk_arena_deinit(&w.arena);
    }
    CHECK(refused > 0);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    CHECK_RUN(test_json);
    CHECK_RUN(test_nothing_known);
    CHECK_RUN(test_health);
    CHECK_RUN(test_bad_records);
    CHECK_RUN(test_selection);
    CHECK_RUN(test_text);
    CHECK_RUN(test_bar);
    CHECK_RUN(test_memory);
    return check_done("unit.report_passes");
}
