// SPDX-License-Identifier: Apache-2.0
// The table of documents, and the heads of their pages, embedded. STOKER_PAGES_DIR is their folder,
// and cmake compiles this file again when one of them changes.
#include "results/contracts.h"

#include <string.h>

#include "base/embed.h"

#define D(id, name, folder)                                                                        \
    STK_EMBED(stk_page_##id, STOKER_PAGES_DIR "/" name ".md")                                      \
    extern const struct stk_struct_info stk_##id##_info;
#include "results/contracts.def"
#undef D

const struct stk_contract stk_contracts[] = {
#define D(id, name, folder) {name, &stk_##id##_info, stk_page_##id, stk_page_##id##_end},
#include "results/contracts.def"
#undef D
    {0}};

const struct stk_contract *stk_contract_find(const char *name)
{
    for (const struct stk_contract *d = stk_contracts; d->name; d++) {
        if (strcmp(d->name, name) == 0) {
            return d;
        }
    }
    return NULL;
}
