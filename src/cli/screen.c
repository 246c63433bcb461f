// SPDX-License-Identifier: Apache-2.0
// What the terminal can do.
#include "cli/screen.h"

#include <langinfo.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/str.h"
#include "base/text.h"

static bool dumb(void)
{
    const char *term = getenv("TERM");
    return term && strcmp(term, "dumb") == 0;
}

static bool is_refused; // --no-color, which also applies to errors

void stk_screen_refuse_colour(void)
{
    is_refused = true;
}

bool stk_screen_colour(int fd, bool refused)
{
    const char *no = getenv("NO_COLOR"), *force = getenv("FORCE_COLOR");
    if (refused || is_refused || (no && *no)) {
        return false;
    }
    if (force && *force && strcmp(force, "0") != 0) {
        return true;
    }
    return isatty(fd) && !dumb();
}

bool stk_screen_links(int fd, bool refused)
{
    return isatty(fd) && stk_screen_colour(fd, refused);
}

void stk_screen_say(enum stk_screen_ink ink, const char *text)
{
    static const char *const codes[] = {[STK_INK_RED] = "\033[1;31m", [STK_INK_CYAN] = "\033[36m"};
    bool is_coloured = stk_screen_colour(STDERR_FILENO, false);
    fputs(is_coloured ? codes[ink] : "", stderr);
    stk_screen_put(stderr, text, STK_SCREEN_ALL);
    fputs(is_coloured ? "\033[0m" : "", stderr);
}

int stk_screen_columns(int fd)
{
    STK_ASSERT(fd >= 0);
    const char *columns = getenv("COLUMNS");
    struct winsize size;
    int64_t n;
    if (columns && stk_str_to_i64(stk_str_from(columns), &n) && n > 0 && n <= 10000) {
        return (int)n;
    }
    if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
        return size.ws_col;
    }
    return 80;
}

bool stk_screen_ascii(void)
{
    return dumb() || strcmp(nl_langinfo(CODESET), "UTF-8") != 0;
}

int stk_screen_put(FILE *to, const char *text, int most)
{
    bool is_ascii = isatty(fileno(to)) && stk_screen_ascii();
    struct stk_str s = stk_str_from(text);
    struct stk_text_piece piece;
    int n = 0;
    for (; s.n && n < most; s.p += piece.taken, s.n -= piece.taken, n++) {
        stk_text_shown(&piece, s, is_ascii);
        fwrite(piece.text, 1, piece.n, to);
    }
    return n;
}
