// SPDX-License-Identifier: Apache-2.0
// What the terminal can do, and where a command's output goes.
#ifndef STK_CLI_SCREEN_H
#define STK_CLI_SCREEN_H

#include <stdbool.h>
#include <stddef.h>

// --no-color, NO_COLOR, FORCE_COLOR, TERM=dumb, and whether fd is a terminal; in that order.
bool stk_screen_colour(int fd, bool refused);
// COLUMNS, else the terminal's width, else 80.
int stk_screen_columns(int fd);
// The locale cannot show more than ASCII, or the terminal is dumb.
bool stk_screen_ascii(void);

// Output to standard output, or to a file that appears only when it is complete: written beside
// under a temporary name, then renamed. Devices and pipes are written as they are.
struct stk_output {
    int fd;
    const char *path; // NULL: standard output
    char *temporary;  // name until it is renamed, or NULL
    int error;        // errno of the first failure
};
// Both say what failed on stderr and return an exit code, 0 if all is well. A closed pipe is no
// failure.
int stk_output_open(struct stk_output *o, const char *path);
int stk_output_close(struct stk_output *o, bool keep);
// A stoker_write_fn over struct stk_output.
int stk_output_write(void *output, const char *bytes, size_t n);

// Standard output could not be written: says so and returns the exit code; a closed pipe keeps
// `code`.
int stk_output_failed(int code);

// On SIGINT and SIGTERM: no half-written file, no half-drawn line, exit code 130.
void stk_signals_install(void);
// What the handler has to clean up; NULL: nothing.
void stk_signals_set_temporary(const char *path);
void stk_signals_set_line(bool drawn);
// From here on the first signal is only noted, for work that cleans up after itself; the second
// ends the program as ever.
void stk_signals_catch(void);
int stk_signals_pending(void); // whether one was noted

#endif
