// SPDX-License-Identifier: Apache-2.0
// A proof for a pull request: the sentence, and a table of both sides.
#include "base/text.h"
#include "job/prove/proof_out.h"

// Writes code in a table cell, without backticks, bars and line ends, which would end it.
static void put_code(const char *text, struct stk_sink *to)
{
    stk_sink_text(to, "`");
    for (; *text; text++) {
        char c = *text == '`' ? '\'' : *text == '|' ? '/' : *text == '\n' ? ' ' : *text;
        stk_sink_put(to, &c, 1);
    }
    stk_sink_text(to, "`");
}

void stk_proof_markdown(const struct stk_proof_plan *plan, const struct stk_proof *proof,
                        struct stk_sink *to)
{
    char text[STK_PROOF_SENTENCE], warnings[STK_PROOF_WARNINGS][STK_PROOF_SENTENCE];
    stk_proof_sentence(&proof->result, proof->pairs, text);
    stk_sink_printf(to, "**%s**\n\n| | command | median | min | max |\n|---|---|---:|---:|---:|\n",
                    text);
    for (int side = 0; side < STK_PROOF_SIDES; side++) {
        struct stk_proof_spread s = stk_proof_spread(proof, side);
        stk_sink_printf(to, "| %c | ", "AB"[side]);
        put_code(plan->sides[side].label, to);
        stk_text_printf(text, sizeof text,
                        proof->of == STK_PROOF_METRIC ? "%.4g | %.4g | %.4g"
                                                      : "%.4g s | %.4g s | %.4g s",
                        s.median, s.least, s.most);
        stk_sink_printf(to, " | %s |\n", text);
    }
    stk_proof_measured(plan, proof, text);
    stk_sink_printf(to, "\nAlternating runs, %s. The 95%% interval covers all checks.\n", text);
    stk_proof_mechanism(proof, text);
    stk_sink_printf(to, text[0] ? "\nThe cause: %s.\n" : "%s", text);
    stk_proof_predicted(plan, proof, text);
    stk_sink_printf(to, text[0] ? "\n%s.\n" : "%s", text);
    int count = stk_proof_warnings(plan, proof, warnings);
    for (int i = 0; i < count; i++) {
        stk_sink_printf(to, "\n* %s\n", warnings[i]);
    }
}
