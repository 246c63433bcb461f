// SPDX-License-Identifier: Apache-2.0
// stoker explain: what a rule looks for, why, and what to do about it; what a fix changes, which
// what-if prices it, which command tries it, and what it gained according to the user's ledger.
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "cli/printing.h"
#include "fixes/fixes.h"
#include "job/prove/ledger.h"
#include "job/prove/paired.h"

// Proofs of `name`, with or without a value: the share of a step's time that each saved, unsorted.
// `saved` has room for all lines.
static size_t saved_by(const struct stk_ledger *ledger, const char *name, double *saved)
{
    size_t n = strlen(name), count = 0;
    for (size_t i = 0; i < ledger->lines.count; i++) {
        const struct stk_ledger_line *line = stk_vec_at(&ledger->lines, i);
        bool is_it = strncmp(line->fix, name, n) == 0 && (!line->fix[n] || line->fix[n] == '=');
        if (is_it && line->measured.is_known) {
            saved[count++] = 100 * (1 - line->measured.estimate);
        }
    }
    return count;
}

static void put_saved(const char *name, double *saved, size_t count, bool is_markdown,
                      struct stk_printing *p)
{
    char text[400];
    double median = stk_paired_median(saved, count), low = saved[0], high = saved[0];
    for (size_t i = 1; i < count; i++) {
        low = saved[i] < low ? saved[i] : low;
        high = saved[i] > high ? saved[i] : high;
    }
    stk_text_printf(text, sizeof text,
                    "%s%zu proof%s of %s saved a median of %.0f%% of a step (%.0f to %.0f%%)\n",
                    is_markdown ? "* **in your ledger**: " : "in your ledger: ", count,
                    count == 1 ? "" : "s", name, median, low, high);
    (void)!stk_output_write(&p->output, text, strlen(text)); // the output keeps its error
}

// The lines of the user's ledger, if there is one, about the fix, the fix of tune that tries it,
// and the what-if that prices it.
static void put_ledger(const struct stk_rep_fix *fix, bool is_markdown, struct stk_printing *p)
{
    char path[4096];
    struct stk_ledger ledger;
    struct stoker_err ignored;
    if (!fix || !stk_ledger_path(path, sizeof path)) {
        return;
    }
    bool is_read = stk_ledger_read(path, &ledger, &ignored) == STOKER_OK;
    double *saved = is_read ? stk_alloc_array(ledger.lines.count + 1, sizeof *saved) : NULL;
    const char *tries = fix->tries && strcmp(fix->tries, fix->id) != 0 ? fix->tries : NULL;
    const char *const names[] = {fix->id, tries, fix->price};
    for (int i = 0; saved && i < 3; i++) {
        size_t count = names[i] ? saved_by(&ledger, names[i], saved) : 0;
        if (count) {
            put_saved(names[i], saved, count, is_markdown, p);
        }
    }
    stk_free(saved);
    stk_ledger_free(&ledger);
}

static int explain_run(const struct stk_args *args)
{
    const char *format = args->values[STK_OPT_ID_MARKDOWN].set ? "markdown" : "text";
    bool lists = args->values[STK_OPT_ID_FIXES].set;
    struct stk_printing p;
    if (lists && args->word_count) {
        return stk_usage(&stk_cmd_explain, "--fixes lists all fixes: leave out '%s'",
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
    if (status == STOKER_OK && args->word_count) {
        put_ledger(stk_fix_row_find(args->words[0]), strcmp(format, "markdown") == 0, &p);
    }
    return stk_printing_end(&p, status, STK_EXIT_DONE);
}

const struct stk_cmd stk_cmd_explain = {
    .name = "explain",
    .summary = "explain a rule, a fix or a what-if: when it applies, what to do",
    .words = "[ID]",
    .description = "Explains a rule: when it fires and when it doesn't, why it matters, what "
                   "limits the saving, what to change, and where its thresholds come from.\n\n"
                   "Or explains a fix: what to change, how stoker tune applies it, which what-if "
                   "estimates it, and which rules suggest it. It also lists what the fix gained in "
                   "measured jobs and in your own ledger (`stoker ledger`).\n\n"
                   "Or explains a what-if: what it changes in the recorded step, what it assumes, "
                   "and the fixes that it estimates.\n\n"
                   "Without an ID it lists all rules.",
    .examples = "stoker explain\tlist the rules\n"
                "stoker explain input-wait\texplain one\n"
                "stoker explain --fixes\tlist the fixes\n"
                "stoker explain torch.dataloader.num_workers\texplain one\n",
    .max_words = 1,
    .options = {STK_OPT_ID_FIXES, STK_OPT_ID_MARKDOWN, STK_OPT_ID_NONE},
    .completes = "rules",
    .run = explain_run,
};
