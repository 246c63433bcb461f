// SPDX-License-Identifier: Apache-2.0
// stoker explain: what a rule looks for, why, and what to do about it; what a fix changes, what
// prices it and what tries it.
#include <unistd.h>

#include "cli/printing.h"

static int explain_run(const struct stk_args *args)
{
    const char *format = args->values[STK_OPT_ID_MARKDOWN].set ? "markdown" : "text";
    bool lists = args->values[STK_OPT_ID_FIXES].set;
    struct stk_printing p;
    if (lists && args->word_count) {
        return stk_usage(&stk_cmd_explain, "--fixes lists all of them: leave out '%s'",
                         args->words[0]);
    }
    int code = stk_printing_begin(&p, args, format);
    if (code != STK_EXIT_DONE) {
        return code;
    }
    enum stoker_status status =
        lists ? stoker_describe_fixes(format, stk_output_write, &p.output, &p.err)
              : stoker_explain(args->word_count ? args->words[0] : NULL, format, stk_output_write,
                               &p.output, &p.err);
    return stk_printing_end(&p, status, STK_EXIT_DONE);
}

const struct stk_cmd stk_cmd_explain = {
    .name = "explain",
    .summary = "explain a rule or a fix: when it fires, why it matters, what to do",
    .words = "[ID]",
    .description =
        "Explains one rule of the diagnosis: when it fires, why that matters, how the saving is "
        "bounded, when it stays quiet, what to change, and where its thresholds come from. Or one "
        "fix: what to change, the what-if that prices it, the fix of stoker tune that tries it, "
        "and the rules that give it. Without an ID: a list of all rules.",
    .examples = "stoker explain\tlist the rules\n"
                "stoker explain input-wait\texplain one\n"
                "stoker explain --fixes\tlist the fixes\n"
                "stoker explain torch.dataloader.num_workers\texplain one\n",
    .max_words = 1,
    .options = {STK_OPT_ID_FIXES, STK_OPT_ID_MARKDOWN, STK_OPT_ID_NONE},
    .completes = "rules",
    .run = explain_run,
};
