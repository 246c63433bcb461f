// SPDX-License-Identifier: Apache-2.0
// A proof for programs: "stoker.proof/1". `ratio` is B's time over A's. `median_step_ns` is absent
// where steps were not seen one by one: `median` then says what a run gave, in `unit`.
#include "base/text.h"
#include "prove/proof_out.h"

static void put_string(const char *text, FILE *to)
{
    fputc('"', to);
    for (struct stk_str rest = stk_str_from(text); rest.n;) {
        struct stk_text_piece piece;
        stk_text_json(&piece, rest);
        fwrite(piece.text, 1, piece.n, to);
        rest.p += piece.taken;
        rest.n -= piece.taken;
    }
    fputc('"', to);
}

static void put_real(double v, FILE *to)
{
    char text[STK_TEXT_NUMBER_MAX];
    fputs(stk_text_put_real(text, v) ? text : "null", to);
}

static void put_ratio(const char *name, const struct stk_paired *r, FILE *to)
{
    fprintf(to, "  \"%s\": {\"estimate\": ", name);
    put_real(r->estimate, to);
    fputs(", \"low\": ", to);
    put_real(r->low, to);
    fputs(", \"high\": ", to);
    put_real(r->high, to);
    fputs("},\n", to);
}

static void put_side(const struct stk_proof_plan *plan, const struct stk_proof *proof, int side,
                     FILE *to)
{
    fprintf(to, "  \"%c\": {\"label\": ", "ab"[side]);
    put_string(plan->sides[side].label, to);
    fputs(", \"median\": ", to);
    put_real(stk_proof_spread(proof, side).median, to);
    fprintf(to, ", \"unit\": \"%s\", \"runs\": %d, \"values\": [", plan->metric ? "metric" : "s",
            proof->pairs);
    for (int i = 0; i < proof->pairs; i++) {
        fputs(i ? ", " : "", to);
        put_real(proof->runs[side][i].value, to);
    }
    fputs("]},\n", to);
}

void stk_proof_json(const struct stk_proof_plan *plan, const struct stk_proof *proof, FILE *to)
{
    char warnings[STK_PROOF_WARNINGS][STK_PROOF_SENTENCE];
    fputs("{\n  \"schema\": \"stoker.proof/1\",\n", to);
    put_side(plan, proof, STK_PROOF_A, to);
    put_side(plan, proof, STK_PROOF_B, to);
    fprintf(to, "  \"pairs\": %d,\n  \"pairs_stalled\": %d,\n", proof->pairs, proof->stalls);
    put_ratio("ratio", &proof->result, to);
    if (proof->has_without) {
        put_ratio("ratio_without_stalled", &proof->without, to);
    }
    fprintf(to, "  \"verdict\": \"%s\",\n  \"noise_share\": ",
            stk_proof_verdict(proof->result.verdict));
    put_real(stk_proof_noise(&proof->result), to);
    fputs(",\n  \"metric\": ", to);
    if (plan->metric) {
        put_string(plan->metric, to);
    } else {
        fputs("null", to);
    }
    fprintf(to, ",\n  \"is_rate\": %s,\n  \"warnings\": [", plan->is_rate ? "true" : "false");
    int count = stk_proof_warnings(proof, warnings);
    for (int i = 0; i < count; i++) {
        fputs(i ? ", " : "", to);
        put_string(warnings[i], to);
    }
    fputs("]\n}\n", to);
}
