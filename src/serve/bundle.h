// SPDX-License-Identifier: Apache-2.0
// The pages as one HTML text: the styles and modules of web/, then the data. The modules keep to a
// form that can be concatenated (tests/web/check): imports first, each `import { a, b } from
// './x.js';`, exports as a word before a declaration, unique names.
#pragma once

#include "base/sink.h"

// main.js and everything it imports, as one script. STOKER_EBUG: as below.
STK_MUST_CHECK enum stoker_status stk_bundle_script(struct stk_sink *out, struct stoker_err *err);

// `data`: JSON. A policy in the page allows only these scripts, by a one-time number. STOKER_EBUG:
// the pages don't have that form.
STK_MUST_CHECK enum stoker_status stk_bundle_write(const char *data, size_t n, struct stk_sink *out,
                                                   struct stoker_err *err);
