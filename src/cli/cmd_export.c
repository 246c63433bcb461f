// SPDX-License-Identifier: Apache-2.0
// stoker export: profiles in other formats.
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/gzip_write.h"
#include "base/human.h"
#include "cli/printing.h"
#include "cli/progress.h"
#include "cli/reading.h"
#include "cli/word_order.h"
#include "stoker/export.h"

static int list(void)
{
    struct stoker_export_format f;
    for (size_t i = 0; stoker_export_format(i, &f); i++) {
        printf("%-10s %-16s %s\n", f.name, f.extension, f.summary);
    }
    return STK_EXIT_DONE;
}

static int describe(const struct stk_args *args)
{
    struct stk_printing p;
    int code = stk_printing_begin(&p, args, "markdown");
    if (code != STK_EXIT_DONE) {
        return code;
    }
    enum stoker_status status = stoker_describe_exports(stk_output_write, &p.output, &p.err);
    return stk_printing_end(&p, status, STK_EXIT_DONE);
}

static bool ends(const char *path, const char *suffix)
{
    STK_ASSERT(path && suffix);
    size_t n = strlen(path), m = strlen(suffix);
    return n >= m && strcmp(path + n - m, suffix) == 0;
}

// The export must not replace the profile itself.
static bool is_input(const struct stk_args *args, const char *path)
{
    struct stat out, in;
    if (stat(path, &out) != 0 || !S_ISREG(out.st_mode)) {
        return false;
    }
    for (int i = 1; i < args->word_count; i++) {
        if (stat(args->words[i], &in) == 0 && in.st_dev == out.st_dev && in.st_ino == out.st_ino) {
            return true;
        }
    }
    return false;
}

// Checks the request before anything is read; 0: fine.
static int check(const struct stoker_export_format *format, const struct stk_args *args)
{
    const char *path = args->values[STK_OPT_ID_OUTPUT].text;
    bool to_stdout = path && strcmp(path, "-") == 0;
    if (!path) {
        return stk_usage(&stk_cmd_export, "-o FILE is missing: name the %s file to write",
                         format->name);
    }
    if (!to_stdout && is_input(args, path)) {
        return stk_usage(&stk_cmd_export, "%s is the profile itself: write to another file", path);
    }
    if (to_stdout && format->needs_file) {
        return stk_usage(&stk_cmd_export, "%s can't go to standard output: give -o FILE",
                         format->name);
    }
    if (to_stdout && !format->is_text && isatty(STDOUT_FILENO)) {
        return stk_usage(&stk_cmd_export,
                         "%s is binary and would garble the terminal: give -o FILE", format->name);
    }
    if (args->values[STK_OPT_ID_ARGS].set && !format->takes_args) {
        return stk_usage(&stk_cmd_export, "%s can't hold arguments: leave out --args",
                         format->name);
    }
    if (args->values[STK_OPT_ID_CSV_RAW].set && strcmp(format->name, "csv") != 0) {
        return stk_usage(&stk_cmd_export, "--csv-raw doesn't apply to %s", format->name);
    }
    if (format->needs_file && ends(path, ".gz")) {
        return stk_usage(&stk_cmd_export, "%s can't be compressed: its readers need it plain",
                         format->name);
    }
    return 0;
}

// Prints what the file contains, on a terminal.
static void say(const struct stoker_export *x, const char *path, bool has_stacks)
{
    struct stoker_export_counts c;
    char count[STK_HUMAN_MAX], rows[STK_HUMAN_MAX];
    stoker_export_counts(x, &c);
    stk_screen_put(stderr, path, STK_SCREEN_ALL);
    if (has_stacks) {
        fprintf(stderr, ": %s stacks of %s events\n", stk_human_count(c.stacks, rows),
                stk_human_count(c.events, count));
    } else {
        fprintf(stderr, ": %s events, %s rows added by stoker\n", stk_human_count(c.events, count),
                stk_human_count(c.rows_added, rows));
    }
    if (c.folded) {
        fprintf(stderr, "  %s short stacks were merged into those around them\n",
                stk_human_count(c.folded, count));
    }
    for (size_t i = 0; stoker_export_selection(x, i); i++) {
        fputs("  selected: ", stderr);
        stk_screen_put(stderr, stoker_export_selection(x, i), STK_SCREEN_ALL);
        fputc('\n', stderr);
    }
    if (c.unselected) {
        fprintf(stderr, "  %s events were not selected and are left out\n",
                stk_human_count(c.unselected, count));
    }
    if (c.dropped) {
        fprintf(stderr, "  %s events of the profile could not be read: see stoker why -v\n",
                stk_human_count(c.dropped, count));
    }
}

static enum stoker_status write_stream(struct stoker_export *x, const char *format,
                                       const struct stoker_export_options *o, bool zip,
                                       struct stk_output *output, struct stoker_err *err)
{
    if (!zip) {
        return stoker_export_write(x, format, o, NULL, stk_output_write, output, err);
    }
    struct stk_gzip_write *w = stk_gzip_write_open(STK_GZIP_FAST, stk_output_write, output);
    if (!w) {
        *err = (struct stoker_err){.code = STOKER_ENOMEM, .offset = -1, .message = "out of memory"};
        return err->code;
    }
    enum stoker_status status =
        stoker_export_write(x, format, o, NULL, stk_gzip_write_bytes, w, err);
    if (status == STOKER_OK && stk_gzip_write_finish(w) != 0) {
        *err = (struct stoker_err){
            .code = STOKER_EOUTPUT, .offset = -1, .message = "the output could not be written"};
        status = err->code;
    }
    stk_gzip_write_close(w);
    return status;
}

static int write_output(struct stoker_export *x, const struct stoker_export_format *format,
                        const struct stk_args *args)
{
    STK_ASSERT(format && format->name);
    const struct stoker_export_options o = {.args = args->values[STK_OPT_ID_ARGS].set,
                                            .csv_raw = args->values[STK_OPT_ID_CSV_RAW].set};
    const char *path = args->values[STK_OPT_ID_OUTPUT].text;
    bool quiet = args->values[STK_OPT_ID_QUIET].set;
    struct stk_output output;
    struct stoker_err err;
    int code = stk_output_open(&output, path, false);
    if (code != STK_EXIT_DONE) {
        return code;
    }
    if (format->needs_file && !output.file.concurrent) {
        stk_output_close(&output, false);
        return stk_usage(&stk_cmd_export, "%s needs a regular file, and %s isn't one", format->name,
                         path);
    }
    bool zip = format->wants_gzip || ends(path, ".gz");
    enum stoker_status status =
        format->needs_file
            ? stoker_export_write(x, format->name, &o, output.file.concurrent, NULL, NULL, &err)
            : write_stream(x, format->name, &o, zip, &output, &err);
    bool said = output.error != 0; // by stk_output_close, with the system's message
    code = stk_output_close(&output, status == STOKER_OK);
    if (status != STOKER_OK && !said) {
        return stk_fail(&err);
    }
    if (status == STOKER_OK && code == STK_EXIT_DONE && !quiet) {
        say(x, output.path ? output.path : "standard output", format->has_stacks);
    }
    return code;
}

static bool is_format(const char *word)
{
    struct stoker_export_format format;
    struct stoker_err ignored;
    return stoker_export_find(word, &format, &ignored);
}

static void arrange(struct stk_args *args)
{
    stk_words_lead(args, is_format);
}

static int export_run(const struct stk_args *args)
{
    const struct stk_opt_value *v = args->values;
    struct stoker_why_options options;
    struct stoker_export *x = NULL;
    struct stoker_err err;
    struct stk_progress_line line;
    int code;
    if (v[STK_OPT_ID_MARKDOWN].set) {
        return describe(args);
    }
    if (v[STK_OPT_ID_LIST].set || args->word_count == 0) {
        return list();
    }
    struct stoker_export_format format;
    if (!stoker_export_find(args->words[0], &format, &err)) {
        return stk_fail(&err);
    }
    if (args->word_count == 1) {
        return stk_usage(&stk_cmd_export, "PROFILE is missing");
    }
    code = check(&format, args);
    if (code) {
        return code;
    }
    stk_reading_options(args, false, &options);
    stk_progress_start(&line, v[STK_OPT_ID_QUIET].set);
    options.progress = stk_progress_update;
    options.progress_arg = &line;
    enum stoker_status status =
        stoker_export_open(args->words + 1, (size_t)args->word_count - 1, &options, &x, &err);
    stk_progress_end(&line);
    if (status != STOKER_OK) {
        return stk_fail(&err);
    }
    code = write_output(x, &format, args);
    stoker_export_free(x);
    return code;
}

const struct stk_cmd stk_cmd_export = {
    .name = "export",
    .summary = "convert a profile for Perfetto, TensorBoard, SQLite and others",
    .group = STK_CMD_DIG,
    .words = "[FORMAT PROFILE...]",
    .description =
        "Writes profiles in another format, and adds what stoker found: the verdict, each finding "
        "at its evidence, the steps, and the breakdown of each device's time. Without words, or "
        "with --list, it lists the formats. docs/export.md says what each one keeps.\n\n"
        "PROFILE is as in stoker why. Selections work as in every analysis; events that overlap "
        "the selected time are written whole. FILE is replaced only once it is complete. A name "
        "that ends in .gz is compressed, and - is standard output. A summary goes to standard "
        "error.",
    .examples = "stoker export\tlist the formats\n"
                "stoker export perfetto run.xplane.pb -o run.pftrace\tfor ui.perfetto.dev\n"
                "stoker export perfetto ranks/ -o run.pftrace.gz\tall ranks on one clock\n"
                "stoker export xspace run.sqlite -o run.xplane.pb\tfor TensorBoard\n"
                "stoker export csv trace.json.gz --steps 3:5 -o -\tthree steps, to a pipe\n"
                "stoker export speedscope run.xplane.pb -o flame.json\ta flame graph\n"
                "stoker export collapsed run.sqlite -o - | flamegraph.pl > run.svg\ta picture\n",
    .min_words = 0,
    .max_words = INT32_MAX,
    .options = {STK_OPT_ID_OUTPUT, STK_OPT_ID_ARGS, STK_OPT_ID_CSV_RAW, STK_OPT_ID_LIST,
                STK_OPT_ID_STEPS, STK_OPT_ID_RANK, STK_OPT_ID_DEVICE, STK_OPT_ID_FROM,
                STK_OPT_ID_TO, STK_OPT_ID_AS_RANKS, STK_OPT_ID_REDACT, STK_OPT_ID_THREADS,
                STK_OPT_ID_QUIET, STK_OPT_ID_MARKDOWN, STK_OPT_ID_NONE},
    .completes = "exports",
    .arrange = arrange,
    .run = export_run,
};
