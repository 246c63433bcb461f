// SPDX-License-Identifier: Apache-2.0
// Threads: the count obeys STOKER_THREADS and its bounds; every index runs exactly once.
#include "check.h"

#include <stdatomic.h>

#include "base/thread.h"

static _Atomic int ran[200];

static void mark(void *arg, int index)
{
    (void)arg;
    atomic_fetch_add(&ran[index], 1);
}

static int count_with(const char *value)
{
    setenv("STOKER_THREADS", value, 1);
    return stk_thread_count();
}

static void counts_and_runs(void)
{
    unsetenv("STOKER_THREADS");
    int all = stk_thread_count();
    CHECK(all >= 1 && all <= 64);
    CHECK_EQ(count_with("3"), 3);
    CHECK_EQ(count_with("1000"), 64);
    CHECK_EQ(count_with("0"), all);
    CHECK_EQ(count_with("two"), all);
    const int counts[] = {0, 1, 2, 7, 64, 200};
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
        memset(ran, 0, sizeof ran);
        stk_thread_run(counts[k], mark, NULL);
        int wrong = 0;
        for (int i = 0; i < 200; i++) {
            wrong += ran[i] != (i < counts[k]);
        }
        CHECK_EQ(wrong, 0);
    }
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    CHECK_RUN(counts_and_runs);
    return check_done("unit.base_thread");
}
