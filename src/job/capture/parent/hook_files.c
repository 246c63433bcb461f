// SPDX-License-Identifier: Apache-2.0
// Embeds the Python files in the program. STOKER_HOOKS_DIR is their folder; cmake recompiles this
// file when one of them changes.
#include "job/capture/parent/hook_files.h"

#include "base/embed.h"

#define H(symbol, file) STK_EMBED(stk_hook_##symbol, STOKER_HOOKS_DIR "/" file)
#include "job/capture/parent/hooks.def"
#undef H

const struct stk_hook_file stk_hook_files[] = {
#define H(symbol, file) {file, stk_hook_##symbol, stk_hook_##symbol##_end},
#include "job/capture/parent/hooks.def"
#undef H
    {0}};
