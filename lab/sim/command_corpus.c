// SPDX-License-Identifier: Apache-2.0
// stoker_sim corpus: a table of jobs with known answers: every pathology alone and in pairs, and
// healthy jobs, each with the exact step time under every fix. Each row contains its job, as text
// for `stoker_sim run - TEXT`: the table doesn't depend on how jobs are drawn here.
#include <stdlib.h>
#include <string.h>

#include "sim_commands.h"
#include "sim_fix.h"
#include "sim_pathology.h"
#include "sim_random.h"
#include "sim_run.h"
#include "sim_writer.h"

enum { ALONE = 8, HEALTHY = 48, PAIRS = 110 };

static void print_head(void)
{
    printf("job\tseed\tpathologies\tcures\tprofiled_ns\tbase_ns\tcured_ns");
    for (int i = 0; i < sim_fix_count; i++) {
        printf("\t%s%s", sim_fixes[i].id, sim_fixes[i].value);
    }
    printf("\tkeys\n");
}

static int64_t profiled_ns(const struct sim_job *job)
{
    struct sim_result result;
    sim_run(job, sim_writer_of(job)->profiler, NULL, NULL, &result);
    int64_t ns = result.step_ns;
    sim_result_free(&result);
    return ns;
}

static int64_t cured_ns(const struct sim_job *job, const struct sim_pathology *const *what,
                        int count)
{
    struct sim_job changed = *job;
    struct stoker_err err;
    stk_err_init(&err);
    for (int i = 0; i < count; i++) {
        const char *value;
        const struct sim_fix *fix = sim_fix_find(what[i]->fix, &value, &err);
        if (!fix || !sim_fix_apply(fix, value, &changed, &err)) {
            fprintf(stderr, "stoker_sim: %s\n", err.message); // a cure that isn't a fix
            exit(70);
        }
    }
    return sim_truth_ns(&changed);
}

static void print_row(int number, const struct sim_job *job,
                      const struct sim_pathology *const *what, int count)
{
    int64_t base = sim_truth_ns(job);
    printf("%03d\t%.0f\t%s%s%s", number, job->seed, count ? what[0]->id : "healthy",
           count > 1 ? "+" : "", count > 1 ? what[1]->id : "");
    printf("\t%s%s%s", count ? what[0]->fix : "none", count > 1 ? "," : "",
           count > 1 ? what[1]->fix : "");
    printf("\t%lld\t%lld\t%lld", (long long)profiled_ns(job), (long long)base,
           (long long)(count ? cured_ns(job, what, count) : base));
    for (int i = 0; i < sim_fix_count; i++) {
        struct sim_job changed = *job;
        struct stoker_err err;
        stk_err_init(&err);
        if (sim_fix_apply(&sim_fixes[i], sim_fixes[i].value, &changed, &err)) {
            printf("\t%lld", (long long)sim_truth_ns(&changed));
        } else {
            printf("\t-");
        }
    }
    printf("\t");
    sim_job_print(job, ";", stdout);
    printf("\n");
    fflush(stdout);
}

// The healthy job of this seed with pathologies applied, whose severity also depends on the seed.
static void print_job(int number, uint64_t seed, const struct sim_pathology *const *what, int count)
{
    struct sim_job job;
    sim_pathology_healthy(&job, seed);
    double step_us = count ? (double)sim_truth_ns(&job) / 1000 : 0;
    for (int i = 0; i < count; i++) {
        what[i]->apply(&job, step_us, sim_unit(sim_key(seed, (uint64_t)i, 0x426164)));
    }
    print_row(number, &job, what, count);
}

// The i-th job of the corpus.
static void print_number(int i, uint64_t seed)
{
    int alone = sim_pathology_count * ALONE;
    const struct sim_pathology *first = &sim_pathologies[i % sim_pathology_count],
                               *what[2] = {first};
    if (i >= alone + PAIRS) {
        print_job(i, seed, NULL, 0);
        return;
    }
    if (i >= alone) { // combined with any of the others
        uint64_t others = (uint64_t)sim_pathology_count - 1;
        uint64_t next = (uint64_t)(i % sim_pathology_count) + 1 + sim_key(seed, 0, 2) % others;
        what[1] = &sim_pathologies[next % (uint64_t)sim_pathology_count];
    }
    print_job(i, seed, what, i >= alone ? 2 : 1);
}

int sim_command_corpus(int argc, char **argv)
{
    uint64_t seed = 1;
    int first = 0, end = sim_pathology_count * ALONE + PAIRS + HEALTHY;
    for (int i = 0; i < argc; i += 2) {
        if (i + 1 < argc && strcmp(argv[i], "--seed") == 0) {
            seed = strtoull(argv[i + 1], NULL, 10);
        } else if (i + 1 == argc || strcmp(argv[i], "--jobs") != 0 ||
                   sscanf(argv[i + 1], "%d:%d", &first, &end) != 2) {
            return 2;
        }
    }
    print_head();
    for (int i = first; i < end; i++) {
        print_number(i, seed * 10000 + (uint64_t)i);
    }
    return 0;
}
