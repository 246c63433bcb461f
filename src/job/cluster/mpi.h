// SPDX-License-Identifier: Apache-2.0
// Messages between the processes of an MPI job, through the MPI library found at run time. stoker
// is built without one: it knows three binary interfaces, and loads the library.
#pragma once

#include <stddef.h>

#include "base/vec.h"
#include "job/cluster/launch.h"

struct stk_mpi;

// STOKER_ELIMIT: there is no library that fits the launcher; the message says what to install.
// STOKER_EUSAGE: the processes don't see each other. Started once in a process.
STK_MUST_CHECK enum stoker_status
stk_mpi_start(struct stk_mpi **out, const struct stk_launch *launch, struct stoker_err *err);
int stk_mpi_rank(const struct stk_mpi *m);
// Rank 0's bytes become everybody's. bytes: of char. False: no memory.
bool stk_mpi_spread(struct stk_mpi *m, struct stk_vec *bytes);
// Everybody's bytes, one after the other in no given order, become rank 0's. False: no memory.
bool stk_mpi_gather(struct stk_mpi *m, struct stk_vec *bytes);
void stk_mpi_end(struct stk_mpi *m); // waits for the others; takes NULL
