// SPDX-License-Identifier: Apache-2.0
// stoker_bench_stats PROFILE [THREADS [each]]: reads the profile once, then times what `stoker
// stats all` does after reading, phase by phase, and prints one line of JSON: events; seconds and
// CPU seconds for reading, for the model (steps, parts, causes), for the analyses' passes over the
// trace, and for making all tables; peak resident memory after reading and at the end. `each`: runs
// the passes one after another, with CPU seconds for each. One file; doesn't include what several
// files also need (ranks, clocks).
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "profile/model/verdict/verdict.h"
#include "answers/passes/stats/stats_every.h"
#include "profile/readers/reader.h"

struct timer {
    double wall, cpu; // seconds
};

static double looked_s, looked_cpu_s; // of all analyses, within the model's time

static struct timer now(void)
{
    return (struct timer){stk_clock_seconds(CLOCK_MONOTONIC),
                          stk_clock_seconds(CLOCK_PROCESS_CPUTIME_ID)};
}

static double peak_mb(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_maxrss / 1000;
}

static void fail(const struct stoker_err *err)
{
    fprintf(stderr, "stoker_bench_stats: %s\n", err->message);
    exit(1);
}

static struct stk_view_hook every;

static enum stoker_status see_all(const struct stk_analysis *view, struct stk_arena *arena,
                                  void **partial, struct stoker_err *err)
{
    struct timer start = now();
    enum stoker_status status = every.see(view, arena, partial, err);
    struct timer end = now();
    looked_s += end.wall - start.wall;
    looked_cpu_s += end.cpu - start.cpu;
    return status;
}

static enum stoker_status see_each(const struct stk_analysis *view, struct stk_arena *arena,
                                   void **partial, struct stoker_err *err)
{
    void **partials = stk_arena_array(arena, (size_t)stk_stats_count, sizeof *partials);
    enum stoker_status status = partials ? STOKER_OK : stk_err_nomem(err);
    for (int i = 0; i < stk_stats_count && status == STOKER_OK; i++) {
        struct timer start = now();
        if (stk_stats_all[i]->hook.see) {
            status = stk_stats_all[i]->hook.see(view, arena, &partials[i], err);
        }
        struct timer end = now();
        looked_s += end.wall - start.wall;
        looked_cpu_s += end.cpu - start.cpu;
        printf("\"%s\": %.4f, ", stk_stats_all[i]->name, end.cpu - start.cpu);
    }
    *partial = partials;
    return status;
}

int main(int argc, char **argv)
{
    if (argc < 2 || argc > 4) {
        fprintf(stderr, "usage: stoker_bench_stats PROFILE [THREADS [each]]\n");
        return 2;
    }
    int threads = argc > 2 ? atoi(argv[2]) : 2;
    struct stk_view_hook hook = every = stk_stats_every_hook();
    struct stk_read_ctx read = {.path = argv[1], .threads = threads, .wants = hook.wants};
    struct stk_trace *trace = NULL;
    struct stk_rank_sum **ranks = NULL;
    struct stk_run_sum *run = NULL;
    struct stk_verdict verdict;
    struct stk_select select = {.has_steps = false};
    struct stk_input_info input = {.path = argv[1], .format = ""};
    struct stk_arena arena;
    struct stoker_err err;
    uint32_t rank_count = 0;
    stk_arena_init(&arena, 0);
    stk_err_init(&err);
    struct timer start = now();
    if (stk_reader_read(&read, &trace, &err) != STOKER_OK) {
        fail(&err);
    }
    struct timer model = now();
    double read_peak_mb = peak_mb();
    printf("{\"events\": %u, \"of_analyses\": {", trace->count);
    hook.see = argc > 3 && strcmp(argv[3], "each") == 0 ? see_each : see_all;
    if (stk_model_summarize_with(trace, &select, &hook, threads, &arena, &ranks, &rank_count,
                                 &err) != STOKER_OK ||
        stk_model_merge(ranks, rank_count, &arena, &run, &err) != STOKER_OK ||
        stk_verdict_decide(run, &arena, &verdict, &err) != STOKER_OK) {
        fail(&err);
    }
    struct timer tables = now();
    struct stk_pass_ctx pass = {.inputs = &input,
                                .input_count = 1,
                                .run = run,
                                .verdict = &verdict,
                                .select = &select,
                                .limit = 10000,
                                .arena = &arena};
    struct stk_table_doc *docs = stk_arena_array(&arena, (size_t)stk_stats_count, sizeof *docs);
    for (int i = 0; docs && i < stk_stats_count; i++) {
        stk_table_doc_init(&docs[i], &arena, stk_stats_all[i]->name);
    }
    if (!docs || stk_stats_every_describe(&pass, docs, &err) != STOKER_OK) {
        fail(&err);
    }
    struct timer end = now();
    printf("\"_\": 0}, \"read_s\": %.4f, \"read_cpu_s\": %.4f, \"model_s\": %.4f, "
           "\"model_cpu_s\": %.4f, \"analyses_s\": %.4f, \"analyses_cpu_s\": %.4f, "
           "\"tables_s\": %.4f, \"tables_cpu_s\": %.4f, \"after_s\": %.4f, \"after_cpu_s\": %.4f, "
           "\"read_peak_mb\": %.0f, \"peak_mb\": %.0f}\n",
           model.wall - start.wall, model.cpu - start.cpu, tables.wall - model.wall - looked_s,
           tables.cpu - model.cpu - looked_cpu_s, looked_s, looked_cpu_s, end.wall - tables.wall,
           end.cpu - tables.cpu, end.wall - model.wall, end.cpu - model.cpu, read_peak_mb,
           peak_mb());
    for (int i = 0; i < stk_stats_count; i++) {
        stk_table_doc_deinit(&docs[i]);
    }
    stk_arena_deinit(&arena);
    stk_trace_free(trace);
    return 0;
}
