// SPDX-License-Identifier: Apache-2.0
// Recognising names: so far only what building a trace asks for.
#include "store/names.h"

#include "base/alloc.h"

uint32_t stk_name_classify(struct stk_str name, enum stk_kind kind)
{
    if (stk_kind_is_device_work((uint8_t)kind))
        return stk_str_contains_nocase(name, STK_STR("nccl")) ? STK_NAME_COLLECTIVE : 0;
    if (kind == STK_KIND_RUNTIME)
        return stk_str_contains(name, STK_STR("Launch")) ? STK_NAME_LAUNCH
               : stk_str_contains(name, STK_STR("Memcpy")) ? STK_NAME_COPY_CALL : 0;
    return 0;
}
enum stk_kind stk_name_device_kind(struct stk_str name)
{
    if (stk_str_starts(name, STK_STR("Memcpy")))
        return STK_KIND_MEMCPY;
    if (stk_str_starts(name, STK_STR("Memset")))
        return STK_KIND_MEMSET;
    return STK_KIND_KERNEL;
}
void stk_name_parse_copy(struct stk_str name, uint8_t *dir, uint8_t *src_mem, uint8_t *dst_mem)
{
    (void)name;
    *dir = *src_mem = *dst_mem = 0;
}
uint32_t *stk_names_classify(const struct stk_trace *t)
{
    return stk_alloc_zero(t->strings.count, sizeof(uint32_t));
}
