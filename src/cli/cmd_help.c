// SPDX-License-Identifier: Apache-2.0
// stoker help: help of a command, for the terminal, as a man page, or all as markdown.
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/help.h"

static int help_run(const struct stk_args *args)
{
    const struct stk_cmd *cmd = NULL;
    if (args->values[STK_OPT_ID_LIST].set) {
        stk_help_list(stdout);
        return STK_EXIT_DONE;
    }
    if (args->word_count && strcmp(args->words[0], "more") == 0) {
        stk_help_more(stdout);
        return STK_EXIT_DONE;
    }
    if (args->word_count) {
        cmd = stk_find_cmd(args->words[0]);
        if (!cmd) {
            const char *near = stk_cmd_near(args->words[0]);
            return near ? stk_usage(NULL, "no command '%s'; did you mean '%s'?", args->words[0],
                                    near)
                        : stk_usage(NULL, "no command '%s'", args->words[0]);
        }
    }
    if (args->values[STK_OPT_ID_MARKDOWN].set) {
        stk_help_markdown(stdout);
    } else if (args->values[STK_OPT_ID_MAN].set) {
        stk_help_man(stdout, cmd);
    } else {
        stk_help_text(stdout, cmd);
    }
    return STK_EXIT_DONE;
}

const struct stk_cmd stk_cmd_help = {
    .name = "help",
    .summary = "print help for a command, as text or as a man page",
    .words = "[COMMAND | more]",
    .description =
        "Prints the help of a command, or of stoker itself. more lists the commands that "
        "stoker --help leaves out, the exit codes and the environment variables.",
    .examples = "stoker help why\thelp of a command\nstoker help more\tother commands, exit codes, "
                "environment\n"
                "stoker help why --man | man -l -\tits man page\n",
    .max_words = 1,
    .options = {STK_OPT_ID_LIST, STK_OPT_ID_MAN, STK_OPT_ID_MARKDOWN, STK_OPT_ID_NONE},
    .completes = "commands",
    .run = help_run,
};
