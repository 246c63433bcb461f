// SPDX-License-Identifier: Apache-2.0
// docs/report.md: the contract field by field, then the words its values use (parts, kinds, issues)
// and the figures that decide a verdict. All from the tables that the program itself uses.
#include "api/api.h"
#include "results/print/schema.h"

static const char head[] =
    "# The report: `stoker why --json`\n"
    "\n"
    "This page is written from the same tables as the JSON itself and its schema (`stoker schema\n"
    "report`). The contract is versioned (`schema`) and changed only by adding: a program should\n"
    "ignore keys that it does not know.\n"
    "\n"
    "* **ns** are integer nanoseconds. They count from the profile's first event; "
    "`profile.base_ns`\n"
    "  adds the file's own clock. Start and end are rounded, never the duration.\n"
    "* **share** is 0 to 1 with six decimals, **bytes** and **count** are integers.\n"
    "* A value that is not known is absent: never 0, never null.\n"
    "* Times of a device are unions over its streams.\n"
    "* Medians are lower medians, percentiles nearest rank.\n"
    "* Lists stop at `--limit` (10 000 rows; 0: all); totals always cover everything.\n";

static const char jobs_head[] =
    "# Several jobs: `stoker why --json`\n"
    "\n"
    "Profiles that are not the ranks of one run are several jobs. `stoker why` prints a line for\n"
    "each, or this document (`stoker schema jobs`) in place of the [report](report.md). Other\n"
    "commands refuse them. `--as-ranks` says that they are the ranks of one run. How jobs are "
    "told\n"
    "apart is in [method.md](method.md#jobs-runs-and-ranks).\n"
    "\n"
    "Times are integer nanoseconds (`_ns`), shares 0 to 1. A value that is not known is absent. "
    "With\n"
    "`--fail-on` the most severe finding of all jobs counts; the exit code is 4 where none of "
    "them\n"
    "can be judged. The contract changes only by adding.\n";

static void describe_parts(struct stk_sink *sink)
{
    stk_sink_text(sink, "\n## Parts of a step\n\nEvery nanosecond of a step belongs to exactly "
                        "one; busy time first, "
                        "the earlier part wins.\n\n| id | meaning |\n|---|---|\n");
    for (int p = 0; p < STK_PART_COUNT; p++) {
        stk_sink_printf(sink, "| `%s` | %s |\n", stk_part_info(p)->key, stk_part_info(p)->meaning);
    }
}

static void describe_kinds(struct stk_sink *sink)
{
    stk_sink_text(sink, "\n## Kinds of events\n\n| kind | meaning |\n|---|---|\n");
#define K(id, key, meaning) stk_sink_text(sink, "| `" key "` | " meaning " |\n");
#include "profile/store/kinds.def"
#undef K
}

static void describe_issues(struct stk_sink *sink)
{
    stk_sink_text(sink,
                  "\n## Issues\n\nBad or missing data is counted, never fatal and never silent.\n\n"
                  "| id | severity | meaning | what to do |\n|---|---|---|---|\n");
    for (int i = 0; i < STK_ISSUE_COUNT; i++) {
        const struct stk_issue_info *info = stk_issue_info(i);
        const char *severity = info->severity == STK_SEVERITY_INFO   ? "info"
                               : info->severity == STK_SEVERITY_LOSS ? "data_loss"
                                                                     : "error";
        stk_sink_printf(sink, "| `%s` | %s | %s | %s |\n", info->key, severity, info->meaning,
                        info->remedy);
    }
}

static void describe_thresholds(struct stk_sink *sink)
{
    stk_sink_text(sink, "\n## Figures that decide the verdict\n\nEach with its reason; they change "
                        "only with evidence. "
                        "Those of the rules are in\n[rules.md](rules.md).\n\n"
                        "| figure | value | of | reason |\n|---|---|---|---|\n");
#define T(name, value, unit, reason)                                                               \
    stk_sink_printf(sink, "| %s | %.6g | %s | %s |\n", #name, (double)(value), unit, reason);
#include "profile/model/thresholds.def"
#undef T
}

enum stoker_status stoker_describe_report(stoker_write_fn write, void *arg, struct stoker_err *err)
{
    if (!write) {
        return stk_err_misuse(err, "stoker_describe_report needs a callback");
    }
    struct stoker_err own;
    struct stk_sink sink;
    err = stk_err_begin(err, &own);
    stk_sink_init(&sink, write, arg);
    stk_sink_text(&sink, head);
    stk_schema_describe(&stk_report_info, &sink);
    describe_parts(&sink);
    describe_kinds(&sink);
    describe_issues(&sink);
    describe_thresholds(&sink);
    return stk_err_end(err, stk_sink_finish(&sink, err));
}

enum stoker_status stoker_describe_jobs(stoker_write_fn write, void *arg, struct stoker_err *err)
{
    if (!write) {
        return stk_err_misuse(err, "stoker_describe_jobs needs a callback");
    }
    struct stoker_err own;
    struct stk_sink sink;
    err = stk_err_begin(err, &own);
    stk_sink_init(&sink, write, arg);
    stk_sink_text(&sink, jobs_head);
    stk_schema_describe(&stk_jobs_info, &sink);
    return stk_err_end(err, stk_sink_finish(&sink, err));
}
