// SPDX-License-Identifier: Apache-2.0
// Partial results: what a diagnosis needs of a profile once its events are gone, in a file. A
// partial holds one item per profile that was read, complete: its facts, the summary of each of its
// ranks, the prices that a replay of some steps gave, and sums per kernel and operation. Merging
// partials puts their items together; nothing is added up before a report is made. So any tree of
// merges, in any order, gives the report of all the profiles read at once, bit for bit.
//
// File: the text "stoker partial 1\n", the layout and the version of the stoker that wrote it, on a
// line each; then the items, each with a head (partial_file.c) and packed separately, so that a
// merge copies them unchanged. A head of 0 bytes ends the file: without it the file is incomplete.
// Another file may follow: partials joined end to end (cat) are also a partial.
#pragma once

#include "answers/passes/pass.h"
#include "base/sink.h"
#include "base/stream.h"
#include "profile/model/machine/machine.h"
#include "profile/model/view.h"
#include "wire/partial.h"

#define STK_PARTIAL_VERSION "1"
#define STK_PARTIAL_ITEM_MAX ((size_t)256 << 20) // bytes of an item
#define STK_PARTIAL_ITEMS_MAX 65536              // in one file

// The data kept of a rank (stk_rank_sum.partial) for writing a partial.
struct stk_partial_kept {
    void *graph; // of stk_replay_brief_hook, with its prices taken, or NULL
    void *names; // of stk_diff_hook
};
extern const struct stk_view_hook stk_partial_hook; // keeps both

// One profile. Pointers are borrowed when writing; they are in the arena when reading.
struct stk_partial_item {
    const char *path; // as given to the stoker that read it
    int32_t rank_hint, status;
    bool is_numbered, is_found;
    struct stk_input_info *info;
    struct stk_rank_sum **ranks; // each with struct stk_partial_kept
    uint32_t rank_count;
    struct stk_worker_sum *workers;
    struct stk_machine *machine; // or NULL
};

// The bytes of an item, in *bytes (of char), which the caller deinits. False: no memory, or more
// than STK_PARTIAL_ITEM_MAX.
bool stk_partial_encode(const struct stk_partial_item *item, struct stk_vec *bytes);
// False: the bytes are not those of an item, or no memory.
bool stk_partial_decode(const uint8_t *bytes, size_t n, struct stk_arena *arena,
                        struct stk_partial_item *out);
// The layout of all structs in items: it changes with every member. 0: no memory.
uint64_t stk_partial_layout(void);

// An item as in files: its sort key, and its packed bytes.
struct stk_partial_packed {
    int32_t rank_hint;
    const char *path;
    const uint8_t *bytes;
    uint32_t size, whole_size; // packed; before packing
};
// Both allocate in the arena. pack fails with STOKER_ENOMEM or STOKER_ELIMIT, unpack also with
// STOKER_EINPUT.
STK_MUST_CHECK enum stoker_status stk_partial_pack(const struct stk_partial_item *item,
                                                   struct stk_arena *arena,
                                                   struct stk_partial_packed *out,
                                                   struct stoker_err *err);
STK_MUST_CHECK enum stoker_status stk_partial_unpack(const struct stk_partial_packed *packed,
                                                     struct stk_arena *arena,
                                                     struct stk_partial_item *out,
                                                     struct stoker_err *err);

// The start and the end of a file, and an item of it.
void stk_partial_begin(struct stk_sink *sink, const char *version);
void stk_partial_put(struct stk_sink *sink, const struct stk_partial_packed *item);
void stk_partial_end(struct stk_sink *sink);

// Reading. A file that isn't a partial, or can't be opened, is not an error: *out is NULL. *rest is
// then the stream at its start if it can't be opened again (standard input, a pipe), else NULL.
struct stk_partial_file;
STK_MUST_CHECK enum stoker_status stk_partial_open(const char *path, const char *version,
                                                   struct stk_partial_file **out,
                                                   struct stk_stream **rest,
                                                   struct stoker_err *err);
// The next item, in the arena. At the end its size is 0.
STK_MUST_CHECK enum stoker_status stk_partial_next(struct stk_partial_file *f,
                                                   struct stk_arena *arena,
                                                   struct stk_partial_packed *out,
                                                   struct stoker_err *err);
void stk_partial_close(struct stk_partial_file *f); // takes NULL
