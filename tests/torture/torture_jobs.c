// SPDX-License-Identifier: Apache-2.0
// Every allocation of a list of several jobs fails once: the n-th alone, then the n-th and all
// after it; with named files, and with a folder of two formats. Nothing may crash or leak (address
// sanitizer), and every failure is reported.
#include <unistd.h>

#include "base/alloc.h"
#include "check.h"
#include "stoker/report.h"

#define MAX_ALLOCATIONS 300

static const char *const named[] = {
    "tests/fuzz/seeds/chrome/kineto.json", "tests/fuzz/seeds/xplane/gpu.xplane.pb",
    "tests/fuzz/seeds/chrome/kineto.json.gz", "tests/fuzz/seeds/stk/pipeline.stk", "/nowhere"};

static int take(void *arg, const char *bytes, size_t n)
{
    (void)bytes;
    *(size_t *)arg += n;
    return 0;
}

static enum stoker_status list(const char *const *paths, size_t count, int redact)
{
    struct stoker_why_options options;
    struct stoker_result *r = NULL;
    struct stoker_err err;
    memset(&err, 0, sizeof err);
    stoker_why_options_default(&options);
    options.threads = 1;
    options.redact = redact;
    enum stoker_status status = stoker_why(paths, count, &options, &r, &err);
    CHECK((status == STOKER_OK) == (r != NULL));
    CHECK(status == STOKER_OK || err.message[0] != 0);
    for (int i = 0; r && stoker_formats()[i]; i++) {
        size_t written = 0;
        CHECK_EQ(stoker_result_write(r, stoker_formats()[i], NULL, take, &written, &err),
                 STOKER_OK);
        CHECK(written > 0);
    }
    stoker_result_free(r);
    return status;
}

static void fail_each(const char *const *paths, size_t count, int sticky)
{
    uint64_t before = stk_alloc_count();
    enum stoker_status want = list(paths, count, sticky);
    uint64_t needed = stk_alloc_count() - before;
    uint64_t step = needed > MAX_ALLOCATIONS ? needed / MAX_ALLOCATIONS : 1;
    CHECK_EQ(want, STOKER_OK);
    for (uint64_t n = 1; n <= needed; n += step) {
        stk_alloc_fail_at(n, sticky);
        enum stoker_status got = list(paths, count, sticky);
        stk_alloc_fail_at(0, 0);
        CHECK(got == want || got == STOKER_ENOMEM || got == STOKER_ELIMIT);
    }
}

// A folder of links: files of two formats, whose times lie apart.
static void in_a_folder(int sticky)
{
    char folder[] = "/tmp/stoker-test-XXXXXX", here[4096], from[8192], to[64];
    static const char *const names[][2] = {
        {"examples/profiles/keras_input.xplane.pb.gz", "a.xplane.pb.gz"},
        {"examples/profiles/torch_cpu_fixed.pt.trace.json.gz", "b.pt.trace.json.gz"}};
    const char *path = mkdtemp(folder);
    CHECK(path && getcwd(here, sizeof here));
    for (int i = 0; i < 2; i++) {
        snprintf(from, sizeof from, "%s/%s", here, names[i][0]);
        snprintf(to, sizeof to, "%s/%s", folder, names[i][1]);
        CHECK(symlink(from, to) == 0);
    }
    fail_each(&path, 1, sticky);
    for (int i = 0; i < 2; i++) {
        snprintf(to, sizeof to, "%s/%s", folder, names[i][1]);
        unlink(to);
    }
    rmdir(folder);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    struct stoker_result *r = NULL;
    CHECK_EQ(stoker_why(named, sizeof named / sizeof *named, NULL, &r, NULL), STOKER_OK);
    CHECK(r && stoker_result_jobs(r) > 1);
    stoker_result_free(r);
    for (int sticky = 0; sticky < 2; sticky++) {
        CHECK_RUN(fail_each, named, sizeof named / sizeof *named, sticky);
        CHECK_RUN(in_a_folder, sticky);
    }
    return check_done("torture.torture_jobs");
}
