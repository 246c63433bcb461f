// SPDX-License-Identifier: Apache-2.0
// Output for programs doesn't follow the locale of the host program: every JSON and CSV is the same
// byte for byte under a decimal comma. Every CSV ends its lines with CR LF (RFC 4180).
#include "check.h"
#include "comma_locale.h"

#include "stoker/export.h"
#include "stoker/query.h"
#include "stoker/report.h"
#include "stoker/stats.h"

static const char *const profiles[] = {"examples/profiles/keras_input.xplane.pb.gz",
                                       "examples/profiles/torch_cpu_input.pt.trace.json.gz"};
static struct stoker_err err;

struct output {
    char name[40];
    bool is_csv;
    char *bytes;
    size_t n;
};
static struct output outputs[2][32]; // under C's locale and under the other
static size_t counts[2];
static int pass;

static int take(void *arg, const char *bytes, size_t n)
{
    struct output *o = arg;
    o->bytes = realloc(o->bytes, o->n + n + 1);
    if (!o->bytes) {
        return -1;
    }
    memcpy(o->bytes + o->n, bytes, n);
    o->n += n;
    return 0;
}

static struct output *new_output(const char *what, const char *format)
{
    struct output *o = &outputs[pass][counts[pass]++];
    CHECK(counts[pass] < 32);
    snprintf(o->name, sizeof o->name, "%s %s", what, format);
    o->is_csv = strcmp(format, "csv") == 0;
    return o;
}

static void write_tables(struct stoker_tables *t, const char *what, const char *table)
{
    CHECK_EQ(stoker_tables_write(t, "csv", table, NULL, take, new_output(what, "csv"), &err), 0);
    CHECK_EQ(stoker_tables_write(t, "json", NULL, NULL, take, new_output(what, "json"), &err), 0);
    stoker_tables_free(t);
}

static void of_profile(const char *path)
{
    struct stoker_why_options o;
    struct stoker_result *r = NULL;
    struct stoker_tables *t = NULL;
    struct stoker_profiles *p = NULL;
    struct stoker_export *x = NULL;
    stoker_why_options_default(&o);
    CHECK_EQ(stoker_why(&path, 1, &o, &r, &err), 0);
    CHECK_EQ(stoker_result_write(r, "json", NULL, take, new_output("why", "json"), &err), 0);
    stoker_result_free(r);
    CHECK_EQ(stoker_stats("kernels", &path, 1, &o, &t, &err), 0);
    write_tables(t, "stats", NULL);
    CHECK_EQ(stoker_open(&path, 1, &o, &p, &err), 0);
    static const char sql[] = "select 0.5 as r, dur_ns / 3.0 as third, name, ' a ' as blanks, "
                              "'x\"y' || char(10) || 'z' as line from events limit 50";
    CHECK_EQ(stoker_query(p, sql, NULL, &t, &err), 0);
    write_tables(t, "query", NULL);
    CHECK_EQ(stoker_find(p, "a", NULL, &t, &err), 0);
    write_tables(t, "find", NULL);
    stoker_close(p);
    CHECK_EQ(stoker_export_open(&path, 1, &o, &x, &err), 0);
    static const char *const formats[] = {"csv", "chrome"};
    struct stoker_export_options with = {.args = 1};
    for (int i = 0; i < 2; i++) {
        CHECK_EQ(stoker_export_write(x, formats[i], &with, NULL, take,
                                     new_output("export", formats[i]), &err),
                 0);
    }
    stoker_export_free(x);
}

static void write_all(void)
{
    for (size_t i = 0; i < sizeof profiles / sizeof *profiles; i++) {
        of_profile(profiles[i]);
    }
}

// Outside of quotes CR and LF come in pairs, and the last line ends too.
static bool ends_lines_well(const struct output *o)
{
    bool in_quotes = false;
    for (size_t i = 0; i < o->n; i++) {
        char c = o->bytes[i];
        in_quotes ^= c == '"';
        if (!in_quotes && c == '\n' && (i == 0 || o->bytes[i - 1] != '\r')) {
            return false;
        }
        if (!in_quotes && c == '\r' && (i + 1 == o->n || o->bytes[i + 1] != '\n')) {
            return false;
        }
    }
    return !in_quotes && o->n > 2 && memcmp(o->bytes + o->n - 2, "\r\n", 2) == 0;
}

static void lines_end_in_cr_lf(void)
{
    write_all();
    int csvs = 0;
    for (size_t i = 0; i < counts[0]; i++) {
        const struct output *o = &outputs[0][i];
        csvs += o->is_csv;
        if (o->is_csv && !ends_lines_well(o)) {
            fprintf(stderr, "%s: a line does not end in CR LF\n", o->name);
            CHECK(!"CR LF");
        }
    }
    CHECK_EQ(csvs, 8);
}

static void comma_changes_nothing(void)
{
    if (!counts[0]) { // run alone
        write_all();
    }
    pass = 1;
    if (!comma_locale_set()) {
        check_skip("no locale with a decimal comma, and no localedef to make one");
        return;
    }
    write_all();
    CHECK_EQ(counts[1], counts[0]);
    for (size_t i = 0; i < counts[0]; i++) {
        const struct output *a = &outputs[0][i], *b = &outputs[1][i];
        if (a->n != b->n || memcmp(a->bytes, b->bytes, a->n) != 0) {
            fprintf(stderr, "%s differs under a decimal comma\n", a->name);
            CHECK(!"the same bytes");
        }
    }
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    CHECK_RUN(lines_end_in_cr_lf);
    CHECK_RUN(comma_changes_nothing);
    for (int k = 0; k < 2; k++) {
        for (size_t i = 0; i < counts[k]; i++) {
            free(outputs[k][i].bytes);
        }
    }
    return check_done("unit.api_locale");
}
