// SPDX-License-Identifier: Apache-2.0
// Small files of the kernel that are read repeatedly: they stay open, which is several times
// cheaper.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STK_SMALL_PATH 512

struct stk_small_file {
    int fd; // -1: not open
};

// False: it doesn't exist, or the path is too long.
bool stk_small_open(struct stk_small_file *f, const char *folder, const char *name);
void stk_small_close(struct stk_small_file *f); // also if it isn't open
// Reads its content, cut at size - 1 and terminated; 0: unreadable.
size_t stk_small_read(const struct stk_small_file *f, char *text, size_t size);
// The same, without keeping it open.
size_t stk_small_read_once(const char *path, char *text, size_t size);

// The number after a word at the start of a line ("MemTotal:", "usage_usec"). False: missing.
bool stk_small_value(const char *text, const char *word, uint64_t *value);
// Pressure: microseconds in total for which some task was stalled ("some ... total=").
bool stk_small_pressure(const char *text, uint64_t *stalled_us);
