// SPDX-License-Identifier: Apache-2.0
// One result written to where its command's output goes, in the form that this place takes:
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
    struct stoker_write_options how; // colors, width, words: as the place and the options say
    struct stoker_err err;
};

// To --output, or standard output where the command has no such option or it is not set. format:
// only "text" is for people, colored and harmless by itself. Another code than STK_EXIT_DONE: it
// cannot be opened, which was said.
int stk_printing_begin(struct stk_printing *p, const struct stk_args *args, const char *format);
// The exit code: of the output if it failed, of the error in p->err, else `done`.
int stk_printing_end(struct stk_printing *p, enum stoker_status status, int done);
// What one of the library's descriptions says, as text or with --markdown; the exit code.
int stk_printing_describe(const struct stk_args *args,
                          enum stoker_status (*describe)(const char *format, stoker_write_fn write,
                                                         void *arg, struct stoker_err *err));
