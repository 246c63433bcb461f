// SPDX-License-Identifier: Apache-2.0
// A truncated mapped file reads as zeros, and its guard says so. A fault outside guarded memory
// goes to the previous handler.
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/guard.h"
#include "check.h"

static sigjmp_buf back;

static void jump(int number)
{
    (void)number;
    siglongjmp(back, 1);
}

static volatile char *mapped(int *fd, size_t size)
{
    char path[] = "/tmp/stoker_guard_XXXXXX";
    *fd = mkstemp(path);
    CHECK(*fd >= 0 && unlink(path) == 0 && ftruncate(*fd, (off_t)size) == 0);
    CHECK(pwrite(*fd, "abc", 3, 0) == 3 && pwrite(*fd, "xyz", 3, (off_t)size - 3) == 3);
    void *map = mmap(NULL, size, PROT_READ, MAP_SHARED, *fd, 0);
    CHECK(map != MAP_FAILED);
    return map;
}

static void guarded_pages(void)
{
    int fd, other;
    size_t size = 5 * 65536;
    volatile char *at = mapped(&fd, size), *bare = mapped(&other, size);
    struct stk_guard *g = stk_guard_add((const void *)(uintptr_t)at, size);
    CHECK(g && !stk_guard_is_torn(g) && at[size - 1] == 'z');
    CHECK(ftruncate(fd, 65536) == 0 && ftruncate(other, 0) == 0);
    CHECK(at[0] == 'a' && !stk_guard_is_torn(g));
    CHECK_EQ(at[size - 1], 0);
    CHECK_EQ(at[size / 2], 0);
    CHECK(stk_guard_is_torn(g));
    CHECK(at[1] == 'b');
    volatile bool has_jumped = true;
    if (!sigsetjmp(back, 1)) {
        CHECK_EQ(bare[0], 0);
        has_jumped = false;
    }
    CHECK(has_jumped);
    stk_guard_drop(g);
    stk_guard_drop(NULL);
    CHECK(!stk_guard_is_torn(NULL) && !stk_guard_add("", 0));
    // A slot is taken again and begins whole; without a free one there is no guard.
    struct stk_guard *again = stk_guard_add("abc", 3);
    CHECK(again && !stk_guard_is_torn(again));
    int more = 0;
    while (stk_guard_add("abc", 3)) {
        more++;
    }
    CHECK_EQ(more, STK_GUARDS_MAX - 1);
    stk_guard_drop(again);
    CHECK(stk_guard_add("abc", 3) && !stk_guard_add("abc", 3)); // the slot is found again
}

// What is written to a page that is gone ends nothing, and does not reach the file.
static void written_pages(void)
{
    char path[] = "/tmp/stoker_guard_XXXXXX";
    size_t size = 2 * 65536;
    int fd = mkstemp(path);
    CHECK(fd >= 0 && unlink(path) == 0 && ftruncate(fd, (off_t)size) == 0);
    volatile char *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    struct stk_guard *g = stk_guard_add((const void *)(uintptr_t)at, size);
    at[65536] = 'a';
    CHECK(g && !stk_guard_is_torn(g));
    CHECK_EQ(ftruncate(fd, 65536), 0);
    at[65536] = 'b';
    CHECK(stk_guard_is_torn(g) && lseek(fd, 0, SEEK_END) == 65536);
    stk_guard_drop(g);
    munmap((void *)(uintptr_t)at, size);
    close(fd);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    CHECK(signal(SIGBUS, jump) != SIG_ERR); // before the first guard
    CHECK_RUN(written_pages);               // before all guards are taken
    CHECK_RUN(guarded_pages);
    return check_done("unit.base_guard");
}
