// SPDX-License-Identifier: Apache-2.0
// The reader of a share (share.h). The helper process reads "share, size, plan" from its pipe,
// forks once per file, and passes on the output of each fork that ended well.
//
// Limits: waits for a file without progress, as a single process does.
#include "job/cluster/share.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "stoker/partial.h"

#define BYTES_MAX ((size_t)1 << 40)

struct order {
    uint64_t share, size;
};

static bool write_all(int fd, const void *bytes, size_t n)
{
    for (size_t at = 0; at < n;) {
        ssize_t k = write(fd, (const char *)bytes + at, n - at);
        if (k < 0 && errno != EINTR) {
            return false;
        }
        at += k > 0 ? (size_t)k : 0;
    }
    return true;
}

static bool read_all(int fd, void *bytes, size_t n)
{
    for (size_t at = 0; at < n;) {
        ssize_t k = read(fd, (char *)bytes + at, n - at);
        if (k == 0 || (k < 0 && errno != EINTR)) {
            return false;
        }
        at += k > 0 ? (size_t)k : 0;
    }
    return true;
}

// Reads to the end. False: no memory; the rest is skipped.
static bool drain(int fd, struct stk_vec *out)
{
    static char buffer[1 << 16];
    bool ok = true;
    for (ssize_t k; (k = read(fd, buffer, sizeof buffer)) != 0;) {
        if (k < 0 && errno == EINTR) {
            continue;
        }
        void *to = k > 0 && ok ? stk_vec_push_n(out, (size_t)k) : NULL;
        ok = to != NULL;
        if (k < 0) {
            return false;
        }
        if (ok) {
            memcpy(to, buffer, (size_t)k);
        }
    }
    return ok;
}

static int to_pipe(void *fd, const char *bytes, size_t n)
{
    return write_all(*(int *)fd, bytes, n) ? 0 : -1;
}

static int to_vec(void *vec, const char *bytes, size_t n)
{
    void *to = stk_vec_push_n(vec, n);
    if (to) {
        memcpy(to, bytes, n);
    }
    return to ? 0 : -1;
}

// Describes how the process of a file ended; NULL: well.
static const char *describe(int wait_status, char text[64])
{
    if (WIFSIGNALED(wait_status)) {
        snprintf(text, 64, "the process that read it was ended by signal %d",
                 WTERMSIG(wait_status));
        return text;
    }
    return WEXITSTATUS(wait_status) ? "the process that read it ran out of memory" : NULL;
}

// Reads one file in a separate process. Returns its partial, or one with the reason why it couldn't
// be read.
static bool read_file(const char *plan, size_t size, size_t share, size_t k,
                      const struct stoker_why_options *options, struct stk_vec *out)
{
    int ends[2], status = 0;
    char text[64];
    size_t before = out->count;
    if (pipe2(ends, O_CLOEXEC) != 0) {
        return false;
    }
    pid_t pid = fork();
    if (pid == 0) {
        close(ends[0]);
        _exit(stoker_plan_read(plan, size, share, k, NULL, options, to_pipe, &ends[1], NULL) ==
                      STOKER_OK
                  ? 0
                  : 1);
    }
    close(ends[1]);
    bool ok = drain(ends[0], out);
    close(ends[0]);
    if (pid > 0) {
        waitpid(pid, &status, 0);
    }
    const char *why = pid > 0 ? describe(status, text) : "no process could be started to read it";
    if (!why) {
        return ok;
    }
    out->count = before;
    return stoker_plan_read(plan, size, share, k, why, options, to_vec, out, NULL) == STOKER_OK;
}

_Noreturn static void serve(int from, int to, const struct stoker_why_options *options)
{
    struct order order;
    struct stk_vec out;
    if (!read_all(from, &order, sizeof order) || order.size > BYTES_MAX) {
        _exit(0); // no plan
    }
    char *plan = stk_alloc(order.size + 1);
    if (!plan || !read_all(from, plan, order.size)) {
        _exit(1);
    }
    stk_vec_init(&out, 1, BYTES_MAX);
    for (size_t k = 0; stoker_plan_file(plan, order.size, order.share, k); k++) {
        out.count = 0;
        if (!read_file(plan, order.size, order.share, k, options, &out) ||
            !write_all(to, out.items, out.count)) {
            _exit(1);
        }
    }
    _exit(0);
}

enum stoker_status stk_share_start(struct stk_share_reader *r,
                                   const struct stoker_why_options *options, struct stoker_err *err)
{
    int down[2], up[2] = {-1, -1};
    *r = (struct stk_share_reader){0, -1, -1};
    if (pipe2(down, O_CLOEXEC) != 0) {
        return stk_err_set(err, STOKER_ELIMIT, "can't make a pipe: %s", strerror(errno));
    }
    r->pid = pipe2(up, O_CLOEXEC) == 0 ? fork() : -1;
    if (r->pid == 0) {
        close(down[1]);
        close(up[0]);
        serve(down[0], up[1], options);
    }
    close(down[0]);
    close(up[1]);
    r->to = down[1];
    r->from = up[0];
    if (r->pid < 0) {
        stk_share_end(r);
        return stk_err_set(err, STOKER_ELIMIT, "can't start a process: %s", strerror(errno));
    }
    return STOKER_OK;
}

// The reader itself died: names all its files as unread.
static bool fail_share(const struct stk_vec *plan, size_t share, struct stk_vec *out)
{
    for (size_t k = 0; stoker_plan_file(plan->items, plan->count, share, k); k++) {
        if (stoker_plan_read(plan->items, plan->count, share, k,
                             "the process that read this share ended early", NULL, to_vec, out,
                             NULL) != STOKER_OK) {
            return false;
        }
    }
    return true;
}

bool stk_share_read(struct stk_share_reader *r, const struct stk_vec *plan, size_t share,
                    struct stk_vec *out)
{
    struct order order = {share, plan->count};
    size_t before = out->count;
    int status = 0;
    bool ok = write_all(r->to, &order, sizeof order) && write_all(r->to, plan->items, plan->count);
    bool has_memory = drain(r->from, out);
    waitpid(r->pid, &status, 0);
    r->pid = 0;
    if (ok && status == 0) {
        return has_memory;
    }
    out->count = before;
    return fail_share(plan, share, out);
}

void stk_share_end(struct stk_share_reader *r)
{
    if (r->to >= 0) {
        close(r->to);
    }
    if (r->from >= 0) {
        close(r->from);
    }
    if (r->pid > 0) {
        waitpid(r->pid, NULL, 0); // it ends when its pipe closes
    }
    *r = (struct stk_share_reader){0, -1, -1};
}
