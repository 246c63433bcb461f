// SPDX-License-Identifier: Apache-2.0
// stoker why as the processes of an MPI job (mpirun -n N stoker why DIR): each reads its share of
// the files, and rank 0 reports.
#pragma once

#include "cli/cli.h"
#include "job/cluster/mpi.h"
#include "job/cluster/share.h"

struct stk_why_team {
    struct stk_mpi *mpi; // NULL: this process is alone
    struct stk_share_reader reader;
    long size;
};

// Joins the other ranks if an MPI launcher started this process.
STK_MUST_CHECK enum stoker_status stk_why_team_start(struct stk_why_team *team,
                                                     const struct stoker_why_options *options,
                                                     struct stoker_err *err);
// *result stays NULL except on rank 0.
STK_MUST_CHECK enum stoker_status stk_why_team(struct stk_why_team *team,
                                               const struct stk_args *args,
                                               const struct stoker_why_options *options,
                                               struct stoker_result **result,
                                               struct stoker_err *err);
void stk_why_team_end(struct stk_why_team *team);
