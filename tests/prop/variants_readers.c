// SPDX-License-Identifier: Apache-2.0
// One harness for readers: each row of readers.def reads each of its inputs (its fuzz seeds and
// regressions, and the profiles in examples/ that it recognizes) from a plain file on one thread.
// From a pipe, compressed with gzip and zstd, and on several threads it must give the same trace
// with the same issues. The same for each input truncated and with bytes changed, and for
// compressed files that are damaged themselves, from a file and from a pipe. A row without a seed
// fails.
#include <fcntl.h>
#include <glob.h>
#include <pthread.h>
#include <signal.h>

#include "profile/readers/reader.h"
#include "stream_files.h"

#define LARGE_BYTES ((size_t)64 << 10) // of an input that is damaged at few places
enum { THREADS = 3, FEW_PLACES = 2, MANY_PLACES = 12, WANTS_ALL = 31 };

// ---- comparing ----

static const char *difference; // what differs first; NULL: nothing yet

static void differ(const char *what)
{
    difference = difference ? difference : what;
}
#define SAME(a, b) ((a) == (b) ? (void)0 : differ(#a))

static void same_text(const struct stk_trace *a, uint32_t i, const struct stk_trace *b, uint32_t j,
                      const char *what)
{
    struct stk_str x = stk_strpool_get(&a->strings, i), y = stk_strpool_get(&b->strings, j);
    if (x.n != y.n || (x.n && memcmp(x.p, y.p, x.n) != 0)) {
        differ(what);
    }
}

static void same_detail(const struct stk_trace *a, const struct stk_detail *x,
                        const struct stk_trace *b, const struct stk_detail *y)
{
    SAME(x->key, y->key);
    if (x->key != y->key || stk_detail_type_of(x->key) != STK_DETAIL_TEXT) {
        SAME(x->number, y->number); // of a REAL its bits
    } else {
        same_text(a, x->text, b, y->text, "text of a detail");
    }
}

static void same_values(const struct stk_trace *a, const struct stk_trace *b, uint32_t e)
{
    const struct stk_ext *x = stk_ext_of(a, e), *y = stk_ext_of(b, e);
    uint32_t n, m;
    SAME(stk_link_of(a, e), stk_link_of(b, e));
    SAME(!x, !y);
    if (!x || !y) {
        return;
    }
    SAME(x->next, y->next);
    SAME(x->dir, y->dir);
    SAME(x->src_mem, y->src_mem);
    SAME(x->dst_mem, y->dst_mem);
    SAME(x->flags, y->flags);
    const struct stk_launch_config *c = stk_config_of(a, e), *d = stk_config_of(b, e);
    SAME(!c, !d);
    if (!c) {
        SAME(x->value, y->value);
    } else if (d) {
        SAME(memcmp(c, d, sizeof *c), 0);
    }
    const struct stk_detail *p = stk_details_of(a, e, &n), *q = stk_details_of(b, e, &m);
    SAME(n, m);
    for (uint32_t k = 0; k < n && n == m; k++) {
        same_detail(a, &p[k], b, &q[k]);
    }
}

static void same_events(const struct stk_trace *a, const struct stk_trace *b)
{
    for (uint32_t e = 0; e < a->count && !difference; e++) {
        SAME(a->start_ns[e], b->start_ns[e]);
        SAME(stk_dur_ns(a, e), stk_dur_ns(b, e));
        SAME(a->kind[e], b->kind[e]);
        SAME(a->depth[e], b->depth[e]);
        SAME(stk_pos(a, e), stk_pos(b, e));
        same_text(a, a->name[e], b, b->name[e], "name of an event");
        same_values(a, b, e);
    }
}

static void same_places(const struct stk_trace *a, const struct stk_trace *b)
{
    for (uint32_t i = 0; i < a->process_count; i++) {
        const struct stk_process *p = &a->processes[i], *q = &b->processes[i];
        SAME(p->pid, q->pid);
        SAME(p->rank, q->rank);
        same_text(a, p->name, b, q->name, "name of a process");
        same_text(a, p->host, b, q->host, "host of a process");
    }
    for (uint32_t i = 0; i < a->device_count; i++) {
        const struct stk_device *p = &a->devices[i], *q = &b->devices[i];
        SAME(p->process, q->process);
        SAME(p->ordinal, q->ordinal);
        SAME(p->kind, q->kind);
        SAME(p->sm_count, q->sm_count);
        SAME(p->memory_bytes, q->memory_bytes);
        same_text(a, p->source_id, b, q->source_id, "source of a device");
        same_text(a, p->name, b, q->name, "name of a device");
    }
    for (uint32_t i = 0; i < a->track_count; i++) {
        const struct stk_track *p = &a->tracks[i], *q = &b->tracks[i];
        SAME(p->kind, q->kind);
        SAME(p->process, q->process);
        SAME(p->device, q->device);
        SAME(p->id, q->id);
        SAME(p->parent, q->parent);
        SAME(p->first, q->first);
        SAME(p->count, q->count);
        same_text(a, p->name, b, q->name, "name of a track");
    }
}

static void same_issues(const struct stk_trace *a, const struct stk_trace *b)
{
    for (int i = 0; i < STK_ISSUE_COUNT; i++) {
        const struct stk_issue *p = &a->issues[i], *q = &b->issues[i];
        if (p->count != q->count || p->events_lost != q->events_lost) {
            static char text[200];
            snprintf(text, sizeof text, "%s: %llu times, %llu events lost; the other %llu, %llu",
                     stk_issue_info((enum stk_issue_id)i)->key, (unsigned long long)p->count,
                     (unsigned long long)p->events_lost, (unsigned long long)q->count,
                     (unsigned long long)q->events_lost);
            differ(text);
        }
        SAME(p->first_offset, q->first_offset);
        same_text(a, p->note, b, q->note, "note of an issue");
    }
}

// What differs first, or NULL.
static const char *compare(const struct stk_trace *a, const struct stk_trace *b)
{
    difference = NULL;
    SAME(a->count, b->count);
    SAME(a->process_count, b->process_count);
    SAME(a->device_count, b->device_count);
    SAME(a->track_count, b->track_count);
    SAME(a->base_ns, b->base_ns);
    SAME(a->read, b->read);
    SAME(a->dropped, b->dropped);
    SAME(a->rank, b->rank);
    SAME(a->world_size, b->world_size);
    SAME(a->framework_hint, b->framework_hint);
    SAME(memcmp(a->by_kind, b->by_kind, sizeof a->by_kind), 0);
    same_text(a, a->host, b, b->host, "host");
    same_text(a, a->producer, b, b->producer, "producer");
    if (!difference) {
        same_places(a, b);
        same_events(a, b);
        same_issues(a, b);
    }
    return difference;
}

// ---- reading ----

struct result {
    struct stk_trace *trace;
    struct stoker_err err;
    enum stoker_status status;
};

static struct result read_path(const char *path, int threads)
{
    struct result r = {0};
    struct stk_read_ctx ctx = {.path = path, .threads = threads, .wants = WANTS_ALL};
    stk_err_init(&r.err);
    r.status = stk_reader_read(&ctx, &r.trace, &r.err);
    return r;
}

struct feed {
    const struct bytes *bytes;
    int fd;
};

static void *feed_pipe(void *arg)
{
    struct feed *f = arg;
    for (size_t at = 0; at < f->bytes->n;) {
        ssize_t n = write(f->fd, f->bytes->p + at, f->bytes->n - at);
        if (n <= 0) { // the reader wants no more
            break;
        }
        at += (size_t)n;
    }
    close(f->fd);
    return NULL;
}

static struct result read_piped(const struct bytes *b, int threads)
{
    int ends[2], kept = dup(STDIN_FILENO);
    pthread_t thread;
    if (pipe(ends) || dup2(ends[0], STDIN_FILENO) < 0) {
        exit(9);
    }
    close(ends[0]);
    struct feed f = {b, ends[1]};
    if (pthread_create(&thread, NULL, feed_pipe, &f)) {
        exit(9);
    }
    struct result r = read_path("-", threads);
    if (kept >= 0) {
        dup2(kept, STDIN_FILENO); // the pipe's end is closed: who writes to it fails
        close(kept);
    } else {
        close(STDIN_FILENO);
    }
    pthread_join(thread, NULL);
    return r;
}

static void check_same(const char *name, const char *how, const struct result *want,
                       struct result have)
{
    const char *why = NULL;
    if (want->status != have.status) {
        why = "status";
    } else if (want->trace && have.trace) {
        why = compare(want->trace, have.trace);
    }
    CHECK_SAY(why == NULL, "%s, %s: %s (%s | %s)", name, how, why, want->err.message,
              have.err.message);
    stk_trace_free(have.trace);
}

// ---- variants ----

// A database must be a plain file: anything else is refused with that reason.
static void check_refused(const struct bytes *b, const struct bytes *gzip)
{
    struct result r = read_piped(b, 1);
    CHECK(r.status == STOKER_EINPUT && !r.trace);
    r = read_path(write_file(gzip->p, gzip->n), 1);
    CHECK(r.status == STOKER_EINPUT && !r.trace);
}

static void check_variants(const struct stk_reader *reader, const char *name, const struct bytes *b)
{
    struct bytes gzip = {0}, zstd = {0};
    struct result want = read_path(write_file(b->p, b->n), 1);
    CHECK((want.status == STOKER_OK) == (want.trace != NULL));
    check_same(name, "several threads", &want, read_path(files_path, THREADS));
    add_gzip(&gzip, b->p, b->n, 1, false);
    add_zstd(&zstd, b->p, b->n);
    if (reader->opens_path) {
        check_refused(b, &gzip);
    } else {
        check_same(name, "a pipe", &want, read_piped(b, 1));
        check_same(name, "a pipe, several threads", &want, read_piped(b, THREADS));
        check_same(name, "gzip", &want, read_path(write_file(gzip.p, gzip.n), THREADS));
        check_same(name, "gzip from a pipe", &want, read_piped(&gzip, 1));
        check_same(name, "zstd", &want, read_path(write_file(zstd.p, zstd.n), 1));
        check_same(name, "zstd from a pipe", &want, read_piped(&zstd, THREADS));
    }
    stk_trace_free(want.trace);
    bytes_free(&gzip);
    bytes_free(&zstd);
}

// The packed file cut at two thirds: what can be read of it does not depend on how it comes.
static void check_cut_gzip(const char *name, const struct bytes *b)
{
    struct bytes gzip = {0};
    add_gzip(&gzip, b->p, b->n, 6, false);
    gzip.n = gzip.n * 2 / 3;
    struct result want = read_path(write_file(gzip.p, gzip.n), 1);
    check_same(name, "cut gzip, several threads", &want, read_path(files_path, THREADS));
    check_same(name, "cut gzip from a pipe", &want, read_piped(&gzip, 1));
    stk_trace_free(want.trace);
    bytes_free(&gzip);
}

static void check_damaged(const struct stk_reader *reader, const char *name, const struct bytes *b)
{
    uint64_t seed = 88172645463325252u;
    int places = b->n > LARGE_BYTES ? FEW_PLACES : MANY_PLACES;
    char text[600];
    for (int k = 0; k < places; k++) {
        struct bytes cut = *b, flipped = {0};
        cut.n = next_random(&seed) % b->n;
        snprintf(text, sizeof text, "%s cut to %zu bytes", name, cut.n);
        check_variants(reader, text, &cut);
        bytes_add(&flipped, b->p, b->n);
        for (int i = 0; i <= k; i++) {
            flipped.p[next_random(&seed) % b->n] ^= (uint8_t)(1 << next_random(&seed) % 8);
        }
        snprintf(text, sizeof text, "%s with %d bits flipped, round %d", name, k + 1, k);
        check_variants(reader, text, &flipped);
        bytes_free(&flipped);
    }
}

// ---- inputs ----

// Unpacked. The reader that knows it.
static const struct stk_reader *slurp(const char *path, struct bytes *out)
{
    static uint8_t piece[1 << 16];
    struct stk_stream_opts opts = {0};
    struct stk_stream *s = NULL;
    struct stoker_err err;
    size_t got = 1;
    if (stk_stream_open(&s, path, &opts, &err) != STOKER_OK) {
        return NULL;
    }
    const struct stk_reader *reader = stk_reader_find(s, &err);
    while (reader && got && stk_stream_read(s, piece, sizeof piece, &got, &err) == STOKER_OK) {
        bytes_add(out, piece, got);
    }
    stk_stream_close(s);
    return reader;
}

// Inputs of the reader that match; returns how many.
static int check_inputs(const struct stk_reader *reader, const char *pattern)
{
    glob_t found;
    int count = 0;
    if (glob(pattern, 0, NULL, &found) != 0) {
        return 0;
    }
    for (size_t i = 0; i < found.gl_pathc; i++) {
        struct bytes b = {0};
        if (slurp(found.gl_pathv[i], &b) == reader && b.n) {
            count++;
            check_variants(reader, found.gl_pathv[i], &b);
            check_damaged(reader, found.gl_pathv[i], &b);
            if (!reader->opens_path) {
                check_cut_gzip(found.gl_pathv[i], &b);
            }
        }
        bytes_free(&b);
    }
    globfree(&found);
    return count;
}

static void check_reader(const struct stk_reader *reader)
{
    char seeds[200], regressions[200];
    snprintf(seeds, sizeof seeds, "tests/fuzz/seeds/%s/*", reader->name);
    snprintf(regressions, sizeof regressions, "tests/fuzz/regressions/%s/*", reader->name);
    CHECK_SAY(check_inputs(reader, seeds) > 0, "%s: no seed in %s", reader->name, seeds);
    check_inputs(reader, regressions);
    check_inputs(reader, "examples/profiles/*.gz");
}

static void every_reader(void)
{
    for (int i = 0; i < stk_reader_count; i++) {
        check_reader(stk_readers[i]);
    }
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    signal(SIGPIPE, SIG_IGN);
    CHECK_RUN(every_reader);
    return check_done("prop.variants_readers");
}
