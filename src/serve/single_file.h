// SPDX-License-Identifier: Apache-2.0
// The pages and everything they show as one HTML file, which makes no requests.
#pragma once

#include "serve/documents.h"

// The report, every analysis whose table isn't too long for a page, estimates, and a comparison if
// there is a second side. The page says what is left out.
STK_MUST_CHECK enum stoker_status stk_single_file_write(const struct stk_view_plan *plan,
                                                        stoker_write_fn write, void *arg,
                                                        struct stoker_err *err);
