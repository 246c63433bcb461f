// SPDX-License-Identifier: Apache-2.0
// Writes the ledger; see ledger.h.
#include "job/prove/ledger.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/str.h"
#include "base/text.h"
#include "stoker/version.h"

enum { LINE = 2048, DEPTH = 8 };

bool stk_ledger_path(char *to, size_t size)
{
    const char *data = getenv("XDG_DATA_HOME"), *home = getenv("HOME");
    int n = data && data[0] == '/' ? snprintf(to, size, "%s/stoker/ledger.tsv", data)
            : home && *home        ? snprintf(to, size, "%s/.local/share/stoker/ledger.tsv", home)
                                   : -1;
    return n > 0 && (size_t)n < size;
}

// "model name : ..." of the first processor, and how many this process may use.
static void processor_name(char *to, size_t size)
{
    char row[256];
    FILE *f = fopen("/proc/cpuinfo", "re");
    const char *name = "CPU";
    while (f && fgets(row, sizeof row, f)) {
        char *colon = strchr(row, ':');
        if (strncmp(row, "model name", 10) == 0 && colon) {
            name = colon + 1 + strspn(colon + 1, " ");
            row[strcspn(row, "\n")] = 0;
            break;
        }
    }
    if (f) {
        fclose(f);
    }
    snprintf(to, size, "%ldx %s", sysconf(_SC_NPROCESSORS_ONLN), name);
}

void stk_ledger_here(struct stk_ledger_line *line)
{
    time_t now = time(NULL);
    struct tm tm;
    strftime(line->time, sizeof line->time, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &tm));
    snprintf(line->stoker, sizeof line->stoker, "%s", stoker_version());
    processor_name(line->device, sizeof line->device);
}

static uint64_t hash_file(const char *path, uint64_t so_far)
{
    char bytes[65536];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    for (ssize_t n; fd >= 0 && (n = read(fd, bytes, sizeof bytes)) > 0;) {
        so_far = so_far * 0x9e3779b97f4a7c15u + stk_hash_bytes(bytes, (size_t)n);
    }
    if (fd >= 0) {
        close(fd);
    }
    return so_far;
}

// The order in which a folder lists its files does not matter: their hashes are summed.
static uint64_t hash_path(const char *path, int depth)
{
    struct stat st;
    if (depth == DEPTH || stat(path, &st) != 0 || !S_ISDIR(st.st_mode)) {
        return hash_file(path, 1);
    }
    uint64_t sum = 0;
    DIR *d = opendir(path);
    struct dirent *e;
    while (d && (e = readdir(d))) {
        char inner[4096];
        int n = snprintf(inner, sizeof inner, "%s/%s", path, e->d_name);
        if (e->d_name[0] != '.' && n > 0 && (size_t)n < sizeof inner) {
            sum += hash_path(inner, depth + 1);
        }
    }
    if (d) {
        closedir(d);
    }
    return sum;
}

void stk_ledger_hash(const char *path, char to[32])
{
    to[0] = 0;
    if (access(path, R_OK) == 0) {
        snprintf(to, 32, "%016" PRIx64, hash_path(path, 0));
    }
}

// Writes a cell, with spaces for characters that would end it or the line.
static size_t put_cell(char *to, size_t at, const char *text, char end)
{
    STK_ASSERT(at < LINE);
    for (; *text && at + 2 < LINE; text++) {
        to[at++] = (char)((unsigned char)*text < ' ' || *text == 127 ? ' ' : *text);
    }
    to[at++] = end;
    return at;
}

static size_t put_ratio(char *to, size_t at, const struct stk_interval *r)
{
    const double values[] = {r->low, r->estimate, r->high};
    char text[64] = "";
    for (int i = 0; i < 3; i++) {
        if (r->is_known) {
            stk_text_printf(text, sizeof text, "%.4f", values[i]);
        }
        at = put_cell(to, at, text, '\t');
    }
    return at;
}

static size_t put_line(const struct stk_ledger_line *line, char to[LINE])
{
    char pairs[32];
    snprintf(pairs, sizeof pairs, "%" PRId64, line->pairs);
    size_t at = put_cell(to, 0, line->time, '\t');
    at = put_cell(to, at, line->profile, '\t');
    at = put_cell(to, at, line->fix, '\t');
    at = put_ratio(to, at, &line->predicted);
    at = put_ratio(to, at, &line->measured);
    at = put_cell(to, at, pairs, '\t');
    at = put_cell(to, at, line->framework, '\t');
    at = put_cell(to, at, line->device, '\t');
    return put_cell(to, at, line->stoker, '\n');
}

static void make_above(const char *path)
{
    char part[4096];
    size_t n = strlen(path);
    for (size_t i = 1; i < n && n < sizeof part; i++) {
        if (path[i] == '/') {
            memcpy(part, path, i);
            part[i] = 0;
            mkdir(part, 0700); // if this fails, opening the file reports it
        }
    }
}

static enum stoker_status cannot(const char *path, int error, struct stoker_err *err)
{
    return stk_err_set(err, stk_err_of_file(error, STOKER_EOUTPUT), "the ledger %s: %s", path,
                       strerror(error));
}

// Under the lock: adds a header to an empty file, and a line end if the last line has none.
static int append_locked(int fd, const char *line, size_t n)
{
    char bytes[LINE + sizeof STK_LEDGER_HEADER + 1], last = '\n';
    size_t head = 0;
    struct stat st;
    if (fstat(fd, &st) != 0) {
        return errno;
    }
    if (st.st_size == 0) {
        head = sizeof STK_LEDGER_HEADER - 1;
        memcpy(bytes, STK_LEDGER_HEADER, head);
    } else if (pread(fd, &last, 1, st.st_size - 1) == 1 && last != '\n') {
        bytes[head++] = '\n';
    }
    memcpy(bytes + head, line, n);
    ssize_t put = write(fd, bytes, head + n);
    if (put == (ssize_t)(head + n)) {
        return 0;
    }
    int error = put < 0 ? errno : ENOSPC;
    return ftruncate(fd, st.st_size) == 0 ? error : errno;
}

enum stoker_status stk_ledger_append(const char *path, const struct stk_ledger_line *line,
                                     struct stoker_err *err)
{
    STK_ASSERT(path && line->pairs >= 0);
    char text[LINE];
    size_t n = put_line(line, text);
    make_above(path);
    int fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (fd < 0) {
        return cannot(path, errno, err);
    }
    int error = 0;
    while (flock(fd, LOCK_EX) != 0) {
        if (errno != EINTR) {
            error = errno;
            break;
        }
    }
    if (!error) {
        error = append_locked(fd, text, n);
    }
    close(fd); // also releases the lock
    return error ? cannot(path, error, err) : STOKER_OK;
}
