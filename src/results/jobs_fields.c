// SPDX-License-Identifier: Apache-2.0
// The contract of several jobs, field by field: the JSON writer, the JSON Schema and docs/jobs.md
// are all made from these rows. Rows are only ever added.
#include "results/field_rows.h"
#include "results/jobs.h"

static const struct stk_field finding_fields[] = {
    ROW("id", TEXT, stk_jobs_finding, id, NULL, NULL, "id of the rule"),
    ROW("title", TEXT, stk_jobs_finding, title, NULL, NULL, "what is wrong"),
    ROW("severity", WORD, stk_jobs_finding, severity, NULL, STK_CHOICES(STK_SEVERITIES),
        "by what it costs"),
    ROW_IF("low_share", SHARE, stk_jobs_finding, low_share, has_low, NULL,
           "of the step, what fixing it saves at least"),
    ROW_IF("expected_share", SHARE, stk_jobs_finding, expected_share, has_expected, NULL,
           "what it is expected to save"),
    ROW_IF("high_share", SHARE, stk_jobs_finding, high_share, has_high, NULL,
           "what it saves at most"),
    END};
INFO(finding, sizeof(struct stk_jobs_finding));

static const struct stk_field job_fields[] = {
    ROW("paths", TEXTS, stk_jobs_job, paths, NULL, NULL, "its files, one for each rank or more"),
    ROW_MAYBE("format", stk_jobs_job, format, NULL, "of the first file, as in the report"),
    ROW_MAYBE("framework", stk_jobs_job, framework, NULL, "as the profile tells"),
    ROW_MAYBE("device", stk_jobs_job, device, NULL, "models of the devices that ran the steps"),
    ROW("devices", COUNT, stk_jobs_job, devices, NULL, NULL, "how many of them"),
    ROW("ranks", COUNT, stk_jobs_job, ranks, NULL, NULL, "ranks in the files"),
    ROW("steps", COUNT, stk_jobs_job, steps, NULL, NULL, "steps that were used"),
    ROW_IF("median_ns", NS, stk_jobs_job, median_ns, has_times, NULL, "lower median of a step"),
    ROW_MAYBE("note", stk_jobs_job, note, NULL, "which of several runs of the job was taken"),
    ROW_MAYBE("error", stk_jobs_job, error, NULL, "why there is no verdict"),
    ROW_IF("verdict", OBJECT, stk_jobs_job, verdict, has_verdict, &stk_verdict_info,
           "what stoker why says of this job"),
    ROW_IF("finding", OBJECT, stk_jobs_job, finding, has_finding, &finding,
           "its most valuable finding"),
    END};
INFO(job, sizeof(struct stk_jobs_job));

static const struct stk_field skipped_fields[] = {
    ROW("path", TEXT, stk_jobs_skipped, path, NULL, NULL, "as given, or as found in a directory"),
    ROW("why", TEXT, stk_jobs_skipped, why, NULL, NULL, "why it is of none of the jobs"), END};
INFO(skipped, sizeof(struct stk_jobs_skipped));

static const struct stk_field stoker_fields[] = {
    SUB("version", TEXT, stk_jobs, stoker, version, NULL, "version that wrote this"), END};
INFO(stoker, SIZE_OF(stk_jobs, stoker));

static const struct stk_field jobs_fields[] = {
    ROW("schema", TEXT, stk_jobs, schema, NULL, STK_JOBS_SCHEMA,
        "name and version of this contract"),
    ROW("stoker", OBJECT, stk_jobs, stoker, &stoker, NULL, "who wrote it"),
    ROW("jobs", LIST, stk_jobs, jobs, &job, NULL, "the jobs, in the order of their files"),
    ROW("skipped", LIST, stk_jobs, skipped, &skipped, NULL, "files that are of none of them"),
    ROW("skipped_left_out", LEFT_OUT, stk_jobs, skipped, NULL, NULL,
        "rows of `skipped` beyond --limit, or that --redact leaves out"),
    END};
const struct stk_struct_info stk_jobs_info = {"jobs", sizeof(struct stk_jobs), jobs_fields};
