// SPDX-License-Identifier: Apache-2.0
// Makes large profiles from real ones: repeats the recorded events, later in time and with fresh
// ids, so the mix of names, nesting and links stays that of the job.
#ifndef STK_BENCH_GROW_H
#define STK_BENCH_GROW_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

// The whole input, decompressed; exits with a message on failure. The caller must free it.
uint8_t *grow_read(const char *path, size_t *size);
// Exits with a message.
_Noreturn void grow_die(const char *what, const char *detail);

// Each writes at least target_bytes to `out` and returns how often the profile was repeated.
uint64_t grow_json(const uint8_t *in, size_t size, FILE *out, uint64_t target_bytes);
uint64_t grow_xplane(const uint8_t *in, size_t size, FILE *out, uint64_t target_bytes);
uint64_t grow_nsys(const char *in_path, const char *out_path, uint64_t target_bytes);

#endif
