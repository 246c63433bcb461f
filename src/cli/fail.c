// SPDX-License-Identifier: Apache-2.0
// Errors for people: what went wrong, where, what to do; always on stderr, always with an exit
// code.
#include <stdarg.h>
#include <stdio.h>

#include "base/text.h"
#include "cli/cli.h"
#include "cli/screen.h"

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

int stk_fail(const struct stoker_err *err)
{
    int code = exit_code(err->code);
    fputs("stoker: error: ", stderr);
    stk_screen_put(stderr, err->message, STK_SCREEN_ALL);
    fputc('\n', stderr);
    for (int i = 0; i < err->contexts; i++) {
        fputs("  ", stderr);
        stk_screen_put(stderr, err->context[i], STK_SCREEN_ALL);
        fputc('\n', stderr);
    }
    if (code == STK_EXIT_BUG) {
        fputs("  this is a bug in stoker: please report it with the command and, if you can, the "
              "profile\n",
              stderr);
    }
    return code;
}

int stk_usage(const struct stk_cmd *cmd, const char *fmt, ...)
{
    char text[600];
    va_list ap;
    va_start(ap, fmt);
    stk_text_vprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    fputs("stoker: error: ", stderr);
    stk_screen_put(stderr, text, STK_SCREEN_ALL);
    if (cmd) {
        fprintf(stderr, "\n  see stoker %s --help\n", cmd->name);
    } else {
        fputs("\n  see stoker --help for the commands\n", stderr);
    }
    return STK_EXIT_USAGE;
}
