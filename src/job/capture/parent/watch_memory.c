// SPDX-License-Identifier: Apache-2.0
// The machine's memory: total, available, and pages read back from swap (/proc/meminfo,
// /proc/vmstat), at scans.
#include <stdio.h>
#include <unistd.h>

#include "base/alloc.h"
#include "job/capture/parent/small_file.h"
#include "job/capture/parent/watch.h"

#define TEXT 16384

struct memory {
    struct stk_small_file info, counts;
    uint64_t swapped_in; // pages
    uint64_t stated;
};

static bool memory_open(struct stk_sampling *s, void **state, char *why, size_t size)
{
    struct memory *m = stk_alloc_zero(1, sizeof *m);
    if (!m || !stk_small_open(&m->info, s->proc, "meminfo")) {
        snprintf(why, size, "%s", m ? "/proc/meminfo can't be read" : "out of memory");
        stk_free(m);
        return false;
    }
    stk_small_open(&m->counts, s->proc, "vmstat");
    m->swapped_in = STK_WATCH_UNSEEN;
    *state = m;
    return true;
}

static void memory_close(void *state)
{
    struct memory *m = state;
    stk_small_close(&m->info);
    stk_small_close(&m->counts);
    stk_free(m);
}

static void memory_scan(struct stk_sampling *s, void *state)
{
    struct memory *m = state;
    char text[TEXT];
    uint64_t value;
    stk_small_read(&m->info, text, sizeof text);
    if (stk_small_value(text, "MemTotal:", &value) && value != m->stated) {
        stk_watch_put(s, STK_SAMPLE_OF_MACHINE_MEMORY, 0, (double)value * 1024);
        m->stated = value;
    }
    if (stk_small_value(text, "MemAvailable:", &value)) {
        stk_watch_put(s, STK_SAMPLE_OF_MACHINE_AVAILABLE, 0, (double)value * 1024);
    }
    if (stk_small_read(&m->counts, text, sizeof text) && stk_small_value(text, "pswpin", &value)) {
        double rate = stk_watch_rate(&m->swapped_in, value, s->scan_s);
        if (rate > 0) {
            stk_watch_put(s, STK_SAMPLE_OF_MACHINE_SWAP_IN, 0,
                          rate * (double)sysconf(_SC_PAGESIZE));
        }
    }
}

const struct stk_watch stk_watch_memory = {
    .name = "memory", .open = memory_open, .scan = memory_scan, .close = memory_close};
