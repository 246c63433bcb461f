// SPDX-License-Identifier: Apache-2.0
// Errors for people: what went wrong, where, what to do; always on stderr, always with an exit
// code.
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/err.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/screen.h"

static bool has_error; // one was printed

static int exit_code(enum stoker_status status)
{
    switch (status) {
    case STOKER_OK:
        return STK_EXIT_DONE;
    case STOKER_EUSAGE:
    case STOKER_ERANGE:
        return STK_EXIT_USAGE;
    case STOKER_EINPUT:
    case STOKER_EMISSING:
    case STOKER_EDAMAGE:
    case STOKER_EDENIED:
        return STK_EXIT_INPUT;
    case STOKER_ENOMEM:
    case STOKER_ELIMIT:
    case STOKER_EOUTPUT:
        return STK_EXIT_LIMIT;
    case STOKER_EINTR:
        return STK_EXIT_INTERRUPTED;
    default:
        return STK_EXIT_BUG;
    }
}

// Where the message's remedy begins: at its last sentence, after ". "; at its end if it has only
// one.
static size_t remedy_at(const char *message)
{
    const char *last = NULL;
    for (const char *p = message; (p = strstr(p, ". ")); p += 2) {
        last = p[2] >= 'A' && p[2] <= 'Z' ? p : last;
    }
    return last ? (size_t)(last - message) : strlen(message);
}

// One line. On a terminal with colors, the failure is red, and the remedy cyan on its own line.
void stk_error_line(const char *message)
{
    char what[1024];
    has_error = true;
    size_t n = stk_screen_colour(STDERR_FILENO, false) ? remedy_at(message) : strlen(message);
    snprintf(what, sizeof what, "stoker: error: %.*s", (int)(n < 1000 ? n : 1000), message);
    stk_screen_say(STK_INK_RED, what);
    fputc('\n', stderr);
    if (message[n]) {
        fputs("  ", stderr);
        stk_screen_say(STK_INK_CYAN, message + n + 2);
        fputc('\n', stderr);
    }
}

int stk_fail(const struct stoker_err *err)
{
    int code = exit_code(err->code);
    stk_error_line(err->message);
    for (int i = 0; i < err->contexts; i++) {
        fputs("  ", stderr);
        stk_screen_put(stderr, err->context[i], STK_SCREEN_ALL);
        fputc('\n', stderr);
    }
    if (code == STK_EXIT_BUG) {
        fputs("  ", stderr);
        stk_screen_say(STK_INK_CYAN, "This is a bug in stoker. Please report it with the command "
                                     "and, if you can, the profile.");
        fputc('\n', stderr);
    }
    return code;
}

int stk_fail_nomem(void)
{
    struct stoker_err err;
    stk_err_nomem(&err);
    return stk_fail(&err);
}

void stk_note_nomem(void)
{
    if (!has_error && stk_alloc_refusals() > 0) {
        stk_error_line("out of memory: part of this command's output may be missing");
    }
}

int stk_usage(const struct stk_cmd *cmd, const char *fmt, ...)
{
    char text[600];
    va_list ap;
    va_start(ap, fmt);
    stk_text_vprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    stk_error_line(text);
    snprintf(text, sizeof text, "see stoker %s%s", cmd ? cmd->name : "",
             cmd ? " --help" : "--help for the commands");
    fputs("  ", stderr);
    stk_screen_say(STK_INK_CYAN, text);
    fputc('\n', stderr);
    return STK_EXIT_USAGE;
}
