// SPDX-License-Identifier: Apache-2.0
// stoker_sim truth: the exact step time of a job with each fix, or with several at once.
#include <string.h>

#include "sim_commands.h"
#include "sim_fix.h"

static int refuse(const struct stoker_err *err)
{
    fprintf(stderr, "stoker_sim: %s\n", err->message);
    return 2;
}

static void print(const char *name, int64_t ns, int64_t base)
{
    printf("%s\t%lld\t%.4f\n", name, (long long)ns, (double)ns / (double)base);
}

// Comma-separated fixes, all applied.
static int print_joint(const struct sim_job *job, const char *list, int64_t base)
{
    struct sim_job changed = *job;
    struct stoker_err err;
    char text[512];
    stk_err_init(&err);
    snprintf(text, sizeof text, "%s", list);
    for (char *p = strtok(text, ","); p; p = strtok(NULL, ",")) {
        const char *value;
        const struct sim_fix *fix = sim_fix_find(p, &value, &err);
        if (!fix || !sim_fix_apply(fix, value, &changed, &err)) {
            return refuse(&err);
        }
    }
    print(list, sim_truth_ns(&changed), base);
    return 0;
}

int sim_command_truth(int argc, char **argv)
{
    struct sim_job job;
    struct stoker_err err;
    int taken = sim_command_job(argc, argv, &job);
    bool is_joint = taken > 0 && argc - taken == 2 && strcmp(argv[taken], "--fix") == 0;
    if (taken < 0 || (argc > taken && !is_joint)) {
        return 2;
    }
    int64_t base = sim_truth_ns(&job);
    printf("fix\tstep_ns\tratio\n");
    if (is_joint) {
        return print_joint(&job, argv[taken + 1], base);
    }
    for (int i = 0; i < sim_fix_count; i++) {
        struct sim_job changed = job;
        char name[64];
        stk_err_init(&err);
        if (sim_fix_apply(&sim_fixes[i], sim_fixes[i].value, &changed, &err)) {
            snprintf(name, sizeof name, "%s%s", sim_fixes[i].id, sim_fixes[i].value);
            print(name, sim_truth_ns(&changed), base);
        }
    }
    return 0;
}
