// SPDX-License-Identifier: Apache-2.0
// An output prints a table document. To add one: a file render/table_<name>.c that ends in its
// descriptor `const struct stk_table_out stk_table_out_<name>`, and one line X(<name>) in
// table_outs.def.
#ifndef STK_OUT_TABLE_OUT_H
#define STK_OUT_TABLE_OUT_H

#include "results/print/out.h"
#include "results/table.h"

struct stk_table_out {
    const char *name, *summary;
    bool one_table; // prints a single table: `table` chooses it
    // `table`: id of the table to print, NULL for all (the first one where it prints one).
    void (*write)(const struct stk_table_doc *doc, const char *table,
                  const struct stk_out_options *options, struct stk_sink *sink);
    // Documents of one run, together; NULL: it has no form for them.
    void (*write_list)(const struct stk_table_doc *docs, size_t count,
                       const struct stk_out_options *options, struct stk_sink *sink);
};

#define X(name) extern const struct stk_table_out stk_table_out_##name;
#include "results/print/table_outs.def"
#undef X
const struct stk_table_out *stk_table_out_find(const char *name); // NULL: none
extern const char *const stk_table_out_names[];                   // ends with NULL

#endif
