// SPDX-License-Identifier: Apache-2.0
// All commands as one markdown page (docs/commands.md).
#include <string.h>

#include "cli/help.h"

static void options(FILE *out, const struct stk_cmd *cmd)
{
    fputs("\n| option | meaning |\n|---|---|\n", out);
    for (int id = 0; id < STK_OPT_ID_COUNT; id++) {
        char name[80], choices[120];
        if (!stk_cmd_takes(cmd, (enum stk_opt_id)id)) {
            continue;
        }
        stk_help_option_name(&stk_opts[id], name, sizeof name);
        stk_help_choices(&stk_opts[id], choices, sizeof choices);
        fprintf(out, "| `%s` | %s%s |\n", name + strspn(name, " "), stk_opts[id].help, choices);
    }
}

static void examples(FILE *out, const char *lines)
{
    if (!*lines) {
        return;
    }
    fputs("\n```sh\n", out);
    while (*lines) {
        int command = (int)strcspn(lines, "\t"), whole = (int)strcspn(lines, "\n");
        fprintf(out, "%-38.*s # %.*s\n", command, lines, whole - command - 1, lines + command + 1);
        lines += whole + (lines[whole] == '\n');
    }
    fputs("```\n", out);
}

static void facts(FILE *out, const char *heading, const char *column, const struct stk_fact *f)
{
    fprintf(out, "\n## %s\n\n| %s | meaning |\n|---|---|\n", heading, column);
    for (; f->name; f++) {
        fprintf(out, "| `%s` | %s |\n", f->name, f->meaning);
    }
}

void stk_help_markdown(FILE *out)
{
    fputs("# Commands\n\nWritten from the tables that parse the command line (`stoker help "
          "--markdown`). The result goes to\n"
          "stdout, progress and errors to stderr. Options and words may stand in any order.\n",
          out);
    for (int i = 0; stk_cmds[i]; i++) {
        const struct stk_cmd *cmd = stk_cmds[i];
        fprintf(out, "\n## stoker %s%s%s\n\n%s\n", cmd->name, *cmd->words ? " " : "", cmd->words,
                cmd->description);
        examples(out, cmd->examples);
        options(out, cmd);
    }
    facts(out, "Exit codes", "code", stk_exit_facts);
    facts(out, "Environment", "variable", stk_environment_facts);
}
