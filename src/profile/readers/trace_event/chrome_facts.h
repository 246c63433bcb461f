// SPDX-License-Identifier: Apache-2.0
// The top-level values of a trace: deviceProperties, distributedInfo, clock base, host, log lines.
#pragma once

#include "profile/readers/trace_event/chrome_stage.h"

// The data read outside of the events.
struct stk_chrome_input {
    uint64_t bytes;                               // of the decompressed input
    struct stk_str captures[STK_CHROME_CAPTURES]; // JSON text, in the arena
    struct stk_arena arena;
    const char *damage;    // of the compressed data, or NULL
    bool has_all_events;   // the input ends after the last event, if it ends early
    const char *format;    // of the trace, unless it is one of the JSON's two; static
    int64_t clock_base_ns; // if no capture has it
};

struct stk_chrome_facts {
    struct stk_arena arena;
    struct stk_vec devices;   // struct stk_chrome_device
    struct stk_map device_at; // id -> index, of the first that has it
    bool devices_alike;       // by name and size
    int32_t rank, world_size;
    int64_t base_ns;
    struct stk_str host;
    bool is_kineto, is_amd;
    uint64_t warnings, errors;
    struct stk_str first_warning, first_error;
    bool failed;
};

// False: no memory. Free in any case.
bool stk_chrome_facts_read(struct stk_chrome_facts *f, const struct stk_chrome_input *in);
void stk_chrome_facts_free(struct stk_chrome_facts *f);
// Properties of one device, if they are known; borrowed from f.
void stk_chrome_facts_device(const struct stk_chrome_facts *f, int64_t device,
                             struct stk_device_facts *facts);
// Process name of a device, such as "/device:GPU:0 NVIDIA A100": its number and kind. Leaves both
// alone if the name is not that of a device.
void stk_chrome_parse_device(struct stk_str name, int64_t *device, enum stk_device_kind *kind);
// The text after the number in such a name; borrowed, may be empty.
struct stk_str stk_chrome_device_name(struct stk_str name);
