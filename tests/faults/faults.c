// SPDX-License-Identifier: Apache-2.0
// Makes one chosen call of the system fail. The linker puts these functions in front of those of
// the C library for the calls that stoker's own code makes (--wrap, tests/faults.cmake); libraries
// keep theirs. The program that is released has none of it.
#include "faults/faults.h"

#include <dirent.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

extern const char __executable_start; // the linker's

static struct faults_page *page;
static int trace = -1; // a file that gets who made each call of the kind; below 0: none
static _Thread_local bool is_inside; // of what follows: its own calls do not count

__attribute__((constructor)) static void map_page(void)
{
    const char *path = getenv("STOKER_FAULTS");
    is_inside = true;
    int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    void *at =
        fd < 0 ? MAP_FAILED : mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (fd >= 0) {
        close(fd);
    }
    page = at == MAP_FAILED ? NULL : at;
    path = getenv("STOKER_FAULTS_TRACE");
    trace = page && path ? open(path, O_WRONLY | O_APPEND | O_CLOEXEC) : -1;
    is_inside = false;
}

// Who calls, as offsets in the program.
static uint64_t callers(uint64_t to[FAULTS_DEPTH])
{
    void *frames[FAULTS_DEPTH];
    int n = backtrace(frames, FAULTS_DEPTH);
    for (int i = 0; i < n; i++) {
        to[i] = (uint64_t)((const char *)frames[i] - &__executable_start);
    }
    return (uint64_t)n;
}

static void put_trace(void)
{
    uint64_t frames[FAULTS_DEPTH] = {0};
    is_inside = true;
    (void)callers(frames);
    (void)!write(trace, frames, sizeof frames);
    is_inside = false;
}

static void note(const char *name)
{
    is_inside = true;
    strncpy(page->call, name, FAULTS_NAME - 1);
    page->depth = callers(page->frames);
    is_inside = false;
}

static bool strikes(enum faults_kind kind, const char *name)
{
    if (!page || is_inside) {
        return false;
    }
    uint64_t number = __atomic_add_fetch(&page->seen[kind], 1, __ATOMIC_RELAXED);
    if (trace >= 0 && kind == page->kind) {
        put_trace();
    }
    if (kind != page->kind || number != page->at) {
        return false;
    }
    page->struck = 1;
    note(name);
    errno = (int)page->error;
    return true;
}

// A stream that failed says so to who asks; there is no call for it.
static size_t fails(FILE *f)
{
    if (f) {
        f->_flags |= 0x20;
    }
    return 0;
}

#define CALL(kind, type, name, failed, parameters, arguments)                                      \
    type __real_##name parameters;                                                                 \
    type __wrap_##name parameters;                                                                 \
    type __wrap_##name parameters                                                                  \
    {                                                                                              \
        if (strikes(FAULTS_##kind, #name)) {                                                       \
            int error = errno;                                                                     \
            (void)error;                                                                           \
            return failed;                                                                         \
        }                                                                                          \
        return __real_##name arguments;                                                            \
    }
#include "faults/calls.def"
