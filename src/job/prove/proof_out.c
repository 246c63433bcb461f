// SPDX-License-Identifier: Apache-2.0
// Text and figures shared by all forms of a proof; see proof_out.h.
#include "job/prove/proof_out.h"

#include <math.h>
#include <string.h>

#include "base/text.h"

#define OTHERS_MOST 0.10 // others' share of the processors; above it, a warning
#define STOLEN_MOST 0.05
#define CORRELATION_MOST 0.30 // of neighboring pairs

const char *stk_proof_verdict(enum stk_paired_verdict verdict)
{
    static const char *const names[] = {[STK_PAIRED_FASTER] = "faster",
                                        [STK_PAIRED_SLOWER] = "slower",
                                        [STK_PAIRED_NO_DIFFERENCE] = "no-difference",
                                        [STK_PAIRED_CANNOT_TELL] = "cannot-tell"};
    return names[verdict];
}

double stk_proof_noise(const struct stk_paired *result)
{
    return (result->high - result->low) / 2 / result->estimate;
}

// Decimals of percents: one below ten.
static int decimals(double percent)
{
    return fabs(percent) < 9.95 ? 1 : 0;
}

// Decimals of a ratio: near 1, a third one shows the change.
static int ratio_decimals(double ratio)
{
    return ratio < 1.0995 ? 3 : ratio < 9.995 ? 2 : 0;
}

static void inconclusive(const struct stk_paired *result, int pairs, char to[STK_PROOF_SENTENCE])
{
    double change = 100 * (result->estimate - 1), noise = 100 * stk_proof_noise(result);
    double low = 100 * (result->low - 1), high = 100 * (result->high - 1);
    if (pairs < STK_PAIRED_MIN) {
        stk_text_printf(to, STK_PROOF_SENTENCE,
                        "inconclusive: a verdict needs at least %d pairs, and this has %d (B's "
                        "time against A's: %+.*f%%)",
                        STK_PAIRED_MIN, pairs, decimals(change), change);
        return;
    }
    stk_text_printf(to, STK_PROOF_SENTENCE,
                    "inconclusive: after %d pairs, run-to-run noise is still +/-%.*f%% (B's time "
                    "against A's: %+.*f%% to %+.*f%%)",
                    pairs, decimals(noise), noise, decimals(low), low, decimals(high), high);
}

void stk_proof_sentence(const struct stk_paired *result, int pairs, char to[STK_PROOF_SENTENCE])
{
    bool is_faster = result->verdict == STK_PAIRED_FASTER;
    double ratio = is_faster ? 1 / result->estimate : result->estimate;
    double low = is_faster ? 1 / result->high : result->low;
    double high = is_faster ? 1 / result->low : result->high;
    int digits = ratio_decimals(ratio);
    switch (result->verdict) {
    case STK_PAIRED_FASTER:
    case STK_PAIRED_SLOWER:
        stk_text_printf(to, STK_PROOF_SENTENCE, "B is %.*fx %s [%.*f, %.*f], %d pairs", digits,
                        ratio, is_faster ? "faster" : "slower", digits, low, digits, high, pairs);
        break;
    case STK_PAIRED_NO_DIFFERENCE:
        stk_text_printf(to, STK_PROOF_SENTENCE,
                        "no difference of %.0f%% or more: B's time against A's is %+.1f%% "
                        "[%+.1f, %+.1f], %d pairs",
                        100 * STK_PAIRED_EQUAL, 100 * (result->estimate - 1),
                        100 * (result->low - 1), 100 * (result->high - 1), pairs);
        break;
    case STK_PAIRED_CANNOT_TELL:
        inconclusive(result, pairs, to);
        break;
    }
}

struct spells {
    int runs;    // above the limit
    double most; // the largest of these
};

static void warn_of(char *to, int *count, struct spells s, int runs, const char *who)
{
    if (s.runs) {
        stk_text_printf(to, STK_PROOF_SENTENCE,
                        "%s used up to %.0f%% of the CPU cores, in %d of %d runs", who,
                        100 * s.most, s.runs, runs);
        ++*count;
    }
}

static void see(struct spells *s, double share, double limit)
{
    s->runs += share > limit;
    s->most = share > s->most ? share : s->most;
}

int stk_proof_warnings(const struct stk_proof_plan *plan, const struct stk_proof *proof,
                       char to[STK_PROOF_WARNINGS][STK_PROOF_SENTENCE])
{
    struct spells others = {0}, stolen = {0};
    int count = 0, runs = proof->pairs * STK_PROOF_SIDES;
    for (int side = 0; side < STK_PROOF_SIDES; side++) {
        for (int i = 0; i < proof->pairs; i++) {
            see(&others, proof->runs[side][i].others, OTHERS_MOST);
            see(&stolen, proof->runs[side][i].stolen, STOLEN_MOST);
        }
    }
    if (proof->stalls) {
        int n = stk_text_printf(to[count], STK_PROOF_SENTENCE, "%d stalled pair%s", proof->stalls,
                                proof->stalls > 1 ? "s" : "");
        if (proof->has_without) {
            char *p = to[count] + n;
            stk_text_printf(p, STK_PROOF_SENTENCE - (size_t)n, "; without: ");
            char sentence[STK_PROOF_SENTENCE];
            stk_proof_sentence(&proof->without, proof->pairs - proof->stalls, sentence);
            strncat(p, sentence, STK_PROOF_SENTENCE - (size_t)n - strlen(p) - 1);
        }
        count++;
    }
    warn_of(to[count], &count, others, runs, "other programs");
    warn_of(to[count], &count, stolen, runs, "other virtual machines");
    if (proof->result.correlation > CORRELATION_MOST) {
        stk_text_printf(to[count++], STK_PROOF_SENTENCE,
                        "neighboring pairs are correlated (%.2f): the machine drifts, so the "
                        "interval is wider",
                        proof->result.correlation);
    }
    if (plan->is_recorded && proof->pairs >= STK_PAIRED_MIN) {
        stk_text_printf(to[count++], STK_PROOF_SENTENCE,
                        "these runs were recorded earlier: if A and B didn't alternate, drift "
                        "can't be separated from the change");
    }
    return count;
}

struct stk_proof_spread stk_proof_spread(const struct stk_proof *proof, int side)
{
    double values[STK_PAIRED_MAX];
    size_t n = (size_t)proof->pairs;
    for (size_t i = 0; i < n; i++) {
        values[i] = proof->runs[side][i].value;
    }
    double median = stk_paired_median(values, n); // sorts them
    return (struct stk_proof_spread){values[0], median, values[n - 1]};
}

double stk_proof_median_step(const struct stk_proof *proof, int side)
{
    double values[STK_PAIRED_MAX];
    size_t n = (size_t)proof->pairs;
    for (size_t i = 0; i < n; i++) {
        values[i] = proof->runs[side][i].median;
    }
    return stk_paired_median(values, n);
}

static void measured_steps(const struct stk_proof_plan *plan, const struct stk_proof *proof,
                           char to[STK_PROOF_SENTENCE])
{
    const char *of =
        plan->is_recorded ? "mean step time of each recorded run" : "mean step time of a run";
    const char *a = proof->versions[STK_PROOF_A], *b = proof->versions[STK_PROOF_B];
    bool differs = strcmp(a, b) != 0;
    char ended[64] = "";
    if (plan->steps && !plan->is_recorded) {
        stk_text_printf(ended, sizeof ended, "; each run ended after %llu steps",
                        (unsigned long long)plan->steps);
    }
    stk_text_printf(to, STK_PROOF_SENTENCE,
                    "%s after its first %llu steps, from stoker run's hooks%s%s%s%s%s%s", of,
                    (unsigned long long)stk_proof_warmup(plan), a[0] || b[0] ? " (" : "", a,
                    differs ? "; B: " : "", differs ? b : "", a[0] || b[0] ? ")" : "", ended);
}

void stk_proof_measured(const struct stk_proof_plan *plan, const struct stk_proof *proof,
                        char to[STK_PROOF_SENTENCE])
{
    char skipped[40] = "fifth";
    switch (proof->of) {
    case STK_PROOF_STEPS_OR_WHOLE: // nothing was measured
    case STK_PROOF_STEPS:
        measured_steps(plan, proof, to);
        break;
    case STK_PROOF_WHOLE:
        stk_text_printf(
            to, STK_PROOF_SENTENCE, "time of the whole command, from start to end%s",
            plan->of == STK_PROOF_WHOLE ? "" : ": the hooks of stoker run see no steps in it");
        break;
    case STK_PROOF_METRIC:
        if (plan->warmup >= 0) {
            stk_text_printf(skipped, sizeof skipped, "%lld", (long long)plan->warmup);
        }
        stk_text_printf(to, STK_PROOF_SENTENCE, "median of --metric in a run%s, after its first %s",
                        plan->is_rate ? ", a rate" : "", skipped);
        break;
    }
}

void stk_proof_mechanism(const struct stk_proof *proof, char to[STK_PROOF_SENTENCE])
{
    const struct stk_mechanism *m = &proof->mechanism;
    to[0] = 0;
    if (m->is_checked || m->why[0]) {
        stk_mechanism_sentence(m, to);
    }
}

void stk_proof_predicted(const struct stk_proof_plan *plan, const struct stk_proof *proof,
                         char to[STK_PROOF_SENTENCE])
{
    const struct stk_mechanism *m = &proof->mechanism;
    to[0] = 0;
    if (plan->predict && (m->predicted.is_known || m->unpredicted[0])) {
        stk_mechanism_prediction(m, plan->predict, proof->result.estimate, to);
    }
}
