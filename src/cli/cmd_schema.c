// SPDX-License-Identifier: Apache-2.0
// stoker schema: the contract of the JSON, as JSON Schema or as a page for people.
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "cli/printing.h"
#include "cli/schema_files.h"
#include "stoker/diff.h"
#include "stoker/stats.h"
#include "stoker/whatif.h"

static int print_file(struct stk_printing *p, const struct stk_schema_file *file, bool markdown)
{
    enum stoker_status status = STOKER_OK;
    if (markdown) {
        status = stk_err_set(
            &p->err, STOKER_EUSAGE,
            "there is no --markdown of '%s': its page is in the command's documentation",
            file->name);
    } else if (stk_output_write(&p->output, file->begin, (size_t)(file->end - file->begin)) != 0) {
        status = STOKER_EOUTPUT;
    }
    return stk_printing_end(p, status, STK_EXIT_DONE);
}

// The library knows its own contracts; those of the files follow.
static void add_files(struct stoker_err *err)
{
    size_t n = strlen(err->message);
    for (const struct stk_schema_file *f = stk_schema_files; f->name; f++) {
        int more = snprintf(err->message + n, sizeof err->message - n, ", %s", f->name);
        n += more > 0 && (size_t)more < sizeof err->message - n ? (size_t)more : 0;
    }
}

static int schema_run(const struct stk_args *args)
{
    const char *name = args->word_count ? args->words[0] : "report";
    bool markdown = args->values[STK_OPT_ID_MARKDOWN].set;
    struct stk_printing p;
    int code = stk_printing_begin(&p, args, "json");
    if (code != STK_EXIT_DONE) {
        return code;
    }
    const struct stk_schema_file *file = stk_schema_file_find(name);
    if (file) {
        return print_file(&p, file, markdown);
    }
    enum stoker_status status = markdown && strcmp(name, "report") == 0
                                    ? stoker_describe_report(stk_output_write, &p.output, &p.err)
                                : markdown && strcmp(name, "jobs") == 0
                                    ? stoker_describe_jobs(stk_output_write, &p.output, &p.err)
                                : markdown && strcmp(name, "table") == 0
                                    ? stoker_describe_table(stk_output_write, &p.output, &p.err)
                                : markdown && strcmp(name, "diff") == 0
                                    ? stoker_describe_diff(stk_output_write, &p.output, &p.err)
                                : markdown && strcmp(name, "whatif") == 0
                                    ? stoker_describe_whatif(stk_output_write, &p.output, &p.err)
                                    : stoker_schema(name, stk_output_write, &p.output, &p.err);
    if (status == STOKER_EUSAGE) {
        add_files(&p.err);
    }
    return stk_printing_end(&p, status, STK_EXIT_DONE);
}

const struct stk_cmd stk_cmd_schema = {
    .name = "schema",
    .summary = "print the JSON Schema of the report, of tables, comparisons, prices, proofs",
    .words = "[NAME]",
    .description =
        "Prints the JSON Schema (draft 2020-12) of what stoker why --json prints (report), or "
        "(jobs) the same of several jobs, or (table) stoker stats --json, or (diff) "
        "stoker diff --json, or "
        "(whatif) stoker whatif --json, or (tune, proof, ledger, live) stoker tune, "
        "prove, ledger and top --json, which have no --markdown. The contracts are "
        "versioned and change only "
        "by adding.",
    .examples =
        "stoker schema report\tthe schema\nstoker schema report --markdown\tthe same for people\n",
    .max_words = 1,
    .options = {STK_OPT_ID_MARKDOWN, STK_OPT_ID_NONE},
    .completes = "schemas",
    .run = schema_run,
};
