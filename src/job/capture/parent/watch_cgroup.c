// SPDX-License-Identifier: Apache-2.0
// The job's control group: processor quota and throttling, memory and its limit, pressure. Versions
// 2 and 1.
//
// The group is that in /proc/PID/cgroup of the root when sampling begins. Any group above it may
// set a limit, so the visible groups (a container sees its own as the topmost) are searched from
// the job's upwards, and the first with a limit is followed. Files: Linux,
// Documentation/admin-guide/ cgroup-v2.rst and cgroup-v1.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "job/capture/parent/small_file.h"
#include "job/capture/parent/watch.h"

#define TEXT 2048
#define UNLIMITED (UINT64_C(1) << 60) // version 1 writes such a large number for "no limit"

enum { CPU_STAT, MEMORY, EVENTS, WAIT_CPU, WAIT_IO, WAIT_MEMORY, FILES };
struct group {
    bool is_v1;
    char cpu_dir[STK_SMALL_PATH], memory_dir[STK_SMALL_PATH]; // where the limits are
    char own_dir[STK_SMALL_PATH];                             // the job's own group: pressure
    struct stk_small_file files[FILES];
    double quota; // the last one written
    uint64_t memory_limit, kills_first, hits, periods, throttled_periods, throttled, kills_stated;
    uint64_t stalled[3]; // us, of the three pressures
};

// The path of a controller's group ("": version 2). False: not listed.
static bool path_of(const char *text, const char *controller, char *out, size_t size)
{
    STK_ASSERT(size > 0);
    size_t wanted = strlen(controller);
    for (const char *line = text; line && *line; line = strchr(line, '\n')) {
        line += *line == '\n';
        const char *names = strchr(line, ':'), *path = names ? strchr(names + 1, ':') : NULL;
        const char *end = line + strcspn(line, "\n");
        if (!path || path > end) {
            continue;
        }
        bool is_it = wanted == 0 && path == names + 1;
        for (const char *at = names + 1; wanted && at < path; at += strcspn(at, ",:") + 1) {
            is_it |= strcspn(at, ",:") == wanted && strncmp(at, controller, wanted) == 0;
        }
        if (is_it) {
            snprintf(out, size, "%.*s", (int)(end - path - 1), path + 1);
            return true;
        }
    }
    return false;
}

static size_t read_in(const char *dir, const char *name, char *text, size_t size)
{
    char path[STK_SMALL_PATH + 32];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    return stk_small_read_once(path, text, size);
}

static double quota_of(const char *dir, bool is_v1)
{
    char text[128];
    long long quota, period;
    if (is_v1) {
        period = read_in(dir, "cpu.cfs_period_us", text, sizeof text) ? atoll(text) : 0;
        quota = read_in(dir, "cpu.cfs_quota_us", text, sizeof text) ? atoll(text) : 0;
    } else if (!read_in(dir, "cpu.max", text, sizeof text) ||
               sscanf(text, "%lld %lld", &quota, &period) != 2) {
        return 0;
    }
    return quota > 0 && period > 0 ? (double)quota / (double)period : 0;
}

static uint64_t memory_limit_of(const char *dir, bool is_v1)
{
    char text[128];
    size_t n = read_in(dir, is_v1 ? "memory.limit_in_bytes" : "memory.max", text, sizeof text);
    uint64_t limit = n ? strtoull(text, NULL, 10) : 0; // "max": 0
    return limit < UNLIMITED ? limit : 0;
}

// Starts at `base` plus the path, or its nearest existing parent, since in a container the path may
// be the host's. From there goes up to the first group with a limit, if any.
static bool find_dir(const char *base, const char *path, const char *file, bool is_v1,
                     bool of_memory, char out[STK_SMALL_PATH])
{
    char dir[STK_SMALL_PATH + 32];
    bool found = false;
    if (snprintf(dir, STK_SMALL_PATH, "%s%s", base, path) >= STK_SMALL_PATH) {
        return false;
    }
    for (size_t n = strlen(dir); n >= strlen(base);) {
        char text[TEXT];
        while (n > strlen(base) && dir[n - 1] == '/') {
            n--;
        }
        dir[n] = 0;
        bool is_there = read_in(dir, file, text, sizeof text) > 0;
        bool limits =
            is_there && (of_memory ? memory_limit_of(dir, is_v1) > 0 : quota_of(dir, is_v1) > 0);
        if ((is_there && !found) || limits) {
            memcpy(out, dir, n + 1); // n is below STK_SMALL_PATH
            found = true;
        }
        if (limits || n == strlen(base)) {
            break;
        }
        while (n > strlen(base) && dir[n - 1] != '/') {
            n--;
        }
    }
    return found;
}

// In version 1, each controller has a folder with its name, or with the names of those mounted
// together.
static bool find_v1(const char *base, const char *text, const char *controller, const char *file,
                    bool of_memory, char out[STK_SMALL_PATH])
{
    static const char *const folders[][2] = {{"cpu,cpuacct", "cpu"}, {"memory", "memory"}};
    char path[STK_SMALL_PATH], mount[STK_SMALL_PATH];
    if (!path_of(text, controller, path, sizeof path)) {
        return false;
    }
    for (int i = 0; i < 2; i++) {
        snprintf(mount, sizeof mount, "%.400s/%s", base, folders[of_memory][i]);
        if (find_dir(mount, path, file, true, of_memory, out)) {
            return true;
        }
    }
    return false;
}

static bool find_group(const struct stk_sampling *s, struct group *g)
{
    char path[STK_SMALL_PATH], text[TEXT];
    snprintf(path, sizeof path, "%s/%d/cgroup", s->proc, (int)s->root);
    if (!stk_small_read_once(path, text, sizeof text)) {
        return false;
    }
    bool found = false;
    if (path_of(text, "", path, sizeof path)) {
        found |= find_dir(s->cgroup, path, "cpu.stat", false, false, g->cpu_dir);
        found |= find_dir(s->cgroup, path, "memory.current", false, true, g->memory_dir);
        snprintf(g->own_dir, sizeof g->own_dir, "%.250s%.250s", s->cgroup, path);
    }
    if (!found) {
        g->is_v1 = true;
        found |= find_v1(s->cgroup, text, "cpu", "cpu.stat", false, g->cpu_dir);
        found |= find_v1(s->cgroup, text, "memory", "memory.usage_in_bytes", true, g->memory_dir);
    }
    return found;
}

static bool cgroup_open(struct stk_sampling *s, void **state, char *why, size_t size)
{
    static const char *const v2[FILES] = {"cpu.stat",     "memory.current", "memory.events",
                                          "cpu.pressure", "io.pressure",    "memory.pressure"};
    static const char *const v1[FILES] = {"cpu.stat", "memory.usage_in_bytes", "", "", "", ""};
    struct group *g = stk_alloc_zero(1, sizeof *g);
    bool found = g && find_group(s, g);
    if (!found) {
        snprintf(why, size, "%s", g ? "the job's cgroup is not visible" : "out of memory");
        stk_free(g);
        return false;
    }
    g->hits = g->periods = g->throttled_periods = g->throttled = STK_WATCH_UNSEEN;
    g->kills_first = g->kills_stated = STK_WATCH_UNSEEN;
    for (int i = 0; i < FILES; i++) {
        const char *dir = i == MEMORY || i == EVENTS ? g->memory_dir : g->cpu_dir;
        const char *name = (g->is_v1 ? v1 : v2)[i];
        g->files[i].fd = -1;
        bool is_open = *name && i >= WAIT_CPU && stk_small_open(&g->files[i], g->own_dir, name);
        if (!is_open && *dir && *name) {
            stk_small_open(&g->files[i], dir, name);
        }
    }
    for (int i = 0; i < 3; i++) {
        g->stalled[i] = STK_WATCH_UNSEEN;
    }
    *state = g;
    return true;
}

static void cgroup_close(void *state)
{
    struct group *g = state;
    for (int i = 0; i < FILES; i++) {
        stk_small_close(&g->files[i]);
    }
    stk_free(g);
}

static void scan_memory(struct stk_sampling *s, struct group *g)
{
    char text[TEXT];
    uint64_t value, most = 0, high = 0;
    if (stk_small_read(&g->files[MEMORY], text, sizeof text)) {
        stk_watch_put(s, STK_SAMPLE_OF_CGROUP_MEMORY, 0, (double)strtoull(text, NULL, 10));
    }
    uint64_t limit = *g->memory_dir ? memory_limit_of(g->memory_dir, g->is_v1) : 0;
    if (limit && limit != g->memory_limit) {
        stk_watch_put(s, STK_SAMPLE_OF_CGROUP_MEMORY_LIMIT, 0, (double)limit);
        g->memory_limit = limit;
    }
    if (!stk_small_read(&g->files[EVENTS], text, sizeof text)) {
        return;
    }
    bool has_most = stk_small_value(text, "max", &most);
    if (stk_small_value(text, "high", &high) || has_most) {
        double rate = stk_watch_rate(&g->hits, most + high, s->scan_s);
        if (rate > 0) {
            stk_watch_put(s, STK_SAMPLE_OF_CGROUP_MEMORY_HITS, 0, rate);
        }
    }
    if (stk_small_value(text, "oom_kill", &value)) {
        g->kills_first = g->kills_first == STK_WATCH_UNSEEN ? value : g->kills_first;
        if (value != g->kills_first && value != g->kills_stated) {
            stk_watch_put(s, STK_SAMPLE_OF_CGROUP_KILLS, 0, (double)(value - g->kills_first));
            g->kills_stated = value;
        }
    }
}

static void cgroup_scan(struct stk_sampling *s, void *state)
{
    struct group *g = state;
    double quota = *g->cpu_dir ? quota_of(g->cpu_dir, g->is_v1) : 0;
    s->quota = quota;
    if (quota > 0 && quota != g->quota) {
        stk_watch_put(s, STK_SAMPLE_OF_CGROUP_QUOTA, 0, quota);
        g->quota = quota;
    }
    scan_memory(s, g);
}

// Throttling: the share of periods in which the quota was used up, and for how long.
static void look_throttling(struct stk_sampling *s, struct group *g)
{
    char text[TEXT];
    uint64_t periods, throttled_periods, throttled;
    if (!stk_small_read(&g->files[CPU_STAT], text, sizeof text) ||
        !stk_small_value(text, "nr_periods", &periods) ||
        !stk_small_value(text, "nr_throttled", &throttled_periods)) {
        return;
    }
    double passed = stk_watch_rate(&g->periods, periods, s->look_s);
    double stopped = stk_watch_rate(&g->throttled_periods, throttled_periods, s->look_s);
    if (passed > 0 && stopped > 0) {
        stk_watch_put(s, STK_SAMPLE_OF_CGROUP_PERIODS, 0, stopped < passed ? stopped / passed : 1);
    }
    bool in_ns = g->is_v1 && stk_small_value(text, "throttled_time", &throttled);
    if (in_ns || stk_small_value(text, "throttled_usec", &throttled)) {
        double rate = stk_watch_rate(&g->throttled, throttled, s->look_s);
        if (rate > 0) {
            stk_watch_put(s, STK_SAMPLE_OF_CGROUP_THROTTLED, 0, rate * (in_ns ? 1e-9 : 1e-6));
        }
    }
}

static void cgroup_look(struct stk_sampling *s, void *state)
{
    static const enum stk_sampled ids[] = {STK_SAMPLE_OF_CGROUP_WAIT_CPU,
                                           STK_SAMPLE_OF_CGROUP_WAIT_IO,
                                           STK_SAMPLE_OF_CGROUP_WAIT_MEMORY};
    struct group *g = state;
    char text[512];
    look_throttling(s, g);
    for (int i = 0; i < 3; i++) {
        uint64_t stalled;
        if (stk_small_read(&g->files[WAIT_CPU + i], text, sizeof text) &&
            stk_small_pressure(text, &stalled)) {
            double share = stk_watch_rate(&g->stalled[i], stalled, s->look_s) * 1e-6;
            if (share > 0) {
                stk_watch_put(s, ids[i], 0, share < 1 ? share : 1);
            }
        }
    }
}

const struct stk_watch stk_watch_cgroup = {.name = "cgroup",
                                           .open = cgroup_open,
                                           .scan = cgroup_scan,
                                           .look = cgroup_look,
                                           .close = cgroup_close};
