// SPDX-License-Identifier: Apache-2.0
// For sources that read one file after another: the list of names, and the error if one can't be
// opened. Names are in the attribute "filenames": TEXTS, or a string or vector of strings.
#pragma once

#include "base/stream.h"
#include "engine/graph/dataset.h"
#include "engine/formats/record.h"

#define STK_PATH_MAX 4096

#define STK_FILES_NAMES_ROW STK_ARG("filenames", OTHER, "the files, in order", .is_required = true)
#define STK_FILES_COMPRESSION_ROW                                                                  \
    STK_ARG("compression_type", TEXT, "compression of every file; empty: none",                    \
            .choices = ",GZIP,ZLIB")

// Number of names; -1: unknown yet (BOUND).
int64_t stk_files_count(const struct stk_dataset *ds);
// STOKER_EINVAL: an invalid name (too long, a zero byte).
STK_MUST_CHECK enum stoker_status stk_files_name(const struct stk_dataset *ds, int64_t i,
                                                 char path[STK_PATH_MAX], struct stoker_err *err);
// Checks "filenames" while inferring.
STK_MUST_CHECK enum stoker_status stk_files_infer(const struct stk_dataset *ds,
                                                  struct stoker_err *err);
// Checks that the file can be opened for reading. STOKER_EMISSING, STOKER_EDENIED or STOKER_EINPUT
// with the reason.
STK_MUST_CHECK enum stoker_status stk_files_look(const char *path, struct stoker_err *err);
// Reads "compression_type". STOKER_EINVAL: it isn't a text but computed by a function.
STK_MUST_CHECK enum stoker_status
stk_files_codec(const struct stk_dataset *ds, enum stk_record_codec *codec, struct stoker_err *err);
// An open file; its stream's memory counts against the pool.
struct stk_file {
    struct stk_stream *stream; // NULL: none is open
    struct stk_pool *pool;
    size_t claimed;
};
// Opens file i as a stream of its bytes, decompressed according to `compression_type`; `path` is
// its name. STOKER_ELIMIT: the budget has no room for it.
STK_MUST_CHECK enum stoker_status stk_files_open(const struct stk_iter *it, int64_t i,
                                                 char path[STK_PATH_MAX], struct stk_file *out,
                                                 struct stoker_err *err);
// The same with a given compression, or (codec_given 0) one detected from the file.
STK_MUST_CHECK enum stoker_status stk_files_open_as(const struct stk_iter *it, int64_t i,
                                                    struct stk_stream_opts how,
                                                    char path[STK_PATH_MAX], struct stk_file *out,
                                                    struct stoker_err *err);
void stk_files_close(struct stk_file *f); // takes one without a file
// Bytes to read at once: `most`, or less with a small budget.
size_t stk_files_share(const struct stk_iter *it, size_t most);
// The bytes of one file after another.
struct stk_file_bytes {
    struct stk_file open; // no stream: the next file must be opened
    int64_t file;         // the next one
    struct stk_buf *buf;  // bytes [pos, end) haven't been returned yet
    size_t pos, end;
    uint64_t base; // offset of `buf` in the file
    bool at_end;   // of the file
    char path[STK_PATH_MAX];
};
void stk_files_end(struct stk_file_bytes *b); // closes the current file, if any
// Moves the remaining bytes to another buffer, since returned elements may hold the old one, and
// reads on: until there are `need` bytes, or fewer at the file's end, and no more than `capacity`,
// plus room for `pad` more.
STK_MUST_CHECK enum stoker_status stk_files_fill(const struct stk_iter *it,
                                                 struct stk_file_bytes *b, size_t capacity,
                                                 size_t pad, size_t need, struct stoker_err *err);
// The status of reading. STOKER_EDAMAGE: the file ended there and is damaged.
STK_MUST_CHECK enum stoker_status stk_files_whole(const struct stk_file_bytes *b,
                                                  enum stoker_status s, struct stoker_err *err);
// Checks filenames and compression_type, and makes the spec of one scalar string: all of infer for
// sources of strings.
STK_MUST_CHECK enum stoker_status stk_files_infer_strings(struct stk_dataset *ds,
                                                          struct stoker_err *err);
// A spec of one scalar string, the element of most file sources.
STK_MUST_CHECK enum stoker_status stk_files_string_spec(struct stk_dataset *ds,
                                                        struct stoker_err *err);
