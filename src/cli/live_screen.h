// SPDX-License-Identifier: Apache-2.0
// A terminal that shows a screen which is written again and again in its place: the alternate
// screen, so that what stood there before comes back; keys without their echo.
#pragma once

#include <stdbool.h>
#include <stddef.h>

// False: standard output is no terminal that could do it (a file, a pipe, TERM=dumb).
bool stk_live_screen_can(void);
void stk_live_screen_enter(void);
void stk_live_screen_leave(void);
// Its size now.
int stk_live_screen_rows(void);
// Replaces the last frame, in one write; lines end with a line feed.
void stk_live_screen_show(const char *text, size_t n);
enum stk_live_key { STK_KEY_NONE, STK_KEY_QUIT, STK_KEY_REDRAW };
// Waits for a key, a new size or the time's end; a stop (Ctrl-Z) and its end are dealt with within.
enum stk_live_key stk_live_screen_wait(int ms);
