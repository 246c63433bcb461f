// SPDX-License-Identifier: Apache-2.0
// Files of records with good checksums, made of the input's bytes: what is behind the checksums is
// reached then. Each record is behind its length in two bytes.
#ifndef STK_TESTS_FUZZ_RECORDS_H
#define STK_TESTS_FUZZ_RECORDS_H

#include "fuzz.h"

#include "engine/formats/record.h"

// The file's path; *records: how many it holds.
static inline const char *fuzz_put_records(enum stk_record_codec codec, const uint8_t *data,
                                           size_t size, uint64_t *records)
{
    const char *path = fuzz_put(FUZZ_INPUT, data, 0);
    struct stk_record_writer *w;
    struct stoker_err err;
    FUZZ_REQUIRE(stk_record_create(&w, path, codec, 1, &err) == STOKER_OK);
    for (*records = 0; size >= 2; ++*records) {
        size_t n = (size_t)data[0] | (size_t)data[1] << 8;
        n = n < size - 2 ? n : size - 2;
        FUZZ_REQUIRE(stk_record_write(w, data + 2, n, &err) == STOKER_OK);
        data += 2 + n;
        size -= 2 + n;
    }
    FUZZ_REQUIRE(stk_record_finish(w, &err) == STOKER_OK);
    return path;
}

#endif
