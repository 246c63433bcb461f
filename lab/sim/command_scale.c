// SPDX-License-Identifier: Apache-2.0
// stoker_sim scale: a job on more GPUs than are available. Every rank is simulated, so the answer
// includes the wait for the slowest one, a host's cores and the growth of collectives.
#include <stdlib.h>
#include <string.h>

#include "sim_commands.h"
#include "sim_run.h"

enum { STEPS = SIM_WARMUP + 4 }; // few: thousands of ranks draw enough

static int64_t step_ns(struct sim_job job, double ranks)
{
    struct sim_result result;
    job.cores *= ranks < job.ranks_per_host ? ranks : job.ranks_per_host; // each GPU brings its own
    job.ranks = ranks;
    job.steps = STEPS;
    sim_run(&job, SIM_UNPROFILED, NULL, NULL, &result);
    int64_t ns = result.step_ns;
    sim_result_free(&result);
    return ns;
}

int sim_command_scale(int argc, char **argv)
{
    struct sim_job job;
    int taken = sim_command_job(argc, argv, &job);
    if (taken < 0 || argc - taken != 2 || strcmp(argv[taken], "--gpus") != 0) {
        return 2;
    }
    int64_t one = step_ns(job, 1);
    printf("gpus\tstep_ns\tefficiency\n1\t%lld\t1.0000\n", (long long)one);
    for (char *p = argv[taken + 1], *end; *p; p = *end ? end + 1 : end) {
        double ranks = strtod(p, &end);
        if (end == p || !(ranks >= 1 && ranks <= 65536) || (*end && *end != ',')) {
            fprintf(stderr, "stoker_sim: --gpus takes numbers from 1 to 65536\n");
            return 2;
        }
        int64_t ns = step_ns(job, ranks);
        printf("%.0f\t%lld\t%.4f\n", ranks, (long long)ns, (double)one / (double)ns);
        fflush(stdout);
    }
    return 0;
}
