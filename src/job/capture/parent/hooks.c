// SPDX-License-Identifier: Apache-2.0
// The hooks' files; see hooks.h. They are written, found and removed through open folders,
// so that files that a job puts there instead are neither read nor removed.
#include "job/capture/parent/hooks.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/plain_file.h"
#include "base/remove.h"
#include "job/capture/parent/folder.h"
#include "job/capture/parent/hook_files.h"
#include "job/capture/parent/mark.h"
#include "job/capture/parent/whose.h"

extern char **environ;

#define NAME "hooks"
#define COMPILED "__pycache__"
#define SEEN "seen"
enum { SEEN_BYTES = 1 << 20 }; // read from that file at most

// ---- writing ----

static enum stoker_status cannot(const char *path, const char *name, int error,
                                 struct stoker_err *err)
{
    return stk_err_set(err, stk_err_of_file(error, STOKER_EOUTPUT), "%s/%s: %s", path, name,
                       strerror(error));
}

static enum stoker_status put_file(const struct stk_hooks *h, const struct stk_hook_file *f,
                                   struct stoker_err *err)
{
    int error = 0,
        fd = openat(h->folder, f->name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0) {
        error = errno;
    }
    for (const char *p = f->bytes; !error && p < f->end;) {
        ssize_t n = write(fd, p, (size_t)(f->end - p));
        p += n > 0 ? n : 0;
        error = n < 0 && errno != EINTR ? errno : 0;
    }
    if (fd >= 0 && close(fd) != 0 && !error) {
        error = errno;
    }
    return error ? cannot(h->path, f->name, error, err) : STOKER_OK;
}

static enum stoker_status make_in_run(const char *run, struct stk_hooks *h, struct stoker_err *err)
{
    h->path = stk_folder_path(run, NAME);
    if (!h->path) {
        return stk_err_nomem(err);
    }
    h->above = stk_folder_itself(AT_FDCWD, run);
    if (h->above < 0 || mkdirat(h->above, NAME, 0700) != 0) {
        return cannot(run, NAME, errno, err);
    }
    h->folder = stk_folder_itself(h->above, NAME);
    if (h->folder < 0) {
        enum stoker_status status = cannot(run, NAME, errno, err);
        (void)stk_remove_folder(h->above, NAME);
        return status;
    }
    h->mark = stk_mark_put(h->folder);
    return STOKER_OK;
}

static enum stoker_status make_private(struct stk_hooks *h, struct stoker_err *err)
{
    enum stoker_status status = stk_scratch_make_safe(&h->private, err);
    if (status != STOKER_OK) {
        return status;
    }
    size_t n = strlen(h->private.path) + 1;
    h->path = stk_alloc(n);
    h->folder = h->private.folder;
    if (!h->path) {
        stk_scratch_remove(&h->private);
        return stk_err_nomem(err);
    }
    memcpy(h->path, h->private.path, n);
    return STOKER_OK;
}

enum stoker_status stk_hooks_put(const char *run, struct stk_hooks *h, struct stoker_err *err)
{
    *h = (struct stk_hooks){.folder = -1, .above = -1, .mark = -1, .private = STK_NO_SCRATCH};
    enum stoker_status status =
        stk_is_safe_path(run) ? make_in_run(run, h, err) : make_private(h, err);
    for (int i = 0; status == STOKER_OK && stk_hook_files[i].name; i++) {
        status = put_file(h, &stk_hook_files[i], err);
    }
    return status;
}

// ---- removing ----

static bool begins_with(const char *name, const char *start)
{
    return strncmp(name, start, strlen(start)) == 0;
}

// Files of this program, the hooks and the capture library; the sockets are those of both ends of
// Kineto's protocol (job/capture/remote/kineto.c).
static bool is_own_name(const char *name)
{
    for (int i = 0; stk_hook_files[i].name; i++) {
        if (strcmp(name, stk_hook_files[i].name) == 0) {
            return true;
        }
    }
    return strcmp(name, SEEN) == 0 || strcmp(name, "control") == 0 ||
           strcmp(name, "dynolog") == 0 || begins_with(name, "dynoconfigclient");
}

// "_stoker_core.cpython-313.pyc", also under Python's temporary name.
static bool is_compiled_name(const char *name)
{
    for (int i = 0; stk_hook_files[i].name; i++) {
        size_t stem = strcspn(stk_hook_files[i].name, ".");
        if (strncmp(name, stk_hook_files[i].name, stem) == 0 && name[stem] == '.') {
            return true;
        }
    }
    return false;
}

// Removes the mark last, so that leftovers are found again if this is killed.
static void empty(int folder)
{
    int compiled = stk_folder_itself(folder, COMPILED);
    if (compiled >= 0) {
        stk_remove_named(compiled, is_compiled_name);
        close(compiled);
        (void)stk_remove_folder(folder, COMPILED);
    }
    stk_remove_named(folder, is_own_name);
    (void)stk_remove_file(folder, STK_MARK);
}

void stk_hooks_drop(struct stk_hooks *h)
{
    if (!h->path) {
        return;
    }
    if (h->above >= 0 && h->folder >= 0) {
        empty(h->folder);
        (void)stk_remove_folder(h->above, NAME);
        close(h->folder);
    }
    if (h->above >= 0) {
        close(h->above);
    }
    stk_mark_release(h->mark);
    stk_scratch_remove(&h->private);
    stk_free(h->path);
    *h = (struct stk_hooks){0};
}

bool stk_hooks_sweep(int run, const char *path)
{
    struct stat info;
    int hooks = stk_folder_itself(run, NAME);
    bool is_own = hooks >= 0 && fstat(hooks, &info) == 0 && info.st_uid == geteuid();
    int mark = is_own ? stk_mark_take(hooks, path) : -1;
    if (mark >= 0) {
        empty(hooks);
        (void)stk_remove_folder(run, NAME);
        stk_mark_release(mark);
    }
    if (hooks >= 0) {
        close(hooks);
    }
    return mark >= 0;
}

// ---- questions ----

size_t stk_hooks_seen(const struct stk_hooks *h, uint64_t *pids, size_t most)
{
    STK_ASSERT(pids || most == 0);
    size_t n, count = 0;
    char *text = h->path ? stk_plain_text(h->folder, SEEN, SEEN_BYTES, &n) : NULL, *end;
    for (char *line = text; line && *line; line = strchr(end, '\n'), line += line != NULL) {
        unsigned long long pid = strtoull(line, &end, 10);
        if (end == line || *end != '\n') {
            break;
        }
        if (count < most) {
            pids[count] = pid;
        }
        count++;
    }
    stk_free(text);
    return count;
}

// ---- settings ----

static bool is_named(const char *variable, const char *name)
{
    STK_ASSERT(*name);
    size_t n = strlen(name);
    return strncmp(variable, name, n) == 0 && variable[n] == '=';
}

void stk_hooks_plan(const struct stk_hook_plan *plan, const char *run, char to[STK_HOOK_PLAN_MAX])
{
    snprintf(to, STK_HOOK_PLAN_MAX,
             "steps=%" PRIu64 " warmup=%" PRIu64 " saves=%d gpu=%d every=%" PRIu64
             " input=%s dir=%s",
             plan->steps, plan->warmup, plan->saves, plan->gpu, plan->every_ns, plan->input, run);
}

// The value of a variable; NULL: not set.
static const char *value_in(char *const *env, const char *name)
{
    for (; *env; env++) {
        if (is_named(*env, name)) {
            return *env + strlen(name) + 1;
        }
    }
    return NULL;
}

// Kineto's messages about its windows ("USDT:... profiler_start") aren't the job's output.
static char quiet[] = "KINETO_LOG_LEVEL=99";

char **stk_hooks_environment(const struct stk_hooks *h, char *const *base, const char *plan)
{
    char *const *from = base ? base : environ;
    const char *python = value_in(from, "PYTHONPATH");
    size_t count = 0;
    while (from[count]) {
        count++;
    }
    // An empty part of PYTHONPATH means the working directory, so don't add one.
    bool has_more = python && *python;
    size_t path_n = strlen("PYTHONPATH=:") + strlen(h->path) + (has_more ? strlen(python) : 0);
    size_t plan_n = strlen("STOKER_RUN=") + strlen(plan);
    char **env = stk_alloc((count + 4) * sizeof *env + path_n + plan_n + 2);
    if (!env) {
        return NULL;
    }
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (!is_named(from[i], "PYTHONPATH") && !is_named(from[i], "STOKER_RUN")) {
            env[kept++] = from[i];
        }
    }
    char *text = (char *)(env + count + 4);
    snprintf(text, path_n + 1, "PYTHONPATH=%s%s%s", h->path, has_more ? ":" : "",
             has_more ? python : "");
    env[kept++] = text;
    snprintf(text + path_n + 1, plan_n + 1, "STOKER_RUN=%s", plan);
    env[kept++] = text + path_n + 1;
    if (!value_in(from, "KINETO_LOG_LEVEL")) {
        env[kept++] = quiet;
    }
    env[kept] = NULL;
    return env;
}
