// SPDX-License-Identifier: Apache-2.0
// Collects the rows of all workers, in file order. One thread at a time.
#pragma once

#include "profile/readers/trace_event/chrome_stage.h"

// Blocks that share a shard of the builder: the builder works on shards in parallel.
#define STK_CHROME_SHARD_BLOCKS 64

struct stk_chrome_sink_track {
    struct stk_track_key key;      // sid is in the sink's arena
    struct stk_chrome_id pid, tid; // texts too
    uint64_t rows, calls;          // stored events, runtime calls among them
    int32_t rank;                  // -1 none
    uint32_t shard_track;          // in the shard with this number
    uint64_t shard_number;
};

struct stk_chrome_sink {
    struct stk_build *build;
    struct stk_shard *shard; // takes the next rows
    uint64_t shard_number, blocks_left;
    struct stk_arena arena;
    struct stk_vec tracks; // struct stk_chrome_sink_track
    struct stk_map track_map;
    struct stk_vec metas; // struct stk_chrome_meta, the last one of each key
    struct stk_map meta_map;
    struct stk_vec halves; // struct stk_chrome_half: without their other halves; track: of the sink
    struct stk_strpool half_names;
    struct stk_chrome_counts total;
    uint64_t last_row_pos; // of the row taken last
    bool failed;           // no memory
};

bool stk_chrome_sink_init(struct stk_chrome_sink *k, struct stk_build *build);
void stk_chrome_sink_deinit(struct stk_chrome_sink *k);
// Takes the worker's staged rows. The block's text must still exist.
void stk_chrome_sink_take(struct stk_chrome_sink *k, struct stk_chrome_stager *s);
// Takes only its counts and issues, while the text that issues quote still exists.
void stk_chrome_sink_take_counts(struct stk_chrome_sink *k, struct stk_chrome_stager *s);
// A row whose name and track are the sink's: half_names, tracks.
void stk_chrome_sink_add(struct stk_chrome_sink *k, struct stk_row *row);
