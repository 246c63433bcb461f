// SPDX-License-Identifier: Apache-2.0
// Commands of stoker_sim, and what they share.
#ifndef SIM_COMMANDS_H
#define SIM_COMMANDS_H

#include <stdio.h>

#include "sim_job.h"

#define X(name, usage, summary) int sim_command_##name(int argc, char **argv);
#include "sim_commands.def"
#undef X

// The job that `argv[0]` names, with the KEY=VALUE after it; the number of arguments taken, or -1
// with a message on standard error.
int sim_command_job(int argc, char **argv, struct sim_job *job);

#endif
