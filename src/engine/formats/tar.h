// SPDX-License-Identifier: Apache-2.0
// Headers of tar archives: blocks of 512 bytes before each member's data, which are padded to whole
// blocks. Versions: v7, POSIX.1-1988 (ustar), POSIX.1-2001 (pax records as separate members) and
// GNU (long names as separate members, sizes in base 256).
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STK_TAR_BLOCK 512
#define STK_TAR_NAME_MAX 257 // in a header: prefix, slash, name, and a zero byte

enum stk_tar_kind {
    STK_TAR_BAD, // not a header: the checksum is wrong
    STK_TAR_END, // zeros
    STK_TAR_FILE,
    STK_TAR_LONG_NAME, // the data are the name of the next member
    STK_TAR_PAX,       // the data are records about the next member
    STK_TAR_SPARSE,    // a file with holes: its data aren't the file's bytes
    STK_TAR_OTHER      // a folder, a link, a device, ...: data are skipped
};

struct stk_tar_header {
    enum stk_tar_kind kind;
    bool is_ustar; // has a magic number: less likely a false match
    uint64_t size; // of the data
    char name[STK_TAR_NAME_MAX];
};

void stk_tar_header_read(const uint8_t block[STK_TAR_BLOCK], struct stk_tar_header *out);
// The last record of that key among pax records. False: the key is missing or the records are
// damaged.
bool stk_tar_pax_find(const uint8_t *records, size_t size, const char *key, const uint8_t **value,
                      size_t *value_size);
static inline uint64_t stk_tar_padding(uint64_t size)
{
    return (STK_TAR_BLOCK - size % STK_TAR_BLOCK) % STK_TAR_BLOCK;
}
