// SPDX-License-Identifier: Apache-2.0
// The terminal of `stoker top`; see live_screen.h. It uses only sequences that every terminal of
// the last thirty years knows (ECMA-48 and xterm's alternate screen); each line is cleared after
// its text rather than before it, so nothing flickers.
#include "cli/live_screen.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/clock.h"
#include "cli/screen.h"

#define ENTER "\x1b[?1049h\x1b[?25l\x1b[H\x1b[2J"
#define LEAVE "\x1b[?25h\x1b[?1049l"
enum { CTRL_C = 3, ESCAPE = 27 };

static struct {
    bool is_entered, has_keys, is_raw;
    struct termios before;
    volatile sig_atomic_t resized, stopped;
} screen;

static void on_signal(int number)
{
    if (number == SIGWINCH) {
        screen.resized = 1;
    } else {
        screen.stopped = 1;
    }
}

static void put(const char *text, size_t n)
{
    while (n > 0) {
        ssize_t k = write(STDOUT_FILENO, text, n);
        if (k <= 0) {
            return; // a closed terminal sends SIGHUP
        }
        text += k;
        n -= (size_t)k;
    }
}

bool stk_live_screen_can(void)
{
    const char *term = getenv("TERM");
    return isatty(STDOUT_FILENO) && term && *term && strcmp(term, "dumb") != 0;
}

// Reads keys one by one, but only in the foreground, where the terminal may be changed.
static void take_keys(void)
{
    struct termios raw;
    screen.has_keys = isatty(STDIN_FILENO) && tcgetpgrp(STDIN_FILENO) == getpgrp() &&
                      tcgetattr(STDIN_FILENO, &screen.before) == 0;
    if (screen.has_keys) {
        raw = screen.before;
        raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
        raw.c_cc[VMIN] = 0;
        raw.c_cc[VTIME] = 0;
        screen.is_raw = tcsetattr(STDIN_FILENO, TCSANOW, &raw) == 0;
    }
}

void stk_live_screen_enter(void)
{
    struct sigaction act = {.sa_handler = on_signal};
    sigaction(SIGWINCH, &act, NULL);
    sigaction(SIGTSTP, &act, NULL);
    take_keys();
    put(ENTER, sizeof ENTER - 1);
    screen.is_entered = true;
}

void stk_live_screen_leave(void)
{
    if (screen.is_raw) {
        tcsetattr(STDIN_FILENO, TCSANOW, &screen.before);
        screen.is_raw = false;
    }
    if (screen.is_entered) {
        put(LEAVE, sizeof LEAVE - 1);
        screen.is_entered = false;
    }
}

int stk_live_screen_rows(void)
{
    struct winsize size;
    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 ? size.ws_row : 24;
}

void stk_live_screen_show(const char *text, size_t n)
{
    STK_ASSERT(text || n == 0);
    static const char home[] = "\x1b[H", end_of_line[] = "\x1b[K\r\n", rest[] = "\x1b[J";
    size_t lines = 1;
    for (size_t i = 0; i < n; i++) {
        lines += text[i] == '\n';
    }
    char *frame = stk_alloc(n + lines * sizeof end_of_line + sizeof home + sizeof rest);
    if (!frame) {
        return;
    }
    char *to = stpcpy(frame, home);
    for (size_t i = 0; i < n; i++) {
        if (text[i] != '\n') {
            *to++ = text[i];
        } else {
            to = stpcpy(to, end_of_line);
        }
    }
    to = stpcpy(to, rest);
    put(frame, (size_t)(to - frame));
    stk_free(frame);
}

static void stop(void)
{
    screen.stopped = 0;
    stk_live_screen_leave();
    raise(SIGSTOP); // goes on here
    stk_live_screen_enter();
}

static enum stk_live_key key(void)
{
    char keys[64];
    ssize_t n = screen.is_raw ? read(STDIN_FILENO, keys, sizeof keys) : 0;
    for (ssize_t i = 0; i < n; i++) {
        if (keys[i] == 'q' || keys[i] == 'Q' || keys[i] == CTRL_C ||
            (keys[i] == ESCAPE && n == 1)) {
            return STK_KEY_QUIT;
        }
    }
    return n > 0 ? STK_KEY_REDRAW : STK_KEY_NONE;
}

enum stk_live_key stk_live_screen_wait(int ms)
{
    STK_ASSERT(ms >= 0);
    uint64_t end_ns = stk_clock_ns() + (uint64_t)ms * 1000000u;
    for (;;) {
        if (screen.stopped) {
            stop();
            return STK_KEY_REDRAW;
        }
        if (screen.resized) {
            screen.resized = 0;
            return STK_KEY_REDRAW;
        }
        if (stk_signals_pending()) {
            return STK_KEY_QUIT;
        }
        uint64_t now_ns = stk_clock_ns();
        if (now_ns >= end_ns) {
            return STK_KEY_NONE;
        }
        // Waits in short pieces: a signal between the checks above and this line is seen soon.
        uint64_t left_ms = (end_ns - now_ns) / 1000000u + 1;
        struct pollfd in = {.fd = screen.is_raw ? STDIN_FILENO : -1, .events = POLLIN};
        if (poll(&in, 1, left_ms < 250 ? (int)left_ms : 250) > 0) {
            if (in.revents & (POLLHUP | POLLERR)) {
                screen.is_raw = false; // the input has ended
            }
            enum stk_live_key pressed = key();
            if (pressed != STK_KEY_NONE) {
                return pressed;
            }
        }
    }
}
