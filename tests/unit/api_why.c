// SPDX-License-Identifier: Apache-2.0
// The library from outside: bad calls, interruption, output that fails, several files, formats.
#include <stdlib.h>
#include <unistd.h>

#include "check.h"
#include "stoker/report.h"
#include "stoker/version.h"

static const char profile[] = "examples/profiles/keras_input.xplane.pb.gz";
static const char other[] = "examples/profiles/torch_cpu_input.pt.trace.json.gz";

static char text[1 << 22];
static size_t used, capacity = sizeof text - 1;

static int take(void *arg, const char *bytes, size_t n)
{
    (void)arg;
    if (n > capacity - used) {
        return -1;
    }
    memcpy(text + used, bytes, n);
    used += n;
    text[used] = 0;
    return 0;
}

static struct stoker_result *diagnose(const char *const *paths, size_t count,
                                      const struct stoker_why_options *o)
{
    struct stoker_result *r = NULL;
    struct stoker_err err;
    CHECK_EQ(stoker_why(paths, count, o, &r, &err), STOKER_OK);
    return r;
}

static const char *print(const struct stoker_result *r, const char *format,
                         const struct stoker_write_options *o)
{
    struct stoker_err err;
    used = 0;
    CHECK_EQ(stoker_result_write(r, format, o, take, NULL, &err), STOKER_OK);
    return text;
}

static void test_bad_calls(void)
{
    struct stoker_result *r = (struct stoker_result *)1;
    struct stoker_err err;
    const char *paths[] = {profile};
    struct stoker_why_options o;
    stoker_why_options_default(&o);
    CHECK_EQ(o.limit, 10000);
    o.has_steps = 1;
    o.step_first = 5;
    o.step_last = 4;
    CHECK_EQ(stoker_why(paths, 1, &o, &r, &err), STOKER_EUSAGE);
    CHECK(r == NULL);
    stoker_result_free(NULL);
    CHECK_EQ(stoker_schema("nothing", take, NULL, &err), STOKER_EUSAGE);
    CHECK_EQ(stoker_explain("nothing-like-a-rule", "text", take, NULL, &err), STOKER_EUSAGE);
    CHECK_EQ(stoker_explain(NULL, "html", take, NULL, &err), STOKER_EINVAL);
}

static void test_missing_file(void)
{
    const char *paths[] = {"/nowhere/at/all"};
    struct stoker_result *r = NULL;
    struct stoker_err err;
    CHECK_EQ(stoker_why(paths, 1, NULL, &r, &err), STOKER_EINPUT);
    CHECK(r == NULL && strstr(err.message, "/nowhere/at/all") != NULL);
    CHECK_EQ(err.code, STOKER_EINPUT);
}

static int asked;

static int stop(void *arg, const char *path, uint64_t done_bytes, uint64_t total_bytes)
{
    (void)done_bytes;
    CHECK(arg == &asked && path != NULL && total_bytes > 0);
    return ++asked >= 1;
}

static void test_interruption(void)
{
    const char *paths[] = {profile, other};
    struct stoker_why_options o;
    struct stoker_result *r = NULL;
    struct stoker_err err;
    stoker_why_options_default(&o);
    o.progress = stop;
    o.progress_arg = &asked;
    for (size_t count = 1; count <= 2; count++) {
        asked = 0;
        enum stoker_status status = stoker_why(paths, count, &o, &r, &err);
        if (asked == 0) { // read at one go, before the first report
            CHECK_EQ(status, STOKER_OK);
            stoker_result_free(r);
            continue;
        }
        CHECK_EQ(status, STOKER_EINTR);
        CHECK(r == NULL);
    }
}

static void test_failing_output(void)
{
    const char *paths[] = {profile};
    struct stoker_result *r = diagnose(paths, 1, NULL);
    struct stoker_err err;
    CHECK_EQ(stoker_result_write(r, "xml", NULL, take, NULL, &err), STOKER_EUSAGE);
    for (capacity = 0; capacity < 3000; capacity += 700) {
        used = 0;
        CHECK_EQ(stoker_result_write(r, "json", NULL, take, NULL, &err), STOKER_EOUTPUT);
    }
    capacity = sizeof text - 1;
    CHECK(strstr(print(r, "json", NULL), "\"schema\": \"stoker.report/1\"") != NULL);
    CHECK(strstr(print(r, "text", NULL), stoker_result_verdict(r)) != NULL);
    CHECK(stoker_result_level(r) >= STOKER_LEVEL_INFO &&
          stoker_result_level(r) <= STOKER_LEVEL_HIGH);
    const struct stoker_write_options odd = {.columns = -5, .verbose = 9};
    CHECK(strlen(print(r, "text", &odd)) > 100);
    stoker_result_free(r);
}

// Each fix of each finding, in their order, with the finding's saving.
static void test_advice(void)
{
    const char *paths[] = {profile};
    struct stoker_result *r = diagnose(paths, 1, NULL);
    struct stoker_advice a;
    struct stoker_saving saving;
    const char *at = print(r, "json", NULL);
    size_t n = 0;
    for (; stoker_result_advice(r, n, &a); n++) {
        char want[160];
        snprintf(want, sizeof want, "\"id\": \"%s\"", a.fix);
        at = strstr(at, want);
        CHECK(at != NULL);
        CHECK(stoker_result_finding(r, a.finding, &saving));
        CHECK(saving.has_high == a.saving.has_high && saving.high_share == a.saving.high_share);
        if (!at) {
            break;
        }
    }
    CHECK(n > 0);
    CHECK(!stoker_result_advice(r, n, &a));
    stoker_result_free(r);
}

// Files of one rank each, side by side or one after the other: the same report.
static void test_threads(void)
{
    const char *paths[] = {profile, other, profile, "/nowhere"};
    struct stoker_why_options o;
    static char first[sizeof text];
    stoker_why_options_default(&o);
    o.as_ranks = 1;
    for (o.threads = 1; o.threads <= 5; o.threads += 2) {
        struct stoker_result *r = diagnose(paths, 4, &o);
        const char *json = print(r, "json", NULL);
        if (o.threads == 1) {
            memcpy(first, json, used + 1);
        }
        CHECK(strcmp(first, json) == 0);
        CHECK(strstr(json, "input-failed") != NULL);
        stoker_result_free(r);
    }
}

// Two profiles of two jobs aren't a run of two ranks; a third file that fails is reported.
static void test_several_jobs(void)
{
    const char *paths[] = {profile, other, "/nowhere"};
    struct stoker_result *r = diagnose(paths, 3, NULL), *one = diagnose(paths, 1, NULL);
    CHECK_EQ(stoker_result_jobs(r), 2);
    CHECK_EQ(stoker_result_jobs(one), 1);
    CHECK_STR(stoker_result_verdict(r), "several-jobs");
    CHECK(stoker_result_level(r) >= stoker_result_level(one));
    const char *json = print(r, "json", NULL);
    CHECK(strstr(json, "\"schema\": \"stoker.jobs/1\"") && strstr(json, "/nowhere"));
    CHECK(strstr(print(r, "text", NULL), "2 jobs, not the ranks of one run") != NULL);
    double share;
    struct stoker_saving saving;
    CHECK(!stoker_result_share(r, "compute", &share));
    CHECK(!stoker_result_finding(r, "input-wait", &saving));
    stoker_result_free(r);
    stoker_result_free(one);
}

static void test_names(void)
{
    char want[32];
    snprintf(want, sizeof want, "%d.%d.%d", STOKER_VERSION_MAJOR, STOKER_VERSION_MINOR,
             STOKER_VERSION_PATCH);
    CHECK_STR(stoker_version(), want);
    CHECK(stoker_library(0) && !stoker_library(-1) && !stoker_library(100));
    CHECK_STR(stoker_formats()[0], "text");
    size_t rules = 0;
    while (stoker_rule_id(rules)) {
        rules++;
    }
    CHECK(rules >= 10);
    struct stoker_err err;
    used = 0;
    CHECK_EQ(stoker_describe_report(take, NULL, &err), STOKER_OK);
    CHECK(strstr(text, "| `idle_unknown` |") && strstr(text, "| `events-dropped` |"));
    used = 0;
    CHECK_EQ(stoker_describe_readers("markdown", take, NULL, &err), STOKER_OK);
    CHECK(strstr(text, "xplane") && strstr(text, "| format |"));
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    CHECK_RUN(test_bad_calls);
    CHECK_RUN(test_missing_file);
    CHECK_RUN(test_names);
    if (access(profile, R_OK) == 0 && access(other, R_OK) == 0) {
        CHECK_RUN(test_interruption);
        CHECK_RUN(test_failing_output);
        CHECK_RUN(test_advice);
        CHECK_RUN(test_threads);
        CHECK_RUN(test_several_jobs);
    } else {
        check_skip("run it in the root of the repository: examples/profiles is not here");
    }
    return check_done("unit.api_why");
}
