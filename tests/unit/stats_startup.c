// SPDX-License-Identifier: Apache-2.0
// stoker stats startup: the work until the first steady step, by kind.
#include "answer.h"

enum { PHASES, WORK };

static void check_work(const struct answer *a, const char *work, int64_t count, int64_t total_us,
                       const char *what)
{
    size_t r = answer_row(a, WORK, work);
    CHECK(r != SIZE_MAX);
    if (r == SIZE_MAX) {
        return;
    }
    CHECK_EQ(answer_cell_in(a, WORK, r, "count")->number, count);
    CHECK_EQ(answer_cell_in(a, WORK, r, "total_ns")->number, total_us * US);
    CHECK_STR(answer_cell_in(a, WORK, r, "what")->text, what);
}

static const char *recorded(const struct answer *a, const char *work)
{
    size_t r = answer_row(a, WORK, work);
    CHECK(r != SIZE_MAX);
    return r == SIZE_MAX ? "" : answer_cell_in(a, WORK, r, "recorded")->text;
}

// Ten steps of 100 us from 5000 us on; `later` adds the same work within the last one.
static void make(struct answer *a, bool later)
{
    for (int i = 0; i < 10; i++) {
        synth_step(&a->s, MAIN, 5000 + 100 * i, 100, i);
        synth_launch(&a->s, MAIN, 5010 + 100 * i, 4, "k", 5020 + 100 * i, 60, S0);
    }
    for (int i = 0; i < (later ? 2 : 1); i++) {
        double t = i ? 5900 : 0;
        double f = i ? 0.01 : 1; // as much of it as fits
        synth_host(&a->s, MAIN, t + 1, 400 * f, "cuModuleLoadData", STK_KIND_RUNTIME);
        synth_host(&a->s, MAIN, t + 500 * f + 2, 300 * f, "backend_compile", STK_KIND_HOST_OP);
        synth_host(&a->s, MAIN, t + 900 * f + 3, 50 * f, "cudaMalloc", STK_KIND_RUNTIME);
        synth_host(&a->s, MAIN, t + 901 * f + 3, 40 * f, "cuMemAlloc", STK_KIND_RUNTIME);
    }
    synth_host(&a->s, MAIN, 2000, 600, "torch/nn/modules/linear.py(1): reset_parameters",
               STK_KIND_PYTHON);
    synth_host(&a->s, MAIN, 2100, 300, "torch/nn/modules/linear.py(1): reset_parameters",
               STK_KIND_PYTHON);
    synth_launch_as(&a->s, MAIN, 1500, 5, "cudaMemcpyAsync", "Memcpy", 1510, 70, S0,
                    STK_KIND_MEMCPY, STK_DIR_H2D, STK_MEM_PINNED);
}

static void test_work(bool later)
{
    struct answer a;
    answer_begin(&a);
    make(&a, later);
    answer_analyse(&a, &stk_stats_startup);
    CHECK(answer_figure(&a, "first_steady_ns")->known);
    check_work(&a, "module_load", 1, 400, "cuModuleLoadData");
    check_work(&a, "compilation", 1, 300, "backend_compile");
    check_work(&a, "allocation", 1, 50, "cudaMalloc"); // the driver's call is inside
    check_work(&a, "weights_to_device", 1, 70, "Memcpy");
    check_work(&a, "model_building", 1, 600, "torch/nn/modules/linear.py(1): reset_parameters");
    size_t load = answer_row(&a, WORK, "module_load");
    CHECK_EQ(answer_cell_in(&a, WORK, load, "first_ns")->number, 0); // the profile's first event
    CHECK(answer_row(&a, WORK, "autotuning") == SIZE_MAX);
    CHECK(answer_row(&a, WORK, "copy_to_device") == SIZE_MAX);
    CHECK_STR(recorded(&a, "module_load"), "yes");
    CHECK_STR(recorded(&a, "tracing"), "none"); // Python's rows would show it
    CHECK_EQ(a.doc.missing_count, 0);
    CHECK(!a.doc.inconclusive);
    answer_end(&a);
}

// A profile of the host that begins when the job already runs.
static void test_no_start(void)
{
    struct answer a;
    answer_begin(&a);
    for (int i = 0; i < 6; i++) {
        synth_step(&a.s, MAIN, 100 * i, 100, i);
        synth_host(&a.s, MAIN, 100 * i + 10, 60, "aten::mm", STK_KIND_HOST_OP);
    }
    answer_analyse(&a, &stk_stats_startup);
    CHECK_STR(recorded(&a, "model_building"), "not recorded");
    CHECK_STR(recorded(&a, "module_load"), "not recorded");
    CHECK_STR(recorded(&a, "weights_to_device"), "not recorded");
    CHECK(!answer_cell_in(&a, WORK, answer_row(&a, WORK, "allocation"), "count")->known);
    CHECK_STR(a.doc.missing[0].what, "the start of the job");
    CHECK(!a.doc.inconclusive);
    answer_end(&a);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    CHECK_RUN(test_work, false);
    CHECK_RUN(test_work, true); // the time after the first steady step isn't start-up
    CHECK_RUN(test_no_start);
    return check_done("unit.stats_startup");
}
