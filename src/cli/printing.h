// SPDX-License-Identifier: Apache-2.0
// Writes one result to the command's output, in the form that suits the output:
//   struct stk_printing p;
//   int code = stk_printing_begin(&p, args, format);
//   if (code != STK_EXIT_DONE)
//       return code;
//   status = stoker_..._write(..., &p.how, stk_output_write, &p.output, &p.err);
//   return stk_printing_end(&p, status, STK_EXIT_DONE);
#pragma once

#include "cli/cli.h"
#include "cli/screen.h"

struct stk_printing {
    struct stk_output output;
    struct stoker_write_options how; // colors, width, words: by the output and the options
    struct stoker_err err;
};

// Opens the file of --output, or standard output if that option isn't set or the command doesn't
// have it. format: only "text" is for people, and may have colors; its text is harmless already.
// Other codes than STK_EXIT_DONE: it can't be opened; the error was printed.
int stk_printing_begin(struct stk_printing *p, const struct stk_args *args, const char *format);
// Returns the exit code: the output's if it failed, that of the error in p->err, else `done`.
int stk_printing_end(struct stk_printing *p, enum stoker_status status, int done);
// Prints one of the library's descriptions, as text or with --markdown; returns the exit code.
int stk_printing_describe(const struct stk_args *args,
                          enum stoker_status (*describe)(const char *format, stoker_write_fn write,
                                                         void *arg, struct stoker_err *err));
