// SPDX-License-Identifier: Apache-2.0
// Internals of the TFRecord reader, shared by record.c and record_damage.c.
#pragma once

#include <string.h>

#include "base/stream.h"
#include "base/crc32c.h"
#include "engine/formats/record.h"

// Why the next record couldn't be taken.
enum stk_record_why {
    STK_RECORD_SHORT, // more bytes are needed
    STK_RECORD_BAD_LENGTH,
    STK_RECORD_TOO_LONG,
    STK_RECORD_BAD_DATA,
    STK_RECORD_TRUNCATED,
    STK_RECORD_COMPRESSION
};

struct stk_record_reader {
    struct stk_stream *stream;
    stk_crc32c_fn *crc;
    enum stk_record_policy policy;
    bool skip_data_crc, ended, stream_damage_said;
    bool scanning;    // for the next header: resumes an interrupted search
    uint64_t passing; // bytes still to skip
    size_t block_bytes, large_block_bytes, max_record;
    size_t claimed;   // claimed from the pool for the stream
    size_t last_size; // of the last record, overhead included
    struct stk_pool *pool;
    struct stk_buf *block; // a reference; NULL at first
    size_t capacity;       // bytes of it in use
    size_t pos, end;       // offsets in it: the next header, the end of what was read
    uint64_t base;         // offset of its first byte in the stream
    uint64_t number;       // number of the next record
    struct stk_record_stats stats;
    struct stoker_err first_damage, failed; // codes STOKER_OK: none
};

static inline uint32_t stk_record_le32(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static inline uint64_t stk_record_le64(const uint8_t *p)
{
    return stk_record_le32(p) | (uint64_t)stk_record_le32(p + 4) << 32;
}

// The error that the budget lacks `bytes` for reading the file.
enum stoker_status stk_record_no_budget(struct stk_pool *pool, size_t bytes, const char *path,
                                        struct stoker_err *err);
// Tries to get n bytes from r->pos on; fewer only at the end of the file. STOKER_ELIMIT: the pool
// has no room.
STK_MUST_CHECK enum stoker_status stk_record_load(struct stk_record_reader *r, size_t n,
                                                  struct stoker_err *err);
// Handles the damage at r->pos according to the policy.
STK_MUST_CHECK enum stoker_status
stk_record_damaged(struct stk_record_reader *r, enum stk_record_why why, struct stoker_err *err);
// Continues skipping or searching, by r->passing and r->scanning; STOKER_ELIMIT and STOKER_ENOMEM
// leave both unchanged.
STK_MUST_CHECK enum stoker_status stk_record_recover(struct stk_record_reader *r,
                                                     struct stoker_err *err);
