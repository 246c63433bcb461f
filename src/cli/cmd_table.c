// SPDX-License-Identifier: Apache-2.0
// The table of commands.
#include <string.h>

#include "base/assert.h"
#include "base/near.h"
#include "cli/cli.h"

const struct stk_cmd *const stk_cmds[] = {
#define X(name) &stk_cmd_##name,
#include "cli/cmds.def"
#undef X
    NULL,
};

const struct stk_cmd *stk_find_cmd(const char *name)
{
    STK_ASSERT(name);
    for (int i = 0; stk_cmds[i]; i++) {
        if (strcmp(stk_cmds[i]->name, name) == 0) {
            return stk_cmds[i];
        }
    }
    return NULL;
}

bool stk_cmd_takes(const struct stk_cmd *cmd, enum stk_opt_id id)
{
    STK_ASSERT((unsigned)id < STK_OPT_ID_COUNT);
    if (id == STK_OPT_ID_HELP) {
        return true;
    }
    for (int i = 0; cmd && cmd->options[i] != STK_OPT_ID_NONE; i++) {
        if (cmd->options[i] == id) {
            return true;
        }
    }
    return false;
}

const char *stk_cmd_near(const char *typed)
{
    STK_ASSERT(typed);
    const char *best = NULL;
    for (int i = 0; stk_cmds[i]; i++) {
        best = stk_near_best(typed, best, stk_cmds[i]->name);
    }
    return best;
}
