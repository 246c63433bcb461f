// SPDX-License-Identifier: Apache-2.0
// The contracts: JSON Schemas, and pages field by field (results/contracts.h). The report's page
// also lists the words its values use (parts, kinds, issues) and the figures that decide a verdict;
// the page of tables lists cell types and analyses. Everything comes from the tables that the
// program itself uses.
#include <stdio.h>
#include <string.h>

#include "answers/passes/stats/stats.h"
#include "api/api.h"
#include "results/contracts.h"
#include "results/print/schema.h"
#include "stoker/diff.h"
#include "stoker/stats.h"
#include "stoker/whatif.h"

static void describe_parts(struct stk_sink *sink)
{
    stk_sink_text(sink, "\n## Parts of a step\n\nEvery nanosecond of a step belongs to exactly "
                        "one part. Busy time comes first; of two parts, the earlier in the list "
                        "wins.\n\n| id | meaning |\n|---|---|\n");
    for (int p = 0; p < STK_PART_COUNT; p++) {
        stk_sink_printf(sink, "| `%s` | %s |\n", stk_part_info(p)->key, stk_part_info(p)->meaning);
    }
}

static void describe_kinds(struct stk_sink *sink)
{
    stk_sink_text(sink, "\n## Kinds of events\n\n| kind | meaning |\n|---|---|\n");
#define K(id, key, meaning) stk_sink_text(sink, "| `" key "` | " meaning " |\n");
#include "profile/store/kinds.def"
#undef K
}

static void describe_issues(struct stk_sink *sink)
{
    stk_sink_text(
        sink,
        "\n## Issues\n\nBad or missing data is counted. It is never fatal and never silent.\n\n"
        "| id | severity | meaning | what to do |\n|---|---|---|---|\n");
    for (int i = 0; i < STK_ISSUE_COUNT; i++) {
        const struct stk_issue_info *info = stk_issue_info(i);
        stk_sink_printf(sink, "| `%s` | %s | %s | %s |\n", info->key,
                        stk_severity_key(info->severity), info->meaning, info->remedy);
    }
}

static void describe_thresholds(struct stk_sink *sink)
{
    stk_sink_text(sink, "\n## Figures that decide the verdict\n\nEach has a reason, and changes "
                        "only with evidence. "
                        "The rules' own figures are in [rules.md](rules.md).\n\n"
                        "| figure | value | of | reason |\n|---|---|---|---|\n");
#define T(name, value, unit, reason)                                                               \
    stk_sink_printf(sink, "| %s | %.6g | %s | %s |\n", #name, (double)(value), unit, reason);
#include "profile/model/thresholds.def"
#undef T
}

static void describe_report(struct stk_sink *sink)
{
    describe_parts(sink);
    describe_kinds(sink);
    describe_issues(sink);
    describe_thresholds(sink);
}

static void describe_table(struct stk_sink *sink)
{
    stk_sink_text(sink, "\n## Types of cells\n\nAn unknown value is null in JSON, empty in "
                        "CSV and `-` in text. It is never 0.\n\n"
                        "| type | in JSON | meaning |\n|---|---|---|\n");
    for (int t = 0; t < STK_TYPE_COUNT_; t++) {
        const struct stk_type_info *type = stk_type_info((enum stk_type)t);
        if (type->meaning) {
            stk_sink_printf(sink, "| `%s` | %s | %s |\n", type->key,
                            t == STK_TYPE_BOOL ? "true or false" : type->json, type->meaning);
        }
    }
    stk_sink_text(sink,
                  "\n## Analyses\n\n[stats.md](stats.md) lists their tables, columns and figures. "
                  "The columns of `stoker query` are those of its statement, over [these "
                  "tables](query.md).\n\n"
                  "| analysis | question | needs |\n|---|---|---|\n");
    for (int i = 0; i < stk_stats_count; i++) {
        stk_sink_printf(sink, "| `%s` | %s | %s |\n", stk_stats_all[i]->name,
                        stk_stats_all[i]->question, stk_stats_all[i]->needs);
    }
}

const char *stoker_schema_name(size_t index)
{
    for (size_t i = 0; i < index; i++) {
        if (!stk_contracts[i].name) {
            return NULL;
        }
    }
    return stk_contracts[index].name;
}

static enum stoker_status unknown(const char *name, struct stoker_err *err)
{
    char known[200] = "";
    for (const struct stk_contract *d = stk_contracts; d->name; d++) {
        size_t n = strlen(known);
        snprintf(known + n, sizeof known - n, "%s%s", n ? ", " : "", d->name);
    }
    stk_err_set(err, STOKER_EUSAGE, "no schema '%.80s'; choose from: %s", name, known);
    return stk_err_fail(err);
}

enum stoker_status stoker_schema(const char *name, stoker_write_fn write, void *arg,
                                 struct stoker_err *err)
{
    struct stk_sink sink;
    if (!name || !write) {
        return stk_err_misuse(err, "stoker_schema needs a name and a callback");
    }
    err = stk_err_begin(err, &(struct stoker_err){0});
    const struct stk_contract *contract = stk_contract_find(name);
    if (!contract) {
        return unknown(name, err);
    }
    stk_sink_init(&sink, write, arg);
    stk_schema_write(contract->info, &sink);
    return stk_err_end(err, stk_sink_finish(&sink, err));
}

static enum stoker_status describe(const char *misuse, const char *name, stoker_write_fn write,
                                   void *arg, struct stoker_err *err)
{
    struct stk_sink sink;
    if (!name || !write) {
        return stk_err_misuse(err, misuse);
    }
    err = stk_err_begin(err, &(struct stoker_err){0});
    const struct stk_contract *contract = stk_contract_find(name);
    if (!contract) {
        return unknown(name, err);
    }
    stk_sink_init(&sink, write, arg);
    stk_sink_put(&sink, contract->page, (size_t)(contract->page_end - contract->page));
    stk_schema_describe(contract->info, contract->name, &sink);
    if (contract->info == &stk_report_info) {
        describe_report(&sink);
    } else if (contract->info == &stk_table_doc_printed_info) {
        describe_table(&sink);
    } else if (contract->info == &stk_whatif_info) {
        stk_describe_prices(&sink);
    }
    return stk_err_end(err, stk_sink_finish(&sink, err));
}

enum stoker_status stoker_describe_schema(const char *name, stoker_write_fn write, void *arg,
                                          struct stoker_err *err)
{
    return describe("stoker_describe_schema needs a name and a callback", name, write, arg, err);
}

// Functions older than the one for every document.
#define DESCRIBE(name)                                                                             \
    enum stoker_status stoker_describe_##name(stoker_write_fn write, void *arg,                    \
                                              struct stoker_err *err)                              \
    {                                                                                              \
        return describe("stoker_describe_" #name " needs a callback", #name, write, arg, err);     \
    }
DESCRIBE(report)
DESCRIBE(jobs)
DESCRIBE(table)
DESCRIBE(diff)
DESCRIBE(whatif)
