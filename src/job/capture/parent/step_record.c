// SPDX-License-Identifier: Apache-2.0
// Reads the hooks' records; see step_record.h. A header is copied before it is read, since the job
// may still write. Each of its figures is checked against the file's length.
#include "job/capture/parent/step_record.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/sort.h"
#include "base/vec.h"
#include "job/capture/parent/folder.h"

enum { PROCESSES = 4096 };      // of a run, at most
enum { RECORDS_MAX = 1 << 20 }; // of a process, as in _stoker_record.py
enum { JUDGED_MIN = 3 };        // with fewer steps after the warm-up, all are judged

static bool read_all(int fd, void *to, size_t n, off_t at)
{
    char *p = to;
    while (n) {
        ssize_t got = pread(fd, p, n, at);
        if (got <= 0) {
            return false;
        }
        p += got;
        at += got;
        n -= (size_t)got;
    }
    return true;
}

// Adds records that the header doesn't count yet: the hooks write the end of a record last.
static void count_on(int fd, uint64_t room, struct stk_steps_header *h)
{
    STK_ASSERT(room >= h->kept);
    struct stk_steps_record more[STK_STEPS_UNCOUNTED];
    uint64_t n = room - h->kept, own_ns = h->count ? h->own_ns / h->count : 0;
    n = n < STK_STEPS_UNCOUNTED ? n : STK_STEPS_UNCOUNTED;
    off_t at = STK_STEPS_HEADER_BYTES + (off_t)(h->kept * sizeof *more);
    if (!h->count || !read_all(fd, more, n * sizeof *more, at)) {
        return;
    }
    for (uint64_t i = 0; i < n && more[i].end_ns > h->last_ns; i++) {
        h->last_ns = more[i].end_ns;
        h->step_ns = stk_steps_add(h->step_ns, more[i].dur_ns);
        h->wait_ns = stk_steps_add(h->wait_ns, more[i].wait_ns);
        h->own_ns = stk_steps_add(h->own_ns, own_ns);
        h->count++;
        h->kept++;
    }
}

// Ends a text of the header within its field and removes control characters, since it may be
// printed on a terminal. Line ends separate sentences.
static void clean(char *text, size_t size, bool has_lines)
{
    STK_ASSERT(size > 0);
    text[size - 1] = 0;
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if ((c < ' ' && !(has_lines && c == '\n')) || c == 0x7f) {
            *text = '?';
        }
    }
}

bool stk_steps_read_head(int fd, struct stk_steps_header *h)
{
    struct stat st;
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size < STK_STEPS_HEADER_BYTES ||
        !read_all(fd, h, sizeof *h, 0) || memcmp(h->magic, STK_STEPS_MAGIC, sizeof h->magic) != 0 ||
        h->version != STK_STEPS_VERSION || h->header_bytes != STK_STEPS_HEADER_BYTES) {
        return false;
    }
    uint64_t room =
        ((uint64_t)st.st_size - STK_STEPS_HEADER_BYTES) / sizeof(struct stk_steps_record);
    room = room < RECORDS_MAX ? room : RECORDS_MAX;
    h->kept = h->kept < room ? h->kept : room;
    count_on(fd, room, h);
    h->profile[sizeof h->profile - 1] = 0;
    clean(h->framework, sizeof h->framework, false);
    clean(h->hooks, sizeof h->hooks, false);
    clean(h->notes, sizeof h->notes, true);
    clean(h->versions, sizeof h->versions, false);
    return true;
}

static int by_number(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static uint64_t median_of(uint64_t *values, size_t n)
{
    stk_sort(values, n, sizeof *values, by_number);
    return n ? n % 2 ? values[n / 2] : values[n / 2 - 1] / 2 + values[n / 2] / 2 : 0;
}

// The usual step: the median. If calls only launch work, most steps just last as long as a launch,
// and a few wait for the work: then the mean.
static uint64_t usual_of(const struct stk_steps *s, uint64_t *values, size_t n)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        sum = stk_steps_add(sum, values[i]);
    }
    return !s->head.runs_ahead ? median_of(values, n) : n ? sum / n : 0;
}

// Judges the steps from `first` on that are outside the window and without work of the profiler.
static void judge_from(struct stk_steps *s, const struct stk_steps_record *records, uint64_t first,
                       uint64_t *values)
{
    s->wait_ns = s->time_ns = s->judged = 0;
    for (size_t i = first; i < s->head.kept; i++) {
        uint64_t dur = records[i].dur_ns;
        if (!(records[i].flags & (STK_STEPS_TOLD | STK_STEPS_IN_WINDOW))) {
            values[s->judged++] = dur;
            s->time_ns = stk_steps_add(s->time_ns, dur);
            s->wait_ns =
                stk_steps_add(s->wait_ns, records[i].wait_ns < dur ? records[i].wait_ns : dur);
        }
    }
    s->median_ns = usual_of(s, values, s->judged);
}

static uint64_t window_median(const struct stk_steps *s, const struct stk_steps_record *records,
                              uint64_t *values)
{
    size_t n = 0;
    for (size_t i = 0; i < s->head.kept; i++) {
        if ((records[i].flags & (STK_STEPS_TOLD | STK_STEPS_IN_WINDOW)) == STK_STEPS_IN_WINDOW) {
            values[n++] = records[i].dur_ns;
        }
    }
    return usual_of(s, values, n);
}

// Judges the steps after the warm-up and outside the window. A job that ended with its window has
// none: then those in the second half of the warm-up, without the cost of the start.
static void judge(struct stk_steps *s, const struct stk_steps_record *records, uint64_t warmup,
                  uint64_t *values)
{
    uint64_t n = s->head.kept;
    warmup = n >= warmup + JUDGED_MIN ? warmup : n > 1 ? 1 : 0;
    s->window_median_ns = window_median(s, records, values);
    judge_from(s, records, warmup, values);
    if (s->judged == 0 && warmup > 1) {
        judge_from(s, records, warmup / 2, values);
        s->in_warmup = s->judged > 0;
    }
}

static enum stoker_status cannot_read(const char *path, struct stoker_err *err)
{
    return stk_err_set(err, STOKER_EINPUT, "can't read %s: %s", path, strerror(errno));
}

static enum stoker_status read_one(const char *path, uint64_t warmup, uint64_t most,
                                   struct stk_vec *to, struct stoker_err *err)
{
    struct stk_steps s = {0};
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        return errno == ENOENT ? STOKER_OK : cannot_read(path, err);
    }
    errno = 0;
    bool good = stk_steps_read_head(fd, &s.head);
    if (!good && errno) {
        enum stoker_status failed = cannot_read(path, err);
        close(fd);
        return failed;
    }
    s.head.kept = s.head.kept < most ? s.head.kept : most;
    size_t n = good ? s.head.kept : 0;
    struct stk_steps_record *records = stk_alloc_array(n + 1, sizeof *records);
    uint64_t *values = stk_alloc_array(n + 1, sizeof *values);
    enum stoker_status status = records && values ? STOKER_OK : stk_err_nomem(err);
    errno = 0;
    if (status == STOKER_OK && good &&
        read_all(fd, records, n * sizeof *records, STK_STEPS_HEADER_BYTES)) {
        judge(&s, records, warmup, values);
        struct stk_steps *slot = stk_vec_push(to);
        if (slot) {
            *slot = s;
        }
        status = slot ? STOKER_OK : stk_err_nomem(err);
    } else if (status == STOKER_OK && errno) {
        status = cannot_read(path, err);
    }
    stk_free(records);
    stk_free(values);
    close(fd);
    return status;
}

static bool is_record(const char *name)
{
    size_t n = strlen(name);
    return strncmp(name, "steps-", 6) == 0 && n > 10 && strcmp(name + n - 4, ".rec") == 0;
}

static int by_rank(const void *a, const void *b)
{
    const struct stk_steps *x = a, *y = b;
    int order = (x->head.rank > y->head.rank) - (x->head.rank < y->head.rank);
    return order ? order : (x->head.pid > y->head.pid) - (x->head.pid < y->head.pid);
}

enum stoker_status stk_steps_read(const char *folder, uint64_t warmup, struct stk_steps_of_run *out,
                                  struct stoker_err *err)
{
    return stk_steps_read_first(folder, warmup, UINT64_MAX, out, err);
}

enum stoker_status stk_steps_read_first(const char *folder, uint64_t warmup, uint64_t most,
                                        struct stk_steps_of_run *out, struct stoker_err *err)
{
    struct stk_vec found;
    enum stoker_status status = STOKER_OK;
    *out = (struct stk_steps_of_run){0};
    stk_vec_init(&found, sizeof(struct stk_steps), PROCESSES);
    DIR *d = opendir(folder);
    struct dirent *e;
    if (!d && errno != ENOENT) {
        return cannot_read(folder, err);
    }
    for (errno = 0; d && status == STOKER_OK && (e = readdir(d)); errno = 0) {
        if (is_record(e->d_name)) {
            char *path = stk_folder_path(folder, e->d_name);
            status = path ? read_one(path, warmup, most, &found, err) : stk_err_nomem(err);
            stk_free(path);
        }
    }
    if (d && status == STOKER_OK && errno) {
        status = cannot_read(folder, err);
    }
    if (d) {
        closedir(d);
    }
    out->ranks = found.items;
    out->count = found.count;
    stk_sort(out->ranks, out->count, sizeof *out->ranks, by_rank);
    for (size_t i = 1; i < out->count; i++) { // one with more than twice the steps takes over
        if (out->ranks[i].head.count > 2 * out->ranks[out->lead].head.count) {
            out->lead = i;
        }
    }
    return status;
}

void stk_steps_free(struct stk_steps_of_run *run)
{
    stk_free(run->ranks);
    *run = (struct stk_steps_of_run){0};
}

// Calls see(arg, header, its file) for each record in the folder.
typedef void see_record(void *arg, const struct stk_steps_header *h, int fd);
static void each_head(const char *folder, see_record *see, void *arg)
{
    DIR *d = opendir(folder);
    struct dirent *e;
    while (d && (e = readdir(d))) {
        struct stk_steps_header h;
        int fd = is_record(e->d_name)
                     ? openat(dirfd(d), e->d_name, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
                     : -1;
        if (fd >= 0 && stk_steps_read_head(fd, &h)) {
            see(arg, &h, fd);
        }
        if (fd >= 0) {
            close(fd);
        }
    }
    if (d) {
        closedir(d);
    }
}

// The record with the most steps.
struct longest {
    struct stk_steps_header *head;
    struct stk_steps_record *records;
    bool has_no_room;
};

static void take_longer(void *arg, const struct stk_steps_header *h, int fd)
{
    struct longest *l = arg;
    if (h->kept <= l->head->kept) {
        return;
    }
    struct stk_steps_record *records = stk_alloc_array(h->kept, sizeof *records);
    l->has_no_room |= !records;
    if (records && read_all(fd, records, h->kept * sizeof *records, STK_STEPS_HEADER_BYTES)) {
        struct stk_steps_record *shorter = l->records;
        l->records = records;
        *l->head = *h;
        records = shorter;
    }
    stk_free(records); // a shorter one, or one truncated meanwhile
}

enum stoker_status stk_steps_records(const char *folder, struct stk_steps_header *head,
                                     struct stk_steps_record **records, struct stoker_err *err)
{
    struct longest l = {.head = head};
    head->kept = 0;
    each_head(folder, take_longer, &l);
    *records = l.records;
    return l.has_no_room ? stk_err_nomem(err) : STOKER_OK;
}

struct windows {
    size_t recorded, over, open;
};

static void see_window(void *arg, const struct stk_steps_header *h, int fd)
{
    (void)fd;
    struct windows *w = arg;
    bool is_over = h->window_state == STK_WINDOW_DONE || h->window_state == STK_WINDOW_LEFT;
    w->recorded += h->window_state == STK_WINDOW_DONE;
    w->over += is_over;
    w->open += !is_over;
}

bool stk_steps_window_is_over(const char *folder)
{
    struct windows w = {0};
    each_head(folder, see_window, &w);
    return w.over && !w.open;
}

bool stk_steps_window_is_recorded(const char *folder)
{
    struct windows w = {0};
    each_head(folder, see_window, &w);
    return w.recorded && !w.open;
}

static void see_count(void *arg, const struct stk_steps_header *h, int fd)
{
    (void)fd;
    uint64_t *most = arg;
    *most = h->count > *most ? h->count : *most;
}

uint64_t stk_steps_made(const char *folder)
{
    uint64_t most = 0;
    each_head(folder, see_count, &most);
    return most;
}
