// SPDX-License-Identifier: Apache-2.0
// Commands of stoker_sim, and their shared code.
#ifndef SIM_COMMANDS_H
#define SIM_COMMANDS_H

#include <stdio.h>

#include "sim_job.h"

#define X(name, usage, summary) int sim_command_##name(int argc, char **argv);
#include "sim_commands.def"
#undef X

// The job named by `argv[0]`, with the KEY=VALUE arguments after it; returns the number of
// arguments used, or -1 with a message on stderr.
int sim_command_job(int argc, char **argv, struct sim_job *job);

#endif
