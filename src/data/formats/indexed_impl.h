// SPDX-License-Identifier: Apache-2.0
// Layout of indexed files: what writer and reader share.
#ifndef STK_DATA_INDEXED_IMPL_H
#define STK_DATA_INDEXED_IMPL_H

#include "data/formats/indexed.h"

#define STK_INDEXED_MAGIC "stkidx\0\1"
#define STK_INDEXED_END "stkidx\0\2"

struct stk_indexed_trailer {
    uint64_t index, count; // offset of the index; records
    char magic[8];
};

#endif
