// SPDX-License-Identifier: Apache-2.0
// What was made of profiles once, kept in the user's cache directory ($XDG_CACHE_HOME/stoker/view,
// else ~/.cache/stoker/view): the index of the time line, documents, and a partial for stoker why,
// a folder for each set of profiles. Each file names what it was made of: names, sizes, times and
// both ends of the profiles, and this program. What does not agree any more is as if it were not
// there, and is written over. Folders that were not used for longest leave where all take more than
// STK_CACHE_BYTES.
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

// NULL: there is no such directory, what was given cannot be kept (standard input, redacted), or
// the profiles have fewer bytes than `least`, so that reading them again takes no time (a
// compressed one counts eight times).
struct stk_cache *stk_cache_open(const char *const *paths, size_t count,
                                 const struct stoker_why_options *reading, uint64_t least);
void stk_cache_free(struct stk_cache *c);

// What the files are compared with. False: the profiles are not those of stk_cache_open any more.
bool stk_cache_is_current(const struct stk_cache *c);
const char *stk_cache_fingerprint(const struct stk_cache *c);
struct stk_cache_path {
    char text[4096];
};
// Of a file of the folder. False: there is no cache.
bool stk_cache_path(const struct stk_cache *c, const char *name, struct stk_cache_path *out);

// Of a file of the folder that is of these profiles as they are now: its name says so, between
// `kind` and a dot. False: there is no cache.
bool stk_cache_own_path(const struct stk_cache *c, const char *kind, struct stk_cache_path *out);
// Removes the folder's files of that kind which are of the profiles as they were.
void stk_cache_drop_old(const struct stk_cache *c, const char *kind);

// A document. False: none matches; *out is then unchanged.
bool stk_cache_read(const struct stk_cache *c, const char *name, struct stk_body *out);
// Silent: what cannot be kept is made again.
void stk_cache_write(const struct stk_cache *c, const char *name, const struct stk_body *document);
// Marks the folder as used, and lets go of the oldest others.
void stk_cache_tidy(const struct stk_cache *c);
