// SPDX-License-Identifier: Apache-2.0
// Reading values through a field table.
#include "results/field.h"

bool stk_field_known(const struct stk_field *f, const void *object)
{
    const char *at = object;
    if (f->has_offset == STK_FIELD_ALWAYS || f->has_offset == STK_FIELD_IF_SET) {
        return (f->kind != STK_FIELD_TEXT && f->kind != STK_FIELD_VALUES) ||
               *(const void *const *)(const void *)(at + f->offset) != NULL;
    }
    return *(const bool *)(const void *)(at + f->has_offset);
}

bool stk_struct_flat(const struct stk_struct_info *info)
{
    for (const struct stk_field *f = info->fields; f->key; f++) {
        if (f->kind == STK_FIELD_LIST ||
            (f->kind == STK_FIELD_OBJECT && !stk_struct_flat(f->sub))) {
            return false;
        }
    }
    return true;
}
