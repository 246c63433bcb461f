// SPDX-License-Identifier: Apache-2.0
// The timeline for a single file: all tiles of the finest level that fits, with their names.
#pragma once

#include "serve/documents.h"

// Appends `"info": {...}, "names": {...}, "tiles": {...}` in the form that the pages read. Tiles
// take at most STK_EMBED_BYTES, if a level fits; a timeline that can't be made is left out with the
// reason.
#define STK_EMBED_BYTES (UINT64_C(2) << 20)
STK_MUST_CHECK enum stoker_status stk_embed_tiles(struct stk_documents *d, struct stk_body *out,
                                                  struct stoker_err *err);
