// SPDX-License-Identifier: Apache-2.0
// Help in three forms from the same tables: for the terminal, as man pages, as Markdown.
#pragma once

#include <stdio.h>

#include "cli/cli.h"

// Facts on every page.
struct stk_fact {
    const char *name, *meaning;
};
extern const struct stk_fact stk_exit_facts[]; // end with name == NULL
extern const struct stk_fact stk_environment_facts[];

// cmd NULL: the page of stoker itself.
void stk_help_text(FILE *out, const struct stk_cmd *cmd);
void stk_help_more(FILE *out); // other commands, exit codes, environment
void stk_help_list(FILE *out); // one line per command: name and summary
void stk_help_man(FILE *out, const struct stk_cmd *cmd);
void stk_help_markdown(FILE *out); // all commands
// "-o, --output FILE" of an option.
void stk_help_option_name(const struct stk_opt *opt, char *buffer, size_t size);
// " (high, medium, low)", or "".
void stk_help_choices(const struct stk_opt *opt, char *buffer, size_t size);
