// SPDX-License-Identifier: Apache-2.0
// Reading a record's header: counts the records after those that it counts, and no others.
#include "job/capture/parent/step_record.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <unistd.h>

#include "check.h"

enum { ROOM = 200, COUNTED = 10, STEP_NS = 1000, OWN_NS = 5 };

static struct stk_steps_header head;

static void put(int fd, const void *from, size_t n, size_t at)
{
    CHECK_EQ(pwrite(fd, from, n, (off_t)at), n);
}

static void put_step(int fd, size_t i, uint64_t end_ns)
{
    struct stk_steps_record r = {.end_ns = end_ns, .dur_ns = STEP_NS, .wait_ns = 10};
    put(fd, &r, sizeof r, STK_STEPS_HEADER_BYTES + i * sizeof r);
}

// A file of `made` steps whose header counts COUNTED of them.
static int file_of(size_t room, size_t made)
{
    struct stk_steps_header h = {.magic = "stkhook",
                                 .version = STK_STEPS_VERSION,
                                 .header_bytes = STK_STEPS_HEADER_BYTES,
                                 .count = COUNTED + 3, // three had no room for their times
                                 .kept = COUNTED,
                                 .own_ns = (COUNTED + 3) * OWN_NS,
                                 .first_ns = 1,
                                 .last_ns = COUNTED * STEP_NS};
    h.magic[7] = STK_STEPS_MAGIC[7];
    int fd = memfd_create("steps", 0);
    CHECK_EQ(
        ftruncate(fd, (off_t)(STK_STEPS_HEADER_BYTES + room * sizeof(struct stk_steps_record))), 0);
    put(fd, &h, sizeof h, 0);
    for (size_t i = 0; i < made; i++) {
        put_step(fd, i, (i + 1) * STEP_NS);
    }
    return fd;
}

static uint64_t counted(int fd)
{
    CHECK(stk_steps_read_head(fd, &head));
    close(fd);
    CHECK_EQ(head.count, head.kept + 3);
    return head.kept;
}

static void as_many_as_there_are(void)
{
    CHECK_EQ(counted(file_of(ROOM, COUNTED)), COUNTED);
    CHECK_EQ(counted(file_of(ROOM, COUNTED + 1)), COUNTED + 1);
    CHECK_EQ(counted(file_of(ROOM, COUNTED + 20)), COUNTED + 20);
    CHECK_EQ(head.last_ns, (COUNTED + 20) * STEP_NS);
    CHECK_EQ(head.step_ns, 20 * STEP_NS);
    CHECK_EQ(head.wait_ns, 20 * 10);
    CHECK_EQ(head.own_ns, (COUNTED + 3 + 20) * OWN_NS);
}

static void never_more_than_the_hooks_leave(void)
{
    CHECK_EQ(counted(file_of(ROOM, ROOM)), COUNTED + STK_STEPS_UNCOUNTED);
    CHECK_EQ(counted(file_of(COUNTED + 4, COUNTED + 4)), COUNTED + 4);
    CHECK_EQ(counted(file_of(COUNTED, COUNTED)), COUNTED);
}

// What an earlier count of the same file left, or damage.
static void no_step_that_ended_before(void)
{
    int fd = file_of(ROOM, COUNTED + 3);
    put_step(fd, COUNTED + 3, 5);
    put_step(fd, COUNTED + 4, UINT64_MAX);
    CHECK_EQ(counted(fd), COUNTED + 3);
}

static void a_header_that_lies(void)
{
    int fd = file_of(ROOM, ROOM);
    uint64_t kept = UINT64_MAX;
    put(fd, &kept, sizeof kept, offsetof(struct stk_steps_header, kept));
    CHECK(stk_steps_read_head(fd, &head));
    CHECK_EQ(head.kept, ROOM);
    close(fd);
    fd = file_of(ROOM, COUNTED + 1);
    uint64_t none = 0;
    put(fd, &none, sizeof none, offsetof(struct stk_steps_header, count));
    CHECK(stk_steps_read_head(fd, &head));
    CHECK(head.kept == COUNTED && !head.count);
    close(fd);
}

// Texts that the job may have written over.
static void texts(void)
{
    static const char hostile[] = "a\x1b[2J\x07\n\x7f\tb";
    int fd = file_of(ROOM, COUNTED);
    char full[sizeof head.notes];
    memset(full, 'x', sizeof full); // without an end
    put(fd, full, sizeof full, offsetof(struct stk_steps_header, notes));
    put(fd, hostile, sizeof hostile, offsetof(struct stk_steps_header, notes));
    put(fd, hostile, sizeof hostile, offsetof(struct stk_steps_header, framework));
    put(fd, full, sizeof head.versions, offsetof(struct stk_steps_header, versions));
    CHECK(stk_steps_read_head(fd, &head));
    close(fd);
    CHECK_STR(head.framework, "a?[2J????b");
    CHECK_STR(head.notes, "a?[2J?\n??b");
    CHECK_EQ(strlen(head.versions), sizeof head.versions - 1);
}

// Four launches of STEP_NS, and one that waits for the work of all: no launch is a step's length.
static void steps_of_a_loop_that_runs_ahead(void)
{
    static const struct stk_steps_record waits = {
        .end_ns = 105 * STEP_NS, .dur_ns = 101 * STEP_NS, .wait_ns = 10};
    static const uint8_t ahead = 1;
    struct stk_steps_of_run run;
    struct stoker_err err;
    stk_err_init(&err);
    for (int runs_ahead = 0; runs_ahead < 2; runs_ahead++) {
        char folder[] = "/tmp/stoker-steps-XXXXXX", path[64];
        CHECK(mkdtemp(folder));
        snprintf(path, sizeof path, "%s/steps-1.rec", folder);
        int from = file_of(5, 4), to = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0600);
        uint64_t kept = 5;
        put(from, &kept, sizeof kept, offsetof(struct stk_steps_header, kept));
        put(from, &ahead, (size_t)runs_ahead, offsetof(struct stk_steps_header, runs_ahead));
        put(from, &waits, sizeof waits, STK_STEPS_HEADER_BYTES + 4 * sizeof waits);
        CHECK_EQ(sendfile(to, from, NULL, STK_STEPS_HEADER_BYTES + 5 * sizeof waits),
                 STK_STEPS_HEADER_BYTES + 5 * sizeof waits);
        CHECK_EQ(stk_steps_read(folder, 0, &run, &err), STOKER_OK);
        CHECK_EQ(run.count, 1);
        CHECK_EQ(run.ranks[0].median_ns, runs_ahead ? 21 * STEP_NS : STEP_NS);
        stk_steps_free(&run);
        close(from);
        close(to);
        unlink(path);
        rmdir(folder);
    }
}

// Damage: durations whose sum is beyond 64 bits. What was waited is still a part of them.
static void times_beyond_numbers(void)
{
    static const struct stk_steps_record vast = {
        .end_ns = 200 * STEP_NS, .dur_ns = UINT64_C(1) << 63, .wait_ns = UINT64_C(1) << 62};
    struct stk_steps_of_run run;
    struct stoker_err err;
    char folder[] = "/tmp/stoker-steps-XXXXXX", path[64];
    CHECK(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/steps-1.rec", folder);
    int from = file_of(COUNTED, COUNTED), to = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0600);
    put(from, &vast, sizeof vast, STK_STEPS_HEADER_BYTES + 4 * sizeof vast);
    put(from, &vast, sizeof vast, STK_STEPS_HEADER_BYTES + 6 * sizeof vast);
    CHECK_EQ(sendfile(to, from, NULL, STK_STEPS_HEADER_BYTES + COUNTED * sizeof vast),
             STK_STEPS_HEADER_BYTES + COUNTED * sizeof vast);
    CHECK_EQ(stk_steps_read(folder, 0, &run, &err), STOKER_OK);
    CHECK_EQ(run.count, 1);
    CHECK_EQ(run.ranks[0].time_ns, UINT64_MAX);
    CHECK(run.ranks[0].wait_ns <= run.ranks[0].time_ns);
    stk_steps_free(&run);
    close(from);
    close(to);
    unlink(path);
    rmdir(folder);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    CHECK_RUN(as_many_as_there_are);
    CHECK_RUN(never_more_than_the_hooks_leave);
    CHECK_RUN(no_step_that_ended_before);
    CHECK_RUN(a_header_that_lies);
    CHECK_RUN(texts);
    CHECK_RUN(steps_of_a_loop_that_runs_ahead);
    CHECK_RUN(times_beyond_numbers);
    return check_done("unit.capture_step_record");
}
