// SPDX-License-Identifier: Apache-2.0
// The terminal's abilities, text that is safe there, and a command's output.
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
// Whether to write links: only to a terminal, and only if colors are allowed.
bool stk_screen_links(int fd, bool refused);
// COLUMNS, else the terminal's width, else 80.
int stk_screen_columns(int fd);
// The locale cannot show more than ASCII, or the terminal is dumb.
bool stk_screen_ascii(void);
// Prints text of a profile, a path, or typed text to stdout or stderr: its harmless form
// (base/text.h), at most `most` characters of one column each. Returns their number.
#define STK_SCREEN_ALL INT_MAX
int stk_screen_put(FILE *to, const char *text, int most);
// The same on stderr, without a limit, and in one color if stderr has colors.
enum stk_screen_ink { STK_INK_RED, STK_INK_CYAN };
void stk_screen_say(enum stk_screen_ink ink, const char *text);

// Output to standard output, or to a file that appears only when complete: written next to it under
// a temporary name, then renamed. Devices and pipes are written directly.
struct stk_output {
    int fd;
    const char *path;            // NULL: standard output
    int error;                   // errno of the first failure
    struct stk_atomic_file file; // under a temporary name; all zero: a device, or standard output
    // Filters text that wasn't made for a terminal: only line ends and harmless text (base/text.h)
    // pass. `held` keeps the start of an incomplete character.
    bool is_filtered, is_ascii;
    char held[STK_UTF8_MAX];
    size_t held_n;
};
// Both print failures on stderr and return an exit code, 0 if all is well. A closed pipe isn't a
// failure. for_people: the text already has colors and harmless names.
int stk_output_open(struct stk_output *o, const char *path, bool for_people);
int stk_output_close(struct stk_output *o, bool keep);
// The same after a writer returned `status`, which is also reported unless the output caused it.
int stk_output_end(struct stk_output *o, enum stoker_status status, const struct stoker_err *err);
// A stoker_write_fn over struct stk_output.
int stk_output_write(void *output, const char *bytes, size_t n);

// Writes the text of `form` to `path`, or to standard output (NULL); returns the exit code.
// Failures are printed.
typedef void stk_output_form(const void *arg, struct stk_sink *to);
int stk_output_put(const char *path, stk_output_form *form, const void *arg);
// The same, into a file of that name in the folder.
int stk_output_put_in(const char *folder, const char *name, stk_output_form *form, const void *arg);

// Reports that standard output couldn't be written and returns the exit code; a closed pipe keeps
// `code`.
int stk_output_failed(int code);

// On SIGINT, SIGTERM and SIGHUP: no half-written file, no half-drawn line, exit code 130.
void stk_signals_install(void);
// The file that the handler removes; NULL: none.
void stk_signals_set_temporary(const char *path);
void stk_signals_set_line(bool drawn);
// From now on the first signal is only recorded, for work that cleans up after itself; the second
// ends the program as usual.
void stk_signals_catch(void);
int stk_signals_pending(void); // whether one was recorded
