// SPDX-License-Identifier: Apache-2.0
// A source of the sampler. To add one: a file watch_<name>.c that ends in its descriptor `const
// struct stk_watch stk_watch_<name>`, a line X(<name>) in sources.def, and its counters in
// wire/samples.def.
//
// All run in the sampler's thread, one after the other. If a file can't be read at a look, its
// values are missing for that look. Sources allocate memory only in `open`.
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "job/capture/parent/totals.h"
#include "wire/samples.h"
#include "wire/wire_write.h"

// State that sources share.
struct stk_sampling {
    const char *proc, *cgroup, *nvml; // never empty
    pid_t root;
    bool no_gpu;
    uint32_t threads_max;
    uint64_t now_ns;       // of this look
    double look_s, scan_s; // since the previous look, the previous scan; 0 at the first
    double quota;          // processors allowed by the control group; 0: no limit
    struct stk_wire_file *file;
    struct stk_wire_writer *writer;
    uint32_t names[STK_SAMPLE_COUNT]; // strings of the file
    struct stk_sampler_totals totals;
};

struct stk_watch {
    const char *name;
    // Makes *state. False: the source is absent; `why` has a short reason.
    bool (*open)(struct stk_sampling *s, void **state, char *why, size_t size);
    void (*scan)(struct stk_sampling *s,
                 void *state); // about once a second, before a look; or NULL
    void (*look)(struct stk_sampling *s, void *state); // or NULL
    void (*close)(void *state);
};

#define X(name) extern const struct stk_watch stk_watch_##name;
#include "job/capture/parent/sources.def"
#undef X

// Writes a value of this moment; track 0: of the machine or the job.
void stk_watch_put(struct stk_sampling *s, enum stk_sampled id, uint32_t track, double value);
// Makes a track for a thread or process (tid 0), or for a disk or GPU by its number.
uint32_t stk_watch_thread(struct stk_sampling *s, pid_t pid, pid_t tid, const char *name);
uint32_t stk_watch_thing(struct stk_sampling *s, enum stk_sample_scope scope, uint32_t number,
                         const char *name);

// The growth per second of an increasing counter; *last is its previous value. -1: unknown (the
// first time, or after a reset).
double stk_watch_rate(uint64_t *last, uint64_t now, double seconds);
#define STK_WATCH_UNSEEN UINT64_MAX // for *last
