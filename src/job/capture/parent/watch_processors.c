// SPDX-License-Identifier: Apache-2.0
// The machine's processors: how many, how busy, and time stolen by a virtual machine's host
// (/proc/stat).
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "job/capture/parent/small_file.h"
#include "job/capture/parent/watch.h"

#define TEXT 65536 // a line per processor; the lines of interrupts aren't needed

// Times in the first line, in the order of proc(5).
enum { IDLE = 3, WAITING = 4, STEAL = 7, TIMES = 8 };

struct processors {
    struct stk_small_file file;
    char *text;
    uint64_t all, idle, stolen; // ticks at the last look; idle includes waiting for storage
    uint32_t stated;
};

static bool processors_open(struct stk_sampling *s, void **state, char *why, size_t size)
{
    struct processors *p = stk_alloc_zero(1, sizeof *p);
    char *text = stk_alloc(TEXT);
    bool is_open = p && text && stk_small_open(&p->file, s->proc, "stat");
    if (!is_open) {
        snprintf(why, size, "%s", p && text ? "/proc/stat can't be read" : "out of memory");
        stk_free(p);
        stk_free(text);
        return false;
    }
    p->text = text;
    p->all = p->idle = p->stolen = STK_WATCH_UNSEEN;
    *state = p;
    return true;
}

static void processors_close(void *state)
{
    struct processors *p = state;
    stk_small_close(&p->file);
    stk_free(p->text);
    stk_free(p);
}

static void processors_scan(struct stk_sampling *s, void *state)
{
    struct processors *p = state;
    uint32_t count = 0;
    stk_small_read(&p->file, p->text, TEXT);
    for (const char *line = strchr(p->text, '\n'); line && strncmp(line, "\ncpu", 4) == 0;
         line = strchr(line + 1, '\n')) {
        count++;
    }
    if (count && count != p->stated) {
        stk_watch_put(s, STK_SAMPLE_OF_MACHINE_PROCESSORS, 0, count);
        p->stated = count;
    }
}

static void processors_look(struct stk_sampling *s, void *state)
{
    struct processors *p = state;
    unsigned long long t[TIMES] = {0};
    char text[512];
    stk_small_read(&p->file, text, sizeof text);
    if (sscanf(text, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &t[0], &t[1], &t[2], &t[3],
               &t[4], &t[5], &t[6], &t[7]) < IDLE + 1) {
        return;
    }
    uint64_t all = 0;
    for (int i = 0; i < TIMES; i++) {
        all += t[i];
    }
    double passed = stk_watch_rate(&p->all, all, 1);
    double idle = stk_watch_rate(&p->idle, t[IDLE] + t[WAITING], 1);
    double stolen = stk_watch_rate(&p->stolen, t[STEAL], 1);
    if (passed <= 0) {
        return;
    }
    if (idle >= 0 && idle <= passed && stolen >= 0 && idle + stolen <= passed) {
        stk_watch_put(s, STK_SAMPLE_OF_MACHINE_CPU, 0, (passed - idle - stolen) / passed);
    }
    if (stolen > 0) {
        stk_watch_put(s, STK_SAMPLE_OF_MACHINE_STEAL, 0, stolen < passed ? stolen / passed : 1);
    }
}

const struct stk_watch stk_watch_processors = {.name = "processors",
                                               .open = processors_open,
                                               .scan = processors_scan,
                                               .look = processors_look,
                                               .close = processors_close};
