// SPDX-License-Identifier: Apache-2.0
// Follows the hooks' records; see live_steps.h. Two system calls per process read the header and
// the new records; the hooks write a record before the header counts it.
//
// Limit: steps beyond the capacity of the file (2^20) are only in the header's sums: they have no
// median, and their wait covers all since the last refresh.
#include "job/live/live_steps.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "job/capture/parent/folder.h"
#include "profile/model/median.h"

enum { RECENT_LEAST = 5 };
#define AHEAD_NS UINT64_C(60000000000) // after the last look: ignore steps that end later

enum stoker_status stk_live_steps_open(struct stk_live_steps *s, const char *folder,
                                       struct stoker_err *err)
{
    size_t n = strlen(folder) + 1;
    *s = (struct stk_live_steps){.folder = stk_alloc(n)};
    if (!s->folder) {
        return stk_err_nomem(err);
    }
    memcpy(s->folder, folder, n);
    return STOKER_OK;
}

void stk_live_steps_close(struct stk_live_steps *s)
{
    for (size_t i = 0; i < s->count; i++) {
        close(s->ranks[i]->fd);
        stk_free(s->ranks[i]);
    }
    stk_free(s->folder);
    *s = (struct stk_live_steps){0};
}

// ---- stepping processes ----

// The process in "steps-PID.rec"; 0: another file.
static uint64_t pid_in(const char *name)
{
    char *end;
    if (strncmp(name, "steps-", 6) != 0 || name[6] < '1' || name[6] > '9') {
        return 0;
    }
    unsigned long long pid = strtoull(name + 6, &end, 10);
    return strcmp(end, ".rec") == 0 ? pid : 0;
}

static bool is_known(const struct stk_live_steps *s, uint64_t pid)
{
    for (size_t i = 0; i < s->count; i++) {
        if (s->ranks[i]->head.pid == pid) {
            return true;
        }
    }
    return false;
}

static enum stoker_status cannot_read(const struct stk_live_steps *s, const char *name,
                                      struct stoker_err *err)
{
    return stk_err_set(err, stk_err_of_file(errno, STOKER_EINPUT), "can't read %s%s%s: %s",
                       s->folder, *name ? "/" : "", name, strerror(errno));
}

// Skips a file that isn't a record yet, until the next look.
static enum stoker_status add_rank(struct stk_live_steps *s, const char *name, uint64_t pid,
                                   struct stoker_err *err)
{
    STK_ASSERT(s->count < STK_LIVE_RANKS);
    struct stk_steps_header head;
    char *path = stk_folder_path(s->folder, name);
    if (!path) {
        return stk_err_nomem(err);
    }
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    stk_free(path);
    if (fd < 0) {
        return errno == ENOENT ? STOKER_OK : cannot_read(s, name, err);
    }
    errno = 0;
    if (!stk_steps_read_head(fd, &head) || head.pid != pid) {
        enum stoker_status status = errno ? cannot_read(s, name, err) : STOKER_OK;
        close(fd);
        return status;
    }
    struct stk_live_rank *r = stk_alloc_zero(1, sizeof *r);
    if (!r) {
        close(fd);
        return stk_err_nomem(err);
    }
    r->fd = fd;
    r->head = head;
    s->ranks[s->count++] = r;
    return STOKER_OK;
}

static enum stoker_status look_for_ranks(struct stk_live_steps *s, struct stoker_err *err)
{
    enum stoker_status status = STOKER_OK;
    DIR *d = opendir(s->folder);
    struct dirent *e;
    s->left_out = 0;
    if (!d && errno != ENOENT) {
        return cannot_read(s, "", err);
    }
    for (errno = 0; d && status == STOKER_OK && (e = readdir(d)); errno = 0) {
        uint64_t pid = pid_in(e->d_name);
        if (!pid || is_known(s, pid)) {
            continue;
        }
        if (s->count == STK_LIVE_RANKS) {
            s->left_out++;
        } else {
            status = add_rank(s, e->d_name, pid, err);
        }
    }
    if (d && status == STOKER_OK && errno) {
        status = cannot_read(s, "", err);
    }
    if (d) {
        closedir(d);
    }
    return status;
}

// ---- one process ----

static void keep(struct stk_live_rank *r, const struct stk_steps_record *record)
{
    STK_ASSERT(r->at < STK_LIVE_KEPT && r->count <= STK_LIVE_KEPT);
    r->kept[r->at] = *record;
    r->at = (r->at + 1) % STK_LIVE_KEPT;
    r->count += r->count < STK_LIVE_KEPT;
}

// False: see errno.
static bool read_records(struct stk_live_rank *r)
{
    struct stk_steps_record records[STK_LIVE_KEPT];
    if (r->head.kept < r->read) { // it was reset: another kind of event now ends steps
        r->read = r->count = r->at = 0;
    }
    if (r->head.kept - r->read > STK_LIVE_KEPT) {
        r->read = r->head.kept - STK_LIVE_KEPT;
    }
    size_t wanted = (size_t)(r->head.kept - r->read);
    STK_ASSERT(wanted <= STK_LIVE_KEPT);
    off_t at = STK_STEPS_HEADER_BYTES + (off_t)(r->read * sizeof *records);
    ssize_t got = wanted ? pread(r->fd, records, wanted * sizeof *records, at) : 0;
    for (size_t i = 0; got > 0 && i < (size_t)got / sizeof *records; i++) {
        keep(r, &records[i]);
        r->read++;
    }
    return got >= 0;
}

// The i-th newest step.
static const struct stk_steps_record *newest(const struct stk_live_rank *r, uint32_t i)
{
    STK_ASSERT(i < r->count);
    return &r->kept[(r->at + STK_LIVE_KEPT - 1 - i) % STK_LIVE_KEPT];
}

// The age of a moment in the record. A future moment, caused by damage, counts as now.
static int64_t age_of(int64_t now_ns, uint64_t then_ns)
{
    return now_ns > 0 && then_ns < (uint64_t)now_ns ? now_ns - (int64_t)then_ns : 0;
}

static void sum_recent(struct stk_live_rank *r, int64_t now_ns, int64_t window_ns)
{
    uint64_t dur_ns = 0, wait_ns = 0, steps = 0;
    for (uint32_t i = 0; i < r->count; i++) {
        const struct stk_steps_record *s = newest(r, i);
        if (i >= RECENT_LEAST && age_of(now_ns, s->end_ns) > window_ns) {
            break;
        }
        if (!(s->flags & (STK_STEPS_TOLD | STK_STEPS_IN_WINDOW)) && s->dur_ns) {
            dur_ns = stk_steps_add(dur_ns, s->dur_ns);
            wait_ns = stk_steps_add(wait_ns, s->wait_ns < s->dur_ns ? s->wait_ns : s->dur_ns);
            steps++;
        }
    }
    r->recent = (uint32_t)steps;
    if (steps) {
        r->now_ns = dur_ns / steps;
        r->per_second = 1e9 * (double)steps / (double)dur_ns;
        r->wait_share = r->head.has_wait ? (double)wait_ns / (double)dur_ns : -1;
    }
}

static void find_median(struct stk_live_rank *r)
{
    int64_t durs[STK_LIVE_KEPT];
    size_t n = 0;
    for (uint32_t i = 0; i < r->count; i++) {
        const struct stk_steps_record *s = newest(r, i);
        if (!(s->flags & (STK_STEPS_TOLD | STK_STEPS_IN_WINDOW)) && s->dur_ns <= INT64_MAX) {
            durs[n++] = (int64_t)s->dur_ns;
        }
    }
    r->median_ns = n ? (uint64_t)stk_median_low(durs, n) : 0;
}

// For steps beyond the file's capacity: uses the growth of the header's sums.
static void sum_header(struct stk_live_rank *r, const struct stk_steps_header *before)
{
    uint64_t steps = r->head.count - before->count, dur_ns = r->head.step_ns - before->step_ns;
    if (r->head.count > before->count && r->head.step_ns > before->step_ns) {
        r->recent = (uint32_t)(steps < UINT32_MAX ? steps : UINT32_MAX);
        r->now_ns = dur_ns / steps;
        r->per_second = 1e9 * (double)steps / (double)dur_ns;
        double wait = (double)(r->head.wait_ns - before->wait_ns) / (double)dur_ns;
        r->wait_share = r->head.has_wait && wait >= 0 && wait <= 1 ? wait : -1;
    }
}

// False: its record can't be read; see errno.
static bool follow_rank(struct stk_live_rank *r, int64_t now_ns, int64_t window_ns)
{
    STK_ASSERT(r->fd >= 0);
    errno = 0;
    struct stk_steps_header before = r->head;
    uint64_t pid = before.pid;
    if (!stk_steps_read_head(r->fd, &r->head)) {
        if (errno) {
            return false;
        }
        r->head = before;
    }
    r->head.pid = pid;
    if (!read_records(r)) {
        return false;
    }
    r->recent = 0;
    r->now_ns = 0;
    r->wait_share = r->per_second = r->age_s = -1;
    sum_recent(r, now_ns, window_ns);
    find_median(r);
    if (r->head.kept == before.kept && r->head.count > before.count + 1) {
        sum_header(r, &before);
    }
    if (r->head.last_ns && r->head.last_ns < (uint64_t)now_ns + AHEAD_NS) {
        r->age_s = (double)age_of(now_ns, r->head.last_ns) * 1e-9;
    }
    r->in_window = r->head.window_state == STK_WINDOW_OPEN;
    return true;
}

enum stoker_status stk_live_steps_follow(struct stk_live_steps *s, int64_t now_ns,
                                         int64_t window_ns, struct stoker_err *err)
{
    STK_ASSERT(s->folder && s->count <= STK_LIVE_RANKS);
    enum stoker_status status = look_for_ranks(s, err);
    s->lead = 0;
    for (size_t i = 0; i < s->count && status == STOKER_OK; i++) {
        if (!follow_rank(s->ranks[i], now_ns, window_ns)) {
            status = cannot_read(s, "", err);
            break;
        }
        if (s->ranks[i]->head.count > s->ranks[s->lead]->head.count) {
            s->lead = i;
        }
    }
    return status;
}
