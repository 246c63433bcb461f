// SPDX-License-Identifier: Apache-2.0
// Lower bounds: the least work that must be done with a profile's bytes. Each command does one such
// piece of work and prints how much it found, so that the compiler can't remove it.
//
//   stoker_limits scan FILE N     reads the file once and examines each byte: JSON's delimiters
//   stoker_limits walk FILE       reads an XSpace and visits each field of its events
//   stoker_limits packets FILE    the same of a Perfetto trace
//   stoker_limits select FILE     steps through the event tables of an nsys export by SQLite
//
// N threads share a scan. A walk enters messages that contain events and skips the rest by length.
// Limits: the walk keeps the whole file in memory; select reads a table's integer columns.
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/varint.h"

enum { BLOCK = 1 << 20, THREADS_MAX = 64 };

struct part {
    const char *path;
    uint64_t from, to; // bytes
    uint64_t met;
    pthread_t thread;
};

static _Noreturn void die(const char *what)
{
    fprintf(stderr, "stoker_limits: %s: %s\n", what, strerror(errno));
    exit(1);
}

// Counts quotes, braces, colons and commas.
static uint64_t count_marks(const uint8_t *p, size_t n)
{
    uint64_t all = 0;
    for (size_t i = 0; i < n;) {
        uint8_t few = 0; // one byte, so that the compiler's vectors stay narrow
        for (size_t end = i + 128 < n ? i + 128 : n; i < end; i++) {
            few = (uint8_t)(few + (p[i] == '"') + ((p[i] | 0x20) == '{') + ((p[i] | 0x20) == '}') +
                            (p[i] == ':') + (p[i] == ','));
        }
        all += few;
    }
    return all;
}

static void scan(struct part *x)
{
    uint8_t *block = malloc(BLOCK);
    int fd = open(x->path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || !block) {
        die(x->path);
    }
    for (uint64_t at = x->from; at < x->to;) {
        size_t want = x->to - at < BLOCK ? (size_t)(x->to - at) : BLOCK;
        ssize_t n = pread(fd, block, want, (off_t)at);
        if (n <= 0) {
            die(x->path);
        }
        x->met += count_marks(block, (size_t)n);
        at += (uint64_t)n;
    }
    free(block);
    close(fd);
}

// Fields that contain other fields, by depth; 0: none.
struct format {
    const char *name;
    uint64_t into[4];
};
static const struct format formats[] = {
    {"walk", {1, 3, 4, 0}},     // XSpace.planes, XPlane.lines, XLine.events
    {"packets", {1, 11, 0, 0}}, // Trace.packet, TracePacket.track_event
};

// Reads each field's tag and value or size; returns how many there are. May read past the end.
static uint64_t walk(const uint64_t *into, const uint8_t *p, const uint8_t *end)
{
    uint64_t met = 0, tag, value;
    while (p && p < end) {
        met++;
        if (!(p = stk_varint_get8(p, &tag))) {
            return met;
        }
        switch (tag & 7) {
        case 0: {
            const uint8_t *next = stk_varint_get8(p, &value);
            p = next ? next : stk_varint_get_slow(p, end, &value);
            break;
        }
        case 1:
            p += 8;
            break;
        case 2:
            if (!(p = stk_varint_get8(p, &value)) || value > (uint64_t)(end - p)) {
                return met;
            }
            met += *into && tag >> 3 == *into ? walk(into + 1, p, p + value) : 0;
            p += value;
            break;
        case 5:
            p += 4;
            break;
        default:
            return met;
        }
    }
    return met;
}

static uint64_t walk_file(const struct format *format, const char *path, uint64_t size)
{
    uint8_t *bytes = malloc(size + 16);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    uint64_t at = 0;
    if (fd < 0 || !bytes) {
        die(path);
    }
    for (ssize_t n; at < size && (n = read(fd, bytes + at, size - at)) > 0;) {
        at += (uint64_t)n;
    }
    close(fd);
    memset(bytes + at, 0, 16);
    uint64_t met = walk(format->into, bytes, bytes + at);
    free(bytes);
    return met;
}

static void *work(void *arg)
{
    scan(arg);
    return NULL;
}

static uint64_t scan_file(const char *path, uint64_t size, unsigned threads)
{
    struct part parts[THREADS_MAX];
    uint64_t met = 0;
    for (unsigned i = 0; i < threads; i++) {
        parts[i] =
            (struct part){.path = path, .from = size * i / threads, .to = size * (i + 1) / threads};
        if (pthread_create(&parts[i].thread, NULL, work, &parts[i]) != 0) {
            die("thread");
        }
    }
    for (unsigned i = 0; i < threads; i++) {
        pthread_join(parts[i].thread, NULL);
        met += parts[i].met;
    }
    return met;
}

// Reads all rows of a table with a column "start": its integers, through SQLite.
static uint64_t select_table(sqlite3 *db, const char *table)
{
    char sql[512];
    sqlite3_stmt *rows;
    uint64_t met = 0;
    snprintf(sql, sizeof sql, "SELECT * FROM \"%s\"", table);
    if (sqlite3_prepare_v2(db, sql, -1, &rows, NULL) != SQLITE_OK) {
        return 0;
    }
    int columns = sqlite3_column_count(rows);
    while (sqlite3_step(rows) == SQLITE_ROW) {
        for (int i = 0; i < columns && i < 9; i++) { // as many as a reader of kernels needs
            met += (uint64_t)sqlite3_column_int64(rows, i) & 1;
        }
        met += 2;
    }
    sqlite3_finalize(rows);
    return met;
}

static uint64_t select_file(const char *path)
{
    sqlite3 *db;
    sqlite3_stmt *tables;
    uint64_t met = 0;
    const char *sql = "SELECT m.name FROM sqlite_master m WHERE m.type = 'table' AND EXISTS "
                      "(SELECT 1 FROM pragma_table_info(m.name) WHERE name = 'start')";
    if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK ||
        sqlite3_prepare_v2(db, sql, -1, &tables, NULL) != SQLITE_OK) {
        die(path);
    }
    while (sqlite3_step(tables) == SQLITE_ROW) {
        met += select_table(db, (const char *)sqlite3_column_text(tables, 0));
    }
    sqlite3_finalize(tables);
    sqlite3_close(db);
    return met;
}

int main(int argc, char **argv)
{
    struct stat st;
    if (argc < 3 || stat(argv[2], &st) != 0) {
        fprintf(stderr, "usage: stoker_limits scan|walk|packets|select FILE [THREADS]\n");
        return 2;
    }
    unsigned threads = argc > 3 ? (unsigned)atoi(argv[3]) : 1;
    threads = threads < 1 ? 1 : threads > THREADS_MAX ? THREADS_MAX : threads;
    uint64_t size = (uint64_t)st.st_size, met = 0;
    if (strcmp(argv[1], "scan") == 0) {
        met = scan_file(argv[2], size, threads);
    } else if (strcmp(argv[1], "select") == 0) {
        met = select_file(argv[2]);
    }
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        met += strcmp(argv[1], formats[i].name) == 0 ? walk_file(&formats[i], argv[2], size) : 0;
    }
    printf("%llu\n", (unsigned long long)met);
    return met == 0;
}
