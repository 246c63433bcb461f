// SPDX-License-Identifier: Apache-2.0
// The functions of stoker/live.h: opens a target, follows it, and keeps its newest moment.
//
// If a run records itself, its files are read, which costs it nothing. For any other process the
// sampler of `stoker run` is started, with a file in memory whose read part is freed.
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/memory_file.h"
#include "base/plain_file.h"
#include "job/capture/parent/folder.h"
#include "job/capture/parent/sampler.h"
#include "job/live/now.h"

#define WINDOW_NS INT64_C(5000000000)
#define ARENA_BYTES ((size_t)256 << 20) // a moment takes less than a tenth
#define FIRST_LOOKS 6u                  // of the own sampler: by then it has scanned twice
#define FIRST_NS UINT64_C(2000000000)
#define SILENT_S 10.0 // and five looks: then a record is silent
#define STALE_S 60    // there is a look at least every 30 s

struct stoker_live {
    struct stk_live_target target;
    int64_t window_ns;
    struct stk_sampler *sampler; // NULL: reads the run's own
    int fd;                      // of the record; -1 before it exists
    struct stk_live_record *record;
    bool has_steps;
    struct stk_live_steps steps;
    uint64_t grown_ns, bytes; // when the record last grew, and to what size
    uint64_t opened_ns;
    struct stk_arena arena; // of `now`
    struct stk_now now;
};

static enum stoker_status start_sampler(struct stoker_live *l, bool no_gpu, struct stoker_err *err)
{
    struct stk_sampler_options options = {.no_gpu = no_gpu};
    char path[STK_MEMORY_FILE_PATH];
    l->fd = stk_memory_file("stoker-top", path);
    if (l->fd < 0) {
        return stk_err_set(err, STOKER_ELIMIT, "can't create a file in memory for the samples");
    }
    return stk_sampler_start(&l->sampler, l->target.pid, &options, path, err);
}

static void open_record(struct stoker_live *l)
{
    char *path = stk_folder_path(l->target.folder, "machine.stk");
    l->fd = path ? stk_plain_open(AT_FDCWD, path) : -1;
    stk_free(path);
}

// Is the record still written?
static bool is_fresh(int fd)
{
    struct stat st;
    return fd >= 0 && fstat(fd, &st) == 0 && time(NULL) - st.st_mtime < STALE_S;
}

static enum stoker_status open_target(struct stoker_live *l, const char *target, bool no_gpu,
                                      struct stoker_err *err)
{
    enum stoker_status status = stk_live_target_find(target, &l->target, err);
    if (status != STOKER_OK) {
        return status;
    }
    if (l->target.folder[0]) {
        status = stk_live_steps_open(&l->steps, l->target.folder, err);
        l->has_steps = status == STOKER_OK;
        open_record(l);
    }
    if (status == STOKER_OK && l->target.pid && !is_fresh(l->fd)) {
        if (l->fd >= 0) {
            close(l->fd);
        }
        status = start_sampler(l, no_gpu, err);
    }
    if (status == STOKER_OK && l->fd >= 0) {
        status = stk_live_record_open(&l->record, l->fd, l->sampler != NULL, err);
    }
    return status;
}

enum stoker_status stoker_live_open(const char *target, const struct stoker_live_options *options,
                                    struct stoker_live **out, struct stoker_err *err)
{
    static const struct stoker_live_options usual;
    if (!target || !out) {
        return stk_err_misuse(err, "stoker_live_open needs a target and a pointer for the result");
    }
    const struct stoker_live_options *o = options ? options : &usual;
    err = stk_err_begin(err, &(struct stoker_err){0});
    *out = NULL;
    struct stoker_live *l = stk_alloc_zero(1, sizeof *l);
    if (!l) {
        stk_err_nomem(err);
        return stk_err_fail(err);
    }
    l->fd = -1;
    l->grown_ns = l->opened_ns = stk_clock_ns();
    l->window_ns = o->window_ns && o->window_ns < INT64_MAX ? (int64_t)o->window_ns : WINDOW_NS;
    stk_arena_init(&l->arena, ARENA_BYTES);
    if (open_target(l, target, o->no_gpu, err) != STOKER_OK) {
        stoker_live_close(l);
        return stk_err_fail(err);
    }
    *out = l;
    return stk_err_end(err, STOKER_OK);
}

void stoker_live_close(struct stoker_live *l)
{
    if (!l) {
        return;
    }
    (void)!stk_sampler_stop(l->sampler, NULL, NULL);
    stk_live_record_close(l->record);
    if (l->has_steps) {
        stk_live_steps_close(&l->steps);
    }
    if (l->fd >= 0) {
        close(l->fd);
    }
    stk_arena_deinit(&l->arena);
    stk_free(l);
}

// ---- following ----

static bool holds(const struct stoker_live *l, const char *name)
{
    char *path = stk_folder_path(l->target.folder, name);
    struct stat st;
    bool is_there = path && stat(path, &st) == 0;
    stk_free(path);
    return is_there;
}

static bool has_ended(const struct stoker_live *l)
{
    return l->target.pid ? !stk_live_is_alive(l->target.pid) : holds(l, "run.json");
}

static enum stoker_status follow_record(struct stoker_live *l, struct stoker_err *err)
{
    enum stoker_status status = STOKER_OK;
    if (l->fd < 0) { // the run has just begun
        open_record(l);
        if (l->fd >= 0) {
            status = stk_live_record_open(&l->record, l->fd, false, err);
        }
    }
    if (status == STOKER_OK && l->record) {
        status = stk_live_record_follow(l->record, err);
    }
    return status;
}

// How long the record has been silent, if longer than its pace allows.
static double silence_of(struct stoker_live *l, const struct stk_live_record_state *state)
{
    uint64_t now_ns = stk_clock_ns();
    if (state->bytes != l->bytes) {
        l->bytes = state->bytes;
        l->grown_ns = now_ns;
    }
    double silent_s = (double)(now_ns - l->grown_ns) * 1e-9;
    struct stat st;
    if (!l->sampler && l->fd >= 0 && fstat(l->fd, &st) == 0) { // silent since before the start
        double age_s = (double)(time(NULL) - st.st_mtime);
        silent_s = age_s > silent_s ? age_s : silent_s;
    }
    double allowed_s = 5 * state->look_s > SILENT_S ? 5 * state->look_s : SILENT_S;
    return silent_s > allowed_s ? silent_s : 0;
}

static pid_t root_of(const struct stoker_live *l, const struct stk_machine_view *v)
{
    if (l->target.pid || !v) {
        return l->target.pid;
    }
    for (uint32_t i = 0; i < v->process_count; i++) {
        bool has_parent = false;
        for (uint32_t k = 0; k < v->process_count; k++) {
            has_parent |= v->processes[k].pid == v->processes[i].parent;
        }
        if (!has_parent) {
            return (pid_t)v->processes[i].pid;
        }
    }
    return 0;
}

// Reads the command's words once, since the process may end.
static void find_command(struct stoker_live *l)
{
    if (!l->target.command[0] && l->now.root && stk_live_is_alive(l->now.root)) {
        stk_live_command(l->now.root, l->target.command, sizeof l->target.command);
    }
}

static enum stoker_status fill(struct stoker_live *l, struct stoker_err *err)
{
    struct stk_live_record_state state = {0};
    struct stk_now *now = &l->now;
    *now = (struct stk_now){.target = &l->target,
                            .record = l->record,
                            .steps = l->has_steps ? &l->steps : NULL,
                            .is_own_sampler = l->sampler != NULL,
                            .time_ns = (int64_t)stk_clock_of(CLOCK_REALTIME)};
    if (l->record) {
        state = stk_live_record_state(l->record);
        now->view = stk_live_record_view(l->record, l->window_ns, &l->arena);
    }
    now->has_ended = state.has_ended || has_ended(l);
    now->silent_s = now->has_ended ? 0 : silence_of(l, &state);
    if (l->has_steps) {
        bool is_far = !state.newest_ns || now->silent_s > 0;
        int64_t clock_ns = is_far ? (int64_t)stk_clock_ns() : state.newest_ns;
        enum stoker_status status = stk_live_steps_follow(&l->steps, clock_ns, l->window_ns, err);
        if (status != STOKER_OK) {
            return status;
        }
        now->lead = l->steps.count ? l->steps.ranks[l->steps.lead] : NULL;
    }
    now->root = root_of(l, now->view);
    find_command(l);
    return stk_now_judge(now, &l->arena) ? STOKER_OK : stk_err_nomem(err);
}

enum stoker_status stoker_live_refresh(struct stoker_live *l, struct stoker_err *err)
{
    if (!l) {
        return stk_err_misuse(err, "stoker_live_refresh needs a job from stoker_live_open");
    }
    err = stk_err_begin(err, &(struct stoker_err){0});
    stk_arena_deinit(&l->arena);
    stk_arena_init(&l->arena, ARENA_BYTES);
    l->now = (struct stk_now){0};
    uint64_t refused = stk_alloc_refusals();
    enum stoker_status status = follow_record(l, err);
    status = stk_err_whole(refused, status == STOKER_OK ? fill(l, err) : status, err);
    return status == STOKER_OK ? stk_err_end(err, STOKER_OK) : stk_err_fail(err);
}

int stoker_live_is_over(const struct stoker_live *l)
{
    return l && l->now.has_ended;
}

int stoker_live_is_ready(const struct stoker_live *l)
{
    if (!l || !l->now.sentence || !l->sampler) {
        return l && l->now.sentence && (l->now.view || l->now.lead);
    }
    bool is_late = stk_clock_ns() - l->opened_ns > FIRST_NS;
    return l->now.view && l->now.view->looks >= (is_late ? 2 : FIRST_LOOKS);
}

enum stoker_status stoker_live_write(const struct stoker_live *l, const char *format,
                                     const struct stoker_live_write_options *options,
                                     stoker_write_fn write, void *arg, struct stoker_err *err)
{
    static const struct stoker_live_write_options usual;
    struct stk_sink sink;
    if (!l || !format || !write) {
        return stk_err_misuse(err,
                              "stoker_live_write needs a job, a format and an output function");
    }
    err = stk_err_begin(err, &(struct stoker_err){0});
    options = options ? options : &usual;
    stk_sink_init(&sink, write, arg);
    if (!l->now.sentence) {
        stk_err_set(err, STOKER_EINVAL, "stoker_live_refresh has not been called");
        return stk_err_fail(err);
    }
    if (strcmp(format, "json") == 0) {
        stk_now_json(&l->now, &sink);
    } else if (strcmp(format, "metrics") == 0) {
        stk_now_metrics(&l->now, &sink);
    } else if (strcmp(format, "text") == 0) {
        stk_now_text(&l->now, options, &sink);
    } else if (strcmp(format, "line") == 0) {
        stk_now_line(&l->now, options, &sink);
    } else {
        stk_err_set(err, STOKER_EUSAGE, "unknown format '%s': use json, metrics, text or line",
                    format);
        return stk_err_fail(err);
    }
    return stk_err_end(err, stk_sink_finish(&sink, err));
}
