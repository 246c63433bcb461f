// SPDX-License-Identifier: Apache-2.0
// stoker data: look at files of training data, convert them, and measure a pipeline.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/human.h"
#include "cli/cli.h"
#include "cli/data_python.h"
#include "cli/progress.h"
#include "cli/screen.h"
#include "stoker/data.h"

struct watch {
    struct stk_progress_line line;
    const char *path;
};

static int seen(void *arg, uint64_t records)
{
    struct watch *w = arg;
    stk_progress_count(&w->line, w->path, records, "records");
    return stk_signals_pending();
}

static const char *type_name(const struct stoker_data_feature *f)
{
    STK_ASSERT(f->is_mixed || (size_t)f->type < 4);
    static const char *const names[] = {"empty", "bytes", "float32", "int64"};
    return f->is_mixed ? "mixed" : names[f->type];
}

static void print_features(const struct stoker_inspection *x)
{
    const struct stoker_data_feature *f;
    for (size_t i = 0; (f = stoker_inspection_feature(x, i)) != NULL; i++) {
        char values[64] = "no values";
        if (f->records && f->values_min == f->values_max) {
            snprintf(values, sizeof values, "%llu value%s", (unsigned long long)f->values_min,
                     f->values_min == 1 ? "" : "s");
        } else if (f->records) {
            snprintf(values, sizeof values, "%llu to %llu values",
                     (unsigned long long)f->values_min, (unsigned long long)f->values_max);
        }
        fputs("  ", stdout);
        int columns = stk_screen_put(stdout, f->name, STK_SCREEN_ALL);
        printf("%*s %-8s %-22s in %llu records\n", columns < 24 ? 24 - columns : 0, "",
               type_name(f), values, (unsigned long long)f->records);
    }
}

static void print_specs(const struct stoker_specs *specs)
{
    for (int k = 0; specs && k < stoker_specs_count(specs); k++) {
        struct stoker_spec s;
        stoker_specs_get(specs, k, &s);
        printf("  component %-3d %-8s (", k, stoker_dtype_name(s.dtype));
        for (int d = 0; d < s.rank; d++) {
            if (s.dim[d] < 0) {
                printf("%sNone", d ? ", " : "");
            } else {
                printf("%s%lld", d ? ", " : "", (long long)s.dim[d]);
            }
        }
        printf("%s\n", s.rank < 0 ? "unknown)" : s.rank == 1 ? ",)" : ")");
    }
}

static int inspect(const struct stk_args *args)
{
    int code = STK_EXIT_DONE;
    for (int i = 1; i < args->word_count; i++) {
        struct watch watch = {.path = args->words[i]};
        struct stoker_inspection *x;
        struct stoker_err err;
        char count[STK_HUMAN_MAX], bytes[STK_HUMAN_MAX], least[STK_HUMAN_MAX], most[STK_HUMAN_MAX];
        stk_progress_start(&watch.line, args->values[STK_OPT_ID_QUIET].set);
        enum stoker_status status = stoker_inspect(args->words[i], seen, &watch, &x, &err);
        stk_progress_end(&watch.line);
        if (status != STOKER_OK) {
            code = stk_fail(&err);
            continue;
        }
        const struct stoker_data_summary *s = stoker_inspection_summary(x);
        stk_screen_put(stdout, args->words[i], STK_SCREEN_ALL);
        printf(": %s%s%s, %s records", s->format, *s->compression ? " " : "", s->compression,
               stk_human_count(s->records, count));
        if (s->bytes) {
            printf(", %s; %s to %s each", stk_human_bytes(s->bytes, bytes),
                   stk_human_bytes(s->record_min, least), stk_human_bytes(s->record_max, most));
        }
        printf("\n");
        if (s->damaged) {
            printf("  %llu damaged, the first: ", (unsigned long long)s->damaged);
            stk_screen_put(stdout, s->first_damage, STK_SCREEN_ALL);
            putchar('\n');
            code = STK_EXIT_INPUT;
        }
        print_features(x);
        print_specs(stoker_inspection_specs(x));
        stoker_inspection_free(x);
    }
    return code;
}

static struct stoker_dataset *records_of(const struct stk_args *args, const char *compression,
                                         struct stoker_err *err)
{
    struct stoker_dataset *ds = NULL;
    struct stoker_args *a = stoker_args_new();
    struct stoker_bytes *names = calloc((size_t)args->word_count, sizeof names[0]);
    bool ok = a && names;
    for (int i = 1; ok && i < args->word_count; i++) {
        names[i - 1] =
            (struct stoker_bytes){(const unsigned char *)args->words[i], strlen(args->words[i])};
    }
    ok = ok && stoker_args_texts(a, "filenames", names, (size_t)args->word_count - 1) &&
         stoker_args_text(a, "compression_type", compression, strlen(compression));
    if (!ok) {
        *err = (struct stoker_err){.code = STOKER_ENOMEM, .offset = -1, .message = "out of memory"};
    } else if (stoker_dataset_make("tfrecord", NULL, 0, a, NULL, &ds, err) != STOKER_OK) {
        ds = NULL;
    }
    stoker_args_free(a);
    free(names);
    return ds;
}

// The first input that is the same file as `path`; NULL: none.
static const char *same_file(const struct stk_args *args, const char *path)
{
    struct stat out, in;
    for (int i = 1; stat(path, &out) == 0 && i < args->word_count; i++) {
        if (stat(args->words[i], &in) == 0 && in.st_dev == out.st_dev && in.st_ino == out.st_ino) {
            return args->words[i];
        }
    }
    return NULL;
}

// The first file that isn't empty. An empty file fits every kind: it has no records.
static const char *telling_file(const struct stk_args *args)
{
    struct stat info;
    for (int i = 1; i < args->word_count; i++) {
        if (stat(args->words[i], &info) != 0 || !S_ISREG(info.st_mode) || info.st_size > 0) {
            return args->words[i];
        }
    }
    return args->words[1];
}

// How the files are compressed, according to the first. Other codes than DONE: an error, already
// printed.
static int find_compression(const struct stk_args *args, struct watch *watch,
                            const char **compression)
{
    struct stoker_inspection *x;
    struct stoker_err err;
    watch->path = telling_file(args);
    enum stoker_status status = stoker_inspect(watch->path, seen, watch, &x, &err);
    stk_progress_end(&watch->line);
    if (status != STOKER_OK) {
        return stk_fail(&err);
    }
    const struct stoker_data_summary *s = stoker_inspection_summary(x);
    *compression = s->compression;
    bool is_indexed = strcmp(s->format, "indexed") == 0;
    stoker_inspection_free(x);
    if (is_indexed) {
        err = (struct stoker_err){.code = STOKER_EINPUT, .offset = -1};
        snprintf(err.message, sizeof err.message, "%s is already an indexed file", watch->path);
        return stk_fail(&err);
    }
    return STK_EXIT_DONE;
}

// Is the file's folder there and writable?
static bool has_folder(const char *path)
{
    const char *slash = strrchr(path, '/');
    char folder[4096] = ".";
    if (slash) {
        snprintf(folder, sizeof folder, "%.*s", (int)(slash - path) + 1, path);
    }
    return access(folder, W_OK | X_OK) == 0;
}

static int convert(const struct stk_args *args)
{
    const char *path = args->values[STK_OPT_ID_OUTPUT].text, *compression = "", *same;
    struct stoker_err err;
    if (!path) {
        return stk_usage(&stk_cmd_data, "-o FILE is missing: name the file to write");
    }
    if (strcmp(path, "-") == 0) {
        return stk_usage(
            &stk_cmd_data,
            "-o -: readers of this format need to seek, so it can't go to standard output");
    }
    if ((same = same_file(args, path)) != NULL) {
        return stk_usage(&stk_cmd_data, "-o %s is an input, %s, and would be overwritten", path,
                         same);
    }
    if (stk_data_is_pythons(args, path)) {
        return stk_data_convert_python(args, path);
    }
    struct watch watch = {.path = path};
    stk_signals_catch();
    stk_progress_start(&watch.line, args->values[STK_OPT_ID_QUIET].set);
    int code = find_compression(args, &watch, &compression);
    if (code != STK_EXIT_DONE) {
        return code;
    }
    struct stoker_dataset *ds = records_of(args, compression, &err);
    if (!ds) {
        return stk_fail(&err);
    }
    struct stoker_run_options options = {.threads = (int)args->values[STK_OPT_ID_THREADS].number};
    uint64_t count;
    char text[STK_HUMAN_MAX];
    watch.path = path;
    enum stoker_status status =
        stoker_dataset_write(ds, &options, path, seen, &watch, &count, &err);
    stk_progress_end(&watch.line);
    stoker_dataset_free(ds);
    if ((status == STOKER_EMISSING || status == STOKER_EDENIED) && !has_folder(path)) {
        err.code = STOKER_EOUTPUT; // not an input error
    }
    if (status != STOKER_OK) {
        return stk_fail(&err);
    }
    if (!args->values[STK_OPT_ID_QUIET].set) {
        stk_screen_put(stderr, path, STK_SCREEN_ALL);
        fprintf(stderr, ": %s records\n", stk_human_count(count, text));
    }
    return STK_EXIT_DONE;
}

// Left to the Python module, since pipelines are Python.
static int bench(const struct stk_args *args)
{
    const char *words[] = {"bench", args->words[1], NULL};
    if (args->word_count > 2) {
        return stk_usage(&stk_cmd_data, "bench runs one pipeline at a time: leave out '%s'",
                         args->words[2]);
    }
    return stk_data_python(words);
}

// The named arguments of a table row, in one cell.
static void print_args(int (*arg)(int i, int k, struct stoker_arg_row *out), int i)
{
    struct stoker_arg_row a;
    for (int k = 0; arg(i, k, &a); k++) {
        printf("%s`%s` %s", k ? "<br>" : "", a.name, a.type);
        if (a.is_required) {
            printf(", required");
        } else if (a.is_input_too) {
            printf(", or the next input");
        } else if (a.has_fallback) {
            printf(", `%s`", *a.fallback ? a.fallback : "\"\"");
        }
        printf(": %s", a.help);
        for (const char *p = a.choices; p && *p; p++) {
            const char *before = p == a.choices ? (*p == ',' ? " (empty" : " (") : "";
            printf(*p == ',' ? "%s, " : "%s%c", before, *p);
        }
        printf("%s", a.choices ? ")" : "");
    }
    printf(" |\n");
}

// The kinds of datasets and operations, from the engine's own tables.
static int list(bool is_markdown)
{
    const char *name, *about;
    const char *head =
        is_markdown ? "## %s\n\n| name | what it is | arguments |\n|---|---|---|\n" : "%s\n";
    const char *row = is_markdown ? "| `%s` | %s | " : "  %-26s %s\n";
    if (is_markdown) {
        printf("# Pipeline operations\n\nDatasets and operations, as the C API names them. "
               "The Python names are TensorFlow's.\n\n");
    }
    printf(head, "Datasets");
    for (int i = 0; (name = stoker_kind_name(i, &about)) != NULL; i++) {
        printf(row, name, about);
        if (is_markdown) {
            print_args(stoker_kind_arg, i);
        }
    }
    printf("\n");
    printf(head, "Operations");
    for (int i = 0; (name = stoker_op_name(i, &about)) != NULL; i++) {
        printf(row, name, about);
        if (is_markdown) {
            print_args(stoker_op_arg, i);
        }
    }
    return STK_EXIT_DONE;
}

// An option that only other uses of the command look at; NULL: none was given.
static const char *needless_option(const struct stk_args *args, const char *what)
{
    bool is_convert = strcmp(what, "convert") == 0, is_list = strcmp(what, "--list") == 0;
    return args->values[STK_OPT_ID_OUTPUT].set && !is_convert    ? "--output"
           : args->values[STK_OPT_ID_THREADS].set && !is_convert ? "--threads"
           : args->values[STK_OPT_ID_MARKDOWN].set && !is_list   ? "--markdown"
                                                                 : NULL;
}

static int data_run(const struct stk_args *args)
{
    static const struct {
        const char *name;
        int (*run)(const struct stk_args *args);
    } uses[] = {{"inspect", inspect}, {"convert", convert}, {"bench", bench}};
    bool is_list = args->values[STK_OPT_ID_LIST].set;
    if (is_list && args->word_count > 0) {
        return stk_usage(&stk_cmd_data, "--list takes no words: leave out '%s'", args->words[0]);
    }
    const char *what = is_list ? "--list" : args->word_count > 0 ? args->words[0] : "";
    const char *needless = *what ? needless_option(args, what) : NULL;
    for (size_t i = 0; !is_list && i < sizeof uses / sizeof uses[0]; i++) {
        if (strcmp(what, uses[i].name) != 0) {
            continue;
        }
        if (needless) {
            return stk_usage(&stk_cmd_data, "%s doesn't apply to %s", needless, what);
        }
        if (args->word_count < 2) {
            return stk_usage(&stk_cmd_data, "%s needs a file", what);
        }
        for (int k = 1; k < args->word_count; k++) {
            if (strcmp(args->words[k], "-") == 0) {
                return stk_usage(&stk_cmd_data, "%s reads files, not standard input", what);
            }
        }
        return uses[i].run(args);
    }
    if (is_list && needless) {
        return stk_usage(&stk_cmd_data, "%s doesn't apply to --list", needless);
    }
    if (is_list) {
        return list(args->values[STK_OPT_ID_MARKDOWN].set);
    }
    return *what
               ? stk_usage(&stk_cmd_data, "'%s' is unknown: choose inspect, convert or bench", what)
               : stk_usage(&stk_cmd_data, "give inspect, convert or bench, and a file");
}

const struct stk_cmd stk_cmd_data = {
    .name = "data",
    .summary = "inspect and convert training data, benchmark a pipeline",
    .words = "inspect|convert|bench FILE...",
    .description =
        "inspect lists what is in data files: TFRecords (plain, GZIP, ZLIB) with the features of "
        "their Examples, and indexed files. It checks every checksum; damage gives exit code 3. It "
        "reads files more than once, so pipes and standard input don't work.\n\n"
        "convert writes the records of TFRecord files into one indexed file. stoker.data reads it "
        "in any order (sd.IndexedDataset), so global shuffling and exact resuming cost nothing. It "
        "also reads Parquet files, Arrow files and streams, saved elements, and folders of Hugging "
        "Face datasets. It writes NAME.parquet, NAME.arrow (a file), NAME.arrows (a stream) or "
        "NAME/ (a folder for datasets.load_from_disk). That needs the Python module and pyarrow. "
        "If you interrupt it, no partial file is left.\n\n"
        "bench runs a pipeline for five seconds, and prints how fast it is and which stage limits "
        "it. The Python file defines the pipeline as a variable `dataset` or a function "
        "`make_dataset`.\n\n"
        "--list prints the datasets and operations that a pipeline can use.",
    .examples = "stoker data inspect a.tfrecord\twhat is in it\n"
                "stoker data convert *.tfrecord -o all.stkidx\tone file for random access\n"
                "stoker data convert *.parquet -o all.stkidx\ta table for random access\n"
                "stoker data convert all.stkidx -o all.parquet\tand back\n"
                "stoker data bench pipeline.py\tthroughput and the slowest stage\n",
    .max_words = 100000,
    .options = {STK_OPT_ID_LIST, STK_OPT_ID_MARKDOWN, STK_OPT_ID_OUTPUT, STK_OPT_ID_THREADS,
                STK_OPT_ID_QUIET, STK_OPT_ID_NONE},
    .completes = "files",
    .run = data_run,
};
