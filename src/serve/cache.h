// SPDX-License-Identifier: Apache-2.0
// What was made of profiles once, kept in the user's cache directory ($XDG_CACHE_HOME/stoker/view,
// else ~/.cache/stoker/view): the index of the time line and documents, a folder for each set of
// profiles. Each file begins with what it was made of: names, sizes and times of the profiles and
// of this program. What does not agree any more is as if it were not there, and is written over.
// Folders that were not used for longest leave where all take more than STK_CACHE_BYTES.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "serve/body.h"
#include "stoker/report.h"

#define STK_CACHE_BYTES (UINT64_C(4) << 30)

// NULL wherever one is taken: nothing is kept. It does not change once it is open, and may be used
// by several threads.
struct stk_cache;

// NULL: there is no such directory, or what was given cannot be kept (standard input, redacted).
struct stk_cache *stk_cache_open(const char *const *paths, size_t count,
                                 const struct stoker_why_options *reading);
void stk_cache_free(struct stk_cache *c);

// What the files are compared with. False: the profiles are not those of stk_cache_open any more.
bool stk_cache_is_current(const struct stk_cache *c);
const char *stk_cache_fingerprint(const struct stk_cache *c);
struct stk_cache_path {
    char text[4096];
};
// Of a file of the folder. False: there is no cache.
bool stk_cache_path(const struct stk_cache *c, const char *name, struct stk_cache_path *out);

// A document. False: there is none that agrees. *out is as it was then.
bool stk_cache_read(const struct stk_cache *c, const char *name, struct stk_body *out);
// Silent: what cannot be kept is made again.
void stk_cache_write(const struct stk_cache *c, const char *name, const struct stk_body *document);
// Marks the folder as used, and lets go of the oldest others.
void stk_cache_tidy(const struct stk_cache *c);
