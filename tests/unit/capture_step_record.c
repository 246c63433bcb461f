// SPDX-License-Identifier: Apache-2.0
// Reading a record's header: the records behind those that it counts are counted, and no others.
#include "job/capture/parent/step_record.h"

#include <stdlib.h>
#include <sys/mman.h>
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

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    CHECK_RUN(as_many_as_there_are);
    CHECK_RUN(never_more_than_the_hooks_leave);
    CHECK_RUN(no_step_that_ended_before);
    CHECK_RUN(a_header_that_lies);
    CHECK_RUN(texts);
    return check_done("unit.capture_step_record");
}
