// SPDX-License-Identifier: Apache-2.0
// A proof for people: the sentence, both sides, what was measured, and warnings.
#include "base/human.h"
#include "base/text.h"
#include "job/prove/proof_out.h"

// A run's value: a time, or the metric.
static void put_value(const struct stk_proof *proof, double v, char to[STK_HUMAN_MAX])
{
    if (proof->of == STK_PROOF_METRIC) {
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
    put_value(proof, s.least, least);
    put_value(proof, s.median, median);
    put_value(proof, s.most, most);
    stk_sink_printf(to, "  %c  %-10s %s to %s in %d runs   ", "AB"[side], median, least, most,
                    proof -> pairs);
    stk_sink_text(to, plan->sides[side].label);
    stk_sink_text(to, "\n");
}

static void put_line(const char *head, const char *text, struct stk_sink *to)
{
    if (*text) {
        stk_sink_text(to, head);
        stk_sink_text(to, text);
        stk_sink_text(to, "\n");
    }
}

static void put_looks(const struct stk_proof *proof, struct stk_sink *to)
{
    stk_sink_text(to, "  checked after");
    for (int i = 0; i < proof->looks.count; i++) {
        stk_sink_printf(to, "%s %d", i ? "," : "", proof->looks.pairs[i]);
    }
    stk_sink_printf(to, " pairs, stopped at %d; the 95%% interval covers all checks\n",
                    proof->pairs);
}

void stk_proof_text(const struct stk_proof_plan *plan, const struct stk_proof *proof,
                    struct stk_sink *to)
{
    char sentence[STK_PROOF_SENTENCE], warnings[STK_PROOF_WARNINGS][STK_PROOF_SENTENCE];
    stk_proof_sentence(&proof->result, proof->pairs, sentence);
    stk_sink_printf(to, "%s\n\n", sentence);
    put_side(plan, proof, STK_PROOF_A, to);
    put_side(plan, proof, STK_PROOF_B, to);
    stk_proof_measured(plan, proof, sentence);
    stk_sink_printf(to, "\n  measured: %s\n", sentence);
    stk_proof_mechanism(proof, sentence);
    put_line("  the cause: ", sentence, to);
    stk_proof_predicted(plan, proof, sentence);
    put_line("  ", sentence, to);
    if (proof->looks.count) {
        put_looks(proof, to);
    }
    int count = stk_proof_warnings(plan, proof, warnings);
    for (int i = 0; i < count; i++) {
        put_line("  ! ", warnings[i], to);
    }
}
