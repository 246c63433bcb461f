// SPDX-License-Identifier: Apache-2.0
// Which findings fail `stoker why`: --fail-on, but for the rules of --ignore and what the baseline
// has already. stoker.toml (settings.h) gives what the command line does not.
//
// A baseline is a text with a finding a line: the rule's id and its severity. A finding fails only
// if it isn't there, or is more severe than there. --write-baseline writes the present ones.
#pragma once

#include "cli/cli.h"
#include "cli/settings.h"

struct stk_policy {
    struct stk_settings settings;
    int64_t fail_on; // enum stoker_level; STOKER_LEVEL_NONE: nothing fails
    const char *ignored[STK_ARGS_LISTED + STK_SETTINGS_VALUES];
    size_t ignored_count;
    char *baseline; // its text, cut into lines; or NULL
    size_t baseline_bytes;
    const char *write_to; // NULL: nowhere
};

// Exit code: STK_EXIT_DONE; else what is wrong was said, and there is nothing to free.
int stk_policy_read(struct stk_policy *p, const struct stk_args *args);
void stk_policy_free(struct stk_policy *p);
// STK_EXIT_FOUND: a finding fails. Writes the baseline where that was asked for; another code: it
// can't be written.
int stk_policy_judge(const struct stk_policy *p, const struct stoker_result *result);
