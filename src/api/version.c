// SPDX-License-Identifier: Apache-2.0
// Version of the library and of those it is built on.
#include "stoker/version.h"

#include <isa-l.h>
#include <sqlite3.h>
#include <stdio.h>
#include <zstd.h>

#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)

const char *stoker_version(void)
{
    return TEXT(STOKER_VERSION_MAJOR) "." TEXT(STOKER_VERSION_MINOR) "." TEXT(STOKER_VERSION_PATCH);
}

const char *stoker_library(int index)
{
    static const char *const names[] = {
        "ISA-L " TEXT(ISAL_MAJOR_VERSION) "." TEXT(ISAL_MINOR_VERSION) "." TEXT(
            ISAL_PATCH_VERSION) " (gzip)",
        "zstd " ZSTD_VERSION_STRING,
        "SQLite " SQLITE_VERSION,
    };
    return index >= 0 && (size_t)index < sizeof names / sizeof names[0] ? names[index] : NULL;
}
