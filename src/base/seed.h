// SPDX-License-Identifier: Apache-2.0
// Random bytes of the system, and seeds for what nobody set one for. Seeds are not for secrets:
// they are drawn without waiting, so that a machine that has just begun gives those of its clock.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// At most 256 bytes, good enough for secrets. false: the system has none, which can only be early
// in a machine's life if it must not wait.
bool stk_random_fill(void *bytes, size_t n, bool may_wait);
uint64_t stk_seed_draw(void); // another one at each call
