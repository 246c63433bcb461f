// SPDX-License-Identifier: Apache-2.0
// One object with the documents that the pages would ask the server for; see single_file.h. Tables
// hold their first ROWS rows, and say how many there are.
#include "serve/single_file.h"

#include "base/json.h"
#include "serve/bundle.h"
#include "serve/embed_tiles.h"
#include "stoker/stats.h"

enum { ROWS = 500 };

static void put_key(struct stk_body *data, const char *between, const char *key)
{
    (void)stk_body_text(data, between);
    (void)stk_body_text(data, "\"");
    (void)stk_body_text(data, key);
    (void)stk_body_text(data, "\": ");
}

static enum stoker_status put_document(struct stk_body *data, const char *between, const char *key,
                                       const struct stk_body *document, struct stoker_err *err)
{
    put_key(data, between, key);
    return stk_body_write(data, document->p ? document->p : "null", document->p ? document->n : 4)
               ? stk_err_nomem(err)
               : STOKER_OK;
}

// An analysis that fails, as one that would need too much does, is not there; the page says so.
static enum stoker_status put_tables(struct stk_body *data, struct stk_documents *d,
                                     struct stoker_err *err)
{
    const struct stk_body *table;
    struct stoker_err why;
    const char *name, *between = "";
    enum stoker_status status = STOKER_OK;
    put_key(data, ",\n", "tables");
    (void)stk_body_text(data, "{");
    for (size_t i = 0; status == STOKER_OK && (name = stoker_analysis_name(i)) != NULL; i++) {
        if (stk_documents_table(d, STK_VIEW_A, name, &table, &why) == STOKER_OK) {
            status = put_document(data, between, name, table, err);
            between = ",\n";
        }
    }
    return stk_body_text(data, "}") ? stk_err_nomem(err) : status;
}

static enum stoker_status put_all(struct stk_body *data, struct stk_documents *d,
                                  struct stoker_err *err)
{
    const struct stk_body *document;
    struct stoker_err why;
    enum stoker_status status = stk_documents_report(d, STK_VIEW_A, &document, err);
    if (status == STOKER_OK) {
        status = put_document(data, "{", "report", document, err);
    }
    if (status == STOKER_OK) {
        status = put_tables(data, d, err);
    }
    if (status == STOKER_OK && stk_documents_whatif(d, NULL, &document, &why) == STOKER_OK) {
        status = put_document(data, ",\n", "whatif", document, err);
    }
    if (status == STOKER_OK && stk_documents_diff(d, &document, &why) == STOKER_OK) {
        status = put_document(data, ",\n", "diff", document, err);
    }
    if (status == STOKER_OK) {
        status = stk_embed_tiles(d, data, err);
    }
    if (status == STOKER_OK && stk_body_text(data, "}\n")) {
        status = stk_err_nomem(err);
    }
    return status;
}

enum stoker_status stk_single_file_write(const struct stk_view_plan *plan, stoker_write_fn write,
                                         void *arg, struct stoker_err *err)
{
    struct stk_documents *d = NULL;
    struct stk_body data = {.p = NULL};
    struct stk_view_plan with_rows = *plan;
    struct stk_sink sink;
    with_rows.reading.limit = ROWS;
    enum stoker_status status = stk_documents_open(&d, &with_rows, err);
    if (status == STOKER_OK) {
        status = put_all(&data, d, err);
    }
    if (status == STOKER_OK) {
        stk_sink_init(&sink, write, arg);
        status = stk_bundle_write(data.p, data.n, &sink, err);
    }
    if (status == STOKER_OK) {
        status = stk_sink_finish(&sink, err);
    }
    stk_body_free(&data);
    stk_documents_free(d);
    return status;
}
