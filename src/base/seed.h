// SPDX-License-Identifier: Apache-2.0
// The system's random bytes, and seeds where the user set none. Seeds aren't for secrets: they are
// drawn without waiting, so shortly after boot they come from the clock.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// At most 256 bytes, good enough for secrets. False: the system has none, which only happens early
// after boot if it must not wait.
bool stk_random_fill(void *bytes, size_t n, bool may_wait);
uint64_t stk_seed_draw(void); // a new one at each call
