// SPDX-License-Identifier: Apache-2.0
// The command line: commands, options, where output goes. To add a command: a file cli/cmd_<name>.c
// that ends in its descriptor `const struct stk_cmd stk_cmd_<name>`, and one line X(<name>) in
// cmds.def. Help, completion, man pages and docs come from that row.
//
// stdout is the result, stderr is progress and errors. Only this folder prints or exits.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stoker/err.h"
#include "stoker/report.h"
#include "stoker/stats.h"

// Exit codes of every command.
enum stk_exit {
    STK_EXIT_DONE = 0,
    STK_EXIT_FOUND = 1, // a finding at or above --fail-on
    STK_EXIT_USAGE = 2,
    STK_EXIT_INPUT = 3,       // missing, unreadable or not a profile
    STK_EXIT_CANNOT_TELL = 4, // the profile does not support a verdict
    STK_EXIT_LIMIT = 5,       // a resource limit was hit, or output could not be written
    STK_EXIT_BUG = 70,
    STK_EXIT_INTERRUPTED = 130
};

enum stk_opt_kind {
    STK_OPT_FLAG,
    STK_OPT_COUNT,
    STK_OPT_RANGE,
    STK_OPT_DURATION,
    STK_OPT_LEVEL,
    STK_OPT_CHANGE, // a level, "never", or "slower=PERCENT"
    STK_OPT_FORMAT,
    STK_OPT_FILE,
    STK_OPT_NAME,
    STK_OPT_TEXT, // any text, even an empty one
    STK_OPT_LIST  // may be given several times: args->listed
};
enum stk_opt_id {
#define O(id, name, letter, kind, arg, help) STK_OPT_ID_##id,
#include "cli/opts.def"
#undef O
    STK_OPT_ID_COUNT,
    STK_OPT_ID_NONE = STK_OPT_ID_COUNT // the end of a command's list
};
struct stk_opt {
    const char *name;
    char letter; // 0: none
    enum stk_opt_kind kind;
    const char *arg;
    const char *help;
};
extern const struct stk_opt stk_opts[STK_OPT_ID_COUNT];
// The words that an option accepts, NULL-terminated; NULL: any.
const char *const *stk_opt_choices(const struct stk_opt *opt);

#define STK_CHANGE_NEVER (-1)
struct stk_opt_value {
    bool set;
    // RANGE: both ends. LEVEL: enum stoker_level. CHANGE: enum stoker_level, STK_CHANGE_NEVER, or
    // STOKER_LEVEL_NONE with a share in millionths.
    int64_t number, second;
    const char *text; // as typed
};
// Parses a value as on the command line; false: not a value of this option.
bool stk_opt_value_parse(const struct stk_opt *opt, const char *text, struct stk_opt_value *v);

enum { STK_ARGS_LISTED = 64 };
struct stk_args {
    struct stk_opt_value values[STK_OPT_ID_COUNT];
    const char *listed[STK_ARGS_LISTED]; // values of the LIST option, in the order given
    int listed_count;
    const char **words; // the words that aren't options, then the paths of --files-from
    int word_count;
    char *list;    // the bytes of --files-from
    int separator; // words before the "--" between two sides; 0: no "--"
};

// The group in `stoker --help`; MORE: listed by `stoker help more`.
enum stk_cmd_group { STK_CMD_MORE, STK_CMD_DIAGNOSE, STK_CMD_RECORD, STK_CMD_PROVE, STK_CMD_DIG };

struct stk_cmd {
    const char *name;
    const char *summary; // one line
    enum stk_cmd_group group;
    const char *words;       // "PROFILE..."; "": none
    const char *description; // paragraphs, separated by an empty line
    const char *examples;    // lines "command\twhat it does"
    int min_words, max_words;
    bool has_sides; // "--" separates words, and options may follow it
    enum stk_opt_id options[STK_OPT_ID_COUNT + 1]; // besides --help; ends with STK_OPT_ID_NONE
    // Words that may be completed after the command: "files", "rules", "commands", "schemas",
    // "shells", "analyses" and "exports" (then files), or NULL.
    const char *completes;
    // Puts the words into the order that `run` expects; NULL: as typed.
    void (*arrange)(struct stk_args *args);
    int (*run)(const struct stk_args *args); // exit code
};

#define X(name) extern const struct stk_cmd stk_cmd_##name;
#include "cli/cmds.def"
#undef X
extern const struct stk_cmd *const stk_cmds[]; // ends with NULL
const struct stk_cmd *stk_find_cmd(const char *name);
bool stk_cmd_takes(const struct stk_cmd *cmd, enum stk_opt_id id);
// The command with the name most like what was typed, or NULL.
const char *stk_cmd_near(const char *typed);

// Parses the words after the command; false: an error, already printed. out->words is allocated,
// for at least argc words; the caller frees it and out->list.
bool stk_args_parse(const struct stk_cmd *cmd, int argc, char **argv, struct stk_args *out);
// files_from.c: the paths in the file of --files-from become words. False: an error, already
// printed.
bool stk_files_from(const struct stk_cmd *cmd, struct stk_args *args);
// Whether argv[i] is an option that takes the next word as its value.
bool stk_args_takes_next(const char *word);

// Errors, on stderr. The functions below return the exit code.
void stk_error_line(const char *message);
int stk_fail(const struct stoker_err *err);
int stk_fail_nomem(void);
// At the end of a command: reports refused memory, unless an error was reported.
void stk_note_nomem(void);
int stk_usage(const struct stk_cmd *cmd, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
