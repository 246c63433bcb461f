// SPDX-License-Identifier: Apache-2.0
// What a person means by a word: the folder of a run, or a process.
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"

enum { STK_LIVE_PATH = 4096, STK_LIVE_COMMAND = 256 };
struct stk_live_target {
    pid_t pid;                      // 0: a folder was named
    char folder[STK_LIVE_PATH];     // "": the process belongs to no run
    char command[STK_LIVE_COMMAND]; // of the process; "": not known
};
STK_MUST_CHECK enum stoker_status
stk_live_target_find(const char *word, struct stk_live_target *out, struct stoker_err *err);
// The words of a process' command, with spaces between, cut at `size`; "": it has ended.
void stk_live_command(pid_t pid, char *text, size_t size);
// Is it there? A zombie is not.
bool stk_live_is_alive(pid_t pid);
