// SPDX-License-Identifier: Apache-2.0
// By the system call itself: the C library of the oldest supported systems (glibc 2.17) has no
// function for it. macOS has no such call: there it is a file on disk whose name is removed.
#include "base/memory_file.h"

#include <stdio.h>
#include <unistd.h>
#ifdef __linux__
#include <linux/memfd.h>
#include <sys/syscall.h>
#else
#include <fcntl.h>
#include <stdlib.h>

#include "base/remove.h"
#endif

#include "base/assert.h"

int stk_memory_file(const char *name, char path[STK_MEMORY_FILE_PATH])
{
    STK_ASSERT(name && path);
#ifdef __linux__
    int fd = (int)syscall(SYS_memfd_create, name, MFD_CLOEXEC);
    snprintf(path, STK_MEMORY_FILE_PATH, "/proc/self/fd/%d", fd);
#else
    char on_disk[] = "/tmp/stoker.XXXXXX";
    int fd = mkstemp(on_disk);
    if (fd >= 0) {
        (void)stk_remove_file(AT_FDCWD, on_disk);
    }
    snprintf(path, STK_MEMORY_FILE_PATH, "/dev/fd/%d", fd);
#endif
    return fd;
}
