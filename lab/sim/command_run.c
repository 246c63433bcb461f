// SPDX-License-Identifier: Apache-2.0
// stoker_sim run: one run of a job, its step times, its profile. Also reads a job for all commands.
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "sim_commands.h"
#include "sim_run.h"
#include "sim_world.h"
#include "sim_writer.h"

#define JOB_BYTES_MAX 65536

int sim_command_keys(int argc, char **argv)
{
    (void)argv;
    sim_job_help(stdout);
    return argc ? 2 : 0;
}

static int refuse(const struct stoker_err *err)
{
    fprintf(stderr, "stoker_sim: %s\n", err->message);
    return -1;
}

static int read_job(const char *path, struct sim_job *job, struct stoker_err *err)
{
    static char text[JOB_BYTES_MAX];
    FILE *f = fopen(path, "r");
    if (!f) {
        fprintf(stderr, "stoker_sim: %s: cannot be read\n", path);
        return -1;
    }
    size_t n = fread(text, 1, sizeof text - 1, f);
    text[n] = '\0';
    fclose(f);
    return sim_job_parse(job, text, err) == STOKER_OK ? 0 : refuse(err);
}

int sim_command_job(int argc, char **argv, struct sim_job *job)
{
    struct stoker_err err;
    stk_err_init(&err);
    sim_job_default(job);
    if (!argc || (strcmp(argv[0], "-") != 0 && read_job(argv[0], job, &err) != 0)) {
        return -1;
    }
    int taken = 1;
    for (; taken < argc && argv[taken][0] != '-' && strchr(argv[taken], '='); taken++) {
        if (sim_job_parse(job, argv[taken], &err) != STOKER_OK) {
            return refuse(&err);
        }
    }
    return taken;
}

struct profile {
    const struct sim_writer *writer;
    void **ranks; // one writer's file for each
};

static void see(void *arg, const struct sim_row *row)
{
    struct profile *p = arg;
    p->writer->see(p->ranks[row->rank], row);
}

static void open_profile(struct profile *p, const struct sim_job *job, const char *out)
{
    uint32_t n = (uint32_t)job->ranks;
    p->ranks = stk_alloc_zero(n, sizeof *p->ranks);
    if (!p->ranks || (n > 1 && mkdir(out, 0777) != 0 && access(out, W_OK) != 0)) {
        sim_die(out, "cannot be made");
    }
    for (uint32_t i = 0; i < n; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/rank%u%s", out, i, p->writer->suffix);
        p->ranks[i] = p->writer->open(n > 1 ? path : out, job, i);
    }
}

static void close_profile(struct profile *p, const struct sim_job *job)
{
    for (uint32_t i = 0; i < (uint32_t)job->ranks; i++) {
        p->writer->close(p->ranks[i]);
    }
    stk_free(p->ranks);
}

static void print_steps(const struct sim_result *r)
{
    printf("step\tstart_ns\tdur_ns\n");
    for (uint32_t i = 0; i < r->steps; i++) {
        printf("%u\t%lld\t%lld\n", i, (long long)r->bounds_ns[i],
               (long long)(r->bounds_ns[i + 1] - r->bounds_ns[i]));
    }
    printf("# mean of steps from %d on but the last: %lld ns, median %lld ns\n", SIM_WARMUP,
           (long long)r->step_ns, (long long)r->median_ns);
}

int sim_command_run(int argc, char **argv)
{
    struct sim_job job;
    struct sim_result result;
    struct profile profile = {0};
    int taken = sim_command_job(argc, argv, &job);
    if (taken < 0) {
        return 2;
    }
    bool writes = argc - taken == 3 && strcmp(argv[taken], "--write") == 0;
    if (argc > taken && !writes) {
        return 2;
    }
    if (writes) {
        profile.writer = strcmp(argv[taken + 1], "auto") == 0 ? sim_writer_of(&job)
                                                              : sim_writer_find(argv[taken + 1]);
        if (!profile.writer) {
            fprintf(stderr,
                    "stoker_sim: no dialect '%s': auto, kineto, kineto_us, xplane or nsys\n",
                    argv[taken + 1]);
            return 2;
        }
        open_profile(&profile, &job, argv[taken + 2]);
    }
    const struct sim_writer *writer = writes ? profile.writer : sim_writer_of(&job);
    sim_run(&job, writer->profiler, writes ? see : NULL, &profile,
            &result); // profiled, whether written or not
    if (writes) {
        close_profile(&profile, &job);
    }
    print_steps(&result);
    sim_result_free(&result);
    return 0;
}
