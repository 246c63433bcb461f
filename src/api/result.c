// SPDX-License-Identifier: Apache-2.0
// Prints a diagnosis, and returns its verdict and highest severity.
#include <string.h>

#include "api/api.h"
#include "base/alloc.h"
#include "results/print/out.h"
#include "results/whatif.h"

void stoker_result_free(struct stoker_result *result)
{
    if (!result) {
        return;
    }
    stk_collected_free(&result->in);
    stk_free(result);
}

struct stk_out_options stk_api_out_options(const struct stoker_write_options *o)
{
    struct stk_out_options out = {.columns = 80};
    if (!o) {
        return out;
    }
    out.colour = o->colour != 0;
    out.ascii = o->ascii != 0;
    out.csv_raw = o->csv_raw != 0;
    out.links = o->links != 0;
    out.verbosity = o->verbose;
    if (o->columns > 0) {
        out.columns = o->columns < 40 ? 40 : o->columns > 120 ? 120 : o->columns;
    }
    return out;
}

enum stoker_status stk_api_write(const char *document, const char *of, const void *object,
                                 const char *format, const struct stoker_write_options *options,
                                 stoker_write_fn write, void *arg, struct stoker_err *err)
{
    struct stk_sink sink;
    struct stk_out_options out_options = stk_api_out_options(options);
    const struct stk_out *out = stk_out_find(document, format);
    err = stk_err_begin(err, &(struct stoker_err){0});
    if (!out) {
        return stk_err_set(err, STOKER_EUSAGE, "no output format '%.80s'%s", format, of);
    }
    stk_sink_init(&sink, write, arg);
    out->write(object, &out_options, &sink);
    return stk_err_end(err, stk_sink_finish(&sink, err));
}

enum stoker_status stk_api_report_write(const struct stk_report *report, const char *format,
                                        const struct stoker_write_options *options,
                                        stoker_write_fn write, void *arg, struct stoker_err *err)
{
    if (!format || !write) {
        return stk_err_misuse(err, "a report needs a format and a callback");
    }
    return stk_api_write("report", "", report, format, options, write, arg, err);
}

enum stoker_status stoker_result_write(const struct stoker_result *result, const char *format,
                                       const struct stoker_write_options *options,
                                       stoker_write_fn write, void *arg, struct stoker_err *err)
{
    if (!result || !format || !write) {
        return stk_err_misuse(err, "stoker_result_write needs a result, a format and a callback");
    }
    if (result->jobs) {
        return stk_api_write("jobs", " for several jobs", result->jobs, format, options, write, arg,
                             err);
    }
    return stk_api_report_write(&result->report, format, options, write, arg, err);
}

const char *const *stoker_formats(void)
{
    return stk_out_names("report");
}

enum stoker_level stk_report_level(const struct stk_report *report)
{
    const struct stk_rep_finding *f = report->findings.items;
    enum stk_level worst = STK_LEVEL_NONE;
    for (size_t i = 0; i < report->findings.count; i++) {
        worst = f[i].severity < worst ? f[i].severity : worst;
    }
    return stk_api_level(worst);
}

enum stoker_level stoker_result_level(const struct stoker_result *result)
{
    return result->jobs ? result->level : stk_report_level(&result->report);
}

size_t stoker_result_jobs(const struct stoker_result *result)
{
    return result->jobs ? result->jobs->jobs.count : 1;
}

const char *stoker_result_verdict(const struct stoker_result *result)
{
    if (!result->jobs) {
        return stk_verdict_key(result->report.verdict.kind);
    }
    const struct stk_jobs_job *job = result->jobs->jobs.items;
    for (size_t i = 0; i < result->jobs->jobs.count; i++) {
        if (job[i].has_verdict && job[i].verdict.kind != STK_VERDICT_CANNOT_TELL) {
            return "several-jobs";
        }
    }
    return stk_verdict_key(STK_VERDICT_CANNOT_TELL);
}

int stoker_result_share(const struct stoker_result *result, const char *part, double *share)
{
    const struct stk_list *parts = &result->report.breakdown.parts;
    const struct stk_rep_part *p = parts->items;
    for (size_t i = 0; i < parts->count; i++) {
        if (strcmp(p[i].id, part) == 0) {
            *share = p[i].share;
            return 1;
        }
    }
    return 0;
}

static struct stoker_saving saving_of(const struct stk_rep_finding *f)
{
    return (struct stoker_saving){.low_share = f->saving.low_share,
                                  .expected_share = f->saving.expected_share,
                                  .high_share = f->saving.high_share,
                                  .has_low = f->saving.has_low,
                                  .has_expected = f->saving.has_expected,
                                  .has_high = f->saving.has_high};
}

int stoker_result_finding(const struct stoker_result *result, const char *id,
                          struct stoker_saving *saving)
{
    const struct stk_rep_finding *f = result->report.findings.items;
    for (size_t i = 0; i < result->report.findings.count; i++) {
        if (strcmp(f[i].id, id) == 0) {
            *saving = saving_of(&f[i]);
            return 1;
        }
    }
    return 0;
}

int stoker_result_finding_at(const struct stoker_result *result, size_t index,
                             struct stoker_finding *finding)
{
    if (result->jobs || index >= result->report.findings.count) {
        return 0;
    }
    const struct stk_rep_finding *f =
        (const struct stk_rep_finding *)result->report.findings.items + index;
    *finding = (struct stoker_finding){.id = f->id,
                                       .title = f->title,
                                       .severity = stk_api_level(f->severity),
                                       .file = f->has_source ? f->source.file : NULL,
                                       .line = f->has_source ? f->source.line : 0};
    return 1;
}

int stoker_result_advice(const struct stoker_result *result, size_t index,
                         struct stoker_advice *advice)
{
    const struct stk_rep_finding *f = result->report.findings.items;
    for (size_t i = 0; i < result->report.findings.count; i++) {
        if (index >= f[i].fix.count) {
            index -= f[i].fix.count;
            continue;
        }
        const struct stk_rep_fix *fix = f[i].fix.items;
        *advice = (struct stoker_advice){.fix = fix[index].id,
                                         .finding = f[i].id,
                                         .title = f[i].title,
                                         .saving = saving_of(&f[i]),
                                         .file = f[i].has_source ? f[i].source.file : NULL,
                                         .line = f[i].has_source ? f[i].source.line : 0};
        return 1;
    }
    return 0;
}
