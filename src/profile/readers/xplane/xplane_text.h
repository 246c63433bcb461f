// SPDX-License-Identifier: Apache-2.0
// Texts in XPlane files: detail strings of device events, plane names, HLO instructions.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

// memcpy_details, Memset_details, memalloc_details...: "key:value" tokens separated by spaces or
// newlines. Absent or unknown values stay as they were.
struct stk_xp_details {
    bool has_bytes;
    int64_t bytes;            // size: or num_bytes:
    uint8_t src_mem, dst_mem; // enum stk_mem; of kind_src:, kind_dst:
    uint8_t flags;            // STK_EXT_ASYNC or STK_EXT_SYNCHRONOUS; STK_EXT_WAITS
    uint8_t dir;              // enum stk_dir; only stoker export writes it
};
void stk_xp_parse_details(struct stk_str text, struct stk_xp_details *out);

// What a plane is, by its name.
enum stk_xp_plane_kind {
    STK_XP_PLANE_HOST, // threads: /host:CPU and the raw sources that are merged into it
    STK_XP_PLANE_NVTX, // threads whose events are user ranges
    STK_XP_PLANE_GPU,
    STK_XP_PLANE_TPU,
    STK_XP_PLANE_STOKER, // rows that stoker export added: made from the others
    STK_XP_PLANE_UNKNOWN_DEVICE,
    STK_XP_PLANE_FACTS, // no events: /host:metadata, Task Environment, scope ranges
    STK_XP_PLANE_OTHER  // counters, TPU parts without a core, OS tracing: never device work
};
// *ordinal: number of the device, or -1.
enum stk_xp_plane_kind stk_xp_plane_kind(struct stk_str name, int64_t *ordinal);

// What a line is, by its plane, name and id.
enum stk_xp_line_kind {
    STK_XP_LINE_THREAD,
    STK_XP_LINE_RANGES, // a thread's NVTX ranges
    STK_XP_LINE_STREAM, // GPU stream
    STK_XP_LINE_OPS,    // TPU core: the one line that is device work
    STK_XP_LINE_DERIVED,
    STK_XP_LINE_COUNTER,
    STK_XP_LINE_OTHER
};
enum stk_xp_line_kind stk_xp_line_kind(enum stk_xp_plane_kind plane, struct stk_str name,
                                       int64_t id);

// Operation of an HLO instruction: its category if recorded, else its name without the number
// ("copy-done.2" -> "copy-done").
struct stk_str stk_xp_hlo_op(struct stk_str category, struct stk_str name);
// True for control flow, whose body's operations are recorded on the same line.
bool stk_xp_hlo_is_container(struct stk_str op);
// Direction of the copy that a TPU operation waits for: "%copy-done = f32[8]{0:S(5)}
// copy-done(...)". S(5) is host memory, other spaces are the chip's. STK_DIR_UNKNOWN if the text
// doesn't show it.
uint8_t stk_xp_hlo_dir(struct stk_str op, struct stk_str text);

// A runtime or driver call by its spelling: cuXxx, cudaXxx, hipXxx.
bool stk_xp_is_runtime_call(struct stk_str name);
