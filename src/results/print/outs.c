// SPDX-License-Identifier: Apache-2.0
// The outputs of documents by name. The JSON outputs are one walk over the document's rows.
#include <string.h>

#include "results/diff.h"
#include "results/jobs.h"
#include "results/print/document.h"
#include "results/print/out.h"
#include "results/whatif.h"

#define END()
#define X(id, document, output) extern const struct stk_out stk_out_##id;
#include "results/print/outs.def"
#undef X
#undef END

static const struct row {
    const char *document;
    const struct stk_out *out;
} rows[] = {
#define END() {"", NULL},
#define X(id, document, output) {document, &stk_out_##id},
#include "results/print/outs.def"
#undef X
#undef END
};

// In the order of the rows: a document's names end with NULL.
static const char *const names[] = {
#define END() NULL,
#define X(id, document, output) output,
#include "results/print/outs.def"
#undef X
#undef END
};

const char *const *stk_out_names(const char *document)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (strcmp(rows[i].document, document) == 0) {
            return &names[i];
        }
    }
    return NULL;
}

const struct stk_out *stk_out_find(const char *document, const char *output)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (names[i] && strcmp(rows[i].document, document) == 0 && strcmp(names[i], output) == 0) {
            return rows[i].out;
        }
    }
    return NULL;
}

#define JSON(id, info)                                                                             \
    static void write_##id(const void *object, const struct stk_out_options *options,              \
                           struct stk_sink *sink)                                                  \
    {                                                                                              \
        (void)options;                                                                             \
        stk_json_document(&info, object, false, sink);                                             \
    }                                                                                              \
    const struct stk_out stk_out_##id = {.write = write_##id};
JSON(report_json, stk_report_info)
JSON(jobs_json, stk_jobs_info)
JSON(diff_json, stk_diff_info)
JSON(whatif_json, stk_whatif_info)
