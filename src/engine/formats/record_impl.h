// SPDX-License-Identifier: Apache-2.0
// Inside of the TFRecord reader: what record.c and record_damage.c share.
#pragma once

#include <string.h>

#include "base/stream.h"
#include "base/crc32c.h"
#include "engine/formats/record.h"

// Why no further record could be taken.
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
    bool scanning;    // for the next header: an interrupted search goes on
    uint64_t passing; // bytes still to leave out
    size_t block_bytes, large_block_bytes, max_record;
    size_t claimed;   // of the pool, for the stream
    size_t last_size; // of a record, overhead included
    struct stk_pool *pool;
    struct stk_buf *block; // held by the reader; NULL at first
    size_t capacity;       // of it that is used
    size_t pos, end;       // of its bytes: next header, end of what was read
    uint64_t base;         // offset of its first byte in the stream
    uint64_t number;       // of the next record
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

// The error that the budget has no `bytes` to read the file.
enum stoker_status stk_record_no_budget(struct stk_pool *pool, size_t bytes, const char *path,
                                        struct stoker_err *err);
// Tries to have n bytes from r->pos on; fewer only at the end of the file. STOKER_ELIMIT: the pool
// has no room.
STK_MUST_CHECK enum stoker_status stk_record_load(struct stk_record_reader *r, size_t n,
                                                  struct stoker_err *err);
// Deals with the damage at r->pos as the policy wants.
STK_MUST_CHECK enum stoker_status
stk_record_damaged(struct stk_record_reader *r, enum stk_record_why why, struct stoker_err *err);
// Passes or searches on, as r->passing and r->scanning say; STOKER_ELIMIT and STOKER_ENOMEM leave
// them so.
STK_MUST_CHECK enum stoker_status stk_record_recover(struct stk_record_reader *r,
                                                     struct stoker_err *err);
