// SPDX-License-Identifier: Apache-2.0
// Events by name: stoker query --find, and stoker find, its older name.
#include "cli/find.h"
#include "cli/progress.h"
#include "cli/reading.h"
#include "cli/table_print.h"
#include "cli/word_order.h"
#include "stoker/query.h"

static void find_options(const struct stk_args *args, const char *format,
                         struct stoker_find_options *o)
{
    const struct stk_opt_value *v = args->values;
    stoker_find_options_default(o);
    o->query.limit = stk_table_limit(args, format);
    o->has_steps = v[STK_OPT_ID_STEPS].set;
    o->step_first = v[STK_OPT_ID_STEPS].number;
    o->step_last = v[STK_OPT_ID_STEPS].second;
    o->has_device = v[STK_OPT_ID_DEVICE].set;
    o->device = v[STK_OPT_ID_DEVICE].number;
    o->has_from = v[STK_OPT_ID_FROM].set;
    o->from_ns = v[STK_OPT_ID_FROM].number;
    o->has_to = v[STK_OPT_ID_TO].set;
    o->to_ns = v[STK_OPT_ID_TO].number;
    if (v[STK_OPT_ID_MIN_DUR].set) {
        o->min_dur_ns = v[STK_OPT_ID_MIN_DUR].number;
    }
    if (v[STK_OPT_ID_MAX_DUR].set) {
        o->max_dur_ns = v[STK_OPT_ID_MAX_DUR].number;
    }
    o->track = v[STK_OPT_ID_TRACK].text;
    o->kind = v[STK_OPT_ID_KIND].text;
    o->by_time = v[STK_OPT_ID_BY_TIME].set;
    o->on_critical_path = v[STK_OPT_ID_ON_CRITICAL].set;
}

int stk_find_events(const struct stk_cmd *cmd, const struct stk_args *args, const char *pattern,
                    const char *const *paths, size_t count)
{
    struct stoker_why_options reading;
    struct stoker_find_options options;
    struct stoker_profiles *profiles = NULL;
    struct stoker_tables *tables = NULL;
    struct stoker_err err;
    struct stk_progress_line line;
    const char *format = stk_table_format(args);
    if (!format) {
        return stk_usage(cmd, "--json and --csv can't be combined");
    }
    stk_reading_options(args, false, &reading);
    // The selection of times is applied here, event by event.
    reading.has_steps = reading.has_device = reading.has_from = reading.has_to = 0;
    find_options(args, format, &options);
    stk_progress_start(&line, args->values[STK_OPT_ID_QUIET].set);
    reading.progress = stk_progress_update;
    reading.progress_arg = &line;
    enum stoker_status status = stoker_open(paths, count, &reading, &profiles, &err);
    stk_progress_end(&line);
    if (status == STOKER_OK) {
        status = stoker_find(profiles, pattern, &options, &tables, &err);
    }
    int code = status == STOKER_OK ? stk_table_print(args, tables, format) : stk_fail(&err);
    stoker_tables_free(tables);
    stoker_close(profiles);
    return code;
}

static void arrange(struct stk_args *args)
{
    stk_words_lead(args, NULL);
}

static int find_run(const struct stk_args *args)
{
    if (args->word_count < 2) {
        return stk_usage(&stk_cmd_find, "%s is missing", args->word_count ? "PROFILE" : "PATTERN");
    }
    return stk_find_events(&stk_cmd_find, args, args->words[0], args->words + 1,
                           (size_t)args->word_count - 1);
}

const struct stk_cmd stk_cmd_find = {
    .name = "find",
    .summary = "the same as stoker query --find",
    .words = "PATTERN PROFILE...",
    .description =
        "The older name of stoker query --find PATTERN PROFILE..., whose help explains it. PATTERN "
        "may come first or after the profiles, unless it names a file too.",
    .examples = "stoker find aten::item trace.json.gz\twhere values are read back\n"
                "stoker find '/gemm|conv/' run.sqlite --kind kernel --min-dur 1ms\tlong kernels\n"
                "stoker find '' trace.json.gz --critical --steps 4\tthe critical path of step 4\n"
                "stoker find '' trace.json.gz --from 1.2s --to 1.25s --by-time\ta 50 ms window\n",
    .min_words = 0,
    .max_words = INT32_MAX,
    .options = {STK_OPT_ID_KIND,    STK_OPT_ID_ON_CRITICAL, STK_OPT_ID_TRACK,
                STK_OPT_ID_MIN_DUR, STK_OPT_ID_MAX_DUR,     STK_OPT_ID_BY_TIME,
                STK_OPT_ID_JSON,    STK_OPT_ID_CSV,         STK_OPT_ID_CSV_RAW,
                STK_OPT_ID_OUTPUT,  STK_OPT_ID_LIMIT,       STK_OPT_ID_STEPS,
                STK_OPT_ID_RANK,    STK_OPT_ID_DEVICE,      STK_OPT_ID_FROM,
                STK_OPT_ID_TO,      STK_OPT_ID_AS_RANKS,    STK_OPT_ID_REDACT,
                STK_OPT_ID_THREADS, STK_OPT_ID_NO_COLOR,    STK_OPT_ID_QUIET,
                STK_OPT_ID_NONE},
    .completes = "files",
    .arrange = arrange,
    .run = find_run,
};
