// SPDX-License-Identifier: Apache-2.0
// An output prints prices. To add one: a file render/whatif_<name>.c that ends in its descriptor
// `const struct stk_whatif_out stk_whatif_out_<name>`, and one line X(<name>) in whatif_outs.def.
#ifndef STK_OUT_WHATIF_OUT_H
#define STK_OUT_WHATIF_OUT_H

#include "results/print/out.h"
#include "results/whatif.h"

struct stk_whatif_out {
    const char *name, *summary;
    void (*write)(const struct stk_whatif *whatif, const struct stk_out_options *options,
                  struct stk_sink *sink);
};
const struct stk_whatif_out *stk_whatif_out_find(const char *name); // NULL: none
extern const char *const stk_whatif_out_names[];                    // ends with NULL

#endif
