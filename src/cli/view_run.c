// SPDX-License-Identifier: Apache-2.0
// A run's folder as one JSON document, made while the job may still write to it: for each process
// that steps its header and its steps, of many the longest of each stretch; run.json as it is once
// it is there; and of the sampler's record the tables. What is damaged is left
// out, as `stoker run` does.
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/json.h"
#include "base/json_check.h"
#include "base/plain_file.h"
#include "job/capture/parent/step_record.h"
#include "cli/view_extras.h"
#include "stoker/stats.h"

enum { PROCESSES_MAX = 256, STRETCHES = 2000, JSON_MAX = 1 << 20 };

static bool is_record(const char *name)
{
    size_t n = strlen(name);
    return strncmp(name, "steps-", 6) == 0 && n > 10 && strcmp(name + n - 4, ".rec") == 0;
}

bool stk_view_is_run(const char *folder)
{
    DIR *dir = opendir(folder);
    bool found = false;
    for (const struct dirent *e; dir && !found && (e = readdir(dir)) != NULL;) {
        found = is_record(e->d_name) || strcmp(e->d_name, "run.json") == 0;
    }
    if (dir) {
        closedir(dir);
    }
    return found;
}

static bool read_at(int fd, void *to, size_t n, off_t at)
{
    char *p = to;
    for (ssize_t got; n; p += got, at += got, n -= (size_t)got) {
        got = pread(fd, p, n, at);
        if (got <= 0) {
            return false;
        }
    }
    return true;
}

static void put_number(struct stk_json *j, const char *key, uint64_t value)
{
    stk_json_key(j, key);
    stk_json_u64(j, value);
}

// [number, end_ns, dur_ns, wait_ns, flags] of the longest step of each stretch of `every`.
static void put_steps(struct stk_json *j, const struct stk_steps_record *r, uint64_t n)
{
    uint64_t every = n / STRETCHES + 1;
    put_number(j, "every", every);
    stk_json_key(j, "steps");
    stk_json_open(j, '[', false);
    for (uint64_t i = 0; i < n; i += every) {
        uint64_t best = i, end = i + every < n ? i + every : n, flags = 0;
        for (uint64_t k = i; k < end; k++) {
            best = r[k].dur_ns > r[best].dur_ns ? k : best;
            flags |= r[k].flags;
        }
        const uint64_t row[] = {best, r[best].end_ns, r[best].dur_ns, r[best].wait_ns, flags};
        stk_json_open(j, '[', true);
        for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
            stk_json_u64(j, row[k]);
        }
        stk_json_close(j, ']');
    }
    stk_json_close(j, ']');
}

static void put_process(struct stk_json *j, int fd)
{
    struct stk_steps_header h;
    if (!stk_steps_read_head(fd, &h)) {
        return;
    }
    struct stk_steps_record *records = stk_alloc_array((size_t)h.kept + 1, sizeof *records);
    if (records && read_at(fd, records, (size_t)h.kept * sizeof *records, STK_STEPS_HEADER_BYTES)) {
        stk_json_open(j, '{', false);
        stk_json_key(j, "rank");
        if (h.rank >= 0) {
            stk_json_i64(j, h.rank);
        } else {
            stk_json_null(j);
        }
        put_number(j, "pid", h.pid);
        put_number(j, "count", h.count);
        put_number(j, "step_ns", h.step_ns);
        put_number(j, "first_ns", h.first_ns);
        put_number(j, "last_ns", h.last_ns);
        if (h.has_wait) {
            put_number(j, "wait_ns", h.wait_ns);
        }
        put_number(j, "window_first", h.window_first);
        put_number(j, "window_steps", h.window_steps);
        put_number(j, "window_state", h.window_state);
        stk_json_key(j, "framework");
        stk_json_text(j, h.framework);
        stk_json_key(j, "notes");
        stk_json_text(j, h.notes);
        put_steps(j, records, h.kept);
        stk_json_close(j, '}');
    }
    stk_free(records);
}

static void put_processes(struct stk_json *j, DIR *dir)
{
    int left = PROCESSES_MAX;
    stk_json_key(j, "processes");
    stk_json_open(j, '[', false);
    for (const struct dirent *e; left > 0 && (e = readdir(dir)) != NULL;) {
        int fd = is_record(e->d_name)
                     ? openat(dirfd(dir), e->d_name, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
                     : -1;
        if (fd >= 0) {
            put_process(j, fd);
            close(fd);
            left--;
        }
    }
    stk_json_close(j, ']');
}

// run.json, which stoker run writes when the job has ended, as it stands there. What is no document
// of that kind, such as half a file, would break the one around it.
static void put_run(struct stk_json *j, DIR *dir)
{
    size_t n;
    char *text = stk_plain_text(dirfd(dir), "run.json", JSON_MAX, &n);
    stk_json_key(j, "run");
    if (text && text[0] == '{' && strstr(text, "\"stoker.run/") && stk_json_is_value(text, n)) {
        stk_json_raw(j, text);
    } else {
        stk_json_null(j);
    }
    stk_free(text);
}

// What the sampler recorded until now: the tables of `stoker stats machine`; null: no record.
static void put_machine(struct stk_json *j, const char *folder)
{
    char path[4096];
    const char *const paths[] = {path};
    struct stoker_tables *tables = NULL;
    struct stk_body text = {.p = NULL};
    struct stoker_err err;
    bool is_there = snprintf(path, sizeof path, "%s/machine.stk", folder) < (int)sizeof path &&
                    access(path, R_OK) == 0;
    stk_json_key(j, "machine");
    if (is_there && stoker_stats("machine", paths, 1, NULL, &tables, &err) == STOKER_OK &&
        stoker_tables_write(tables, "json", NULL, NULL, stk_body_write, &text, &err) == STOKER_OK) {
        stk_json_raw(j, text.p);
    } else {
        stk_json_null(j);
    }
    stk_body_free(&text);
    stoker_tables_free(tables);
}

enum stoker_status stk_view_run_make(const struct stk_view_extra *self, struct stk_body *out,
                                     struct stoker_err *err)
{
    struct stk_sink sink;
    struct stk_json j;
    DIR *dir = opendir(self->arg);
    if (!dir) {
        return stk_err_set(err, STOKER_EMISSING, "%s: the folder is not there any more",
                           self->name);
    }
    stk_sink_init(&sink, stk_body_write, out);
    stk_json_init(&j, &sink);
    stk_json_open(&j, '{', false);
    stk_json_key(&j, "schema");
    stk_json_text(&j, "stoker.view.run/1");
    put_processes(&j, dir);
    put_run(&j, dir);
    put_machine(&j, self->arg);
    stk_json_close(&j, '}');
    closedir(dir);
    return stk_sink_finish(&sink, err);
}
