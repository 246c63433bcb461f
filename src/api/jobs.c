// SPDX-License-Identifier: Apache-2.0
// Reads inputs: each file is read and summarized, and its trace freed at once, so memory is needed
// only for the files being read, not for all. Several files are read in parallel, one per core; a
// single file gets all cores.
//
// Queries and exports keep the traces, up to a limit over all files; a run that needs more is
// rejected, not truncated.
//
// Progress is reported from the calling thread only, summed over all files; an interruption there
// stops the other threads at their next report.
#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/stat.h>

#include "api/api.h"
#include "base/alloc.h"
#include "base/stream.h"
#include "base/thread.h"
#include "profile/model/workers.h"
#include "profile/readers/reader.h"

#define SMALL 32 // a file is small below 1/32 of all bytes

struct crew {
    struct stk_job *jobs;
    size_t count;
    const struct stoker_why_options *options;
    const struct stk_select *select;
    const struct stk_view_hook *hook;
    uint64_t keep_bytes;
    int threads_per_file;
    uint64_t total_bytes;
    atomic_size_t next;
    atomic_ullong done_bytes;
    atomic_ullong kept_bytes;
    atomic_bool over; // the kept traces exceed keep_bytes
    atomic_bool stop; // interrupted, out of memory or over the limit: start no more work
};

// A reading thread's progress reporter.
struct reporter {
    struct crew *crew;
    struct stk_job *job;
    bool caller; // runs on the thread that called the library
    uint64_t reported_bytes;
};

static int update(void *arg, uint64_t done_bytes, uint64_t total_bytes)
{
    (void)total_bytes;
    struct reporter *r = arg;
    struct crew *crew = r->crew;
    if (done_bytes > r->reported_bytes) {
        atomic_fetch_add(&crew->done_bytes, done_bytes - r->reported_bytes);
        r->reported_bytes = done_bytes;
    }
    if (r->caller && crew->options->progress &&
        crew->options->progress(crew->options->progress_arg, r->job->path,
                                atomic_load(&crew->done_bytes), crew->total_bytes)) {
        atomic_store(&crew->stop, true);
    }
    return atomic_load(&crew->stop);
}

static bool copy_text(struct stk_job *job, struct stk_str text, const char **out)
{
    *out = text.n ? stk_arena_strndup(&job->arena, text.p, text.n) : NULL;
    return text.n == 0 || *out;
}

// Keeps what is needed of a trace after it is freed, besides its summary.
static enum stoker_status keep_facts(struct stk_job *job, const struct stk_trace *t)
{
    struct stk_input_info *info = &job->info;
    info->format = t->format;
    info->read = t->read;
    info->dropped = t->dropped;
    info->base_ns = t->base_ns;
    memcpy(info->by_kind, t->by_kind, sizeof info->by_kind);
    memcpy(info->issues, t->issues, sizeof info->issues);
    bool ok = copy_text(job, stk_strpool_get(&t->strings, t->producer), &info->producer);
    for (int i = 0; i < STK_ISSUE_COUNT && ok; i++) {
        if (t->issues[i].count) {
            ok = copy_text(job, stk_strpool_get(&t->strings, t->issues[i].note),
                           &info->issue_notes[i]);
        }
    }
    return ok ? STOKER_OK : stk_err_nomem(&job->err);
}

// What the model ignored becomes an issue of the file.
static void count_left_out(struct stk_job *job)
{
    for (uint32_t i = 0; i < job->rank_count; i++) {
        job->info.issues[STK_ISSUE_DEVICES_LEFT_OUT].count += job->ranks[i]->devices_left_out;
        job->info.issues[STK_ISSUE_STEPS_LEFT_OUT].count += job->ranks[i]->steps_left_out;
    }
}

static bool may_be_selected(const struct stk_job *job, const struct stk_select *select)
{
    for (uint32_t i = 0; i < job->rank_count; i++) {
        if (job->ranks[i]->rank < 0 || job->ranks[i]->rank == select->rank) {
            return true;
        }
    }
    return !select->has_rank;
}

// Gives the trace to the job, or frees it.
static enum stoker_status keep_trace(struct crew *crew, struct stk_job *job, struct stk_trace *t)
{
    if (crew->keep_bytes == 0 || !may_be_selected(job, crew->select)) {
        stk_trace_free(t);
        return STOKER_OK;
    }
    uint64_t size = stk_trace_size_bytes(t);
    if (atomic_fetch_add(&crew->kept_bytes, size) + size > crew->keep_bytes) {
        stk_trace_free(t);
        atomic_store(&crew->over, true);
        return stk_err_set(&job->err, STOKER_ELIMIT,
                           "the profiles need more than %llu MB in memory together; give fewer, or "
                           "select one with --rank",
                           (unsigned long long)(crew->keep_bytes / 1000000));
    }
    job->trace = t;
    return STOKER_OK;
}

static enum stoker_status read_job(struct crew *crew, struct stk_job *job, bool caller)
{
    struct reporter reporter = {.crew = crew, .job = job, .caller = caller};
    struct stk_progress progress = {.update = update, .arg = &reporter};
    struct stk_trace *read_here = NULL;
    struct stk_select select = *crew->select;
    select.has_rank = false; // ranks are numbered after all files are read: see ranks.c
    struct stk_read_ctx read = {.path = job->path,
                                .stream = job->stream,
                                .threads = crew->threads_per_file,
                                .progress = &progress,
                                .wants = crew->hook
                                             ? crew->hook->wants
                                             : STK_WANT_INPUT | STK_WANT_GRIDS | STK_WANT_MESSAGES};
    if (crew->count > 1) { // collectives are matched within their groups
        read.wants |= STK_WANT_MESSAGES;
    }
    job->stream = NULL;
    enum stoker_status status =
        job->lent ? STOKER_OK : stk_reader_read(&read, &read_here, &job->err);
    const struct stk_trace *trace = job->lent ? job->lent : read_here;
    if (status == STOKER_OK) {
        status = keep_facts(job, trace);
    }
    if (status == STOKER_OK && stk_workers_is_record(trace)) {
        bool ok = stk_workers_see(trace, &job->arena, &job->workers);
        status = ok ? STOKER_OK : stk_err_nomem(&job->err);
    } else if (status == STOKER_OK && stk_machine_is_record(trace)) {
        job->machine = stk_machine_see(trace, &job->arena);
        status = job->machine ? STOKER_OK : stk_err_nomem(&job->err);
    } else if (status == STOKER_OK) {
        status = stk_model_summarize_with(trace, &select, crew->hook, crew->threads_per_file,
                                          &job->arena, &job->ranks, &job->rank_count, &job->err);
    }
    if (status == STOKER_OK) {
        count_left_out(job);
    }
    if (status == STOKER_OK && read_here) {
        status = keep_trace(crew, job, read_here);
    } else {
        stk_trace_free(read_here);
    }
    if (job->info.bytes > reporter.reported_bytes) {
        atomic_fetch_add(&crew->done_bytes, job->info.bytes - reporter.reported_bytes);
    }
    return status;
}

static void work(void *arg, int index)
{
    struct crew *crew = arg;
    size_t i;
    while (!atomic_load(&crew->stop) && (i = atomic_fetch_add(&crew->next, 1)) < crew->count) {
        struct stk_job *job = &crew->jobs[i];
        if (job->is_decoded || job->status != STOKER_EINTR) {
            continue;
        }
        job->status = read_job(crew, job, index == 0);
        if (job->status == STOKER_ENOMEM || job->status == STOKER_EINTR ||
            atomic_load(&crew->over)) {
            atomic_store(&crew->stop, true);
        }
    }
}

// One failing file among others becomes an issue; alone, it is the call's error.
bool stk_job_note_failure(struct stk_job *job)
{
    job->info.issues[STK_ISSUE_INPUT_FAILED].count++;
    job->info.issues[STK_ISSUE_INPUT_FAILED].first_offset = -1;
    const char *note = stk_arena_strdup(&job->arena, job->err.message);
    job->info.issue_notes[STK_ISSUE_INPUT_FAILED] = note;
    return note != NULL;
}

static enum stoker_status settle(struct crew *crew, struct stoker_err *err)
{
    size_t failed = 0;
    for (size_t i = 0; i < crew->count; i++) {
        struct stk_job *job = &crew->jobs[i];
        if (job->status == STOKER_OK) {
            continue;
        }
        bool fatal = job->status != STOKER_EINPUT && job->status != STOKER_ELIMIT;
        if (fatal || crew->count == 1) {
            *err = job->err;
            return job->status;
        }
        failed++;
        if (!job->is_decoded && !stk_job_note_failure(job)) {
            return stk_err_nomem(err);
        }
    }
    if (failed < crew->count) {
        return STOKER_OK;
    }
    *err = crew->jobs[0].err;
    stk_err_while(err, "none of the %zu inputs could be read; this is the first", crew->count);
    return err->code;
}

static void measure(struct crew *crew)
{
    for (size_t i = 0; i < crew->count; i++) {
        struct stk_job *job = &crew->jobs[i];
        struct stat st;
        if (job->is_decoded) {
            continue;
        }
        stk_err_init(&job->err);
        stk_arena_init(&job->arena, 0);
        job->info.path = job->path;
        job->status = STOKER_EINTR; // until it was read
        stk_err_set(&job->err, STOKER_EINTR, "interrupted");
        if (job->stream) {
            job->info.bytes = stk_stream_size(job->stream);
        } else if (strcmp(job->path, "-") == 0) {
            continue;
        } else if (stat(job->path, &st) == 0) {
            job->info.bytes = S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0;
        } else if (stk_err_of_file(errno, STOKER_EINPUT) == STOKER_EINPUT) {
            // not for a missing or forbidden file, about which its reader reports more
            job->status = stk_err_set(&job->err, STOKER_EINPUT, "can't read %s: %s", job->path,
                                      strerror(errno));
        }
        crew->total_bytes += job->info.bytes;
    }
}

// The number of files large enough for their own worker: a small recording next to a large profile
// shouldn't take a thread from it. At least 1; a file of unknown size counts.
static int large_files(const struct crew *crew)
{
    int large = 0;
    for (size_t i = 0; i < crew->count; i++) {
        if (crew->jobs[i].is_decoded) {
            continue;
        }
        uint64_t bytes = crew->jobs[i].info.bytes;
        large += bytes == 0 || bytes >= crew->total_bytes / SMALL;
    }
    return large;
}

enum stoker_status stk_jobs_read(struct stk_job *jobs, size_t count,
                                 const struct stoker_why_options *options,
                                 const struct stk_select *select, const struct stk_view_hook *hook,
                                 uint64_t keep_bytes, struct stoker_err *err)
{
    struct crew crew = {.jobs = jobs,
                        .count = count,
                        .options = options,
                        .select = select,
                        .hook = hook,
                        .keep_bytes = keep_bytes};
    int threads = options->threads > 0 ? options->threads : stk_thread_count();
    measure(&crew);
    int large = large_files(&crew), workers = threads < large ? threads : large;
    workers = workers > 0 ? workers : 1;
    crew.threads_per_file = threads / workers;
    stk_thread_run(workers, work, &crew);
    bool over = atomic_load(&crew.over);
    for (size_t i = 0; i < count; i++) {
        if (jobs[i].status == STOKER_ENOMEM || (over && jobs[i].status == STOKER_ELIMIT)) {
            *err = jobs[i].err;
            return err->code;
        }
    }
    return settle(&crew, err);
}

void stk_job_free(struct stk_job *job)
{
    stk_stream_close(job->stream);
    stk_trace_free(job->trace);
    stk_arena_deinit(&job->arena);
}

void stk_jobs_free(struct stk_job *jobs, size_t count)
{
    for (size_t i = 0; jobs && i < count; i++) {
        stk_job_free(&jobs[i]);
    }
    stk_free(jobs);
}
