// SPDX-License-Identifier: Apache-2.0
// A diagnosis of profiles that were read before: what the first reading keeps of them, a partial of
// kilobytes, is next to the view's index in the user's cache (serve/cache.h). The report is the
// same, byte for byte.
#pragma once

#include "cli/cli.h"
#include "stoker/report.h"

// Keeping a partial takes up to 25 ms. Smaller profiles than this are read in a tenth of a second.
#define STK_SECOND_LOOK_BYTES (UINT64_C(64) << 20)

// stoker_why, from the partial where one agrees; else it reads the profiles and keeps one. A cache
// that can't be used changes nothing but the time. --no-cache turns it off.
enum stoker_status stk_second_look(const struct stk_args *args, const char *const *paths,
                                   size_t count, const struct stoker_why_options *options,
                                   struct stoker_result **out, struct stoker_err *err);
