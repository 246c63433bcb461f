// SPDX-License-Identifier: Apache-2.0
// A search for programs: "stoker.tune/1". Ratios are the time after over the time before, those of
// fixes on top of what was kept before them; without an interval where there were fewer than four
// pairs. What is not known is absent.
#include "base/json.h"
#include "job/tune/tune_out.h"

static void put_ratio(struct stk_json *j, const struct stk_paired *r, int pairs)
{
    stk_json_key(j, "ratio");
    stk_json_open(j, '{', true);
    stk_json_key(j, "estimate");
    stk_json_real(j, r->estimate);
    if (pairs >= STK_PAIRED_MIN) {
        stk_json_key(j, "low");
        stk_json_real(j, r->low);
        stk_json_key(j, "high");
        stk_json_real(j, r->high);
    }
    stk_json_close(j, '}');
    stk_json_key(j, "pairs");
    stk_json_i64(j, pairs);
}

static void put_tried(struct stk_json *j, const struct stk_tune_tried *t)
{
    static const char *const numerics[] = {[STK_NUMERICS_UNKNOWN] = "unknown",
                                           [STK_NUMERICS_SAME] = "same",
                                           [STK_NUMERICS_DIFFER] = "differ"};
    static const char *const changes[] = {[STK_CHANGES_NOTHING] = "nothing",
                                          [STK_CHANGES_ORDER] = "order",
                                          [STK_CHANGES_CALLBACKS] = "callbacks",
                                          [STK_CHANGES_NUMERICS] = "numerics"};
    char label[STK_TUNE_LABEL];
    stk_tune_label(&t->choice, label);
    stk_json_open(j, '{', true);
    stk_json_key(j, "fix");
    stk_json_text(j, label);
    stk_json_key(j, "state");
    stk_json_text(j, stk_tune_state_name(t->state));
    stk_json_key(j, "why");
    stk_json_text(j, t->why);
    stk_json_key(j, "changes");
    stk_json_text(j, changes[t->choice.fix->changes]);
    if (t->saving >= 0) {
        stk_json_key(j, "expected_share");
        stk_json_share(j, t->saving);
        stk_json_key(j, "basis");
        stk_json_text(j, t->is_priced ? "replay" : "bound");
    }
    if (t->pairs) {
        put_ratio(j, &t->ratio, t->pairs);
    }
    stk_json_key(j, "numerics");
    stk_json_text(j, numerics[t->has_losses ? t->losses.numerics : STK_NUMERICS_UNKNOWN]);
    stk_json_close(j, '}');
}

static void put_place(void *arg, const char *file, int64_t line, const char *text)
{
    struct stk_json *j = arg;
    stk_json_open(j, '{', true);
    if (file) {
        stk_json_key(j, "file");
        stk_json_text(j, file);
        stk_json_key(j, "line");
        stk_json_i64(j, line);
    }
    stk_json_key(j, "text");
    stk_json_text(j, text);
    stk_json_close(j, '}');
}

static void put_apply(struct stk_json *j, const struct stk_tune *tune)
{
    const struct stk_tune_tried *t = tune->tried.items;
    char text[STK_TUNE_LINE];
    stk_json_key(j, "apply");
    stk_json_open(j, '{', false);
    stk_json_key(j, "env");
    stk_json_open(j, '{', true);
    for (size_t i = 0; i < tune->tried.count; i++) {
        if (stk_tune_variable(tune, i, text, sizeof text)) {
            char *value = text;
            while (*value != '=') {
                value++;
            }
            *value++ = 0;
            stk_json_key(j, text);
            stk_json_text(j, value);
        }
    }
    stk_json_close(j, '}');
    stk_json_key(j, "wrap");
    stk_json_open(j, '[', true);
    for (size_t i = 0; i < tune->tried.count; i++) {
        if (t[i].state == STK_TUNE_KEPT && t[i].choice.fix->wrap) {
            stk_tune_fill(t[i].choice.fix->wrap, t[i].choice.value, text, sizeof text);
            stk_json_text(j, text);
        }
    }
    stk_json_close(j, ']');
    stk_json_key(j, "code");
    stk_json_open(j, '[', false);
    stk_tune_each_place(tune, put_place, j);
    stk_json_close(j, ']');
    stk_json_close(j, '}');
}

static void put_strong(struct stk_json *j, const struct stk_tune *tune)
{
    char label[STK_TUNE_LABEL];
    stk_json_key(j, "strong_baseline");
    stk_json_open(j, '{', true);
    stk_json_key(j, "fixes");
    stk_json_open(j, '[', true);
    for (int i = 0; i < tune->strong.count; i++) {
        stk_tune_label(&tune->strong.items[i], label);
        stk_json_text(j, label);
    }
    stk_json_close(j, ']');
    if (tune->strong_s > 0) {
        stk_json_key(j, "step_ns");
        stk_json_i64(j, (int64_t)(tune->strong_s * 1e9));
    }
    stk_json_close(j, '}');
}

static void put_words(struct stk_json *j, const char *key, char *const *words)
{
    stk_json_key(j, key);
    stk_json_open(j, '[', true);
    for (size_t i = 0; words[i]; i++) {
        stk_json_text(j, words[i]);
    }
    stk_json_close(j, ']');
}

void stk_tune_json(const struct stk_tune_plan *plan, const struct stk_tune *tune,
                   struct stk_sink *to)
{
    static const char *const verdicts[] = {[STK_TUNE_FASTER] = "faster",
                                           [STK_TUNE_NOTHING] = "nothing-to-gain",
                                           [STK_TUNE_CANNOT_TELL] = "cannot-tell"};
    const struct stk_tune_tried *t = tune->tried.items;
    char sentence[STK_TUNE_SENTENCE];
    struct stk_json j;
    stk_json_init(&j, to);
    stk_json_open(&j, '{', false);
    stk_json_key(&j, "schema");
    stk_json_text(&j, "stoker.tune/1");
    put_words(&j, "command", plan->argv);
    stk_json_key(&j, "framework");
    stk_json_text(&j, tune->framework[0] ? tune->framework : "none");
    stk_json_key(&j, "baseline_step_ns");
    stk_json_i64(&j, (int64_t)(1e9 * (tune->has_proof ? tune->before_s : tune->baseline_s)));
    stk_json_key(&j, "best_step_ns");
    bool is_faster = tune->verdict == STK_TUNE_FASTER;
    double best_s = is_faster ? tune->after_s : tune->baseline_s;
    stk_json_i64(&j, (int64_t)(1e9 * best_s));
    if (tune->has_proof) {
        put_ratio(&j, &tune->proof, tune->pairs);
    }
    stk_json_key(&j, "verdict");
    stk_json_text(&j, verdicts[tune->verdict]);
    stk_tune_sentence(tune, sentence);
    stk_json_key(&j, "sentence");
    stk_json_text(&j, sentence);
    stk_json_key(&j, "noise_share");
    stk_json_share(&j, tune->noise);
    stk_json_key(&j, "spent_ns");
    stk_json_u64(&j, tune->spent_ns);
    stk_json_key(&j, "tried");
    stk_json_open(&j, '[', false);
    for (size_t i = 0; i < tune->tried.count; i++) {
        put_tried(&j, &t[i]);
    }
    stk_json_close(&j, ']');
    put_apply(&j, tune);
    if (tune->strong.count) {
        put_strong(&j, tune);
    }
    stk_json_close(&j, '}');
    stk_sink_text(to, "\n");
}
