// SPDX-License-Identifier: Apache-2.0
// stoker: finds the command, parses its options, runs it. Options may stand before the command too.
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/cpu.h"
#include "base/near.h"
#include "cli/cli.h"
#include "cli/help.h"
#include "cli/screen.h"
#include "stoker/version.h"

// Index of the first word that is not an option or its value; argc if there is none.
static int find_command(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (argv[i][0] != '-' || !argv[i][1]) {
            return i;
        }
        if (strcmp(argv[i], "--") == 0) {
            return i + 1 < argc ? i + 1 : argc;
        }
        if (stk_args_takes_next(argv[i])) {
            i++;
        }
    }
    return argc;
}

static bool has_flag(int argc, char **argv, const char *name, const char *letter)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], name) == 0 || strcmp(argv[i], letter) == 0) {
            return true;
        }
    }
    return false;
}

static int without_command(int argc, char **argv)
{
    if (has_flag(argc, argv, "--help", "-h")) {
        stk_help_text(stdout, NULL);
        return STK_EXIT_DONE;
    }
    if (has_flag(argc, argv, "--version", "-V")) {
        printf("stoker %s\n", stoker_version());
        return STK_EXIT_DONE;
    }
    if (argc > 1) {
        return stk_usage(NULL, "a command is missing before or after '%s'", argv[1]);
    }
    stk_help_text(stderr, NULL);
    return STK_EXIT_USAGE;
}

static int unknown_command(const char *word)
{
    const char *near = stk_cmd_near(word);
    if (access(word, F_OK) == 0) {
        return stk_usage(
            NULL,
            "no command '%s', but there is a file with that name; did you mean: stoker why %s",
            word, word);
    }
    if (near) {
        return stk_usage(NULL, "no command '%s'; did you mean '%s'?", word, near);
    }
    return stk_usage(NULL, "no command '%s'", word);
}

// Everything but the command's own name goes to its parser.
static int run_command(const struct stk_cmd *cmd, int at, int argc, char **argv)
{
    STK_ASSERT(at >= 0 && at <= argc);
    struct stk_args args = {0};
    int code = STK_EXIT_LIMIT, rest = 0;
    char **others = stk_alloc_array((size_t)argc, sizeof *others);
    args.words = stk_alloc_array((size_t)argc, sizeof *args.words);
    if (others && args.words) {
        for (int i = 1; i < argc; i++) {
            if (i != at) {
                others[rest++] = argv[i];
            }
        }
        if (has_flag(at, argv, "--version", "-V")) {
            printf("stoker %s\n", stoker_version());
            code = STK_EXIT_DONE;
        } else if (has_flag(argc, argv, "--help", "-h")) { // wins over any other slip
            stk_help_text(stdout, cmd);
            code = STK_EXIT_DONE;
        } else {
            code = stk_args_parse(cmd, rest, others, &args) ? cmd->run(&args) : STK_EXIT_USAGE;
        }
    } else {
        fputs("stoker: error: out of memory\n", stderr);
    }
    stk_free(args.words);
    stk_free(others);
    return code;
}

// STOKER_CPU with a word that means nothing would measure something else than was asked for.
static bool check_processor_words(void)
{
    size_t length;
    const char *word = stk_cpu_unknown_word(getenv("STOKER_CPU"), &length);
    if (!word) {
        return true;
    }
    char typed[64];
    snprintf(typed, sizeof typed, "%.*s", length < 63 ? (int)length : 63, word);
    const char *near = NULL;
    for (size_t i = 0; stk_cpu_word_at(i); i++) {
        near = stk_near_best(typed, near, stk_cpu_word_at(i));
    }
    stk_usage(NULL, "STOKER_CPU: unknown word '%s'%s%s%s", typed, near ? "; did you mean '" : "",
              near ? near : "", near ? "'?" : "");
    return false;
}

int main(int argc, char **argv)
{
    setlocale(LC_CTYPE, ""); // what the terminal can show; figures never follow the locale
    stk_signals_install();
    if (!check_processor_words()) {
        return STK_EXIT_USAGE;
    }
    int at = find_command(argc, argv);
    const struct stk_cmd *cmd = at < argc ? stk_find_cmd(argv[at]) : NULL;
    int code = at >= argc ? without_command(argc, argv)
               : cmd      ? run_command(cmd, at, argc, argv)
                          : unknown_command(argv[at]);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        return stk_output_failed(code);
    }
    return code;
}
