// SPDX-License-Identifier: Apache-2.0
// The command of a profile's job, if `stoker run` recorded it.
#pragma once

#include "base/arena.h"

// Quotes words for a shell, separated by blanks; terminal controls become \x1b within $'...'. In
// the arena. NULL: no words, more than a line shows, or no memory.
const char *stk_shell_words(struct stk_arena *arena, const char *const *words, size_t count);
// The command line from run.json in the profile's folder or one above it, quoted for a
// shell. NULL: no such file, or it isn't the user's own.
const char *stk_job_command(struct stk_arena *arena, const char *profile);
