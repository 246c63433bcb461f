// SPDX-License-Identifier: Apache-2.0
// A search for programs (results/tune.h). Ratios are the time after over the time before; for a
// fix, with the fixes that were kept before it. They have no interval with fewer than four pairs.
// Unknown values are absent.
#include <string.h>

#include "base/arena.h"
#include "job/tune/tune_out.h"
#include "results/print/document.h"
#include "results/tune.h"

struct filling {
    const struct stk_tune *tune;
    struct stk_arena arena;
    struct stk_tune_doc doc;
    struct stk_tune_doc_place *places;
};

static struct stk_interval ratio_of(const struct stk_paired *r, int pairs)
{
    return (struct stk_interval){.has_bounds = pairs >= STK_PAIRED_MIN,
                                 .low = r->low,
                                 .estimate = r->estimate,
                                 .high = r->high};
}

static const char *label_of(struct filling *f, const struct stk_tune_choice *choice)
{
    char label[STK_TUNE_LABEL];
    stk_tune_label(choice, label);
    return stk_arena_strdup(&f->arena, label);
}

static bool fill_tried(struct filling *f)
{
    const struct stk_tune_tried *t = f->tune->tried.items;
    size_t count = f->tune->tried.count;
    struct stk_list *list = &f->doc.tried;
    struct stk_tune_doc_tried *rows = stk_list_room(&f->arena, list, count, sizeof *rows);
    bool ok = rows != NULL;
    for (size_t i = 0; ok && i < count; i++) {
        rows[i] = (struct stk_tune_doc_tried){.fix = label_of(f, &t[i].choice),
                                              .state = stk_tune_state_name(t[i].state),
                                              .why = t[i].why,
                                              .changes = t[i].choice.fix->changes,
                                              .numerics = t[i].has_losses ? t[i].losses.numerics
                                                                          : STK_NUMERICS_UNKNOWN,
                                              .is_expected = t[i].saving >= 0,
                                              .expected_share = t[i].saving,
                                              .basis = t[i].saving < 0  ? NULL
                                                       : t[i].is_priced ? "replay"
                                                                        : "bound",
                                              .has_pairs = t[i].pairs > 0,
                                              .ratio = ratio_of(&t[i].ratio, t[i].pairs),
                                              .pairs = (uint64_t)t[i].pairs,
                                              .is_unfinished = t[i].is_unfinished,
                                              .unfinished = t[i].is_unfinished};
        ok = rows[list->count++].fix != NULL;
    }
    return ok;
}

static bool fill_advice(struct filling *f)
{
    const struct stk_tune_advice *a = f->tune->advice.items;
    struct stk_list *list = &f->doc.advice;
    struct stk_tune_doc_advice *rows =
        stk_list_room(&f->arena, list, f->tune->advice.count, sizeof *rows);
    for (size_t i = 0; rows && i < f->tune->advice.count; i++) {
        const struct stoker_saving *s = &a[i].saving;
        if (a[i].takes_edit) {
            rows[list->count++] =
                (struct stk_tune_doc_advice){.fix = a[i].fix->id,
                                             .finding = a[i].finding,
                                             .text = a[i].fix->text,
                                             .snippet = a[i].fix->snippet,
                                             .file = a[i].file[0] ? a[i].file : NULL,
                                             .has_line = a[i].file[0] != 0,
                                             .line = a[i].line,
                                             .has_low = s->has_low,
                                             .low_share = s->low_share,
                                             .has_expected = s->has_expected,
                                             .expected_share = s->expected_share,
                                             .has_high = s->has_high,
                                             .high_share = s->high_share,
                                             .basis = a[i].is_priced ? "replay" : "finding",
                                             .answered = a[i].is_answered};
        }
    }
    f->doc.has_advice = true;
    return rows != NULL;
}

static void add_place(void *arg, const char *file, int64_t line, const char *text)
{
    struct filling *f = arg;
    f->doc.apply.code.count++;
    if (f->places) { // otherwise only counts them
        *f->places++ = (struct stk_tune_doc_place){.file = file,
                                                   .has_line = file != NULL,
                                                   .line = line,
                                                   .text = stk_arena_strdup(&f->arena, text)};
    }
}

static bool fill_code(struct filling *f)
{
    struct stk_list *code = &f->doc.apply.code;
    stk_tune_each_place(f->tune, add_place, f);
    struct stk_tune_doc_place *places = stk_list_room(&f->arena, code, code->count, sizeof *places);
    f->places = places;
    if (places) {
        stk_tune_each_place(f->tune, add_place, f);
    }
    for (size_t i = 0; i < code->count; i++) {
        if (!places[i].text) {
            return false;
        }
    }
    return places != NULL;
}

static bool fill_env(struct filling *f)
{
    size_t count = f->tune->tried.count;
    struct stk_list *list = &f->doc.apply.env;
    struct stk_entry *env = stk_list_room(&f->arena, list, count, sizeof *env);
    char text[STK_TUNE_LINE];
    for (size_t i = 0; env && i < count; i++) {
        if (stk_tune_variable(f->tune, i, text, sizeof text)) {
            char *name = stk_arena_strdup(&f->arena, text);
            char *value = name ? strchr(name, '=') : NULL;
            if (!value) {
                return false;
            }
            *value = 0;
            env[list->count++] = (struct stk_entry){.key = name, .text = value + 1};
        }
    }
    return env != NULL;
}

static bool fill_wrap(struct filling *f)
{
    const struct stk_tune_tried *t = f->tune->tried.items;
    size_t count = f->tune->tried.count;
    struct stk_list *list = &f->doc.apply.wrap;
    const char **wrap = stk_list_room(&f->arena, list, count, sizeof *wrap);
    char text[STK_TUNE_LINE];
    for (size_t i = 0; wrap && i < count; i++) {
        if (t[i].state == STK_TUNE_KEPT && t[i].choice.fix->wrap) {
            stk_tune_fill(t[i].choice.fix->wrap, t[i].choice.value, text, sizeof text);
            wrap[list->count] = stk_arena_strdup(&f->arena, text);
            if (!wrap[list->count++]) {
                return false;
            }
        }
    }
    return wrap != NULL;
}

static bool fill_strong(struct filling *f)
{
    const struct stk_tune *tune = f->tune;
    size_t count = (size_t)tune->strong.count;
    struct stk_list *list = &f->doc.strong_baseline.fixes;
    const char **fixes = stk_list_room(&f->arena, list, count, sizeof *fixes);
    for (size_t i = 0; fixes && i < count; i++) {
        fixes[i] = label_of(f, &tune->strong.items[i]);
        if (!fixes[list->count++]) {
            return false;
        }
    }
    f->doc.has_strong = count > 0;
    f->doc.strong_baseline.has_step = tune->strong_s > 0;
    f->doc.strong_baseline.step_ns = (int64_t)(tune->strong_s * 1e9);
    return fixes != NULL;
}

void stk_tune_json(const struct stk_tune_plan *plan, const struct stk_tune *tune,
                   struct stk_sink *to)
{
    char sentence[STK_TUNE_SENTENCE];
    bool is_faster = tune->verdict == STK_TUNE_FASTER;
    struct filling f = {
        .tune = tune,
        .doc = {.schema = STK_TUNE_SCHEMA,
                .command = stk_list_texts((const char *const *)plan->argv),
                .framework = tune->framework[0] ? tune->framework : "none",
                .baseline_step_ns =
                    (int64_t)(1e9 * (tune->has_proof ? tune->before_s : tune->baseline_s)),
                .best_step_ns = (int64_t)(1e9 * (is_faster ? tune->after_s : tune->baseline_s)),
                .has_proof = tune->has_proof,
                .ratio = ratio_of(&tune->proof, tune->pairs),
                .pairs = (uint64_t)tune->pairs,
                .verdict = tune->verdict,
                .sentence = sentence,
                .noise_share = tune->noise,
                .spent_ns = (int64_t)tune->spent_ns,
                .has_end = true,
                .verdict_ns = (int64_t)tune->verdict_ns,
                .ended = stk_tune_end_name(tune->end),
                .ended_why = tune->end_why[0] ? tune->end_why : NULL}};
    stk_arena_init(&f.arena, 0);
    stk_tune_sentence(tune, sentence);
    if (fill_tried(&f) && fill_advice(&f) && fill_env(&f) && fill_wrap(&f) && fill_code(&f) &&
        fill_strong(&f)) {
        stk_json_document(&stk_tune_doc_info, &f.doc, false, to);
    } else {
        to->failed = true; // no memory
    }
    stk_arena_deinit(&f.arena);
}
