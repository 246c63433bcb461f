// SPDX-License-Identifier: Apache-2.0
// Files in a private folder, each in a separate one; see drops.h. A name keeps only letters,
// digits, dots, dashes and underscores, so it stays a single name whose suffix shows the format.
#include "serve/drops.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/str.h"

enum { NAME_CHARS = 100, PATH_CHARS = 4096 };

void stk_drops_open(struct stk_drops *d, const char *folder)
{
    d->folder = folder;
    atomic_init(&d->count, 0);
}

void stk_drops_close(struct stk_drops *d)
{
    for (int i = 0; i < STK_DROPS_MAX; i++) {
        stk_documents_free(atomic_load(&d->list[i].documents));
        stk_free(d->list[i].path);
    }
}

static void fail(struct stk_drop_file *f, enum stoker_status status, const char *why)
{
    if (!f->failed) {
        stk_err_set(&f->err, status, "%s", why);
    }
    f->failed = true;
}

static void plain_name(const char *name, char out[NAME_CHARS])
{
    const char *last = strrchr(name, '/');
    size_t n = 0;
    for (const char *p = last ? last + 1 : name; *p && n + 1 < NAME_CHARS; p++) {
        bool is_plain = (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') ||
                        (*p >= '0' && *p <= '9') || *p == '.' || *p == '-' || *p == '_';
        bool hides = n == 0 && *p == '.';
        out[n++] = is_plain && !hides ? *p : '_';
    }
    out[n] = 0;
    if (n == 0) {
        snprintf(out, NAME_CHARS, "profile");
    }
}

void stk_drop_begin(struct stk_drops *d, struct stk_drop_file *f, const char *name)
{
    char plain[NAME_CHARS], path[PATH_CHARS];
    *f = (struct stk_drop_file){.fd = -1};
    stk_err_init(&f->err);
    if (!d->folder) {
        fail(f, STOKER_EUSAGE, "this server takes no files");
        return;
    }
    f->index = atomic_fetch_add(&d->count, 1);
    if (f->index >= STK_DROPS_MAX) {
        atomic_fetch_sub(&d->count, 1);
        fail(f, STOKER_ELIMIT, "8 files were dropped already: restart stoker view to open more");
        return;
    }
    plain_name(name ? name : "", plain);
    int n = snprintf(path, sizeof path, "%s/%d", d->folder, f->index);
    if (n < 0 || (size_t)n + NAME_CHARS + 1 >= sizeof path || mkdir(path, 0700) != 0) {
        fail(f, STOKER_EOUTPUT, "the private folder for dropped files can't be written");
        return;
    }
    snprintf(path + n, sizeof path - (size_t)n, "/%s", plain);
    f->fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    char *kept = stk_alloc(strlen(path) + 1);
    if (f->fd < 0 || !kept) {
        stk_free(kept);
        fail(f, STOKER_EOUTPUT, "the dropped file can't be written to its private folder");
        return;
    }
    memcpy(kept, path, strlen(path) + 1);
    d->list[f->index].path = kept;
    d->list[f->index].paths[0] = kept;
}

void stk_drop_write(struct stk_drop_file *f, const char *bytes, size_t n)
{
    if (n > STK_DROP_BYTES - f->bytes) {
        fail(f, STOKER_ELIMIT, "the file is larger than 1 GB: give its name to stoker view");
    }
    while (n > 0 && !f->failed) {
        ssize_t put = write(f->fd, bytes, n);
        if (put < 0 && errno == EINTR) {
            continue;
        }
        if (put <= 0) {
            fail(f, STOKER_EOUTPUT, "the dropped file can't be written: is the disk full?");
            return;
        }
        bytes += put;
        n -= (size_t)put;
        f->bytes += (uint64_t)put;
    }
}

void stk_drop_cancel(struct stk_drop_file *f)
{
    if (f->fd >= 0) {
        close(f->fd);
    }
    f->fd = -1;
}

enum stoker_status stk_drop_finish(struct stk_drops *d, struct stk_drop_file *f,
                                   const struct stk_view_plan *beside, bool is_compared,
                                   int *number, struct stoker_err *err)
{
    if (!f->failed && f->bytes == 0) {
        fail(f, STOKER_EUSAGE, "the file is empty");
    }
    stk_drop_cancel(f);
    if (f->failed) {
        *err = f->err;
        return err->code;
    }
    STK_ASSERT(f->index >= 0 && f->index < STK_DROPS_MAX);
    struct stk_drop *drop = &d->list[f->index];
    struct stk_view_plan plan = *beside;
    struct stk_documents *documents = NULL;
    plan.extras = NULL;
    plan.extra_count = 0;
    plan.uses_cache = false;
    int side = is_compared && plan.path_count[STK_VIEW_A] > 0 ? STK_VIEW_B : STK_VIEW_A;
    plan.path_count[STK_VIEW_B] = 0;
    plan.paths[side] = drop->paths;
    plan.path_count[side] = 1;
    enum stoker_status status = stk_documents_open(&documents, &plan, err);
    if (status == STOKER_OK) {
        atomic_store(&drop->documents, documents);
        *number = f->index + 1;
    }
    return status;
}

struct stk_documents *stk_drops_documents(struct stk_drops *d, const char *number)
{
    int64_t n;
    if (!stk_str_to_i64(stk_str_from(number), &n) || n < 1 || n > STK_DROPS_MAX) {
        return NULL;
    }
    return atomic_load(&d->list[n - 1].documents);
}
