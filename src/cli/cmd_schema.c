// SPDX-License-Identifier: Apache-2.0
// stoker schema: the contract of the JSON, as JSON Schema or as a page for people.
#include <string.h>

#include "cli/cli.h"
#include "cli/screen.h"
#include "stoker/diff.h"
#include "stoker/stats.h"

static int run(const struct stk_args *args)
{
    struct stk_output output;
    struct stoker_err err;
    const char *name = args->word_count ? args->words[0] : "report";
    bool markdown = args->values[STK_OPT_ID_MARKDOWN].set;
    stk_output_open(&output, NULL);
    enum stoker_status status = markdown && strcmp(name, "report") == 0
                                    ? stoker_describe_report(stk_output_write, &output, &err)
                                : markdown && strcmp(name, "table") == 0
                                    ? stoker_describe_table(stk_output_write, &output, &err)
                                : markdown && strcmp(name, "diff") == 0
                                    ? stoker_describe_diff(stk_output_write, &output, &err)
                                    : stoker_schema(name, stk_output_write, &output, &err);
    int code = stk_output_close(&output, true);
    return status == STOKER_OK || status == STOKER_EOUTPUT ? code : stk_fail(&err);
}

const struct stk_cmd stk_cmd_schema = {
    .name = "schema",
    .summary = "print the JSON Schema of the report, of tables, of comparisons",
    .words = "[report|table|diff]",
    .description = "Prints the JSON Schema (draft 2020-12) of what stoker why --json prints, or "
                   "(table) stoker stats --json, or (diff) stoker diff --json. The "
                   "contracts are versioned "
                   "and change only by adding.",
    .examples =
        "stoker schema report\tthe schema\nstoker schema report --markdown\tthe same for people\n",
    .max_words = 1,
    .options = {STK_OPT_ID_MARKDOWN, STK_OPT_ID_NONE},
    .completes = "schemas",
    .run = run,
};
