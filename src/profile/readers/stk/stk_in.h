// SPDX-License-Identifier: Apache-2.0
// Shared by the files of this reader: the input while it is read, and the record handlers.
#pragma once

#include "base/map.h"
#include "base/vec.h"
#include "profile/readers/reader.h"
#include "wire/wire_read.h"

struct stk_in {
    const struct stk_read_ctx *ctx;
    struct stk_build *build;
    struct stk_shard *shard;
    struct stk_map strings, tracks; // numbers in the file -> in the shard
    struct stk_map configs;         // number in the file -> index in `config`
    struct stk_vec config;          // struct stk_launch_config
    struct stk_wire_header header;
    uint32_t frameworks; // bit per enum stk_framework
    bool is_capture;     // of a GPU, by the capture library
    uint8_t *bytes;      // [done, used) are there
    size_t done, used, capacity;
    uint64_t pos; // of bytes[done] in the input
    bool at_end, has_end_mark;
};

void stk_in_count_bad(struct stk_in *in, uint64_t n); // records that refer to nothing
uint32_t stk_in_name(const struct stk_in *in, uint32_t id);
bool stk_in_is_time(uint64_t start_ns, uint64_t dur_ns);
void stk_in_bad_time(struct stk_in *in, enum stk_kind kind);

// Records of a device's work (stk_device.c).
void stk_in_take_work(struct stk_in *in, const struct stk_wire_work *w);
void stk_in_take_config(struct stk_in *in, const struct stk_wire_config *c);
void stk_in_take_device(struct stk_in *in, const struct stk_wire_device *d);
