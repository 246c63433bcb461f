// SPDX-License-Identifier: Apache-2.0
// The target of a word: the folder of a run, or a process.
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"

enum { STK_LIVE_PATH = 4096, STK_LIVE_COMMAND = 256 };
struct stk_live_target {
    pid_t pid;                      // 0: the word was a folder
    char folder[STK_LIVE_PATH];     // "": the process belongs to no run
    char command[STK_LIVE_COMMAND]; // of the process; "": unknown
};
STK_MUST_CHECK enum stoker_status
stk_live_target_find(const char *word, struct stk_live_target *out, struct stoker_err *err);
// The words of a process's command, separated by spaces, cut at `size`; "": it has ended.
void stk_live_command(pid_t pid, char *text, size_t size);
// Does it exist? A zombie doesn't count.
bool stk_live_is_alive(pid_t pid);
