// SPDX-License-Identifier: Apache-2.0
// Embeds the Python files in the program with the assembler's .incbin, which gcc and clang have on
// every supported machine. STOKER_HOOKS_DIR is their folder; cmake recompiles this file when one of
// them changes.
#include "job/capture/parent/hook_files.h"

#define H(symbol, file)                                                                            \
    __asm__(".pushsection .rodata\n"                                                               \
            ".global stk_hook_" #symbol "\n.hidden stk_hook_" #symbol "\n"                         \
            "stk_hook_" #symbol ":\n.incbin \"" STOKER_HOOKS_DIR "/" file "\"\n"                   \
            ".global stk_hook_" #symbol "_end\n.hidden stk_hook_" #symbol "_end\n"                 \
            "stk_hook_" #symbol "_end:\n.byte 0\n"                                                 \
            ".popsection\n");                                                                      \
    extern const char stk_hook_##symbol[], stk_hook_##symbol##_end[];
#include "job/capture/parent/hooks.def"
#undef H

const struct stk_hook_file stk_hook_files[] = {
#define H(symbol, file) {file, stk_hook_##symbol, stk_hook_##symbol##_end},
#include "job/capture/parent/hooks.def"
#undef H
    {0}};
