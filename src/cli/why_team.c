// SPDX-License-Identifier: Apache-2.0
// stoker why under MPI (why_team.h). Rank 0 finds the files and assigns them to ranks; all partials
// come back to it along a tree, and it reports them as if it had read the files.
#include "cli/why_team.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/memory_file.h"
#include "stoker/partial.h"

#define BYTES_MAX ((size_t)1 << 40)

enum stoker_status stk_why_team_start(struct stk_why_team *team,
                                      const struct stoker_why_options *options,
                                      struct stoker_err *err)
{
    struct stk_launch launch;
    *team = (struct stk_why_team){.reader = {0, -1, -1}};
    enum stoker_status status = stk_launch_find(&launch, err);
    if (status != STOKER_OK || launch.by == STK_LAUNCHER_NONE) {
        return status;
    }
    team->size = launch.size;
    status = stk_share_start(&team->reader, options, err);
    return status == STOKER_OK ? stk_mpi_start(&team->mpi, &launch, err) : status;
}

static int keep(void *vec, const char *bytes, size_t n)
{
    void *to = stk_vec_push_n(vec, n);
    if (to) {
        memcpy(to, bytes, n);
    }
    return to ? 0 : -1;
}

// Reports the partials of all ranks, which the library gets as a file without a name.
static enum stoker_status report(const struct stk_args *args,
                                 const struct stoker_why_options *options,
                                 const struct stk_vec *joined, struct stoker_result **result,
                                 struct stoker_err *err)
{
    char path[STK_MEMORY_FILE_PATH];
    int fd = stk_memory_file("stoker", path);
    bool ok = fd >= 0;
    for (size_t at = 0; ok && at < joined->count;) {
        ssize_t n = write(fd, (const char *)joined->items + at, joined->count - at);
        ok = n > 0 || (n < 0 && errno == EINTR);
        at += n > 0 ? (size_t)n : 0;
    }
    enum stoker_status status =
        ok ? stoker_plan_why(args->words, (size_t)args->word_count, path, options, result, err)
           : stk_err_set(err, STOKER_ELIMIT, "no memory for the partials of all processes: %s",
                         strerror(errno));
    if (fd >= 0) {
        close(fd);
    }
    return status;
}

enum stoker_status stk_why_team(struct stk_why_team *team, const struct stk_args *args,
                                const struct stoker_why_options *options,
                                struct stoker_result **result, struct stoker_err *err)
{
    STK_ASSERT(team->mpi && team->size > 1 && !*result);
    struct stk_vec plan, joined;
    bool is_first = stk_mpi_rank(team->mpi) == 0;
    enum stoker_status status = STOKER_OK;
    stk_vec_init(&plan, 1, BYTES_MAX);
    stk_vec_init(&joined, 1, BYTES_MAX);
    if (is_first) {
        status = stoker_plan_make(args->words, (size_t)args->word_count, options,
                                  (size_t)team->size, keep, &plan, err);
        plan.count = status == STOKER_OK ? plan.count : 0; // an empty plan ends the other ranks
    }
    bool ok = stk_mpi_spread(team->mpi, &plan);
    if (ok && plan.count) {
        ok = stk_share_read(&team->reader, &plan, (size_t)stk_mpi_rank(team->mpi), &joined) &&
             stk_mpi_gather(team->mpi, &joined);
    }
    if (!ok) {
        status = stk_err_set(err, STOKER_ENOMEM, "out of memory");
    } else if (is_first && plan.count) {
        status = report(args, options, &joined, result, err);
    }
    stk_vec_deinit(&plan);
    stk_vec_deinit(&joined);
    return status;
}

void stk_why_team_end(struct stk_why_team *team)
{
    stk_share_end(&team->reader);
    stk_mpi_end(team->mpi);
}
