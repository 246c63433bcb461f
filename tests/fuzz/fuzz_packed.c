// SPDX-License-Identifier: Apache-2.0
// libFuzzer target of packed files of elements. The first byte chooses: bit 0, whether the rest is
// the file, or its records, each behind its length in two bytes, which are then written with good
// checksums so that what is behind those is reached; bit 1, one element at a time or many; bit 2,
// some are passed over. Elements that were read are written and read again, and must be the same.
#include "fuzz_records.h"

#include "engine/formats/packed.h"

#include "base/alloc.h"
#include "engine/formats/element_code.h"

enum { AS_RECORDS = 1, MANY = 2, SKIPS = 4, ELEMENTS_MAX = 5000 };

// Element i as bytes, and those made an element and bytes again.
static void go_around(const struct stk_specs *specs, struct stk_pool *pool,
                      const struct stk_block *block, int64_t i)
{
    struct stk_element_bytes first = {0}, second = {0};
    struct stk_block again = {0};
    if (!stk_element_encode(&first, specs, block, i) || !stk_block_reset(&again, specs->count)) {
        abort();
    }
    static const uint64_t nothing; // of an element without values there are no bytes at all
    const uint8_t *bytes = first.data ? first.data : (const uint8_t *)&nothing;
    enum stk_element_read read = stk_element_decode(bytes, first.size, specs, pool, &again, 1);
    if (read == STK_ELEMENT_BAD) {
        abort();
    }
    if (read == STK_ELEMENT_OK) {
        if (!stk_element_encode(&second, specs, &again, 0) || first.size != second.size ||
            (first.size && memcmp(first.data, second.data, first.size) != 0)) {
            abort();
        }
    }
    stk_block_free(&again);
    stk_element_bytes_free(&first);
    stk_element_bytes_free(&second);
}

static void read_all(struct stk_packed *p, struct stk_pool *pool, unsigned how)
{
    struct stk_block block = {0};
    struct stoker_err err;
    int64_t want = how & MANY ? 300 : 1, passed = 0;
    enum stoker_status s = STOKER_OK;
    for (int64_t given = 0; s == STOKER_OK && given < ELEMENTS_MAX; given += block.n) {
        if (how & SKIPS) {
            s = stk_packed_skip(p, 2, &passed, &err);
        }
        stk_block_clear(&block);
        block.n = 0;
        s = s == STOKER_OK ? stk_packed_read(p, want, &block, &err) : s;
        if (s != STOKER_OK || block.n == 0) {
            break;
        }
        if (block.n > want || block.count != stk_packed_specs(p)->count) {
            abort();
        }
        for (int64_t i = 0; i < block.n; i++) {
            go_around(stk_packed_specs(p), pool, &block, i);
        }
    }
    stk_block_clear(&block);
    block.n = 0;
    if (s == STOKER_EDAMAGE && (stk_packed_read(p, 1, &block, &err) != STOKER_OK || block.n != 0)) {
        abort(); // the rest is lost
    }
    stk_block_free(&block);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct stk_packed *p;
    struct stoker_err err;
    if (size == 0) {
        return 0;
    }
    const char *path;
    if (data[0] & AS_RECORDS) {
        uint64_t records;
        path = fuzz_put_records(STK_RECORD_GZIP, data + 1, size - 1, &records);
    } else {
        path = fuzz_put(FUZZ_INPUT, data + 1, size - 1);
    }
    struct stk_pool *pool = stk_pool_open((size_t)32 << 20);
    if (!pool) {
        abort();
    }
    if (stk_packed_open(&p, path, pool, &err) == STOKER_OK) {
        read_all(p, pool, data[0]);
        stk_packed_close(p);
    }
    if (stk_pool_stats_of(pool).in_use_bytes != 0) {
        abort();
    }
    stk_pool_drop(pool);
    return 0;
}

// As it is and in the other ways of reading; and with one bit changed here and there, and cut.
static void each(uint8_t *bytes, size_t n)
{
    for (int way = 0; way < 4; way++) {
        LLVMFuzzerTestOneInput(bytes, n);
        bytes[0] = (uint8_t)((bytes[0] & AS_RECORDS) | (unsigned)way * MANY);
    }
    for (size_t at = 1; at < n; at++) {
        bytes[at] ^= (uint8_t)(1u << at % 8);
        LLVMFuzzerTestOneInput(bytes, n);
        bytes[at] ^= (uint8_t)(1u << at % 8);
        LLVMFuzzerTestOneInput(bytes, at);
    }
}

FUZZ_MAIN(each, 0)
