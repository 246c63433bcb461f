// SPDX-License-Identifier: Apache-2.0
// A fix of tune as side B; see prove_fix.h.
#include "cli/prove_fix.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/err.h"
#include "cli/cli.h"

int stk_prove_fix_make(const char *text, char *const *argv, char *const *env,
                       struct stk_proof_plan *plan, struct stk_prove_fix *to)
{
    STK_ASSERT(argv && argv[0]);
    size_t n = strcspn(text, "=");
    struct stoker_err err;
    char id[STK_TUNE_LABEL];
    snprintf(id, sizeof id, "%.*s", (int)(n < sizeof id ? n : sizeof id - 1), text);
    struct stk_tune_choice choice = {.fix = stk_tune_fix_find(id, &err)};
    if (!choice.fix) {
        return stk_usage(&stk_cmd_prove, "--fix: %s", err.message);
    }
    snprintf(choice.value, sizeof choice.value, "%s", text[n] ? text + n + 1 : "");
    struct stk_tune_set none = {0}, set = stk_tune_with(&none, &choice);
    to->env[STK_PROOF_A] = stk_tune_environment(env, &none, 0);
    to->env[STK_PROOF_B] = stk_tune_environment(env, &set, 0);
    to->argv = stk_tune_command(argv, &set);
    if (!to->env[STK_PROOF_A] || !to->env[STK_PROOF_B] || !to->argv) {
        return stk_fail_nomem();
    }
    plan->sides[STK_PROOF_A].env = to->env[STK_PROOF_A];
    plan->sides[STK_PROOF_B].env = to->env[STK_PROOF_B];
    plan->sides[STK_PROOF_B].argv = to->argv;
    plan->needs_applied = choice.fix->is_hooked;
    stk_tune_label(&choice, to->label);
    plan->fix = to->label;
    plan->predict = plan->predict ? plan->predict : choice.fix->price;
    return STK_EXIT_DONE;
}

void stk_prove_fix_close(struct stk_prove_fix *fix)
{
    for (int side = 0; side < STK_PROOF_SIDES; side++) {
        stk_free(fix->env[side]);
    }
    stk_free(fix->argv);
}
