// SPDX-License-Identifier: Apache-2.0
// Layout of indexed files: what writer and reader share.
#ifndef STK_DATA_INDEXED_IMPL_H
#define STK_DATA_INDEXED_IMPL_H

#include "data/formats/indexed.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "indexed files are little-endian");

#define STK_INDEXED_MAGIC "stkidx\0\1"
#define STK_INDEXED_END "stkidx\0\2"

struct stk_indexed_component {
    int64_t dtype, rank, dim[STK_RANK_MAX];
};

#define STK_INDEXED_HEADER(components) (16 + (components) * sizeof(struct stk_indexed_component))

struct stk_indexed_trailer {
    uint64_t index, count; // offset of the index; records
    char magic[8];
};

#endif
