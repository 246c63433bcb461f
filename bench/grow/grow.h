// SPDX-License-Identifier: Apache-2.0
// Making large profiles from real ones: the recorded events again and again, later in time and with
// fresh ids, so that the mix of names, nesting and links stays that of the job.
#ifndef STK_BENCH_GROW_H
#define STK_BENCH_GROW_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

// The whole input, decompressed; exits with a message on failure. Caller frees.
uint8_t *grow_read(const char *path, size_t *size);
// Exit with a message.
_Noreturn void grow_die(const char *what, const char *detail);

// Each writes at least target_bytes to `out` and returns how often the profile was repeated.
uint64_t grow_json(const uint8_t *in, size_t size, FILE *out, uint64_t target_bytes);
uint64_t grow_xplane(const uint8_t *in, size_t size, FILE *out, uint64_t target_bytes);
uint64_t grow_nsys(const char *in_path, const char *out_path, uint64_t target_bytes);

#endif
