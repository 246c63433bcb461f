// SPDX-License-Identifier: Apache-2.0
// Launches that are captured into a graph don't run work yet, so none is missing.
#include "synth.h"

enum { MAIN = 1, STREAM = 7, LAUNCHES = 100 };

// Launches without work, between the calls that begin and end a capture or without them.
static uint64_t without_work(const char *begin, const char *end)
{
    struct synth s;
    synth_begin(&s);
    synth_launch(&s, MAIN, 0, 5, "gemm", 10, 50, STREAM);
    if (begin) {
        synth_host(&s, MAIN, 100, 1, begin, STK_KIND_RUNTIME);
    }
    for (int i = 0; i < LAUNCHES; i++) {
        synth_host(&s, MAIN, 110 + 4 * i, 2, "hipLaunchKernel", STK_KIND_RUNTIME);
    }
    if (end) {
        synth_host(&s, MAIN, 600, 1, end, STK_KIND_RUNTIME);
    }
    synth_host(&s, MAIN, 700, 2, "hipLaunchKernel", STK_KIND_RUNTIME); // this one's work is missing
    synth_launch(&s, MAIN, 710, 5, "gemm", 720, 50, STREAM);
    const struct stk_rank_sum *rank = synth_summarize(&s);
    uint64_t count = rank ? rank->facts.launches_without_work : UINT64_MAX;
    synth_end(&s);
    return count;
}

static void captured(void)
{
    CHECK_EQ(without_work(NULL, NULL), LAUNCHES + 1);
    CHECK_EQ(without_work("hipStreamBeginCapture", "hipStreamEndCapture"), 1);
    CHECK_EQ(without_work("cudaStreamBeginCapture_v10000", "cudaStreamEndCapture_v10000"), 1);
    CHECK_EQ(without_work("cuStreamBeginCapture_v2", "cuStreamEndCapture"), 1);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    CHECK_RUN(captured);
    return check_done("unit.graph_capture");
}
