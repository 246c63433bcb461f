// SPDX-License-Identifier: Apache-2.0
// Help for the terminal: usage, examples, options; 80 columns.
#include <string.h>

#include "base/assert.h"
#include "cli/help.h"
#include "stoker/version.h"

#define WIDTH 80

const struct stk_fact stk_exit_facts[] = {
    {"0", "done"},
    {"1", "done, and a finding is at or above --fail-on"},
    {"2", "usage error"},
    {"3", "an input is missing, unreadable or not a profile"},
    {"4", "no verdict: the profile doesn't have enough (takes precedence over --fail-on)"},
    {"5", "a resource limit was hit, or the output could not be written"},
    {"70", "a bug in stoker"},
    {"130", "interrupted"},
    {NULL, NULL},
};

const struct stk_fact stk_environment_facts[] = {
    {"NO_COLOR", "if not empty: no colors"},
    {"FORCE_COLOR", "if neither empty nor 0: colors even if the output isn't a terminal"},
    {"TERM", "dumb: no colors, no progress line, ASCII only"},
    {"COLUMNS", "width of the text, instead of the terminal's"},
    {"STOKER_THREADS", "threads to use if --threads isn't given"},
    {"STOKER_CPU",
     "comma-separated vector instructions to use: plain, sse2, sse42, avx2, avx512 (each includes "
     "the ones it builds on), pext, vbmi, vpclmul, neon, crc; default: all that the CPU has"},
    {"STOKER_MPI", "off: don't cooperate with other processes of mpirun or srun; or the path of "
                   "the MPI library to use"},
    {"STOKER_SQL", "sqlite: make stoker query use SQLite for every statement"},
    {"STOKER_HASH_SEED",
     "a number that seeds the hash tables (default: random); it doesn't affect any output"},
    {NULL, NULL},
};

void stk_help_option_name(const struct stk_opt *opt, char *buffer, size_t size)
{
    STK_ASSERT(size > 0);
    char letter[8] = "    ";
    if (opt->letter) {
        snprintf(letter, sizeof letter, "-%c, ", opt->letter);
    }
    snprintf(buffer, size, "%s--%s%s%s", letter, opt->name, opt->arg ? " " : "",
             opt->arg ? opt->arg : "");
}

void stk_help_choices(const struct stk_opt *opt, char *buffer, size_t size)
{
    STK_ASSERT(size > 0);
    const char *const *choices = stk_opt_choices(opt);
    size_t used = 0;
    buffer[0] = 0;
    for (int i = 0; choices && choices[i] && used + 1 < size; i++) {
        used += (size_t)snprintf(buffer + used, size - used, "%s%s", i ? ", " : ": ", choices[i]);
    }
}

static void wrap(FILE *out, int indent, const char *text)
{
    STK_ASSERT(indent >= 0);
    int column = indent;
    while (*text) {
        int n = (int)strcspn(text, " ");
        if (column > indent && column + 1 + n > WIDTH) {
            fprintf(out, "\n%*s", indent, "");
            column = indent;
        } else if (column > indent) {
            fputc(' ', out);
            column++;
        }
        fwrite(text, 1, (size_t)n, out);
        column += n;
        text += n;
        while (*text == ' ') {
            text++;
        }
    }
    fputc('\n', out);
}

// Shell commands with comments: after the command, or above a long one.
static void examples(FILE *out, const char *before, const char *lines)
{
    int width = 40 - (int)strlen(before);
    while (*lines) {
        int command = (int)strcspn(lines, "\t"), whole = (int)strcspn(lines, "\n");
        int said = whole - command - 1;
        STK_ASSERT(said > 0);
        const char *does = lines + command + 1;
        if (command < width && 43 + said <= WIDTH) {
            fprintf(out, "%s%-*.*s # %.*s\n", before, width, command, lines, said, does);
        } else {
            fprintf(out, "%s# %.*s\n%s%.*s\n", before, said, does, before, command, lines);
        }
        lines += whole + (lines[whole] == '\n');
    }
}

static void options(FILE *out, const struct stk_cmd *cmd)
{
    for (int id = 0; id < STK_OPT_ID_COUNT; id++) {
        char name[80], choices[120], text[400];
        if (!stk_cmd_takes(cmd, (enum stk_opt_id)id)) {
            continue;
        }
        stk_help_option_name(&stk_opts[id], name, sizeof name);
        stk_help_choices(&stk_opts[id], choices, sizeof choices);
        snprintf(text, sizeof text, "%s%s", stk_opts[id].help, choices);
        fprintf(out, "  %-22s ", name);
        wrap(out, 25, text);
    }
}

static void facts(FILE *out, const struct stk_fact *f, int width)
{
    for (; f->name; f++) {
        fprintf(out, "  %-*s ", width, f->name);
        wrap(out, width + 3, f->meaning);
    }
}

// The groups of the overview, in its order, each with an example or two.
static const struct {
    enum stk_cmd_group group;
    const char *title, *examples;
} groups[] = {
    {STK_CMD_DIAGNOSE, "Diagnose a profile",
     "stoker why trace.json.gz\twhere the time goes, what to change\n"
     "stoker diff before/ after/\tdid the change help?\n"},
    {STK_CMD_RECORD, "Record a job",
     "stoker run -- python train.py\tprofile five steps, then diagnose\n"
     "stoker top\tthe steps of running jobs\n"},
    {STK_CMD_PROVE, "Prove a change",
     "stoker tune -- python train.py\ttry fixes, keep what helps\n"
     "stoker prove -- CMD_A --vs CMD_B\tis B faster than A?\n"},
    {STK_CMD_DIG, "Dig deeper",
     "stoker stats kernels trace.json.gz\tkernels by total time\n"
     "stoker query run.sqlite --find gemm\tevents by name\n"},
};

static void commands_of(FILE *out, enum stk_cmd_group group)
{
    for (int i = 0; stk_cmds[i]; i++) {
        if (stk_cmds[i]->group == group) {
            fprintf(out, "  %-12s ", stk_cmds[i]->name);
            wrap(out, 15, stk_cmds[i]->summary);
        }
    }
}

static void overview(FILE *out)
{
    fputs("stoker shows why the GPU waits in training, and what to change.\n\n"
          "Usage: stoker COMMAND [OPTIONS] [WORDS]\n"
          "       stoker PROFILE   the same as stoker why PROFILE\n"
          "       stoker           diagnose the newest profile below this folder\n",
          out);
    for (size_t i = 0; i < sizeof groups / sizeof groups[0]; i++) {
        fprintf(out, "\n%s:\n", groups[i].title);
        commands_of(out, groups[i].group);
        examples(out, "  $ ", groups[i].examples);
    }
    fputs("\nstoker COMMAND --help explains a command. stoker help more lists the others,\n"
          "the exit codes and the environment variables.\n",
          out);
}

void stk_help_more(FILE *out)
{
    fputs("More commands:\n", out);
    commands_of(out, STK_CMD_MORE);
    fputs("\nOptions:\n  -h, --help     print the help; after a command: that command's\n"
          "  -V, --version  print the version\n\nExit codes:\n",
          out);
    facts(out, stk_exit_facts, 4);
    fputs("\nEnvironment:\n", out);
    facts(out, stk_environment_facts, 15);
}

void stk_help_list(FILE *out)
{
    for (int i = 0; stk_cmds[i]; i++) {
        fprintf(out, "%-12s %s\n", stk_cmds[i]->name, stk_cmds[i]->summary);
    }
}

void stk_help_text(FILE *out, const struct stk_cmd *cmd)
{
    if (!cmd) {
        overview(out);
        return;
    }
    fprintf(out, "Usage: stoker %s [OPTIONS]%s%s\n\n", cmd->name, *cmd->words ? " " : "",
            cmd->words);
    for (const char *p = cmd->description; *p;) {
        char paragraph[1200];
        const char *end = strstr(p, "\n\n");
        size_t n = end ? (size_t)(end - p) : strlen(p);
        snprintf(paragraph, sizeof paragraph, "%.*s", (int)n, p);
        wrap(out, 0, paragraph);
        p += n + (end ? 2 : 0);
        fputc('\n', out);
    }
    if (*cmd->examples) {
        fputs("Examples:\n", out);
        examples(out, "  ", cmd->examples);
        fputc('\n', out);
    }
    fputs("Options:\n", out);
    options(out, cmd);
}
