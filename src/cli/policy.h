// SPDX-License-Identifier: Apache-2.0
// Which findings fail `stoker why`: those of --fail-on, except the rules of --ignore and findings
// in the baseline. stoker.toml (settings.h) sets what the command line doesn't.
//
// A baseline is a text with one finding per line: the rule's id and its severity. A finding fails
// only if it isn't there or is now more severe. --write-baseline writes the present findings.
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

// Returns an exit code. Other than STK_EXIT_DONE: an error, already printed, and nothing to free.
int stk_policy_read(struct stk_policy *p, const struct stk_args *args);
void stk_policy_free(struct stk_policy *p);
// STK_EXIT_FOUND: a finding fails. Writes the baseline if asked to; other codes: that failed.
int stk_policy_judge(const struct stk_policy *p, const struct stoker_result *result);
