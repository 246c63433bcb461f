// SPDX-License-Identifier: Apache-2.0
// The files of web/, embedded at build time, or read from a folder during development.
#pragma once

#include "base/err.h"
#include "serve/body.h"

struct stk_asset {
    const char *name; // "index.html"; sorted by name
    const unsigned char *bytes;
    size_t n;
};
extern const struct stk_asset stk_assets[]; // made by cmake/embed.cmake; ends with a NULL name

// NULL: no asset has that name.
const struct stk_asset *stk_asset_find(const char *name);
// By the name's suffix.
const char *stk_asset_type(const char *name);
// The same from a folder: only a file in it with that exact name, not a link, at most 1 MB.
// STOKER_EMISSING: no such file.
STK_MUST_CHECK enum stoker_status stk_asset_read(const char *folder, const char *name,
                                                 struct stk_body *out, struct stoker_err *err);
