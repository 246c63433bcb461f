// SPDX-License-Identifier: Apache-2.0
// Every allocation of a comparison fails once, on pairs of small profiles: the n-th alone, then the
// n-th and all after it. Nothing may crash or leak (address sanitizer), and every failure is
// reported.
#include "base/alloc.h"
#include "inputs.h"
#include "stoker/diff.h"

#define MAX_ALLOCATIONS 300
#define PAIRS 4

static int take(void *arg, const char *bytes, size_t n)
{
    (void)bytes;
    *(size_t *)arg += n;
    return 0;
}

static enum stoker_status compare(const char *a, const char *b)
{
    struct stoker_diff_options options;
    struct stoker_diff *d = NULL;
    struct stoker_err err;
    memset(&err, 0, sizeof err);
    stoker_diff_options_default(&options);
    options.reading.threads = 1;
    options.reading.redact = 1;
    options.force = 1;
    enum stoker_status status = stoker_diff(&a, 1, &b, 1, &options, &d, &err);
    CHECK((status == STOKER_OK) == (d != NULL));
    CHECK(status == STOKER_OK || err.message[0] != 0);
    for (int i = 0; d && stoker_diff_formats()[i]; i++) {
        size_t written = 0;
        CHECK_EQ(stoker_diff_write(d, stoker_diff_formats()[i], NULL, take, &written, &err),
                 STOKER_OK);
        CHECK(written > 0);
    }
    stoker_diff_free(d);
    return status;
}

static void fail_each(const char *a, const char *b, int sticky)
{
    uint64_t before = stk_alloc_count();
    enum stoker_status want = compare(a, b);
    uint64_t needed = stk_alloc_count() - before;
    uint64_t step = needed > MAX_ALLOCATIONS ? needed / MAX_ALLOCATIONS : 1;
    for (uint64_t n = 1; n <= needed; n += step) {
        stk_alloc_fail_at(n, sticky);
        enum stoker_status got = compare(a, b);
        stk_alloc_fail_at(0, 0);
        CHECK(got == want || got == STOKER_ENOMEM || got == STOKER_ELIMIT);
    }
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    static const char kineto[] = "tests/fuzz/seeds/chrome/kineto.json";
    static const char *const others[PAIRS] = {"tests/fuzz/seeds/chrome/kineto.json.gz",
                                              "tests/fuzz/seeds/xplane/gpu.xplane.pb",
                                              "tests/fuzz/seeds/chrome/memory.json",
                                              "examples/profiles/torch_cpu_fixed.pt.trace.json.gz"};
    for (int i = 0; i < PAIRS; i++) {
        CHECK_RUN(fail_each, kineto, others[i], 0);
        CHECK_RUN(fail_each, others[i], kineto, 1);
    }
    return check_done("torture.torture_diff");
}
