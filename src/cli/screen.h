// SPDX-License-Identifier: Apache-2.0
// What the terminal can do, what may be written there, and where a command's output goes.
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/atomic_file.h"
#include "base/sink.h"
#include "base/utf8.h"

// --no-color, NO_COLOR, FORCE_COLOR, TERM=dumb, and whether fd is a terminal; in that order.
bool stk_screen_colour(int fd, bool refused);
// --no-color was typed: no colors from here on.
void stk_screen_refuse_colour(void);
// Whether links may be written: to a terminal, where colors may be.
bool stk_screen_links(int fd, bool refused);
// COLUMNS, else the terminal's width, else 80.
int stk_screen_columns(int fd);
// The locale cannot show more than ASCII, or the terminal is dumb.
bool stk_screen_ascii(void);
// For people, on stdout or stderr: text of a profile, a path, what was typed. What is harmless of
// it (base/text.h), at most `most` characters, each a column. Returns how many.
#define STK_SCREEN_ALL INT_MAX
int stk_screen_put(FILE *to, const char *text, int most);
// The same on stderr, all of it and as a whole in one color where stderr has colors.
enum stk_screen_ink { STK_INK_RED, STK_INK_CYAN };
void stk_screen_say(enum stk_screen_ink ink, const char *text);

// Output to standard output, or to a file that appears only when it is complete: written beside
// under a temporary name, then renamed. Devices and pipes are written as they are.
struct stk_output {
    int fd;
    const char *path;            // NULL: standard output
    int error;                   // errno of the first failure
    struct stk_atomic_file file; // under a temporary name; all zero: a device, or standard output
    // Where it is a terminal, and what is written was not made for one: line ends and what is
    // harmless (base/text.h) get there. `held` waits for the rest of its character.
    bool is_filtered, is_ascii;
    char held[STK_UTF8_MAX];
    size_t held_n;
};
// Both say what failed on stderr and return an exit code, 0 if all is well. A closed pipe is no
// failure. for_people: the text writes colors, and names harmlessly, itself.
int stk_output_open(struct stk_output *o, const char *path, bool for_people);
int stk_output_close(struct stk_output *o, bool keep);
// The same after a writer ended with `status`, which is reported too, unless the output caused it.
int stk_output_end(struct stk_output *o, enum stoker_status status, const struct stoker_err *err);
// A stoker_write_fn over struct stk_output.
int stk_output_write(void *output, const char *bytes, size_t n);

// Text that `form` writes, to `path` or to standard output (NULL); the exit code, what failed said.
typedef void stk_output_form(const void *arg, struct stk_sink *to);
int stk_output_put(const char *path, stk_output_form *form, const void *arg);
// The same into a file of that name in the folder.
int stk_output_put_in(const char *folder, const char *name, stk_output_form *form, const void *arg);

// Standard output could not be written: says so and returns the exit code; a closed pipe keeps
// `code`.
int stk_output_failed(int code);

// On SIGINT, SIGTERM and SIGHUP: no half-written file, no half-drawn line, exit code 130.
void stk_signals_install(void);
// What the handler has to clean up; NULL: nothing.
void stk_signals_set_temporary(const char *path);
void stk_signals_set_line(bool drawn);
// From here on the first signal is only noted, for work that cleans up after itself; the second
// ends the program as ever.
void stk_signals_catch(void);
int stk_signals_pending(void); // whether one was noted
