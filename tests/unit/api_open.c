// SPDX-License-Identifier: Apache-2.0
// Runs that keep their traces: which rank has which trace, on which clock; selection; redaction;
// the cap.
#include <unistd.h>

#include "api/open.h"
#include "base/alloc.h"
#include "check.h"

static char dir[] = "/tmp/stoker-open-XXXXXX";
static char paths[2][64];

static void write_rank(int rank, int start_us)
{
    snprintf(paths[rank], sizeof paths[rank], "%s/rank%d.json", dir, rank);
    FILE *f = fopen(paths[rank], "wb");
    if (!f) {
        perror(paths[rank]);
        exit(1);
    }
    fprintf(f,
            "{\"distributedInfo\":{\"rank\":%d,\"world_size\":2},\"traceEvents\":[\n"
            "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"secret %d\",\"pid\":7,\"tid\":7,\"ts\":%d,"
            "\"dur\":5},\n"
            "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::mul\",\"pid\":7,\"tid\":7,\"ts\":%d,"
            "\"dur\":5}]}\n",
            rank, rank, start_us, start_us + 10);
    fclose(f);
}

static enum stoker_status read_run(struct stk_open_run *o, const struct stoker_why_options *options)
{
    const char *both[] = {paths[0], paths[1]};
    struct stoker_err err;
    stk_err_init(&err);
    memset(o, 0, sizeof *o);
    return stk_open_run_read(o, both, 2, options, NULL, &err);
}

static bool holds(const struct stk_trace *t, const char *text)
{
    for (uint32_t e = 0; e < t->count; e++) {
        if (strcmp(stk_name_of(t, e).p, text) == 0) {
            return true;
        }
    }
    return false;
}

static void test_ranks(void)
{
    struct stk_open_run o;
    struct stoker_why_options options;
    stoker_why_options_default(&options);
    CHECK_EQ(read_run(&o, &options), STOKER_OK);
    CHECK_EQ(o.rank_count, 2);
    for (uint32_t r = 0; r < o.rank_count; r++) {
        const struct stk_open_rank *rank = &o.ranks[r];
        CHECK_EQ(rank->sum->rank, r);
        CHECK(rank->trace == rank->job->trace);
        CHECK_EQ(rank->trace->count, 2);
        CHECK(holds(rank->trace, r ? "secret 1" : "secret 0"));
        CHECK_EQ(rank->trace->start_ns[0] + rank->shift_ns, r ? 2000000 : 0); // rank 1: 2 ms later
        CHECK(rank->sum->in_rank[rank->trace->tracks[0].process]);
        CHECK(stk_trace_size_bytes(rank->trace) > 27 * 2);
    }
    stk_open_run_free(&o);
}

static void test_selection(void)
{
    struct stk_open_run o;
    struct stoker_why_options options;
    stoker_why_options_default(&options);
    options.has_rank = 1;
    options.rank = 1;
    options.redact = 1;
    CHECK_EQ(read_run(&o, &options), STOKER_OK);
    CHECK_EQ(o.rank_count, 1);
    CHECK_EQ(o.ranks[0].sum->rank, 1);
    CHECK(!holds(o.ranks[0].trace, "secret 1"));
    CHECK(holds(o.ranks[0].trace, "aten::mul"));
    for (size_t i = 0; i < o.in.job_count; i++) {
        CHECK((o.in.jobs[i].trace != NULL) == (&o.in.jobs[i] == o.ranks[0].job));
    }
    stk_open_run_free(&o);
}

static void test_cap(void)
{
    struct stoker_why_options options;
    struct stk_collected c = {.keep_bytes = 100};
    const char *both[] = {paths[0], paths[1]};
    struct stoker_err err;
    stk_err_init(&err);
    stoker_why_options_default(&options);
    stk_arena_init(&c.arena, 0);
    CHECK_EQ(stk_collect(&c, both, 2, &options, NULL, &err), STOKER_ELIMIT);
    CHECK(strstr(err.message, "--rank") != NULL);
    stk_collected_free(&c);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    if (!mkdtemp(dir)) {
        perror(dir);
        return 1;
    }
    write_rank(0, 1000);
    write_rank(1, 3000);
    CHECK_RUN(test_ranks);
    CHECK_RUN(test_selection);
    CHECK_RUN(test_cap);
    unlink(paths[0]);
    unlink(paths[1]);
    rmdir(dir);
    return check_done("unit.api_open");
}
