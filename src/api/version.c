// SPDX-License-Identifier: Apache-2.0
// Version of the library and of the libraries it uses.
#include "stoker/version.h"

#include <sqlite3.h>
#include <stddef.h>
#include <zlib.h>
#include <zstd.h>

#if STOKER_HAVE_ISAL
#include <isa-l.h>
#endif

#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)

const char *stoker_version(void)
{
    return TEXT(STOKER_VERSION_MAJOR) "." TEXT(STOKER_VERSION_MINOR) "." TEXT(STOKER_VERSION_PATCH);
}

// clang-format off
static const char *const libraries[] = {
#if STOKER_HAVE_ISAL
    "ISA-L " TEXT(ISAL_MAJOR_VERSION) "." TEXT(ISAL_MINOR_VERSION) "." TEXT(ISAL_PATCH_VERSION) " (gzip)",
#else
    "no ISA-L: zlib unpacks gzip, several times slower",
#endif
    "zlib " ZLIB_VERSION,
    "zstd " ZSTD_VERSION_STRING,
    "SQLite " SQLITE_VERSION,
};
// clang-format on

const char *stoker_library(int index)
{
    size_t count = sizeof libraries / sizeof libraries[0];
    return index >= 0 && (size_t)index < count ? libraries[index] : NULL;
}
