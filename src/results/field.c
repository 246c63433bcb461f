// SPDX-License-Identifier: Apache-2.0
// Reading values through a field table.
#include "results/field.h"

#include <string.h>

void *stk_list_room(struct stk_arena *arena, struct stk_list *list, size_t most, size_t size)
{
    void *items = stk_arena_array(arena, most + 1, size);
    *list = (struct stk_list){.items = items};
    return items;
}

struct stk_list stk_list_texts(const char *const *texts)
{
    struct stk_list list = {.items = texts};
    while (texts[list.count]) {
        list.count++;
    }
    return list;
}

bool stk_field_known(const struct stk_field *f, const void *object)
{
    const char *at = object;
    if (f->has_offset < STK_FIELD_IF_SET) {
        return *(const bool *)(const void *)(at + f->has_offset);
    }
    if (f->shape == STK_SHAPE_APART || f->shape == STK_SHAPE_MERGED) {
        const struct stk_apart *apart = (const void *)(at + f->offset);
        return apart->object || apart->json;
    }
    if (f->shape == STK_SHAPE_HERE) {
        return at[f->offset] != 0;
    }
    if (f->shape == STK_SHAPE_VALUES) {
        return ((const struct stk_list *)(const void *)(at + f->offset))->items != NULL;
    }
    if (f->type == STK_TYPE_WORD) {
        char word[STK_FIELD_WORD_MAX];
        return f->has_offset != STK_FIELD_IF_SET ||
               stk_field_word(f, *(const unsigned *)(const void *)(at + f->offset), word) > 0;
    }
    return f->shape != STK_SHAPE_ONE || stk_type_info(f->type)->holds != STK_HOLDS_TEXT ||
           *(const char *const *)(const void *)(at + f->offset) != NULL;
}

bool stk_field_is_required(const struct stk_field *f)
{
    return f->shape != STK_SHAPE_MEMBERS && f->shape != STK_SHAPE_MERGED &&
           (f->or_null || f->has_offset == STK_FIELD_ALWAYS);
}

bool stk_struct_flat(const struct stk_struct_info *info)
{
    for (const struct stk_field *f = info->fields(); f->key; f++) {
        if (f->shape == STK_SHAPE_TUPLES ||
            (f->shape == STK_SHAPE_LIST && f->type == STK_TYPE_OBJECT)) {
            return false;
        }
        if (f->type == STK_TYPE_OBJECT && f->shape != STK_SHAPE_LINE && !stk_struct_flat(f->sub)) {
            return false;
        }
    }
    return true;
}

size_t stk_field_word(const struct stk_field *f, size_t index, char word[STK_FIELD_WORD_MAX])
{
    const char *at = f->choices;
    for (; index && *at; index--) {
        at += strcspn(at, "|");
        at += *at == '|';
    }
    size_t n = strcspn(at, "|");
    n = n < STK_FIELD_WORD_MAX ? n : STK_FIELD_WORD_MAX - 1;
    memcpy(word, at, n);
    word[n] = 0;
    return n;
}
