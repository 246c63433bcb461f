// SPDX-License-Identifier: Apache-2.0
// A diagnosis of profiles that were read before: the first reading keeps a partial of some
// kilobytes next to the view's index in the user's cache (serve/cache.h). The report is the same,
// byte for byte.
#pragma once

#include "cli/cli.h"
#include "stoker/report.h"

// Keeping a partial takes up to 25 ms. Smaller profiles than this are read in a tenth of a second.
#define STK_SECOND_LOOK_BYTES (UINT64_C(64) << 20)

// Like stoker_why, but from a matching partial if there is one; else reads the profiles and keeps
// one. An unusable cache costs only time. --no-cache turns it off.
enum stoker_status stk_second_look(const struct stk_args *args, const char *const *paths,
                                   size_t count, const struct stoker_why_options *options,
                                   struct stoker_result **out, struct stoker_err *err);
