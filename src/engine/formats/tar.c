// SPDX-License-Identifier: Apache-2.0
// Reading tar headers (POSIX.1-2017, pax: "ustar Interchange Format", "pax Extended Header"; GNU
// tar manual, "Basic Tar Format").
#include "engine/formats/tar.h"

#include <string.h>

// Offsets of the header's fields.
enum {
    NAME = 0,
    NAME_SIZE = 100,
    SIZE = 124,
    SIZE_SIZE = 12,
    SUM = 148,
    SUM_SIZE = 8,
    TYPE = 156,
    MAGIC = 257,
    PREFIX = 345,
    PREFIX_SIZE = 155
};

// Octal between spaces, ended by a space or zero byte; or base 256, marked by the first bit.
static bool number(const uint8_t *p, size_t n, uint64_t *out)
{
    uint64_t v = 0;
    size_t i = 0;
    if (p[0] & 0x80) {
        v = p[0] & 0x7f;
        for (i = 1; i < n; i++) {
            if (v >> 55) {
                return false;
            }
            v = v << 8 | p[i];
        }
        *out = v;
        return v <= INT64_MAX;
    }
    while (i < n && p[i] == ' ') {
        i++;
    }
    size_t first = i;
    for (; i < n && p[i] >= '0' && p[i] <= '7'; i++) {
        v = v << 3 | (uint64_t)(p[i] - '0');
    }
    *out = v;
    return (i > first || i == n || p[i] == 0) && (i == n || p[i] == 0 || p[i] == ' ');
}

// The sum of the bytes, the checksum itself counted as spaces; some tools summed signed bytes.
static bool sum_fits(const uint8_t *b)
{
    uint64_t want;
    int64_t sum = 0, with_sign = 0;
    for (int i = 0; i < STK_TAR_BLOCK; i++) {
        uint8_t c = i >= SUM && i < SUM + SUM_SIZE ? ' ' : b[i];
        sum += c;
        with_sign += (int8_t)c;
    }
    return number(b + SUM, SUM_SIZE, &want) &&
           (want == (uint64_t)sum || (int64_t)want == with_sign);
}

static bool is_zero(const uint8_t *b)
{
    return b[0] == 0 && memcmp(b, b + 1, STK_TAR_BLOCK - 1) == 0;
}

static enum stk_tar_kind kind_of(uint8_t type, const char *name)
{
    size_t n = strlen(name);
    switch (type) {
    case 0: // v7 marks a folder by its name
        return n && name[n - 1] == '/' ? STK_TAR_OTHER : STK_TAR_FILE;
    case '0':
    case '7':
        return STK_TAR_FILE;
    case 'L':
        return STK_TAR_LONG_NAME;
    case 'x':
    case 'X':
        return STK_TAR_PAX;
    case 'S':
        return STK_TAR_SPARSE;
    default:
        return STK_TAR_OTHER;
    }
}

void stk_tar_header_read(const uint8_t block[STK_TAR_BLOCK], struct stk_tar_header *out)
{
    size_t prefix = 0;
    *out = (struct stk_tar_header){.kind = STK_TAR_BAD};
    if (is_zero(block)) {
        out->kind = STK_TAR_END;
        return;
    }
    out->is_ustar = memcmp(block + MAGIC, "ustar", 5) == 0;
    if (!number(block + SIZE, SIZE_SIZE, &out->size) || !sum_fits(block)) {
        return;
    }
    if (out->is_ustar && block[MAGIC + 5] == 0) { // GNU uses that field for other things
        prefix = strnlen((const char *)block + PREFIX, PREFIX_SIZE);
        memcpy(out->name, block + PREFIX, prefix);
        if (prefix) {
            out->name[prefix++] = '/';
        }
    }
    size_t n = strnlen((const char *)block + NAME, NAME_SIZE);
    memcpy(out->name + prefix, block + NAME, n);
    out->kind = kind_of(block[TYPE], out->name);
    // Links and the like have no data, even if they give a size.
    if (out->kind == STK_TAR_OTHER && block[TYPE] >= '1' && block[TYPE] <= '6') {
        out->size = 0;
    }
}

bool stk_tar_pax_find(const uint8_t *records, size_t size, const char *key, const uint8_t **value,
                      size_t *value_size)
{
    size_t at = 0, key_size = strlen(key);
    bool found = false;
    while (at < size && records[at]) { // "<length> <key>=<value>\n", the length of all of it
        size_t length = 0, i = at;
        for (; i < size && i < at + 8 && records[i] >= '0' && records[i] <= '9'; i++) {
            length = length * 10 + (size_t)(records[i] - '0');
        }
        if (i == at || i == size || records[i] != ' ' || length > size - at ||
            length <= i - at + 1 || records[at + length - 1] != '\n') {
            return false;
        }
        const uint8_t *text = records + i + 1;
        size_t n = length - (i - at) - 2;
        if (n > key_size && memcmp(text, key, key_size) == 0 && text[key_size] == '=') {
            *value = text + key_size + 1;
            *value_size = n - key_size - 1;
            found = true;
        }
        at += length;
    }
    return found;
}
