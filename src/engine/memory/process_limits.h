// SPDX-License-Identifier: Apache-2.0
// Limits of the process, shared by all its pipelines: CPU cores in use, threads, bytes of memory.
// 0: none. The environment sets their initial values (STOKER_DATA_CPUS, STOKER_DATA_THREADS,
// STOKER_DATA_RAM: bytes, or with a K, M or G suffix).
//
// Memory counts from when a pool gets it from the system until it returns it, even in a free list.
// A pool that runs short first empties the free lists of all pools (buf.c).
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stoker/err.h"

struct stk_limits {
    int cpus, threads;
    uint64_t ram_bytes;
};
struct stk_limits stk_limits_now(void);
void stk_limits_set(const struct stk_limits *l); // applies to what is taken from now on
// STOKER_EINVAL: an environment variable isn't a number.
enum stoker_status stk_limits_check(struct stoker_err *err);

// False: past the limit.
bool stk_limits_take_ram(size_t bytes);
void stk_limits_give_ram(size_t bytes);
bool stk_limits_take_thread(void);
void stk_limits_give_thread(void);

struct stk_limits_use {
    int threads, threads_most;
    uint64_t ram_bytes, ram_peak_bytes;
    uint64_t ram_left; // UINT64_MAX: no limit
};
struct stk_limits_use stk_limits_use(void);
