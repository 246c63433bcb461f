// SPDX-License-Identifier: Apache-2.0
// Every allocation of a whole diagnosis fails once: the n-th alone, then the n-th and all after it.
// Nothing may crash or leak (address sanitizer), and the status must be success or out of memory.
#include "base/alloc.h"
#include "inputs.h"

#define MAX_ALLOCATIONS 3000

static void fail_each(const struct torture_input *in, int sticky)
{
    const char *path = torture_write(in->bytes, in->size);
    struct stoker_err err;
    memset(&err, 0, sizeof err);
    uint64_t before = stk_alloc_count();
    enum stoker_status want = torture_why(path, &err);
    uint64_t needed = stk_alloc_count() - before;
    CHECK(needed > 0);
    uint64_t step = needed > MAX_ALLOCATIONS ? needed / MAX_ALLOCATIONS : 1;
    for (uint64_t n = 1; n <= needed; n += step) {
        memset(&err, 0, sizeof err);
        stk_alloc_fail_at(n, sticky);
        enum stoker_status got = torture_why(path, &err);
        stk_alloc_fail_at(0, 0);
        CHECK(got == want || got == STOKER_ENOMEM || got == STOKER_ELIMIT);
    }
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    size_t count;
    struct torture_input *inputs = torture_inputs(&count);
    for (size_t i = 0; i < count; i++) {
        CHECK_RUN(fail_each, &inputs[i], 0);
        CHECK_RUN(fail_each, &inputs[i], 1);
        free(inputs[i].bytes);
    }
    free(inputs);
    return check_done("torture.torture_alloc");
}
