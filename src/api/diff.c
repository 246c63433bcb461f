// SPDX-License-Identifier: Apache-2.0
// Compares two results end to end: collects and diagnoses each side like `stoker why`, then
// answers/passes/diff/diff_make.c compares them. The sides are read one after the other, each with
// all cores.
#include "stoker/diff.h"

#include <string.h>

#include "api/api.h"
#include "base/alloc.h"
#include "results/print/out.h"
#include "answers/passes/diff/diff.h"
#include "stoker/version.h"

struct stoker_diff {
    struct {
        struct stk_collected in;
        struct stk_report report;
    } side[2];
    struct stk_arena arena;
    struct stk_diff doc;
};

void stoker_diff_options_default(struct stoker_diff_options *options)
{
    if (!options) {
        return;
    }
    *options = (struct stoker_diff_options){.force = 0};
    stoker_why_options_default(&options->reading);
}

static enum stoker_status read_side(struct stoker_diff *d, int side, const char *const *paths,
                                    size_t count, const struct stoker_diff_options *options,
                                    struct stoker_err *err)
{
    struct stoker_why_options reading = options->reading;
    if (options->has_steps[side]) {
        reading.has_steps = 1;
        reading.step_first = options->step_first[side];
        reading.step_last = options->step_last[side];
    }
    struct stk_collected *in = &d->side[side].in;
    enum stoker_status status = stk_collect(in, paths, count, &reading, &stk_diff_hook, err);
    if (status == STOKER_OK) {
        status = stk_diagnose(in, &reading, &d->side[side].report, err);
    }
    if (status != STOKER_OK) {
        stk_err_while(err, "reading %s, '%.100s'", side ? "B" : "A", paths[0]);
    }
    return status;
}

static enum stoker_status check_paths(const char *const *const paths[2], const size_t counts[2],
                                      struct stoker_err *err)
{
    int streams = 0;
    for (int side = 0; side < 2; side++) {
        for (size_t i = 0; i < counts[side]; i++) {
            streams += strcmp(paths[side][i], "-") == 0;
        }
    }
    if (streams > 1) {
        return stk_err_set(err, STOKER_EUSAGE,
                           "standard input (-) can be read only once, but was given %d times",
                           streams);
    }
    return STOKER_OK;
}

static enum stoker_status diff(struct stoker_diff *d, const char *const *const paths[2],
                               const size_t counts[2], const struct stoker_diff_options *options,
                               struct stoker_err *err)
{
    enum stoker_status status = check_paths(paths, counts, err);
    for (int side = 0; side < 2 && status == STOKER_OK; side++) {
        status = read_side(d, side, paths[side], counts[side], options, err);
    }
    if (status != STOKER_OK) {
        return status;
    }
    struct stk_diff_input a = {&d->side[0].in.pass, &d->side[0].report};
    struct stk_diff_input b = {&d->side[1].in.pass, &d->side[1].report};
    d->doc.schema = STK_DIFF_SCHEMA;
    d->doc.stoker.version = stoker_version();
    status =
        stk_diff_make(&a, &b, options->force != 0, options->reading.limit, &d->arena, &d->doc, err);
    if (status == STOKER_OK && options->reading.redact) {
        status = stk_redact_diff(&d->doc, &d->arena, err);
    }
    return status;
}

enum stoker_status stoker_diff(const char *const *a, size_t a_count, const char *const *b,
                               size_t b_count, const struct stoker_diff_options *options,
                               struct stoker_diff **out, struct stoker_err *err)
{
    struct stoker_diff_options defaults;
    if (stk_entry_paths("stoker_diff", a, a_count, out, err) != STOKER_OK ||
        stk_entry_paths("stoker_diff", b, b_count, out, err) != STOKER_OK) {
        return STOKER_EINVAL;
    }
    *out = NULL;
    stoker_diff_options_default(&defaults);
    err = stk_err_begin(err, &(struct stoker_err){0});
    struct stoker_diff *d = stk_alloc_zero(1, sizeof *d);
    if (!d) {
        return stk_err_nomem(err);
    }
    stk_arena_init(&d->arena, 0);
    for (int side = 0; side < 2; side++) {
        stk_arena_init(&d->side[side].in.arena, 0);
    }
    uint64_t refused = stk_alloc_refusals();
    enum stoker_status status =
        diff(d, (const char *const *const[]){a, b}, (const size_t[]){a_count, b_count},
             options ? options : &defaults, err);
    if (stk_err_whole(refused, status, err) != STOKER_OK) {
        stoker_diff_free(d);
        return stk_err_fail(err);
    }
    *out = d;
    return STOKER_OK;
}

void stoker_diff_free(struct stoker_diff *diff)
{
    if (!diff) {
        return;
    }
    for (int side = 0; side < 2; side++) {
        stk_collected_free(&diff->side[side].in);
    }
    stk_arena_deinit(&diff->arena);
    stk_free(diff);
}

const char *const *stoker_diff_formats(void)
{
    return stk_out_names("diff");
}

enum stoker_status stoker_diff_write(const struct stoker_diff *diff, const char *format,
                                     const struct stoker_write_options *options,
                                     stoker_write_fn write, void *arg, struct stoker_err *err)
{
    if (!diff || !format || !write) {
        return stk_err_misuse(err, "stoker_diff_write needs a comparison, a format and a callback");
    }
    return stk_api_write("diff", " for comparisons", &diff->doc, format, options, write, arg, err);
}

const char *stoker_diff_verdict(const struct stoker_diff *diff)
{
    return diff->doc.verdict.kind;
}

double stoker_diff_change(const struct stoker_diff *diff)
{
    const struct stk_diff *d = &diff->doc;
    if (!d->is_compared) {
        return 0;
    }
    return strcmp(d->verdict.basis, "mean") == 0 ? d->step.mean.change_share
                                                 : d->step.median.change_share;
}

enum stoker_level stoker_diff_level(const struct stoker_diff *diff)
{
    return stk_api_level(diff->doc.verdict.severity);
}

static bool is_a_loss(const struct stk_diff_part *p)
{
    return strcmp(p->id, "compute") != 0 && strcmp(p->id, "idle_unknown") != 0;
}

const char *stoker_diff_cause(const struct stoker_diff *diff)
{
    const struct stk_diff_part *parts = diff->doc.parts.items, *most = NULL;
    for (size_t i = 0; diff->doc.is_compared && i < diff->doc.parts.count; i++) {
        if (is_a_loss(&parts[i]) && parts[i].a_ns > (most ? most->a_ns : 0)) {
            most = &parts[i];
        }
    }
    return most ? most->id : NULL;
}

const char *stoker_diff_moved(const struct stoker_diff *diff, int sign)
{
    const struct stk_diff_part *parts = diff->doc.parts.items, *most = NULL;
    for (size_t i = 0; diff->doc.is_compared && i < diff->doc.parts.count; i++) {
        int64_t by_ns = sign * parts[i].change_ns;
        if (by_ns > (most ? sign * most->change_ns : 0)) {
            most = &parts[i];
        }
    }
    return most ? most->id : NULL;
}

int stoker_diff_part(const struct stoker_diff *diff, const char *part, int64_t *a_ns, int64_t *b_ns)
{
    const struct stk_diff_part *parts = diff->doc.parts.items;
    for (size_t i = 0; diff->doc.is_compared && i < diff->doc.parts.count; i++) {
        if (strcmp(parts[i].id, part) == 0) {
            *(a_ns ? a_ns : &(int64_t){0}) = parts[i].a_ns;
            *(b_ns ? b_ns : &(int64_t){0}) = parts[i].b_ns;
            return 1;
        }
    }
    return 0;
}
