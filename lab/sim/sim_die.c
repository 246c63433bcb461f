// SPDX-License-Identifier: Apache-2.0
// Fatal errors of the simulator: no memory, a file that can't be written.
#include <stdio.h>
#include <stdlib.h>

#include "sim_world.h"

_Noreturn void sim_die(const char *what, const char *detail)
{
    fprintf(stderr, "stoker_sim: %s: %s\n", what, detail);
    exit(5);
}
