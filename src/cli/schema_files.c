// SPDX-License-Identifier: Apache-2.0
// The schemas' bytes, by the assembler's .incbin, as job/capture/parent/hook_files.c has the hooks.
// STOKER_SCHEMAS_DIR is their folder; cmake compiles this file anew when one of them changes.
#include "cli/schema_files.h"

#include <string.h>

#define J(name)                                                                                    \
    __asm__(".pushsection .rodata\n"                                                               \
            ".global stk_schema_" #name "\n.hidden stk_schema_" #name "\n"                         \
            "stk_schema_" #name ":\n.incbin \"" STOKER_SCHEMAS_DIR "/" #name ".schema.json\"\n"    \
            ".global stk_schema_" #name "_end\n.hidden stk_schema_" #name "_end\n"                 \
            "stk_schema_" #name "_end:\n.byte 0\n"                                                 \
            ".popsection\n");                                                                      \
    extern const char stk_schema_##name[], stk_schema_##name##_end[];
#include "cli/schemas.def"
#undef J

const struct stk_schema_file stk_schema_files[] = {
#define J(name) {#name, stk_schema_##name, stk_schema_##name##_end},
#include "cli/schemas.def"
#undef J
    {0}};

const struct stk_schema_file *stk_schema_file_find(const char *name)
{
    for (const struct stk_schema_file *f = stk_schema_files; f->name; f++) {
        if (strcmp(f->name, name) == 0) {
            return f;
        }
    }
    return NULL;
}
