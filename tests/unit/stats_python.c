// SPDX-License-Identifier: Apache-2.0
// Python functions on small traces whose answers are known, and whose code a file is.
#include "answer.h"
#include "profile/model/threads/python_frame.h"

enum { OTHER = 2 }; // a thread besides MAIN
enum { FUNCTIONS, CODE };

#define ROW(name) answer_row(&a, FUNCTIONS, name)
#define VALUE(name, column) answer_cell_in(&a, FUNCTIONS, ROW(name), column)->number

static void frame(struct answer *a, int64_t thread, double start_us, double dur_us,
                  const char *name)
{
    synth_host(&a->s, thread, start_us, dur_us, name, STK_KIND_PYTHON);
}

static void test_functions(void)
{
    struct answer a;
    answer_begin(&a);
    for (int i = 0; i < 4; i++) {
        double t = i * 1000;
        synth_step(&a.s, MAIN, t, 1000, i);
        frame(&a, MAIN, t, 900, "train.py(3): step");
        frame(&a, MAIN, t + 100, 600, "torch/nn/modules/module.py(9): _call_impl");
        frame(&a, MAIN, t + 200, 300, "torch/nn/modules/module.py(9): _call_impl"); // nested
        synth_host(&a.s, MAIN, t + 250, 200, "aten::mm", STK_KIND_HOST_OP);
        frame(&a, MAIN, t + 800, 50, "<built-in method item of Tensor object at 0x7f00>");
        frame(&a, MAIN, t + 850, 50, "<built-in method item of Tensor object at 0x7f80>");
    }
    frame(&a, MAIN, 4000, 500, "train.py(90): save"); // after the steps
    frame(&a, OTHER, 0, 5000, "threading.py(5): wait");
    answer_analyse(&a, &stk_stats_python);
    CHECK_EQ(VALUE("train.py(3): step", "calls"), 4);
    CHECK_EQ(VALUE("train.py(3): step", "total_ns"), 4 * 900 * US);
    CHECK_EQ(VALUE("train.py(3): step", "self_ns"), 4 * 200 * US);
    CHECK_EQ(VALUE("torch/nn/modules/module.py(9): _call_impl", "calls"), 8);
    CHECK_EQ(VALUE("torch/nn/modules/module.py(9): _call_impl", "total_ns"), 4 * 600 * US);
    CHECK_EQ(VALUE("torch/nn/modules/module.py(9): _call_impl", "self_ns"), 4 * 600 * US);
    CHECK_EQ(VALUE("torch/nn/modules/module.py(9): _call_impl", "python_ns"), 4 * 400 * US);
    CHECK_EQ(VALUE("<built-in method item of Tensor>", "calls"), 8);
    CHECK_EQ(VALUE("<built-in method item of Tensor>", "python_ns"), 0);
    CHECK_EQ(VALUE("train.py(90): save", "self_ns"), 500 * US);
    CHECK_EQ(PERCENT(answer_cell_in(&a, FUNCTIONS, ROW("train.py(90): save"), "step_share")), 0);
    // The driving thread first, although another one waits longer.
    CHECK_EQ(ROW("torch/nn/modules/module.py(9): _call_impl"), 0);
    CHECK_EQ(ROW("threading.py(5): wait"), a.doc.tables[FUNCTIONS].row_count - 1);
    CHECK(!answer_cell_in(&a, FUNCTIONS, ROW("threading.py(5): wait"), "step_share")->known);
    CHECK_EQ(PERCENT(answer_figure(&a, "traced_share")), 90);
    CHECK_EQ(PERCENT(answer_figure(&a, "python_self_share")), 60);
    CHECK_EQ(PERCENT(answer_figure(&a, "user_share")), 20);
    CHECK_EQ(PERCENT(answer_figure(&a, "framework_share")), 60);
    CHECK_EQ(PERCENT(answer_figure(&a, "builtin_share")), 10);
    CHECK(!a.doc.inconclusive);
    answer_end(&a);
}

// Rows that cross: no nanosecond counts twice, and none is more than its function's.
static void test_crossing(void)
{
    struct answer a;
    answer_begin(&a);
    frame(&a, MAIN, 0, 100, "a.py(1): f");
    frame(&a, MAIN, 50, 100, "a.py(2): g");
    frame(&a, MAIN, 120, 60, "a.py(1): f");
    synth_host(&a.s, MAIN, 140, 100, "aten::mm", STK_KIND_HOST_OP); // longer than what is around it
    answer_analyse(&a, &stk_stats_python);
    CHECK_EQ(VALUE("a.py(1): f", "total_ns"), 160 * US);
    CHECK_EQ(VALUE("a.py(1): f", "self_ns"), (50 + 60) * US);
    CHECK_EQ(VALUE("a.py(1): f", "python_ns"), (50 + 20) * US);
    CHECK_EQ(VALUE("a.py(2): g", "total_ns"), 100 * US);
    CHECK_EQ(VALUE("a.py(2): g", "self_ns"), 70 * US);
    answer_end(&a);
}

static void test_without_steps(void)
{
    struct answer a;
    answer_begin(&a);
    frame(&a, MAIN, 0, 100, "$run.py:3 main");
    frame(&a, MAIN, 20, 40, "$numpy dot");
    frame(&a, MAIN, 60, 20, "$model.py:8 forward");
    answer_analyse(&a, &stk_stats_python);
    CHECK_EQ(PERCENT(answer_figure(&a, "traced_share")), 100);
    CHECK_EQ(PERCENT(answer_figure(&a, "user_share")), 40); // the script, by where it stands
    CHECK_EQ(PERCENT(answer_figure(&a, "unknown_share")), 20);
    answer_end(&a);
}

static void test_nothing(void)
{
    struct answer a;
    answer_begin(&a);
    synth_host(&a.s, MAIN, 0, 100, "aten::mm", STK_KIND_HOST_OP);
    answer_analyse(&a, &stk_stats_python);
    CHECK(a.doc.inconclusive);
    CHECK_EQ(a.doc.missing_count, 1);
    CHECK_EQ(a.doc.summary_count, 0);
    answer_end(&a);
}

static void check_owner(const char *name, enum stk_python_owner want)
{
    enum stk_python_owner got = stk_python_frame_owner(stk_str_from(name));
    if (got != want) {
        fprintf(stderr, "%s\n", name);
    }
    CHECK_STR(stk_python_owner_key(got), stk_python_owner_key(want));
}

static void test_owners(void)
{
    check_owner("train.py(3): step", STK_PYTHON_USER);
    check_owner("src/models/net.py(3): forward", STK_PYTHON_USER);
    check_owner("/home/me/job/train.py(3): step", STK_PYTHON_USER);
    check_owner("torch/nn/modules/module.py(1501): _call_impl", STK_PYTHON_FRAMEWORK);
    check_owner("$_clipping.py:104 clip_fn", STK_PYTHON_LIBRARY); // a library's inner module
    check_owner("$__init__.py:4 batches", STK_PYTHON_UNKNOWN);
    check_owner("$graphlib.py:882 _graph_flatten", STK_PYTHON_FRAMEWORK);
    check_owner("_job.py(4): batches", STK_PYTHON_USER);
    check_owner("/tmp/x/_stoker_window.py(199): _drain", STK_PYTHON_LIBRARY);
    check_owner("$_stoker_window.py:199 _drain", STK_PYTHON_LIBRARY);
    check_owner("/opt/venv/lib/python3.11/site-packages/torch/_ops.py(7): f", STK_PYTHON_FRAMEWORK);
    check_owner("/opt/venv/lib/python3.11/site-packages/odd/_ops.py(7): f", STK_PYTHON_LIBRARY);
    check_owner("/usr/lib/python3.11/queue.py(7): get", STK_PYTHON_LIBRARY);
    check_owner("queue.py(7): get", STK_PYTHON_LIBRARY);
    check_owner("<frozen importlib._bootstrap>(7): load", STK_PYTHON_LIBRARY);
    check_owner("nn.Module: Linear_0", STK_PYTHON_FRAMEWORK);
    check_owner("/tmp/torchinductor_root/ov/cov463qh.py(2533): call", STK_PYTHON_FRAMEWORK);
    check_owner("<eval_with_key>.12(4): forward", STK_PYTHON_FRAMEWORK);
    check_owner("<built-in function len>", STK_PYTHON_BUILTIN);
    check_owner("$builtins next", STK_PYTHON_BUILTIN);
    check_owner("$pjit.py:12 call", STK_PYTHON_FRAMEWORK);
    check_owner("$anything.py:12 f", STK_PYTHON_UNKNOWN);
    check_owner("", STK_PYTHON_UNKNOWN);
    check_owner("$", STK_PYTHON_UNKNOWN);
}

static void test_parse(void)
{
    struct stk_python_frame f = stk_python_frame_parse(STK_STR("a (b)/c.py(12): f<(1)>"));
    CHECK(stk_str_eq(f.file, STK_STR("a (b)/c.py")) && stk_str_eq(f.function, STK_STR("f<(1)>")));
    f = stk_python_frame_parse(STK_STR("$c.py:12 <listcomp>"));
    CHECK(stk_str_eq(f.file, STK_STR("c.py")) && stk_str_eq(f.function, STK_STR("<listcomp>")));
    CHECK(!f.is_builtin);
    f = stk_python_frame_parse(STK_STR("$numpy frombuffer"));
    CHECK(stk_str_eq(f.file, STK_STR("numpy")) && f.is_builtin);
    f = stk_python_frame_parse(STK_STR(""));
    CHECK(f.file.n == 0 && f.function.n == 0);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    CHECK_RUN(test_functions);
    CHECK_RUN(test_crossing);
    CHECK_RUN(test_without_steps);
    CHECK_RUN(test_nothing);
    CHECK_RUN(test_owners);
    CHECK_RUN(test_parse);
    return check_done("unit.stats_python");
}
