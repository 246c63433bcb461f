// SPDX-License-Identifier: Apache-2.0
// The progress line: drawn ten times a second after the first 300 ms, removed at the end.
#include "cli/progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/clock.h"
#include "base/human.h"
#include "cli/screen.h"

#define QUIET_MS 300
#define EVERY_MS 100
#define NAME_MAX_COLUMNS 40

static int64_t now_ms(void)
{
    return (int64_t)(stk_clock_ns() / 1000000);
}

void stk_progress_start(struct stk_progress_line *p, bool quiet)
{
    const char *term = getenv("TERM");
    *p = (struct stk_progress_line){
        .wanted = !quiet && isatty(STDERR_FILENO) && !(term && strcmp(term, "dumb") == 0),
        .started_ms = now_ms(),
    };
}

// Starts the line, with the name of the file.
static void begin_line(const char *verb, const char *path)
{
    const char *slash = strrchr(path, '/');
    fprintf(stderr, "\r\033[K%s", verb);
    stk_screen_put(stderr, slash && slash[1] ? slash + 1 : path, NAME_MAX_COLUMNS);
    fputs("  ", stderr);
}

static void draw(const char *path, uint64_t done_bytes, uint64_t total_bytes)
{
    STK_ASSERT(path);
    char done[STK_HUMAN_MAX], total[STK_HUMAN_MAX], bar[21] = "....................";
    begin_line("reading ", path);
    stk_human_bytes(done_bytes, done);
    if (total_bytes == 0) { // standard input: its size isn't known
        fputs(done, stderr);
        return;
    }
    if (done_bytes > total_bytes) {
        done_bytes = total_bytes;
    }
    memset(bar, '#', (size_t)((double)done_bytes / (double)total_bytes * 20));
    fprintf(stderr, "[%s] %s of %s", bar, done, stk_human_bytes(total_bytes, total));
}

// Is it time for another line? If so, it counts as drawn.
static bool is_due(struct stk_progress_line *p)
{
    if (!p->wanted) {
        return false;
    }
    int64_t now = now_ms();
    if (now - p->started_ms < QUIET_MS || now - p->drawn_ms < EVERY_MS) {
        return false;
    }
    stk_signals_set_line(true);
    p->drawn = true;
    p->drawn_ms = now;
    return true;
}

int stk_progress_update(void *line, const char *path, uint64_t done_bytes, uint64_t total_bytes)
{
    if (is_due(line)) {
        draw(path, done_bytes, total_bytes);
        fflush(stderr);
    }
    return 0;
}

void stk_progress_count(struct stk_progress_line *p, const char *path, uint64_t count,
                        const char *what)
{
    char text[STK_HUMAN_MAX];
    if (is_due(p)) {
        begin_line("", path);
        fprintf(stderr, "%s %s", stk_human_count(count, text), what);
        fflush(stderr);
    }
}

void stk_progress_end(struct stk_progress_line *p)
{
    if (p->drawn) {
        fputs("\r\033[K", stderr);
        fflush(stderr);
    }
    stk_signals_set_line(false);
    p->drawn = false;
}
