// SPDX-License-Identifier: Apache-2.0
// Small files of the kernel, which are read again and again: kept open, for that is several times
// cheaper.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STK_SMALL_PATH 512

struct stk_small_file {
    int fd; // -1: not open
};

// False: it is not there, or the path is too long.
bool stk_small_open(struct stk_small_file *f, const char *folder, const char *name);
void stk_small_close(struct stk_small_file *f); // one that is not open too
// What it holds, cut at size - 1 and terminated; 0: it could not be read.
size_t stk_small_read(const struct stk_small_file *f, char *text, size_t size);
// The same, opened for this once.
size_t stk_small_read_once(const char *path, char *text, size_t size);

// The number after a word that begins a line ("MemTotal:", "usage_usec"). False: it is missing.
bool stk_small_value(const char *text, const char *word, uint64_t *value);
// Pressure: microseconds that some task was stalled in all ("some ... total=").
bool stk_small_pressure(const char *text, uint64_t *stalled_us);
