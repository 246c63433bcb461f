// SPDX-License-Identifier: Apache-2.0
// stoker: finds the command, parses its options, runs it. Options may also come before the command.
// A file or folder without a command is diagnosed; without any word, the newest profile below the
// current folder is.
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
#include "cli/newest.h"
#include "stoker/version.h"

// Index of the first word that is not an option or its value, or argc.
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

// Everything except the command's name goes to its parser.
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
        } else if (has_flag(argc, argv, "--help", "-h")) { // wins over any other mistake
            stk_help_text(stdout, cmd);
            code = STK_EXIT_DONE;
        } else {
            code = STK_EXIT_USAGE;
            if (stk_args_parse(cmd, rest, others, &args)) {
                if (cmd->arrange) {
                    cmd->arrange(&args);
                }
                code = cmd->run(&args);
                stk_note_nomem();
            }
        }
    } else {
        code = stk_fail_nomem();
    }
    stk_free(args.words);
    stk_free(args.list);
    stk_free(others);
    return code;
}

// stoker why with the options as typed, and the path as its word.
static int why_path(int argc, char **argv, char *path)
{
    char **all = stk_alloc_array((size_t)argc + 2, sizeof *all);
    if (!all) {
        return stk_fail_nomem();
    }
    memcpy(all, argv, (size_t)argc * sizeof *all);
    all[argc] = path;
    int code = run_command(&stk_cmd_why, 0, argc + 1, all);
    stk_free(all);
    return code;
}

// Diagnoses the newest profile below the current folder, skipping those that can't be read.
static int why_newest(int argc, char **argv)
{
    static struct stk_newest found; // too large for a stack
    stk_newest_below(".", &found);
    int code = STK_EXIT_INPUT;
    for (int i = 0; i < found.count && code == STK_EXIT_INPUT; i++) {
        if (!has_flag(argc, argv, "--quiet", "-q")) {
            fprintf(stderr, "stoker why %s   (the newest of %llu found%s)\n", found.found[i].path,
                    (unsigned long long)found.total, found.is_partial ? " so far" : "");
        }
        code = why_path(argc, argv, found.found[i].path);
    }
    if (found.count > 0) {
        return code;
    }
    fprintf(stderr, "stoker: no profile below this folder. Searched %llu names for %s.\n\n",
            (unsigned long long)found.scanned, stk_newest_names);
    stk_help_text(stderr, NULL);
    return STK_EXIT_USAGE;
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
    return why_newest(argc, argv);
}

// A file or folder is diagnosed; a command's name comes first (./run is the folder).
static int not_a_command(int argc, char **argv, const char *word)
{
    const char *near = stk_cmd_near(word);
    if (access(word, F_OK) == 0) {
        return run_command(&stk_cmd_why, 0, argc, argv);
    }
    if (near) {
        return stk_usage(NULL, "no command '%s'; did you mean '%s'?", word, near);
    }
    return stk_usage(NULL, "no command, file or folder '%s'", word);
}

// An unknown word in STOKER_CPU is an error: otherwise something else would be measured.
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
    setlocale(LC_CTYPE, ""); // which characters the terminal shows; numbers never follow the locale
    stk_signals_install();
    if (has_flag(argc, argv, "--no-color", "--no-color")) {
        stk_screen_refuse_colour();
    }
    if (!check_processor_words()) {
        return STK_EXIT_USAGE;
    }
    int at = find_command(argc, argv);
    const struct stk_cmd *cmd = at < argc ? stk_find_cmd(argv[at]) : NULL;
    int code = at >= argc ? without_command(argc, argv)
               : cmd      ? run_command(cmd, at, argc, argv)
                          : not_a_command(argc, argv, argv[at]);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        return stk_output_failed(code);
    }
    return code;
}
