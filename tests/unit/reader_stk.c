// SPDX-License-Identifier: Apache-2.0
// stoker's own records: records written by two writers at once are read completely; truncated or
// damaged files are read up to the damage, which is reported.
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "profile/readers/reader.h"
#include "profile/store/names.h"
#include "wire/wire_write.h"

#define EVENTS 5000

static char path[64];
static uint32_t frameworks; // of the file that was read last
static struct stk_wire_file *file;

static void *write_events(void *arg)
{
    struct stk_wire_writer *w = stk_wire_writer_open(file);
    uint32_t track = stk_wire_track(w, STK_WIRE_HOST, (int64_t)(intptr_t)arg, -1, 0);
    uint32_t name = stk_wire_string(w, "Iterator::Batch");
    for (uint64_t i = 0; i < EVENTS; i++) {
        struct stk_wire_event e = {.start_ns = 1000000 + i * 100,
                                   .dur_ns = 50,
                                   .name = name,
                                   .track = track,
                                   .kind = STK_WIRE_INPUT};
        stk_wire_put(w, STK_WIRE_EVENTS, &e, sizeof e, e.start_ns, e.start_ns + 50);
    }
    stk_wire_writer_close(w);
    return NULL;
}

// Facts: one that counts, and such as this version does not know or that refer to nothing.
static void write_facts(void)
{
    struct stk_wire_writer *w = stk_wire_writer_open(file);
    const struct stk_wire_fact facts[] = {
        {stk_wire_string(w, STK_WIRE_FRAMEWORK), stk_wire_string(w, "pytorch")},
        {stk_wire_string(w, STK_WIRE_FRAMEWORK), stk_wire_string(w, "pytorch lightning")},
        {stk_wire_string(w, "frame"), stk_wire_string(w, "jax")},
        {77777, 88888}};
    for (size_t i = 0; i < sizeof facts / sizeof facts[0]; i++) {
        stk_wire_put(w, STK_WIRE_FACTS, &facts[i], sizeof facts[i], 0, 0);
    }
    stk_wire_writer_close(w);
}

static void write_file(void)
{
    struct stoker_err err;
    pthread_t other;
    stk_err_init(&err);
    strcpy(path, "/tmp/stoker-wire-XXXXXX");
    CHECK(close(mkstemp(path)) == 0);
    CHECK(stk_wire_create(&file, path, "test", &err) == STOKER_OK);
    bool runs = pthread_create(&other, NULL, write_events, (void *)(intptr_t)2) == 0;
    write_events((void *)(intptr_t)1);
    write_facts();
    if (!runs || pthread_join(other, NULL)) {
        write_events((void *)(intptr_t)2);
    }
    CHECK(stk_wire_close(file, true, &err) == STOKER_OK);
}

// Events read; -1: not readable. *issues: bits of wire-damaged (1) and truncated (2).
static int64_t read_file(int *issues)
{
    struct stk_trace *t;
    struct stoker_err err;
    stk_err_init(&err);
    *issues = 0;
    if (stk_reader_read_path(path, 1, NULL, &t, &err) != STOKER_OK) {
        CHECK(err.message[0] != 0);
        return -1;
    }
    int64_t n = (int64_t)t->count;
    frameworks = t->framework_hint;
    *issues = (t->issues[STK_ISSUE_WIRE_DAMAGED].count > 0) |
              (t->issues[STK_ISSUE_TRUNCATED].count > 0) << 1;
    stk_trace_free(t);
    return n;
}

static void cut(off_t size)
{
    int issues;
    CHECK(truncate(path, size) == 0);
    int64_t n = read_file(&issues);
    CHECK(n <= 2 * EVENTS && (n < 0 ? size < 64 : (issues & 2) != 0));
}

static void flip(off_t at)
{
    int issues;
    FILE *f = fopen(path, "r+b");
    CHECK(f != NULL);
    fseek(f, at, SEEK_SET);
    int c = fgetc(f);
    fseek(f, at, SEEK_SET);
    fputc(c ^ 0x40, f);
    CHECK(fclose(f) == 0);
    int64_t n = read_file(&issues);
    CHECK(at < 64 || (n >= 0 && n < 2 * EVENTS && (issues & 1)) || (n == 2 * EVENTS && issues));
    f = fopen(path, "r+b");
    fseek(f, at, SEEK_SET);
    fputc(c, f);
    CHECK(fclose(f) == 0);
}

// A device's counts are signed in the record; negative ones are unknown.
static void negative_counts(void)
{
    struct stk_trace *t;
    struct stoker_err err;
    const struct stk_wire_device device = {
        .sm_count = INT32_MIN, .cc_major = -1, .cc_minor = -1, .memory_bytes = UINT64_MAX};
    stk_err_init(&err);
    CHECK(stk_wire_create(&file, path, "test", &err) == STOKER_OK);
    struct stk_wire_writer *w = stk_wire_writer_open(file);
    const struct stk_wire_work work = {.start_ns = 1000,
                                       .dur_ns = 50,
                                       .name = stk_wire_string(w, "kernel"),
                                       .track = stk_wire_track(w, STK_WIRE_DEVICE, 7, 0, 0),
                                       .kind = STK_WIRE_KERNEL};
    stk_wire_put(w, STK_WIRE_DEVICES, &device, sizeof device, 0, 0);
    stk_wire_put(w, STK_WIRE_WORK, &work, sizeof work, 1000, 1050);
    stk_wire_writer_close(w);
    CHECK(stk_wire_close(file, true, &err) == STOKER_OK);
    CHECK(stk_reader_read_path(path, 1, NULL, &t, &err) == STOKER_OK);
    CHECK_EQ(t->device_count, 1);
    CHECK_EQ(t->devices[0].sm_count, 0);
    CHECK_EQ(t->devices[0].cc_major, 0);
    CHECK_EQ(t->devices[0].memory_bytes, 0);
    stk_trace_free(t);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    struct stat info;
    int issues;
    write_file();
    CHECK(stat(path, &info) == 0);
    CHECK_EQ(read_file(&issues), 2 * EVENTS);
    CHECK_EQ(issues, 0);
    CHECK_EQ(frameworks, 1u << STK_FW_PYTORCH);
    for (off_t at = 0; at < info.st_size; at += at < 300 ? 7 : 9001) {
        CHECK_RUN(flip, at);
    }
    for (off_t size = info.st_size - 1; size >= 0; size -= size < 600 ? 23 : 9973) {
        CHECK_RUN(cut, size);
    }
    CHECK_RUN(negative_counts);
    unlink(path);
    return check_done("unit.reader_stk");
}
