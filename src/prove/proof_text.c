// SPDX-License-Identifier: Apache-2.0
// A proof for people: the sentence, both sides, what was measured, what weakens it.
#include <inttypes.h>

#include "base/human.h"
#include "base/text.h"
#include "prove/proof_out.h"

// A run's number: a time of a command, or as the metric gives it.
static void put_value(const struct stk_proof_plan *plan, double v, char to[STK_HUMAN_MAX])
{
    if (plan->metric) {
        stk_text_printf(to, STK_HUMAN_MAX, "%.4g", v);
    } else {
        stk_human_ns((int64_t)(v * 1e9), to);
    }
}

static void put_side(const struct stk_proof_plan *plan, const struct stk_proof *proof, int side,
                     struct stk_sink *to)
{
    char least[STK_HUMAN_MAX], median[STK_HUMAN_MAX], most[STK_HUMAN_MAX];
    struct stk_proof_spread s = stk_proof_spread(proof, side);
    put_value(plan, s.least, least);
    put_value(plan, s.median, median);
    put_value(plan, s.most, most);
    stk_sink_printf(to, "  %c  %-10s %s to %s in %d runs   ", "AB"[side], median, least, most,
                    proof -> pairs);
    stk_sink_text(to, plan->sides[side].label);
    stk_sink_text(to, "\n");
}

void stk_proof_text(const struct stk_proof_plan *plan, const struct stk_proof *proof,
                    struct stk_sink *to)
{
    char sentence[STK_PROOF_SENTENCE], warnings[STK_PROOF_WARNINGS][STK_PROOF_SENTENCE];
    stk_proof_sentence(&proof->result, proof->pairs, sentence);
    stk_sink_printf(to, "%s\n\n", sentence);
    put_side(plan, proof, STK_PROOF_A, to);
    put_side(plan, proof, STK_PROOF_B, to);
    if (!plan->metric) {
        stk_sink_printf(to,
                        "\n  measured: the time of the whole command, from its start to its end\n");
    } else if (plan->warmup >= 0) {
        stk_sink_printf(
            to, "\n  measured: the median of --metric in a run%s, behind its first %" PRId64 "\n",
            plan->is_rate ? ", a rate" : "", plan->warmup);
    } else {
        stk_sink_printf(to,
                        "\n  measured: the median of --metric in a run%s, behind its first fifth\n",
                        plan->is_rate ? ", a rate" : "");
    }
    stk_sink_printf(to, "  looked at after");
    for (int i = 0; i < proof->looks.count; i++) {
        stk_sink_printf(to, "%s %d", i ? "," : "", proof->looks.pairs[i]);
    }
    stk_sink_printf(to, " pairs, ended at %d; intervals hold at all looks together with 95 %%\n",
                    proof->pairs);
    int count = stk_proof_warnings(proof, warnings);
    for (int i = 0; i < count; i++) {
        stk_sink_printf(to, "  ! %s\n", warnings[i]);
    }
}
