// SPDX-License-Identifier: Apache-2.0
// A proof for a pull request: the sentence, and a table of both sides.
#include "base/text.h"
#include "prove/proof_out.h"

void stk_proof_markdown(const struct stk_proof_plan *plan, const struct stk_proof *proof, FILE *to)
{
    char text[STK_PROOF_SENTENCE], warnings[STK_PROOF_WARNINGS][STK_PROOF_SENTENCE];
    stk_proof_sentence(&proof->result, proof->pairs, text);
    fprintf(to, "**%s**\n\n| | command | median | least | most |\n|---|---|---:|---:|---:|\n",
            text);
    for (int side = 0; side < STK_PROOF_SIDES; side++) {
        struct stk_proof_spread s = stk_proof_spread(proof, side);
        fprintf(to, "| %c | ", "AB"[side]);
        fputc('`', to);
        stk_proof_put_label(plan->sides[side].label, true, to);
        fputc('`', to);
        stk_text_printf(text, sizeof text,
                        plan->metric ? "%.4g | %.4g | %.4g" : "%.4g s | %.4g s | %.4g s", s.median,
                        s.least, s.most);
        fprintf(to, " | %s |\n", text);
    }
    fprintf(to, "\nAlternating runs, %s; the interval holds with 95 %% over all looks.\n",
            plan->metric ? "the median of a number that each prints"
                         : "the time of the whole command");
    int count = stk_proof_warnings(proof, warnings);
    for (int i = 0; i < count; i++) {
        fprintf(to, "\n* %s\n", warnings[i]);
    }
}
