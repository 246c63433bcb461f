// SPDX-License-Identifier: Apache-2.0
// The environment variables of launchers (launch.h). Open MPI's mpirun sets OMPI_COMM_WORLD_SIZE;
// MPICH's (Hydra), Intel's and srun --mpi=pmi2 set PMI_SIZE; srun --mpi=pmix sets PMIX_RANK. A step
// of srun sets SLURM_STEP_NUM_TASKS, which a batch script by itself doesn't have.
#include "job/cluster/launch.h"

#include <stdlib.h>
#include <string.h>

static long number_of(const char *name)
{
    const char *text = getenv(name);
    char *end;
    long n = text ? strtol(text, &end, 10) : 0;
    return n > 0 && *end == 0 ? n : 0;
}

static long step_tasks(void)
{
    if (!getenv("SLURM_STEP_ID") || !getenv("SLURM_PROCID")) {
        return 0;
    }
    long n = number_of("SLURM_STEP_NUM_TASKS");
    return n ? n : number_of("SLURM_NTASKS");
}

enum stoker_status stk_launch_refuse_singletons(const struct stk_launch *l, struct stoker_err *err)
{
    return stk_err_set(
        err, STOKER_EUSAGE,
        "%ld copies of stoker were started (%s), and they don't see each other, so each would read "
        "everything. Under SLURM, use srun --mpi=pmix or --mpi=pmi2 (srun --mpi=list lists them), "
        "or mpirun of the same MPI library. " STK_LAUNCH_VARIABLE "=off lets each copy work alone",
        l->size, l->name);
}

enum stoker_status stk_launch_find(struct stk_launch *out, struct stoker_err *err)
{
    static const struct {
        const char *name;
        enum stk_launcher by;
    } sizes[] = {{"OMPI_COMM_WORLD_SIZE", STK_LAUNCHER_OPEN_MPI}, {"PMI_SIZE", STK_LAUNCHER_OTHER}};
    const char *wanted = getenv(STK_LAUNCH_VARIABLE);
    *out = (struct stk_launch){STK_LAUNCHER_NONE, 1, NULL};
    if (wanted && strcmp(wanted, "off") == 0) {
        return STOKER_OK;
    }
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        long n = number_of(sizes[i].name);
        if (n > 0) {
            if (n > 1) {
                *out = (struct stk_launch){sizes[i].by, n, sizes[i].name};
            }
            return STOKER_OK;
        }
    }
    long tasks = step_tasks();
    if (tasks <= 1) {
        return STOKER_OK;
    }
    *out = (struct stk_launch){STK_LAUNCHER_OTHER, tasks, "SLURM_STEP_NUM_TASKS"};
    return getenv("PMIX_RANK") ? STOKER_OK : stk_launch_refuse_singletons(out, err);
}
