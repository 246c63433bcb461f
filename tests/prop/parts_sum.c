// SPDX-License-Identifier: Apache-2.0
// On random traces and every real profile: the parts of every step sum to its length, steps of one
// device cover the time without overlap, exposed time is at most the total, unions are at most the
// span. Several threads give the same trace as one.
#include "synth.h"

#include "profile/model/view.h"
#include "profile/readers/reader.h"

static uint64_t seed = 88172645463325252u;
static uint32_t next_random(uint32_t below)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (uint32_t)(seed >> 33) % below;
}

static const char *const host_names[] = {
    "aten::add",       "cudaStreamSynchronize",
    "cudaMalloc",      "enumerate(DataLoader)#_Iter.__next__",
    "nccl:all_reduce", "cudaMemcpyAsync",
    "cudaFree",        "cuModuleLoadData",
    "forward",         "decode_image",
};

// Microseconds of one unit of a random trace: real sizes, or years and durations of days.
static double unit = 1;

static void random_host_event(struct synth *s, double span)
{
    uint32_t i = next_random(sizeof host_names / sizeof *host_names);
    enum stk_kind kind = strncmp(host_names[i], "cu", 2) == 0 ? STK_KIND_RUNTIME : STK_KIND_HOST_OP;
    double start = next_random((uint32_t)span), dur = next_random(next_random(2) ? 30 : 9000);
    synth_host(s, 1 + next_random(3), start * unit, dur * unit, host_names[i], kind);
}

static void random_op(struct synth *s, double span)
{
    static const enum stk_kind kinds[] = {STK_KIND_KERNEL, STK_KIND_KERNEL, STK_KIND_COLLECTIVE,
                                          STK_KIND_MEMCPY, STK_KIND_MEMSET};
    enum stk_kind kind = kinds[next_random(5)];
    double start = next_random((uint32_t)span) * unit, dur = next_random(300) * unit;
    double call = start - next_random(400) * unit;
    double call_dur = next_random(next_random(8) ? 20 : 9000) * unit;
    uint8_t dir = (uint8_t)next_random(STK_DIR_H2H + 1);
    const char *name = kind == STK_KIND_COLLECTIVE ? "ncclDevKernel_AllReduce" : "work";
    s->device = next_random(2);
    if (next_random(10) == 0) {
        synth_device(s, next_random(3), start, dur, name, kind, dir, STK_MEM_PINNED);
    } else {
        synth_launch_as(s, 1 + next_random(3), call, call_dur,
                        kind == STK_KIND_MEMCPY ? "cudaMemcpyAsync" : "cudaLaunchKernel", name,
                        start, dur, next_random(3), kind, dir, (uint8_t)next_random(4));
    }
}

static void check_device(const struct stk_device_sum *d)
{
    CHECK(d->busy_ns <= d->span_ns);
    CHECK_EQ(d->busy_ns + d->idle_ns, d->span_ns);
    CHECK(d->communication_exposed_ns <= d->communication_ns);
    CHECK(d->compute_ns <= d->busy_ns);
    CHECK(d->kernel_ns <= d->busy_ns);
    CHECK_EQ(d->compute_ns + d->communication_exposed_ns + d->transfer_exposed_ns, d->busy_ns);
    int64_t sum = 0;
    for (int p = 0; p < STK_PART_COUNT; p++) {
        CHECK(d->parts[p] >= 0);
        sum += d->parts[p];
    }
    CHECK_EQ(sum, d->wall_ns);
}

static void check_rank(const struct stk_rank_sum *r)
{
    int64_t cause_ns = 0, wall_ns = 0;
    for (uint32_t d = 0; d < r->device_count; d++) {
        check_device(&r->devices[d]);
        wall_ns += r->devices[d].wall_ns;
    }
    for (uint32_t i = 0; i < r->step_count; i++) {
        const struct stk_step *s = &r->steps[i];
        int64_t sum = 0;
        for (int p = 0; p < STK_PART_COUNT; p++) {
            CHECK(s->parts[p] >= 0);
            sum += s->parts[p];
        }
        CHECK_EQ(sum, s->dur_ns);
        bool same = i > 0 && r->steps[i - 1].device == s->device;
        if (same && s[-1].dur_ns > 0 && s->dur_ns > 0) {
            CHECK(s[-1].start_ns + s[-1].dur_ns <= s->start_ns);
        }
        wall_ns += r->host_scope && !s->excluded ? s->dur_ns : 0;
    }
    for (int p = 0; p < STK_PART_COUNT; p++) {
        const struct stk_cause *c = &r->causes[p];
        int64_t named = 0;
        cause_ns += c->ns;
        for (int k = 0; k < c->name_count; k++) {
            named += c->names[k].ns;
        }
        CHECK(named <= c->ns);
        for (int k = 1; k < c->example_count; k++) {
            CHECK(c->examples[k].dur_ns <= c->examples[k - 1].dur_ns);
        }
    }
    CHECK_EQ(cause_ns, wall_ns);
}

static void check_same_cause(const struct stk_cause *a, const struct stk_cause *b)
{
    CHECK_EQ(a->ns, b->ns);
    CHECK_EQ(a->intervals, b->intervals);
    CHECK_EQ(a->steps_affected, b->steps_affected);
    CHECK_EQ(a->name_count, b->name_count);
    CHECK_EQ(a->example_count, b->example_count);
    for (int i = 0; i < a->name_count && i < b->name_count; i++) {
        CHECK_STR(a->names[i].name, b->names[i].name);
        CHECK_EQ(a->names[i].ns, b->names[i].ns);
        CHECK_EQ(a->names[i].count, b->names[i].count);
    }
    for (int i = 0; i < a->example_count && i < b->example_count; i++) {
        CHECK_STR(a->examples[i].name, b->examples[i].name);
        CHECK_EQ(a->examples[i].start_ns, b->examples[i].start_ns);
        CHECK_EQ(a->examples[i].dur_ns, b->examples[i].dur_ns);
        CHECK_EQ(a->examples[i].step, b->examples[i].step);
    }
}

// The model makes the same of a trace with several threads as with one.
static void check_threads(const struct synth *s, const struct stk_rank_sum *one)
{
    struct stk_arena arena;
    struct stk_rank_sum **ranks;
    uint32_t count = 0;
    struct stoker_err err;
    stk_err_init(&err);
    stk_arena_init(&arena, 0);
    CHECK_EQ(stk_model_summarize_with(s->trace, &s->select, NULL, 4, &arena, &ranks, &count, &err),
             STOKER_OK);
    CHECK_EQ(count, s->rank_count);
    const struct stk_rank_sum *many = count ? ranks[0] : one;
    CHECK_EQ(many->device_count, one->device_count);
    CHECK_EQ(many->step_count, one->step_count);
    CHECK_EQ(many->facts.host_events, one->facts.host_events);
    CHECK_EQ(many->facts.first_use_ns, one->facts.first_use_ns);
    CHECK_EQ(many->facts.compile_recurring_ns, one->facts.compile_recurring_ns);
    for (uint32_t d = 0; d < one->device_count && d < many->device_count; d++) {
        CHECK_EQ(many->devices[d].busy_ns, one->devices[d].busy_ns);
        CHECK_EQ(many->devices[d].ops, one->devices[d].ops);
        for (int p = 0; p < STK_PART_COUNT; p++) {
            CHECK_EQ(many->devices[d].parts[p], one->devices[d].parts[p]);
        }
    }
    for (uint32_t i = 0; i < one->step_count && i < many->step_count; i++) {
        for (int p = 0; p < STK_PART_COUNT; p++) {
            CHECK_EQ(many->steps[i].parts[p], one->steps[i].parts[p]);
        }
    }
    for (int p = 0; p < STK_PART_COUNT; p++) {
        check_same_cause(&many->causes[p], &one->causes[p]);
    }
    stk_arena_deinit(&arena);
}

static void random_round(uint32_t round)
{
    struct synth s;
    synth_begin(&s);
    unit = round % 7 == 0 ? 6e7 : 1;
    double span = 1000 + next_random(100000);
    uint32_t ops = next_random(200), hosts = next_random(200), steps = next_random(8);
    if (round == 1) { // so many gaps that several threads share those of one device
        span = 2e8;
        ops = hosts = 100000;
        steps = 9;
    }
    for (uint32_t i = 0; i < ops; i++) {
        random_op(&s, span);
    }
    for (uint32_t i = 0; i < hosts; i++) {
        random_host_event(&s, span);
    }
    for (uint32_t i = 0; i < steps; i++) {
        synth_step(&s, 1, (span / 10 + i * span / 10) * unit, span / (10 + next_random(4)) * unit,
                   i);
    }
    if (round % 5 == 0) {
        s.select.has_from = s.select.has_to = true;
        s.select.from_ns = next_random((uint32_t)span) * US;
        s.select.to_ns = s.select.from_ns + next_random((uint32_t)span) * US;
    }
    struct stk_rank_sum *r = synth_summarize(&s);
    if (r) {
        check_rank(r);
        check_threads(&s, r);
    }
    synth_end(&s);
}

static void check_profile(const char *path)
{
    struct stk_trace *t = NULL;
    struct stoker_err err;
    struct stk_select all = {0};
    struct stk_arena arena;
    struct stk_rank_sum **ranks;
    uint32_t count = 0;
    stk_err_init(&err);
    stk_arena_init(&arena, 0);
    if (stk_reader_read_path(path, 2, NULL, &t, &err) == STOKER_OK) {
        enum stoker_status status = stk_model_summarize(t, &all, &arena, &ranks, &count, &err);
        CHECK_EQ(status, STOKER_OK);
        if (status != STOKER_OK) {
            fprintf(stderr, "%s: %s\n", path, err.message);
        }
        for (uint32_t i = 0; i < count; i++) {
            check_rank(ranks[i]);
        }
        stk_trace_free(t);
    }
    stk_arena_deinit(&arena);
}

// The first column of INDEX.tsv names the profiles.
static void check_real(const char *dir)
{
    char path[4096], line[8192];
    snprintf(path, sizeof path, "%s/INDEX.tsv", dir);
    FILE *index = fopen(path, "rb");
    CHECK(index != NULL);
    while (index && fgets(line, sizeof line, index)) {
        line[strcspn(line, "\t\r\n")] = 0;
        snprintf(path, sizeof path, "%s/%.2000s", dir, line);
        if (line[0]) {
            check_profile(path);
        }
    }
    if (index) {
        fclose(index);
    }
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    for (uint32_t round = 0; round < CHECK_ROUNDS(3000); round++) {
        random_round(round);
    }
    const char *dir = check_fixtures();
    if (dir) {
        CHECK_RUN(check_real, dir);
    }
    return check_done("prop.parts_sum");
}
