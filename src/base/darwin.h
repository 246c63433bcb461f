// SPDX-License-Identifier: Apache-2.0
// What Linux and glibc have, and macOS has under another name or not at all. The build includes
// this before every file there (CMakeLists.txt), and nowhere else.
//
// Limits: only what reading profiles needs. What runs and records jobs is not built there.
#ifndef STK_BASE_DARWIN_H
#define STK_BASE_DARWIN_H

#include <stddef.h>
#include <sys/stat.h>

#define st_mtim st_mtimespec
#define st_ctim st_ctimespec

// Advice, which macOS does without.
#define MAP_POPULATE 0
#define POSIX_FADV_SEQUENTIAL 0
#define posix_fadvise(fd, offset, length, advice) ((void)(fd), (void)(offset), 0)
// sysconf says -1 of it: not known.
#define _SC_AVPHYS_PAGES (-1)

static inline void *stk_memrchr(const void *bytes, int wanted, size_t n)
{
    const unsigned char *p = bytes;
    while (n > 0 && p[n - 1] != (unsigned char)wanted) {
        n--;
    }
    return n > 0 ? (void *)(size_t)(p + n - 1) : NULL;
}
#define memrchr stk_memrchr

#endif
