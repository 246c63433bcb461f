// SPDX-License-Identifier: Apache-2.0
// TFRecord files: a sequence of byte strings, each as
//   length (uint64, little-endian), masked CRC-32C of those 8 bytes, the bytes, their masked
//   CRC-32C
// all of it plain, gzip or zlib (tensorflow/core/lib/io/record_writer.h). Files have no header and
// no index: they are read from the start.
//
// Records are views into blocks, which the reader fills and the caller drops. Only a record that a
// block's end cuts is copied; the rest of a long one is read in place instead. A record longer than
// a block gets a larger one.
//
// Damage is a wrong checksum, a length above max_record_bytes, or an end within a record. With
// STK_RECORD_STOP, the records before it are returned and the next call fails. With
// STK_RECORD_SKIP, a record with bad data is skipped by its length. After a bad length, which its
// checksum reveals, the following bytes are searched for the next header with a good checksum. So a
// damaged record loses no other one, unless its data contain TFRecords: those may be taken for
// records of this file. Damage in the compression itself ends the file.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/stream.h"
#include "engine/memory/buf.h"

#define STK_RECORD_OVERHEAD 16 // bytes of a record besides its data
#define STK_RECORD_HEADER 12

enum stk_record_codec { STK_RECORD_PLAIN = 0, STK_RECORD_GZIP, STK_RECORD_ZLIB };
enum stk_record_policy { STK_RECORD_STOP = 0, STK_RECORD_SKIP };

// All zero: plain, everything checked, stop at damage, the sizes below.
struct stk_record_opts {
    enum stk_record_codec
        codec; // never guessed: any length may look like a compressed file's start
    enum stk_record_policy on_damage;
    bool skip_data_crc;       // lengths are always checked
    size_t block_bytes;       // 0: 256 KiB; at least 64
    size_t large_block_bytes; // used if records take more than an eighth of a block; 0: block_bytes
    size_t max_record_bytes;  // 0: 1 GiB
    size_t input_bytes;       // bytes of a compressed file read at a time; 0: 1 MiB
    // For blocks; the reader's own memory counts there too. STOKER_ELIMIT past its cap: drop blocks
    // and call again. Referenced; NULL: one without a cap.
    struct stk_pool *pool;
};

#define STK_RECORD_NO_OFFSET UINT64_MAX // not from a file

struct stk_record {
    const uint8_t *data;
    size_t size;
    uint64_t offset; // of its header, in decompressed bytes
    uint64_t number; // from 0; damaged records count if they could be separated
};

struct stk_record_stats {
    uint64_t records;    // delivered
    uint64_t bytes;      // of their data
    uint64_t lost;       // damage found; each costs one record
    uint64_t lost_bytes; // bytes skipped
};

// The stream codec of the file. An empty file has no records, compressed or not, as in TensorFlow.
enum stk_stream_codec stk_record_stream_codec(enum stk_record_codec codec, const char *path);

struct stk_record_reader; // not thread-safe; several may read at once

// Doesn't keep `path`. STOKER_EINPUT: missing or unreadable. On failure *out is NULL.
STK_MUST_CHECK enum stoker_status stk_record_open(struct stk_record_reader **out, const char *path,
                                                  const struct stk_record_opts *opts,
                                                  struct stoker_err *err);
// Referenced blocks stay valid until dropped. Takes NULL.
void stk_record_close(struct stk_record_reader *r);
// Up to cap more records, all in one block; *count is 0 only at the end (or for cap 0). The caller
// gets a reference to *block (NULL if there are no records) and drops it when done with the
// records. STOKER_EINPUT: damage; err names file, offset and record, and later calls repeat it.
// STOKER_ELIMIT: the pool has no room for a block; drop one and call again.
STK_MUST_CHECK enum stoker_status stk_record_read(struct stk_record_reader *r,
                                                  struct stk_record *out, size_t cap, size_t *count,
                                                  struct stk_buf **block, struct stoker_err *err);
const struct stk_record_stats *stk_record_stats_of(const struct stk_record_reader *r);
// With STK_RECORD_SKIP, the first damage; code STOKER_OK if none. Borrowed.
const struct stoker_err *stk_record_first_damage(const struct stk_record_reader *r);

struct stk_record_writer;

// Creates or replaces the file. level: compression, 1 to 9; 0: the default. Errors:
// STOKER_EMISSING, STOKER_EDENIED, STOKER_ELIMIT (disk full) or STOKER_EOUTPUT.
STK_MUST_CHECK enum stoker_status stk_record_create(struct stk_record_writer **out,
                                                    const char *path, enum stk_record_codec codec,
                                                    int level, struct stoker_err *err);
// The same, into an open file that the writer takes over in any case; then the path is only for
// errors. A negative one: opens the path.
STK_MUST_CHECK enum stoker_status stk_record_create_at(struct stk_record_writer **out, int fd,
                                                       const char *path,
                                                       enum stk_record_codec codec, int level,
                                                       struct stoker_err *err);
STK_MUST_CHECK enum stoker_status stk_record_write(struct stk_record_writer *w, const void *data,
                                                   size_t size, struct stoker_err *err);
// Writes the rest; closes and frees in any case. Takes NULL. The file is complete only if this and
// every write succeeded.
STK_MUST_CHECK enum stoker_status stk_record_finish(struct stk_record_writer *w,
                                                    struct stoker_err *err);
