// SPDX-License-Identifier: Apache-2.0
// Every allocation of every analysis fails once, on a few small profiles: the n-th alone, then the
// n-th and all after it. Nothing may crash or leak (address sanitizer).
#include "base/alloc.h"
#include "inputs.h"
#include "stoker/stats.h"

#define MAX_ALLOCATIONS 400
#define PROFILES_PER_ANALYSIS 6

static int drop(void *arg, const char *bytes, size_t n)
{
    (void)bytes;
    *(size_t *)arg += n;
    return 0;
}

static enum stoker_status analyse(const char *name, const char *path)
{
    struct stoker_why_options options;
    struct stoker_tables *tables = NULL;
    struct stoker_err err;
    size_t written = 0;
    memset(&err, 0, sizeof err);
    stoker_why_options_default(&options);
    options.threads = 1;
    options.redact = 1;
    enum stoker_status status = stoker_stats(name, &path, 1, &options, &tables, &err);
    CHECK((status == STOKER_OK) == (tables != NULL));
    for (size_t f = 0; tables && stoker_table_formats()[f]; f++) {
        CHECK(stoker_tables_write(tables, stoker_table_formats()[f], NULL, NULL, drop, &written,
                                  &err) == STOKER_OK);
    }
    CHECK(tables ? written > 0 : err.message[0] != 0);
    stoker_tables_free(tables);
    return status;
}

static void fail_each(const char *name, const struct torture_input *in, int sticky)
{
    const char *path = torture_write(in->bytes, in->size);
    uint64_t before = stk_alloc_count();
    enum stoker_status want = analyse(name, path);
    uint64_t needed = stk_alloc_count() - before;
    uint64_t step = needed > MAX_ALLOCATIONS ? needed / MAX_ALLOCATIONS : 1;
    for (uint64_t n = 1; n <= needed; n += step) {
        stk_alloc_fail_at(n, sticky);
        enum stoker_status got = analyse(name, path);
        stk_alloc_fail_at(0, 0);
        CHECK(got == want || got == STOKER_ENOMEM || got == STOKER_ELIMIT);
    }
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    size_t count;
    struct torture_input *inputs = torture_inputs(&count);
    size_t step = count / PROFILES_PER_ANALYSIS + 1;
    for (size_t a = 0; stoker_analysis_name(a); a++) {
        for (size_t i = a % step; i < count; i += step) {
            CHECK_RUN(fail_each, stoker_analysis_name(a), &inputs[i], 0);
            CHECK_RUN(fail_each, stoker_analysis_name(a), &inputs[i], 1);
        }
    }
    for (size_t i = 0; i < count; i++) {
        free(inputs[i].bytes);
    }
    free(inputs);
    return check_done("torture.torture_stats");
}
