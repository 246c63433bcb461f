// SPDX-License-Identifier: Apache-2.0
// Seeds for what nobody set one for. Not for secrets: they are drawn without waiting, so that a
// machine that has just begun gives those of its clock.
#pragma once

#include <stdint.h>

uint64_t stk_seed_draw(void); // another one at each call
