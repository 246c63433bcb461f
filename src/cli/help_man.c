// SPDX-License-Identifier: Apache-2.0
// Man pages (groff man macros) from the same tables as the help. No date, so that pages change only
// with their content.
#include <string.h>

#include "cli/help.h"
#include "stoker/version.h"

// In roff, hyphens and backslashes are special, and so is a dot or quote at the start of a line.
static void text(FILE *out, const char *p, size_t n)
{
    if (n && (p[0] == '.' || p[0] == '\'')) {
        fputs("\\&", out);
    }
    for (size_t i = 0; i < n; i++) {
        if (p[i] == '\\') {
            fputs("\\e", out);
        } else if (p[i] == '-') {
            fputs("\\-", out);
        } else {
            fputc(p[i], out);
        }
    }
}

static void line(FILE *out, const char *p)
{
    text(out, p, strlen(p));
    fputc('\n', out);
}

static void facts(FILE *out, const char *heading, const struct stk_fact *f)
{
    fprintf(out, ".SH %s\n", heading);
    for (; f->name; f++) {
        fprintf(out, ".TP\n.B %s\n", f->name);
        line(out, f->meaning);
    }
}

static void options(FILE *out, const struct stk_cmd *cmd)
{
    fputs(".SH OPTIONS\n", out);
    for (int id = 0; id < STK_OPT_ID_COUNT; id++) {
        char name[80], choices[120];
        if (!stk_cmd_takes(cmd, (enum stk_opt_id)id)) {
            continue;
        }
        stk_help_option_name(&stk_opts[id], name, sizeof name);
        stk_help_choices(&stk_opts[id], choices, sizeof choices);
        fputs(".TP\n.B ", out);
        line(out, name + strspn(name, " "));
        text(out, stk_opts[id].help, strlen(stk_opts[id].help));
        line(out, choices);
    }
}

static void examples(FILE *out, const char *lines)
{
    if (!*lines) {
        return;
    }
    fputs(".SH EXAMPLES\n", out);
    while (*lines) {
        size_t command = strcspn(lines, "\t"), whole = strcspn(lines, "\n");
        fputs(".TP\n.B ", out);
        text(out, lines, command);
        fputc('\n', out);
        text(out, lines + command + 1, whole - command - 1);
        fputc('\n', out);
        lines += whole + (lines[whole] == '\n');
    }
}

static void description(FILE *out, const char *p)
{
    fputs(".SH DESCRIPTION\n", out);
    while (*p) {
        const char *end = strstr(p, "\n\n");
        size_t n = end ? (size_t)(end - p) : strlen(p);
        text(out, p, n);
        fputs(end ? "\n.PP\n" : "\n", out);
        p += n + (end ? 2 : 0);
    }
}

static void overview(FILE *out)
{
    fprintf(
        out,
        ".TH STOKER 1 \"\" \"stoker %s\"\n.SH NAME\nstoker \\- shows why the GPU waits in "
        "training, "
        "and "
        "what to change\n.SH SYNOPSIS\n.B stoker\n.I COMMAND\n[OPTIONS] [WORDS]\n.SH COMMANDS\n",
        stoker_version());
    for (int i = 0; stk_cmds[i]; i++) {
        fprintf(out, ".TP\n.BR stoker\\-%s (1)\n", stk_cmds[i]->name);
        line(out, stk_cmds[i]->summary);
    }
    examples(out, stk_cmd_why.examples);
    facts(out, "EXIT STATUS", stk_exit_facts);
    facts(out, "ENVIRONMENT", stk_environment_facts);
}

void stk_help_man(FILE *out, const struct stk_cmd *cmd)
{
    if (!cmd) {
        overview(out);
        return;
    }
    char upper[32];
    snprintf(upper, sizeof upper, "%s", cmd->name);
    for (char *p = upper; *p; p++) {
        *p = (char)(*p >= 'a' && *p <= 'z' ? *p - 32 : *p);
    }
    fprintf(out, ".TH STOKER\\-%s 1 \"\" \"stoker %s\"\n.SH NAME\nstoker\\-%s \\- ", upper,
            stoker_version(), cmd->name);
    line(out, cmd->summary);
    fprintf(out, ".SH SYNOPSIS\n.B stoker %s\n[OPTIONS] ", cmd->name);
    line(out, cmd->words);
    description(out, cmd->description);
    options(out, cmd);
    examples(out, cmd->examples);
    facts(out, "EXIT STATUS", stk_exit_facts);
    fputs(".SH SEE ALSO\n.BR stoker (1)\n", out);
}
