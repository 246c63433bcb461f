// SPDX-License-Identifier: Apache-2.0
// One object with the documents that the pages would request from the server; see single_file.h.
// Tables have their first ROWS rows, and their total number.
#include "serve/single_file.h"

#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "serve/bundle.h"
#include "serve/embed_tiles.h"
#include "stoker/report.h"
#include "stoker/stats.h"

enum { ROWS = 500 };

static void put_key(struct stk_body *data, const char *between, const char *key)
{
    (void)stk_body_text(data, between);
    (void)stk_body_text(data, "\"");
    (void)stk_body_text(data, key);
    (void)stk_body_text(data, "\": ");
}

static void put_document(struct stk_body *data, const char *between, const char *key,
                         const struct stk_body *document)
{
    put_key(data, between, key);
    (void)stk_body_write(data, document->p ? document->p : "null", document->p ? document->n : 4);
}

// Adds a requested document, or leaves it out with its reason.
static enum stoker_status put_or_leave_out(struct stk_body *data, const char *between,
                                           const char *key, const struct stk_body *document,
                                           enum stoker_status found, const struct stoker_err *why,
                                           struct stoker_err *err)
{
    if (found == STOKER_OK) {
        put_document(data, between, key, document);
        return STOKER_OK;
    }
    if (stk_documents_lack(found)) {
        return STOKER_OK;
    }
    *err = *why;
    return found;
}

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
        enum stoker_status found = stk_documents_table(d, STK_VIEW_A, name, &table, &why);
        status = put_or_leave_out(data, between, name, table, found, &why, err);
        between = found == STOKER_OK ? ",\n" : between;
    }
    (void)stk_body_text(data, "}");
    return status;
}

// The texts of the rules that the report names.
static enum stoker_status put_explanations(struct stk_body *data, const struct stk_body *report,
                                           struct stoker_err *err)
{
    const char *id, *between = "";
    enum stoker_status status = STOKER_OK;
    put_key(data, ",\n", "explanations");
    (void)stk_body_text(data, "{");
    for (size_t i = 0; status == STOKER_OK && (id = stoker_rule_id(i)) != NULL; i++) {
        struct stk_body text = {.p = NULL};
        struct stk_sink sink;
        struct stk_json json;
        char named[128];
        snprintf(named, sizeof named, "\"stoker explain %.80s\"", id);
        if (strstr(report->p, named)) {
            status = stoker_explain(id, "text", stk_body_write, &text, err);
        }
        if (status == STOKER_OK && text.p) {
            put_key(data, between, id);
            stk_sink_init(&sink, stk_body_write, data);
            stk_json_init(&json, &sink);
            stk_json_text(&json, text.p);
            status = stk_sink_finish(&sink, err);
            between = ",\n";
        }
        stk_body_free(&text);
    }
    (void)stk_body_text(data, "}");
    return status;
}

static enum stoker_status put_all(struct stk_body *data, struct stk_documents *d,
                                  struct stoker_err *err)
{
    const struct stk_body *document;
    struct stoker_err why;
    enum stoker_status status = stk_documents_report(d, STK_VIEW_A, &document, err);
    if (status == STOKER_OK) {
        put_document(data, "{", "report", document);
        status = put_explanations(data, document, err);
    }
    if (status == STOKER_OK) {
        status = put_tables(data, d, err);
    }
    if (status == STOKER_OK) {
        enum stoker_status found = stk_documents_whatif(d, NULL, &document, &why);
        status = put_or_leave_out(data, ",\n", "whatif", document, found, &why, err);
    }
    if (status == STOKER_OK) {
        enum stoker_status found = stk_documents_diff(d, &document, &why);
        status = put_or_leave_out(data, ",\n", "diff", document, found, &why, err);
    }
    if (status == STOKER_OK) {
        status = stk_embed_tiles(d, data, err);
    }
    (void)stk_body_text(data, "}\n");
    return stk_body_end(data, status, err);
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
