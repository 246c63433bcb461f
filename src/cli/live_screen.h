// SPDX-License-Identifier: Apache-2.0
// A terminal screen that is redrawn in place. It uses the alternate screen, so that the previous
// content comes back, and keys without echo.
#pragma once

#include <stdbool.h>
#include <stddef.h>

// False: standard output isn't a capable terminal (a file, a pipe, TERM=dumb).
bool stk_live_screen_can(void);
void stk_live_screen_enter(void);
void stk_live_screen_leave(void);
// Its present size.
int stk_live_screen_rows(void);
// Replaces the last frame, in one write; lines end with a line feed.
void stk_live_screen_show(const char *text, size_t n);
enum stk_live_key { STK_KEY_NONE, STK_KEY_QUIT, STK_KEY_REDRAW };
// Waits for a key, a new size or the timeout; also handles a stop (Ctrl-Z) and its end.
enum stk_live_key stk_live_screen_wait(int ms);
