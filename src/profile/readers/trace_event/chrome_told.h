// SPDX-License-Identifier: Apache-2.0
// The top-level value `stoker`: what the hooks of `stoker run` recorded about the program
// (profile/store/told.def).
#pragma once

#include <stdbool.h>

#include "base/arena.h"
#include "profile/store/told.h"

// Values other than the places and numbers of told.def are left out. Texts are copied into the
// arena. False: no memory.
bool stk_chrome_told_read(struct stk_str json, struct stk_arena *arena,
                          struct stk_told_texts *told);
