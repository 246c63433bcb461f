// SPDX-License-Identifier: Apache-2.0
// Reads only the complete pages of a database that is cut. SQLite pads a partial page with zeros,
// and may take those for rows or schema entries. Here a file ends with its last complete page, so
// SQLite reports the rest as damage.
//
// Method: an SQLite file system that forwards everything to the default one, but rounds file sizes
// down. Registered once per process.
#include <pthread.h>

#include "profile/readers/nsys/nsys.h"

#define NAME "stoker-whole-pages"
#define PAGE_OFFSET 16 // in the header: the size of pages, big-endian, 1 for 65536
#define PAGE_LEAST 512

struct file {
    sqlite3_file base;
    sqlite3_file *real; // after this struct
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static sqlite3_vfs *real_vfs, vfs;

static sqlite3_file *real_of(sqlite3_file *f)
{
    return ((struct file *)f)->real;
}

static int whole_size(sqlite3_file *f, sqlite3_int64 *size)
{
    sqlite3_file *real = real_of(f);
    uint8_t bytes[2];
    int rc = real->pMethods->xFileSize(real, size);
    if (rc != SQLITE_OK || *size < PAGE_LEAST ||
        real->pMethods->xRead(real, bytes, sizeof bytes, PAGE_OFFSET) != SQLITE_OK) {
        return rc;
    }
    sqlite3_int64 page = bytes[0] << 8 | bytes[1];
    page = page == 1 ? 65536 : page;
    *size -= page >= PAGE_LEAST ? *size % page : 0;
    return SQLITE_OK;
}

static int close_file(sqlite3_file *f)
{
    return real_of(f)->pMethods->xClose(real_of(f));
}

static int read_file(sqlite3_file *f, void *p, int n, sqlite3_int64 at)
{
    return real_of(f)->pMethods->xRead(real_of(f), p, n, at);
}

static int lock(sqlite3_file *f, int level)
{
    return real_of(f)->pMethods->xLock(real_of(f), level);
}

static int unlock(sqlite3_file *f, int level)
{
    return real_of(f)->pMethods->xUnlock(real_of(f), level);
}

static int is_reserved(sqlite3_file *f, int *out)
{
    return real_of(f)->pMethods->xCheckReservedLock(real_of(f), out);
}

static int control(sqlite3_file *f, int op, void *arg)
{
    return real_of(f)->pMethods->xFileControl(real_of(f), op, arg);
}

static int sector_size(sqlite3_file *f)
{
    return real_of(f)->pMethods->xSectorSize(real_of(f));
}

static int characteristics(sqlite3_file *f)
{
    return real_of(f)->pMethods->xDeviceCharacteristics(real_of(f));
}

// Databases are opened for reading alone.
static int refuse_write(sqlite3_file *f, const void *p, int n, sqlite3_int64 at)
{
    (void)f, (void)p, (void)n, (void)at;
    return SQLITE_READONLY;
}

static int refuse_truncate(sqlite3_file *f, sqlite3_int64 size)
{
    (void)f, (void)size;
    return SQLITE_READONLY;
}

static int refuse_sync(sqlite3_file *f, int flags)
{
    (void)f, (void)flags;
    return SQLITE_READONLY;
}

static const sqlite3_io_methods methods = {
    .iVersion = 1,
    .xClose = close_file,
    .xRead = read_file,
    .xWrite = refuse_write,
    .xTruncate = refuse_truncate,
    .xSync = refuse_sync,
    .xFileSize = whole_size,
    .xLock = lock,
    .xUnlock = unlock,
    .xCheckReservedLock = is_reserved,
    .xFileControl = control,
    .xSectorSize = sector_size,
    .xDeviceCharacteristics = characteristics,
};

static int open_file(sqlite3_vfs *v, const char *name, sqlite3_file *f, int flags, int *out_flags)
{
    (void)v;
    struct file *file = (struct file *)f;
    *file = (struct file){.real = (sqlite3_file *)(file + 1)};
    int rc = real_vfs->xOpen(real_vfs, name, file->real, flags, out_flags);
    file->base.pMethods = file->real->pMethods ? &methods : NULL; // NULL: it must not be closed
    return rc;
}

static void register_vfs(void)
{
    if (sqlite3_initialize() != SQLITE_OK || !(real_vfs = sqlite3_vfs_find(NULL))) {
        return;
    }
    vfs = *real_vfs;
    vfs.pNext = NULL;
    vfs.zName = NAME;
    vfs.szOsFile = real_vfs->szOsFile + (int)sizeof(struct file);
    vfs.xOpen = open_file;
    if (sqlite3_vfs_register(&vfs, 0) != SQLITE_OK) {
        real_vfs = NULL;
    }
}

const char *stk_nsys_whole_pages(void)
{
    pthread_once(&once, register_vfs);
    return real_vfs ? NAME : NULL;
}
