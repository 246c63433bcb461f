// SPDX-License-Identifier: Apache-2.0
// A run's folder as one JSON document, made while the job may still write to it: for each stepping
// process its header and its steps (if there are many, the longest of each stretch), run.json
// unchanged once it exists, and the tables of the sampler's record. Damaged parts are omitted, as
// `stoker run` does.
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/arena.h"
#include "base/json_check.h"
#include "base/plain_file.h"
#include "job/capture/parent/step_record.h"
#include "cli/view_extras.h"
#include "results/print/document.h"
#include "results/view.h"
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
    STK_ASSERT(fd >= 0 && at >= 0);
    char *p = to;
    for (ssize_t got; n; p += got, at += got, n -= (size_t)got) {
        got = pread(fd, p, n, at);
        if (got <= 0) {
            return false;
        }
    }
    return true;
}

struct filling {
    struct stk_arena arena;
    struct stk_view_run_doc doc;
};

// The longest step of each stretch of `every`; false: no memory.
static bool fill_steps(struct filling *f, struct stk_view_run_doc_process *p,
                       const struct stk_steps_record *r, uint64_t n)
{
    STK_ASSERT(r || n == 0);
    uint64_t every = n / STRETCHES + 1;
    struct stk_view_run_doc_step *rows =
        stk_list_room(&f->arena, &p->steps, (size_t)(n / every), sizeof *rows);
    p->every = every;
    for (uint64_t i = 0; rows && i < n; i += every) {
        uint64_t best = i, end = i + every < n ? i + every : n, flags = 0;
        for (uint64_t k = i; k < end; k++) {
            best = r[k].dur_ns > r[best].dur_ns ? k : best;
            flags |= r[k].flags;
        }
        rows[p->steps.count++] =
            (struct stk_view_run_doc_step){.number = best,
                                           .end_ns = stk_field_ns(r[best].end_ns),
                                           .dur_ns = stk_field_ns(r[best].dur_ns),
                                           .wait_ns = stk_field_ns(r[best].wait_ns),
                                           .flags = flags};
    }
    return rows != NULL;
}

static bool fill_header(struct filling *f, struct stk_view_run_doc_process *p,
                        const struct stk_steps_header *h)
{
    *p = (struct stk_view_run_doc_process){.has_rank = h->rank >= 0,
                                           .rank = h->rank,
                                           .pid = h->pid,
                                           .count = h->count,
                                           .step_ns = stk_field_ns(h->step_ns),
                                           .first_ns = stk_field_ns(h->first_ns),
                                           .last_ns = stk_field_ns(h->last_ns),
                                           .has_wait = h->has_wait > 0,
                                           .wait_ns = stk_field_ns(h->wait_ns),
                                           .window_first = h->window_first,
                                           .window_steps = h->window_steps,
                                           .window_state = h->window_state,
                                           .framework = stk_arena_strdup(&f->arena, h->framework),
                                           .notes = stk_arena_strdup(&f->arena, h->notes)};
    return p->framework && p->notes;
}

// Skips files that aren't step records; false: no memory.
static bool fill_process(struct filling *f, struct stk_view_run_doc_process *rows, int fd)
{
    struct stk_steps_header h;
    if (!stk_steps_read_head(fd, &h)) {
        return true;
    }
    struct stk_steps_record *records = stk_alloc_array((size_t)h.kept + 1, sizeof *records);
    struct stk_view_run_doc_process *p = &rows[f->doc.processes.count];
    bool ok = true;
    if (records && read_at(fd, records, (size_t)h.kept * sizeof *records, STK_STEPS_HEADER_BYTES)) {
        ok = fill_header(f, p, &h) && fill_steps(f, p, records, h.kept);
        f->doc.processes.count += ok;
    }
    stk_free(records);
    return ok;
}

static bool fill_processes(struct filling *f, DIR *dir)
{
    struct stk_view_run_doc_process *rows =
        stk_list_room(&f->arena, &f->doc.processes, PROCESSES_MAX, sizeof *rows);
    int left = PROCESSES_MAX;
    bool ok = rows != NULL;
    for (const struct dirent *e; ok && left > 0 && (e = readdir(dir)) != NULL;) {
        int fd = is_record(e->d_name)
                     ? openat(dirfd(dir), e->d_name, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
                     : -1;
        if (fd >= 0) {
            ok = fill_process(f, rows, fd);
            close(fd);
            left--;
        }
    }
    return ok;
}

// The unchanged text of run.json, which stoker run writes after the job; free with stk_free. NULL:
// not there, or not such a document, for example half a file, which would break the one around it.
static char *read_run(DIR *dir)
{
    size_t n;
    char *text = stk_plain_text(dirfd(dir), "run.json", JSON_MAX, &n);
    if (text && text[0] == '{' && strstr(text, "\"stoker.run/") && stk_json_is_value(text, n)) {
        return text;
    }
    stk_free(text);
    return NULL;
}

// The sampler's record until now, as the tables of `stoker stats machine`; empty: no record.
static void read_machine(struct stk_body *text, DIR *dir, const char *folder)
{
    char path[4096];
    const char *const paths[] = {path};
    struct stoker_tables *tables = NULL;
    struct stoker_err err;
    int fd = stk_plain_open(dirfd(dir), "machine.stk"); // a pipe or a device would never end
    bool is_there =
        fd >= 0 && snprintf(path, sizeof path, "%s/machine.stk", folder) < (int)sizeof path;
    if (!is_there || stoker_stats("machine", paths, 1, NULL, &tables, &err) != STOKER_OK ||
        stoker_tables_write(tables, "json", NULL, NULL, stk_body_write, text, &err) != STOKER_OK) {
        stk_body_free(text);
    }
    stoker_tables_free(tables);
    if (fd >= 0) {
        close(fd);
    }
}

enum stoker_status stk_view_run_make(const struct stk_view_extra *self, struct stk_body *out,
                                     struct stoker_err *err)
{
    struct stk_sink sink;
    struct filling f = {.doc = {.schema = STK_VIEW_RUN_SCHEMA}};
    struct stk_body machine = {.p = NULL};
    DIR *dir = opendir(self->arg);
    if (!dir) {
        return stk_err_set(err, STOKER_EMISSING, "%s: the folder no longer exists", self->name);
    }
    stk_sink_init(&sink, stk_body_write, out);
    stk_arena_init(&f.arena, 0);
    bool ok = fill_processes(&f, dir);
    char *run = read_run(dir);
    read_machine(&machine, dir, self->arg);
    f.doc.run.json = run;
    f.doc.machine.json = machine.p;
    if (ok) {
        stk_json_document(&stk_view_run_doc_info, &f.doc, false, &sink);
    }
    stk_body_free(&machine);
    stk_free(run);
    stk_arena_deinit(&f.arena);
    closedir(dir);
    return ok ? stk_sink_finish(&sink, err) : stk_err_nomem(err);
}
