// SPDX-License-Identifier: Apache-2.0
// stoker schema: the contract of the JSON, as JSON Schema or as a page for people.
#include "cli/printing.h"
#include "stoker/report.h"

static int schema_run(const struct stk_args *args)
{
    const char *name = args->word_count ? args->words[0] : "report";
    bool markdown = args->values[STK_OPT_ID_MARKDOWN].set;
    struct stk_printing p;
    int code = stk_printing_begin(&p, args, "json");
    if (code != STK_EXIT_DONE) {
        return code;
    }
    enum stoker_status status = (markdown ? stoker_describe_schema : stoker_schema)(
        name, stk_output_write, &p.output, &p.err);
    return stk_printing_end(&p, status, STK_EXIT_DONE);
}

const struct stk_cmd stk_cmd_schema = {
    .name = "schema",
    .summary = "print the JSON Schema of stoker's JSON output",
    .words = "[NAME]",
    .description =
        "Prints the JSON Schema (draft 2020-12) of a document that stoker writes with --json. "
        "NAME is one of:\n\n"
        "report, jobs (stoker why on one job, or on several); table (stoker stats, query, find); "
        "diff, whatif, tune, proof (stoker prove), ledger, live (stoker top), run; view, view.run "
        "(the pages of stoker view).\n\n"
        "--markdown prints it as a page to read. The schemas are versioned, and only ever gain "
        "fields.",
    .examples =
        "stoker schema report\tthe schema\nstoker schema report --markdown\tas a page to read\n",
    .max_words = 1,
    .options = {STK_OPT_ID_MARKDOWN, STK_OPT_ID_NONE},
    .completes = "schemas",
    .run = schema_run,
};
