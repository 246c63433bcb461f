// SPDX-License-Identifier: Apache-2.0
// stoker_sim: runs described training jobs, writes their profiles, and computes what each fix
// saves.
#include <stdlib.h>
#include <string.h>

#include "base/near.h"
#include "sim_commands.h"

static const struct {
    const char *name, *usage, *summary;
    int (*run)(int argc, char **argv);
} commands[] = {
#define X(name, usage, summary) {#name, usage, summary, sim_command_##name},
#include "sim_commands.def"
#undef X
};
enum { COMMANDS = sizeof commands / sizeof commands[0] };

static int usage(FILE *out, int status)
{
    fprintf(out, "stoker_sim: simulated training jobs with known answers (lab/sim/README.md)\n\n");
    for (int i = 0; i < COMMANDS; i++) {
        fprintf(out, "  stoker_sim %s %s\n      %s\n", commands[i].name, commands[i].usage,
                commands[i].summary);
    }
    fprintf(out,
            "\nA JOB is a file of lines `key = value`, or - for the defaults; KEY=VALUE after it "
            "changes it.\n");
    return status;
}

int main(int argc, char **argv)
{
    const char *near = NULL;
    if (argc < 2 || !strcmp(argv[1], "--help") || !strcmp(argv[1], "help")) {
        return usage(argc < 2 ? stderr : stdout, argc < 2 ? 2 : 0);
    }
    for (int i = 0; i < COMMANDS; i++) {
        if (strcmp(argv[1], commands[i].name) == 0) {
            int status = commands[i].run(argc - 2, argv + 2);
            if (status == 2) {
                fprintf(stderr, "usage: stoker_sim %s %s\n", argv[1], commands[i].usage);
            }
            return status;
        }
        near = stk_near_best(argv[1], near, commands[i].name);
    }
    fprintf(stderr, "stoker_sim: no command '%s'%s%s%s\n", argv[1], near ? "; did you mean '" : "",
            near ? near : "", near ? "'?" : "");
    return 2;
}
