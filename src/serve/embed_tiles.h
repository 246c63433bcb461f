// SPDX-License-Identifier: Apache-2.0
// The time line for a single file: all tiles of the finest level that fits, with their names.
#pragma once

#include "serve/documents.h"

// Appends `"info": {...}, "names": {...}, "tiles": {...}` as the pages read them. Tiles take at
// most STK_EMBED_BYTES, where one level does; a time line that cannot be made is left out with the
// reason.
#define STK_EMBED_BYTES (UINT64_C(2) << 20)
STK_MUST_CHECK enum stoker_status stk_embed_tiles(struct stk_documents *d, struct stk_body *out,
                                                  struct stoker_err *err);
