// SPDX-License-Identifier: Apache-2.0
// Messages between the processes of an MPI job. stoker is built without an MPI library: it loads
// one at run time and knows three binary interfaces.
#pragma once

#include <stddef.h>

#include "base/vec.h"
#include "job/cluster/launch.h"

struct stk_mpi;

// STOKER_ELIMIT: no library fits the launcher; the message says what to install. STOKER_EUSAGE: the
// processes don't see each other. Call it once per process.
STK_MUST_CHECK enum stoker_status
stk_mpi_start(struct stk_mpi **out, const struct stk_launch *launch, struct stoker_err *err);
int stk_mpi_rank(const struct stk_mpi *m);
// Sends rank 0's bytes to all. bytes: of char. False: no memory.
bool stk_mpi_spread(struct stk_mpi *m, struct stk_vec *bytes);
// Appends the bytes of all ranks to rank 0's, in any order. False: no memory.
bool stk_mpi_gather(struct stk_mpi *m, struct stk_vec *bytes);
void stk_mpi_end(struct stk_mpi *m); // waits for the others; takes NULL
