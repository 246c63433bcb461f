// SPDX-License-Identifier: Apache-2.0
// Results for profiles, kept in the user's cache directory ($XDG_CACHE_HOME/stoker/view, else
// ~/.cache/stoker/view): the timeline's index, documents, and a partial for stoker why; one folder
// for each set of profiles. Each file says what it was made from: names, sizes, times and both ends
// of the profiles, and this program. Files that no longer match are ignored and overwritten. Beyond
// STK_CACHE_BYTES, the least recently used folders are removed.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "serve/body.h"
#include "stoker/report.h"

#define STK_CACHE_BYTES (UINT64_C(4) << 30)

// NULL is allowed everywhere: nothing is kept. Doesn't change once open; several threads may use
// it.
struct stk_cache;

// NULL: there is no such directory, the inputs can't be kept (standard input, redacted), or the
// profiles have fewer bytes than `least`, so that reading them again is fast (a compressed one
// counts eight times).
struct stk_cache *stk_cache_open(const char *const *paths, size_t count,
                                 const struct stoker_why_options *reading, uint64_t least);
void stk_cache_free(struct stk_cache *c);

// Compares the files. False: the profiles have changed since stk_cache_open.
bool stk_cache_is_current(const struct stk_cache *c);
const char *stk_cache_fingerprint(const struct stk_cache *c);
struct stk_cache_path {
    char text[4096];
};
// The path of a file in the folder. False: there is no cache.
bool stk_cache_path(const struct stk_cache *c, const char *name, struct stk_cache_path *out);

// The path of a file in the folder for these profiles as they are now: its name says so, between
// `kind` and a dot. False: there is no cache.
bool stk_cache_own_path(const struct stk_cache *c, const char *kind, struct stk_cache_path *out);
// Removes the folder's files of that kind for earlier versions of the profiles.
void stk_cache_drop_old(const struct stk_cache *c, const char *kind);

// A document. False: none matches; *out is then unchanged.
bool stk_cache_read(const struct stk_cache *c, const char *name, struct stk_body *out);
// Silent on failure: it is made again next time.
void stk_cache_write(const struct stk_cache *c, const char *name, const struct stk_body *document);
// Marks the folder as used, and removes the oldest others.
void stk_cache_tidy(const struct stk_cache *c);
