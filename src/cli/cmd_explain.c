// SPDX-License-Identifier: Apache-2.0
// stoker explain: what a rule looks for, why, and what to do about it.
#include <unistd.h>

#include "cli/printing.h"

static int explain_run(const struct stk_args *args)
{
    const char *format = args->values[STK_OPT_ID_MARKDOWN].set ? "markdown" : "text";
    struct stk_printing p;
    int code = stk_printing_begin(&p, args, format);
    if (code != STK_EXIT_DONE) {
        return code;
    }
    enum stoker_status status = stoker_explain(args->word_count ? args->words[0] : NULL, format,
                                               stk_output_write, &p.output, &p.err);
    return stk_printing_end(&p, status, STK_EXIT_DONE);
}

const struct stk_cmd stk_cmd_explain = {
    .name = "explain",
    .summary = "explain a rule: when it fires, why it matters, what to do",
    .words = "[RULE]",
    .description = "Explains one rule of the diagnosis: when it fires, why that matters, how the "
                   "saving is bounded, "
                   "when it stays quiet, what to change, and where its thresholds come from. "
                   "Without a RULE: a list "
                   "of all.",
    .examples = "stoker explain\tlist the rules\nstoker explain input-wait\texplain one\n",
    .max_words = 1,
    .options = {STK_OPT_ID_MARKDOWN, STK_OPT_ID_NONE},
    .completes = "rules",
    .run = explain_run,
};
