// SPDX-License-Identifier: Apache-2.0
// Layout of indexed files, shared by writer and reader.
#pragma once

#include "engine/formats/element_code.h"
#include "engine/formats/indexed.h"

#define STK_INDEXED_MAGIC "stkidx\0\1"
#define STK_INDEXED_END "stkidx\0\2"
#define STK_INDEXED_HEADER(components) (8 + STK_ELEMENT_SPECS_BYTES(components))

struct stk_indexed_trailer {
    uint64_t index, count; // offset of the index; records
    char magic[8];
};
