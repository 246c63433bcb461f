// SPDX-License-Identifier: Apache-2.0
// Level 1 from outside the job; see gpu_windows.h.
#include "job/capture/parent/gpu_windows.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/guard.h"
#include "job/capture/parent/folder.h"
#include "job/capture/parent/gpu_pack.h"

#ifndef STOKER_LIBDIR // from the program's folder to that of libraries, once installed
#define STOKER_LIBDIR "../lib"
#endif

extern char **environ;

#define LIBRARY "libstoker_capture.so"
#define CONTROL "control"
enum { SEEN_MOST = 1024 }; // processes with hooks to look at
#define LIMIT_BYTES (UINT64_C(1) << 30)
// The time that a process with hooks has until its first step: imports, compilation.
#define HOOKED_AFTER_NS UINT64_C(60000000000)

static bool is_file(const char *path)
{
    return access(path, R_OK) == 0;
}

// Next to the program, where libraries are installed, or the file in STOKER_CAPTURE_LIBRARY.
static bool find_library(char *path, size_t size)
{
    const char *named = getenv("STOKER_CAPTURE_LIBRARY");
    static const char *const places[] = {"", STOKER_LIBDIR "/", "../lib/"};
    char own[3000];
    if (named && *named) {
        char *real = realpath(named, NULL);
        snprintf(path, size, "%s", real ? real : named);
        free(real);
        return is_file(path);
    }
    ssize_t n = readlink("/proc/self/exe", own, sizeof own - 1);
    if (n <= 0) {
        return false;
    }
    own[n] = 0;
    *(strrchr(own, '/') + 1) = 0;
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        snprintf(path, size, "%s%s" LIBRARY, own, places[i]);
        if (is_file(path)) {
            return true;
        }
    }
    return false;
}

static bool set_variable(struct stk_gpu_windows *g, int at, const char *name, const char *value)
{
    STK_ASSERT(at >= 0 && strchr(name, '=') == NULL);
    size_t n = strlen(name) + strlen(value) + 2;
    g->variables[at] = stk_alloc(n);
    if (g->variables[at]) {
        snprintf(g->variables[at], n, "%s=%s", name, value);
    }
    return g->variables[at] != NULL;
}

static int lay_out(struct stk_gpu_windows *g)
{
    struct stk_control *c = NULL;
    int fd =
        openat(g->hooks->folder, CONTROL, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    int error = fd < 0 ? errno : posix_fallocate(fd, 0, sizeof *c);
    if (!error) {
        void *at = mmap(NULL, sizeof *c, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        error = at == MAP_FAILED ? errno : 0;
        c = error ? NULL : at;
    }
    if (fd >= 0) {
        close(fd);
    }
    if (error) {
        return error;
    }
    g->guard = stk_guard_add(c, sizeof *c);
    c->version = STK_CONTROL_VERSION;
    c->bytes = sizeof *c;
    c->at_start = g->plan.after_ns == 0;
    c->limit_bytes = LIMIT_BYTES;
    snprintf(c->folder, sizeof c->folder, "%s", g->folder);
    memcpy(c->magic, STK_CONTROL_MAGIC, sizeof c->magic);
    g->control = c;
    return 0;
}

static bool is_set(const char *name)
{
    const char *value = getenv(name);
    return value && *value;
}

void stk_gpu_start(struct stk_gpu_windows *g, const char *folder, const struct stk_hooks *hooks,
                   const struct stk_gpu_plan *plan)
{
    char library[4096];
    *g = (struct stk_gpu_windows){.plan = *plan, .folder = folder, .hooks = hooks};
    if (is_set("CUDA_INJECTION64_PATH")) {
        snprintf(
            g->why_not, sizeof g->why_not,
            "no GPU windows: CUDA_INJECTION64_PATH is set, so another tool is recording the job");
        return;
    }
    if (!find_library(library, sizeof library)) {
        snprintf(g->why_not, sizeof g->why_not,
                 "no GPU windows: " LIBRARY
                 " is not next to stoker; set STOKER_CAPTURE_LIBRARY to its path");
        return;
    }
    if (strlen(folder) >= sizeof g->control->folder) {
        snprintf(g->why_not, sizeof g->why_not, "no GPU windows: the run's path is too long");
        return;
    }
    g->control_path = stk_folder_path(hooks->path, CONTROL);
    bool ok = g->control_path && set_variable(g, 0, "CUDA_INJECTION64_PATH", library) &&
              set_variable(g, 1, STK_CONTROL_VARIABLE, g->control_path);
    if (ok && !is_set("NVTX_INJECTION64_PATH")) { // keep another handler: ranges aren't recorded
        ok = set_variable(g, 2, "NVTX_INJECTION64_PATH", library);
    }
    int error = ok ? lay_out(g) : ENOMEM;
    if (error) {
        snprintf(g->why_not, sizeof g->why_not, "no GPU windows: %.200s: %s",
                 g->control_path ? g->control_path : folder, strerror(error));
    }
}

static bool is_replaced(const struct stk_gpu_windows *g, const char *variable)
{
    for (char *const *own = g->variables; *own; own++) {
        if (strncmp(variable, *own, strcspn(*own, "=") + 1) == 0) {
            return true;
        }
    }
    return false;
}

char **stk_gpu_environment(const struct stk_gpu_windows *g)
{
    size_t count = 0, kept = 0;
    while (environ[count]) {
        count++;
    }
    char **env = stk_alloc_array(count + STK_GPU_VARIABLES + 1, sizeof *env);
    if (!env) {
        return NULL;
    }
    for (char *const *own = g->variables; g->control && *own; own++) {
        env[kept++] = *own;
    }
    for (size_t i = 0; i < count; i++) {
        if (!g->control || !is_replaced(g, environ[i])) {
            env[kept++] = environ[i];
        }
    }
    env[kept] = NULL;
    return env;
}

// ---- windows by the clock ----

static uint32_t slots_of(const struct stk_gpu_windows *g)
{
    STK_ASSERT(g->control);
    uint32_t n = __atomic_load_n(&g->control->claimed, __ATOMIC_ACQUIRE);
    return n < STK_CONTROL_SLOTS ? n : STK_CONTROL_SLOTS;
}

static uint64_t pid_of(const struct stk_control_slot *s)
{
    return __atomic_load_n(&s->pid, __ATOMIC_ACQUIRE);
}

// Repeating an order costs a process nothing.
static void order(struct stk_gpu_windows *g, bool open)
{
    for (uint32_t i = 0; i < slots_of(g); i++) {
        struct stk_control_slot *s = &g->control->slots[i];
        if (pid_of(s) && __atomic_load_n(&s->order, __ATOMIC_ACQUIRE) != open) {
            __atomic_store_n(&s->order, open, __ATOMIC_RELEASE);
            __atomic_fetch_add(&s->wake, 1, __ATOMIC_RELEASE);
            syscall(SYS_futex, &s->wake, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
        }
    }
}

static bool has_steps(const char *folder)
{
    DIR *d = opendir(folder);
    struct dirent *e;
    bool found = false;
    while (d && !found && (e = readdir(d))) {
        found = strncmp(e->d_name, "steps-", 6) == 0;
    }
    if (d) {
        closedir(d);
    }
    return found;
}

// Whether a process with CUDA has loaded the hooks.
static bool is_hooked(const struct stk_gpu_windows *g)
{
    uint64_t pids[SEEN_MOST];
    size_t count = stk_hooks_seen(g->hooks, pids, SEEN_MOST);
    bool found = false;
    for (size_t k = 0; k < count && k < SEEN_MOST; k++) {
        for (uint32_t i = 0; i < slots_of(g); i++) {
            found = found || pid_of(&g->control->slots[i]) == pids[k];
        }
    }
    return found;
}

static void begin(struct stk_gpu_windows *g, uint64_t now_ns)
{
    g->first_ns = now_ns;
    g->is_open = g->plan.after_ns == 0;
    uint64_t after_ns = !g->plan.has_after && is_hooked(g) ? HOOKED_AFTER_NS : g->plan.after_ns;
    g->next_ns = !g->is_open ? now_ns + after_ns : g->plan.for_ns ? now_ns + g->plan.for_ns : 0;
}

static void turn(struct stk_gpu_windows *g, uint64_t now_ns)
{
    if (!g->is_open && !g->plan.has_after && has_steps(g->folder)) {
        g->next_ns = 0; // hooks open it, at a step
        return;
    }
    g->is_open = !g->is_open;
    uint64_t rest_ns =
        g->plan.every_ns > g->plan.for_ns ? g->plan.every_ns - g->plan.for_ns : g->plan.every_ns;
    uint64_t wait_ns = g->is_open ? g->plan.for_ns : rest_ns;
    g->next_ns = wait_ns ? now_ns + wait_ns : 0;
}

void stk_gpu_tick(struct stk_gpu_windows *g, uint64_t now_ns)
{
    if (!g->control || slots_of(g) == 0 || !pid_of(&g->control->slots[0])) {
        return;
    }
    if (!g->first_ns) {
        begin(g, now_ns);
    }
    if (g->next_ns && now_ns >= g->next_ns) {
        turn(g, now_ns);
    }
    order(g, g->is_open); // also for new processes
}

// ---- the end ----

static void keep_why(struct stk_gpu_totals *t, const char *why)
{
    STK_ASSERT(t->why_count <= STK_GPU_WHYS);
    char text[sizeof t->why[0]];
    memcpy(text, why, sizeof text);
    text[sizeof text - 1] = 0;
    for (uint32_t i = 0; i < t->why_count; i++) {
        if (strcmp(t->why[i], text) == 0) {
            return;
        }
    }
    if (text[0] && t->why_count < STK_GPU_WHYS) {
        memcpy(t->why[t->why_count++], text, sizeof text);
    }
}

static void add(struct stk_gpu_totals *t, const struct stk_control_slot *s)
{
    t->processes++;
    t->recorded += s->windows > 0;
    t->windows += s->windows;
    t->inside_ns += s->inside_ns;
    t->outside_ns += s->outside_ns;
    t->own_inside_ns += s->own_inside_ns;
    t->own_outside_ns += s->own_outside_ns;
    t->profiler_ns += s->profiler_ns;
    t->records += s->records;
    t->dropped += s->dropped;
    t->left_out += s->left_out;
    t->cupti_version = s->cupti_version ? s->cupti_version : t->cupti_version;
    keep_why(t, s->why);
}

// Is it a plain file name, without a folder?
static bool is_name(const char *name)
{
    size_t n = strnlen(name, sizeof(((struct stk_control_slot *)0)->file));
    return n && n < sizeof(((struct stk_control_slot *)0)->file) && !strchr(name, '/');
}

static void pack(const struct stk_gpu_windows *g, const struct stk_control_slot *s,
                 struct stk_gpu_totals *t)
{
    char *path = is_name(s->file) ? stk_folder_path(g->folder, s->file) : NULL;
    bool lives =
        kill((pid_t)pid_of(s), 0) == 0 || errno != ESRCH; // it outlived the job and may still write
    if (path && !lives) {
        t->bytes += stk_gpu_pack(path);
    }
    stk_free(path);
}

void stk_gpu_end(struct stk_gpu_windows *g, struct stk_gpu_totals *totals)
{
    *totals = (struct stk_gpu_totals){0};
    if (g->control) {
        uint32_t claimed = __atomic_load_n(&g->control->claimed, __ATOMIC_ACQUIRE);
        totals->left_out_processes = claimed - slots_of(g);
        for (uint32_t i = 0; i < slots_of(g); i++) {
            if (pid_of(&g->control->slots[i])) {
                add(totals, &g->control->slots[i]);
                pack(g, &g->control->slots[i], totals);
            }
        }
        if (stk_guard_is_torn(g->guard)) {
            snprintf(g->why_not, sizeof g->why_not,
                     "no GPU windows: the job truncated stoker's control file (%.200s)",
                     g->control_path);
        }
        stk_guard_drop(g->guard);
        munmap(g->control, sizeof *g->control);
        g->control = NULL;
    }
    stk_free(g->control_path);
    for (int i = 0; i < STK_GPU_VARIABLES; i++) {
        stk_free(g->variables[i]);
    }
}
