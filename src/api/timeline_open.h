// SPDX-License-Identifier: Apache-2.0
// A timeline: an index over open profiles, or one from a file (timeline_file.c).
#pragma once

#include "api/profiles.h"
#include "api/query_args.h"
#include "base/frozen.h"
#include "stoker/timeline.h"
#include "profile/timeline/timeline.h"

// What a timeline from an index file has instead of profiles.
struct stk_timeline_file {
    struct stk_thaw map;
    struct stk_query *query;
    const char **paths;       // of each rank, in the map
    const char *profile_json; // for tables; in the map
    uint32_t rank_count;
    struct stk_query_args args;
};

struct stoker_timeline {
    struct stoker_profiles *profiles; // NULL if `file` replaces them
    struct stk_timeline_file *file;
    struct stk_timeline index;
};
