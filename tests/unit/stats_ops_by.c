// SPDX-License-Identifier: Apache-2.0
// stoker stats ops --by phase, scope, module and stack on small traces whose answers are known:
// TensorFlow's paths, PyTorch's autograd and ranges, what a device's row records, and profiles
// without any of them.
#include "answer.h"
#include "answers/passes/stats/stats_ops_by.h"
#include "xplane_writer.h"

static int64_t cell_of(const struct answer *a, const char *group, const char *column)
{
    size_t r = answer_row(a, 0, group);
    CHECK(r != SIZE_MAX);
    return r == SIZE_MAX ? -1 : answer_cell(a, r, column)->number;
}

static int64_t host_us(const struct answer *a, const char *group)
{
    return cell_of(a, group, "self_ns") / US;
}

static void node(struct synth *s, double start_us, double dur_us, const char *name)
{
    synth_host(s, 2, start_us, dur_us, name, STK_KIND_HOST_OP);
}

static void test_tensorflow_phases(void)
{
    struct answer a;
    answer_begin(&a);
    synth_host(&a.s, MAIN, 0, 5, "IteratorGetNext:IteratorGetNext", STK_KIND_INPUT);
    node(&a.s, 10, 10, "model/dense_1/MatMul:MatMul");
    synth_launch(&a.s, 2, 12, 2, "gemm", 20, 30, S0);
    node(&a.s, 30, 20, "compile_loss/mse/sub:Sub");
    node(&a.s, 60, 30, "gradient_tape/compile_loss/mse/mul:Mul");
    node(&a.s, 100, 40, "ReluGrad:ReluGrad");
    node(&a.s, 150, 50, "adam_2/mul:Mul");
    node(&a.s, 210, 60, "update/ResourceApplyAdam:ResourceApplyAdam");
    node(&a.s, 300, 70, "allreduce/CollectiveReduce:CollectiveReduceV2");
    node(&a.s, 400, 80, "EagerLocalExecute: MatMul"); // of which pass nobody knows
    answer_analyse(&a, &stk_ops_by_phase);
    CHECK_EQ(host_us(&a, "input"), 5);
    CHECK_EQ(host_us(&a, "forward"), 10);
    CHECK_EQ(host_us(&a, "loss"), 20);
    CHECK_EQ(host_us(&a, "backward"), 70);
    CHECK_EQ(host_us(&a, "optimizer"), 110);
    CHECK_EQ(host_us(&a, "communication"), 70);
    CHECK_EQ(cell_of(&a, "forward", "device_ns"), 30 * US);
    CHECK_EQ(cell_of(&a, "forward", "device_ops"), 1);
    CHECK_EQ(a.doc.tables[0].row_count, 7); // and what is not told
    CHECK_EQ(PERCENT(answer_figure(&a, "host_told_share")), 78);
    CHECK_EQ(a.doc.missing_count, 0);
    answer_end(&a);
}

static void test_pytorch_phases(void)
{
    struct answer a;
    answer_begin(&a);
    synth_host(&a.s, MAIN, 0, 40, "aten::linear", STK_KIND_HOST_OP);
    synth_host(&a.s, MAIN, 10, 20, "aten::addmm", STK_KIND_HOST_OP);
    synth_host(&a.s, MAIN, 50, 20, "aten::cross_entropy_loss", STK_KIND_HOST_OP);
    synth_host(&a.s, MAIN, 55, 10, "aten::log_softmax", STK_KIND_HOST_OP);
    synth_host(&a.s, 2, 100, 50, "autograd::engine::evaluate_function: AddmmBackward0",
               STK_KIND_HOST_OP);
    synth_host(&a.s, 2, 110, 30, "aten::mm", STK_KIND_HOST_OP);
    synth_launch(&a.s, 2, 112, 2, "gemm", 130, 70, S0);
    synth_host(&a.s, 2, 150, 6, "CudnnConvolutionBackward", STK_KIND_HOST_OP); // of old releases
    synth_host(&a.s, 2, 151, 4, "aten::cudnn_convolution_backward", STK_KIND_HOST_OP);
    synth_host(&a.s, 2, 160, 3, "ReluBackward1", STK_KIND_HOST_OP);
    synth_host(&a.s, MAIN, 200, 60, "Optimizer.step#Adam.step", STK_KIND_ANNOTATION);
    synth_host(&a.s, MAIN, 210, 25, "aten::mul_", STK_KIND_HOST_OP);
    answer_analyse(&a, &stk_ops_by_phase);
    CHECK_EQ(host_us(&a, "forward"), 40);
    CHECK_EQ(host_us(&a, "loss"), 20);
    CHECK_EQ(host_us(&a, "backward"), 59);
    CHECK_EQ(host_us(&a, "optimizer"), 25);
    CHECK_EQ(cell_of(&a, "backward", "device_ns"), 70 * US);
    CHECK_EQ(PERCENT(answer_figure(&a, "device_told_share")), 100);
    answer_end(&a);
}

// Inference has no phases, and neither has work that nothing is recorded of.
static void test_no_phases(void)
{
    struct answer a;
    answer_begin(&a);
    synth_host(&a.s, MAIN, 0, 40, "aten::linear", STK_KIND_HOST_OP);
    synth_launch(&a.s, MAIN, 10, 2, "gemm", 30, 30, S0);
    answer_analyse(&a, &stk_ops_by_phase);
    CHECK_EQ(a.doc.tables[0].row_count, 1);
    CHECK(!answer_cell(&a, 0, "phase")->known);
    CHECK_EQ(answer_cell(&a, 0, "self_ns")->number, 40 * US);
    CHECK_STR(a.doc.missing[0].what, "phases of the step");
    CHECK(a.doc.inconclusive);
    answer_end(&a);
}

static void test_scopes(void)
{
    struct answer a;
    answer_begin(&a);
    node(&a.s, 0, 10, "model/block/dense/MatMul:MatMul");
    synth_launch(&a.s, 2, 2, 2, "gemm", 20, 100, S0);
    node(&a.s, 20, 20, "model/block/Relu:Relu");
    synth_launch(&a.s, 2, 22, 2, "relu", 130, 40, S0);
    node(&a.s, 50, 5, "Sum:Sum"); // in no scope
    answer_analyse(&a, &stk_ops_by_scope);
    CHECK_EQ(a.doc.tables[0].row_count, 4);
    CHECK_EQ(host_us(&a, "model/block/dense"), 10);
    CHECK_EQ(host_us(&a, "model/block"), 20);
    CHECK_EQ(host_us(&a, "model"), 0);
    CHECK_EQ(cell_of(&a, "model", "within_ns"), 30 * US);
    CHECK_EQ(cell_of(&a, "model", "device_within_ns"), 140 * US);
    CHECK_EQ(cell_of(&a, "model/block", "device_ns"), 40 * US);
    CHECK_EQ(cell_of(&a, "model/block", "device_within_ns"), 140 * US);
    CHECK_EQ(cell_of(&a, "model/block/dense", "device_within_ns"), 100 * US);
    CHECK_EQ(PERCENT(answer_figure(&a, "device_told_share")), 100);
    answer_end(&a);
}

static void python(struct answer *a, double start_us, double dur_us, const char *name)
{
    synth_host(&a->s, MAIN, start_us, dur_us, name, STK_KIND_PYTHON);
}

// A step whose model calls a layer, and an operation outside of all Python.
static void put_calls(struct answer *a)
{
    python(a, 0, 500, "job/train.py(35): train_step");
    python(a, 10, 300, "nn.Module: Net_0");
    python(a, 20, 200, "torch/nn/modules/module.py(1501): _call_impl");
    python(a, 30, 150, "nn.Module: Linear_1");
    synth_host(&a->s, MAIN, 40, 100, "aten::linear", STK_KIND_HOST_OP);
    synth_host(&a->s, MAIN, 50, 60, "aten::addmm", STK_KIND_HOST_OP);
    synth_launch(&a->s, MAIN, 60, 5, "gemm", 200, 70, S0);
    synth_host(&a->s, MAIN, 250, 20, "aten::relu", STK_KIND_HOST_OP);
    python(a, 400, 50, "$loss.py:7 mean");
    synth_host(&a->s, MAIN, 410, 30, "aten::mean", STK_KIND_HOST_OP);
    synth_host(&a->s, 2, 600, 15, "aten::mm", STK_KIND_HOST_OP);
}

static void test_modules(void)
{
    struct answer a;
    answer_begin(&a);
    put_calls(&a);
    answer_analyse(&a, &stk_ops_by_module);
    CHECK_EQ(a.doc.tables[0].row_count, 3);
    CHECK_EQ(host_us(&a, "Net_0/Linear_1"), 100);
    CHECK_EQ(host_us(&a, "Net_0"), 20);
    CHECK_EQ(cell_of(&a, "Net_0", "within_ns"), 120 * US);
    CHECK_EQ(cell_of(&a, "Net_0", "device_within_ns"), 70 * US);
    CHECK_EQ(cell_of(&a, "Net_0/Linear_1", "device_ops"), 1);
    CHECK_EQ(PERCENT(answer_figure(&a, "host_told_share")), 73); // 120 of 165 us
    CHECK_EQ(a.doc.missing_count, 0);
    answer_end(&a);
}

// The user's innermost function: PyTorch's own files lie between, and another file within.
static void test_stacks(void)
{
    struct answer a;
    answer_begin(&a);
    put_calls(&a);
    answer_analyse(&a, &stk_ops_by_stack);
    CHECK_EQ(a.doc.tables[0].row_count, 3);
    CHECK_EQ(host_us(&a, "job/train.py:35 train_step"), 120);
    CHECK_EQ(cell_of(&a, "job/train.py:35 train_step", "device_ns"), 70 * US);
    CHECK_EQ(host_us(&a, "loss.py:7 mean"), 30);
    CHECK_EQ(PERCENT(answer_figure(&a, "host_told_share")), 91); // 150 of 165 us
    answer_end(&a);
}

static void test_no_python(void)
{
    const struct stk_stats *const keys[] = {&stk_ops_by_stack, &stk_ops_by_module};
    for (int k = 0; k < 2; k++) {
        struct answer a;
        answer_begin(&a);
        synth_host(&a.s, MAIN, 0, 40, "aten::linear", STK_KIND_HOST_OP);
        answer_analyse(&a, keys[k]);
        CHECK_EQ(a.doc.tables[0].row_count, 1);
        CHECK(a.doc.inconclusive);
        CHECK(strstr(a.doc.missing[0].remedy, "with_stack=True") != NULL);
        answer_end(&a);
    }
}

// The user's innermost range; steps and frameworks' marks don't count.
static void test_ranges(void)
{
    struct answer a;
    answer_begin(&a);
    synth_step(&a.s, MAIN, 0, 500, 1);
    synth_host(&a.s, MAIN, 0, 200, "encoder", STK_KIND_ANNOTATION);
    synth_host(&a.s, MAIN, 10, 50, "attention", STK_KIND_ANNOTATION);
    synth_host(&a.s, MAIN, 15, 20, "aten::bmm", STK_KIND_HOST_OP);
    synth_host(&a.s, MAIN, 100, 30, "aten::mm", STK_KIND_HOST_OP);
    synth_host(&a.s, MAIN, 300, 50, "Optimizer.step#SGD.step", STK_KIND_ANNOTATION);
    synth_host(&a.s, MAIN, 310, 30, "aten::add_", STK_KIND_HOST_OP);
    answer_analyse(&a, &stk_ops_by_scope);
    CHECK_EQ(host_us(&a, "attention"), 20);
    CHECK_EQ(host_us(&a, "encoder"), 30);
    CHECK_EQ(a.doc.tables[0].row_count, 3);
    CHECK_EQ(PERCENT(answer_figure(&a, "host_told_share")), 63);
    answer_end(&a);
}

static void add_kernel(struct pb *line, int64_t id, int64_t at_us, const char *path)
{
    struct pb event = pb_event(id, at_us * 1000000, 10 * 1000000);
    pb_stat_str(&event, 4, 1, path);
    pb_msg(line, 4, &event);
}

// A device's row says the path itself; where it does not, XLA's program stands for it.
static void test_recorded_paths(void)
{
    struct pb space = {0}, plane = pb_plane("/device:GPU:0"), line = pb_line(1, "Stream #1", 0);
    pb_named(&plane, 5, 1, "tf_op");
    pb_named(&plane, 5, 2, "hlo_module");
    pb_named(&plane, 5, 3, "hlo_op");
    pb_named(&plane, 4, 1, "gemm");
    pb_named(&plane, 4, 2, "fusion");
    add_kernel(&line, 1, 0, "jit(step)/jvp(Net)/Dense_0/dot_general:");
    add_kernel(&line, 1, 20, "jit(step)/transpose(jvp(Net))/Dense_0/dot_general:");
    struct pb event = pb_event(2, 40 * 1000000, 10 * 1000000);
    pb_stat_str(&event, 4, 1, "XlaModule:");
    pb_stat_str(&event, 4, 2, "jit_step");
    pb_stat_str(&event, 4, 3, "fusion.3");
    pb_msg(&line, 4, &event);
    pb_msg(&plane, 3, &line);
    pb_msg(&space, 1, &plane);
    const char *path = file_of(space.p, space.n);
    struct answer a;
    answer_begin(&a);
    answer_read(&a, &stk_ops_by_scope, path);
    answer_analyse(&a, &stk_ops_by_scope);
    CHECK_EQ(cell_of(&a, "jit(step)/jvp(Net)/Dense_0", "device_ns"), 10 * US);
    CHECK_EQ(cell_of(&a, "jit(step)", "device_within_ns"), 20 * US);
    CHECK_EQ(cell_of(&a, "jit_step", "device_ns"), 10 * US);
    answer_end(&a);
    answer_begin(&a);
    answer_read(&a, &stk_ops_by_phase, path);
    answer_analyse(&a, &stk_ops_by_phase);
    CHECK_EQ(cell_of(&a, "forward", "device_ns"), 10 * US);
    CHECK_EQ(cell_of(&a, "backward", "device_ns"), 10 * US);
    CHECK_EQ(PERCENT(answer_figure(&a, "device_told_share")), 67);
    answer_end(&a);
    unlink(path);
    free(space.p);
}

// Dimensions are found at the event's own key alone, however the rest of its arguments is written.
static void test_shapes_found(void)
{
    static const struct {
        const char *args, *shapes; // NULL: none
    } rows[] = {
        {"\"Input Dims\": [[4, 8]]", "[[4,8]]"},
        {"\"Input Dims\":[[4,8]],\"x\":1", "[[4,8]]"},
        {"\"Input dims\": [[4], [], [[2, 2]]]", "[[4],[],[[2,2]]]"},
        {"\"a\":{\"Input Dims\": [[1]]},\"Input Dims\": [[2]]", "[[2]]"},
        {"\"a\":{\"Input Dims\": [[1]]}", NULL},
        {"\"a\":\"\\\"Input Dims\\\": [[1]]\",\"Input Dims\": [[3]]", "[[3]]"},
        {"\"a\":\"Input Dims\",\"Input Dims\" : [[5]]", "[[5]]"},
        {"\"Input Dims\": [[4, -1]]", "[[4,-1]]"},
        {"\"Input Dims\": \"[[4]]\"", NULL},
        {"\"Input Dimsum\": [[4]],\"Input type\":[\"float\"]", NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char json[512], name[128];
        struct answer a;
        int n = snprintf(
            json, sizeof json,
            "{\"schemaVersion\":1,\"traceEvents\":[{\"ph\":\"X\",\"cat\":\"cpu_op\","
            "\"name\":\"aten::mm\",\"pid\":1,\"tid\":1,\"ts\":0,\"dur\":10,\"args\":{%s}}]}",
            rows[i].args);
        snprintf(name, sizeof name, "aten::mm %s", rows[i].shapes ? rows[i].shapes : "");
        answer_begin(&a);
        answer_read(&a, &stk_ops_by_shape, file_of((const uint8_t *)json, (size_t)n));
        answer_analyse(&a, &stk_ops_by_shape);
        CHECK_EQ(PERCENT(answer_figure(&a, "host_told_share")), rows[i].shapes ? 100 : 0);
        if (rows[i].shapes) {
            CHECK_EQ(host_us(&a, name), 10);
        }
        answer_end(&a);
    }
}

// PyTorch's operators with the shapes of their inputs, however they are spaced; device work has
// those of the operator that launched it.
static void test_shapes(void)
{
    static const char json[] = "{\"schemaVersion\":1,\"deviceProperties\":[{\"id\":0,\"name\":"
                               "\"Test GPU\"}],\"traceEvents\":["
                               "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::mm\",\"pid\":"
                               "5000,\"tid\":1,\"ts\":0,\"dur\":10,"
                               "\"args\":{\"Input Dims\":[[32, 64], [64, 10], []]}},"
                               "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":"
                               "\"cudaLaunchKernel\",\"pid\":5000,\"tid\":1,"
                               "\"ts\":2,\"dur\":1,\"args\":{\"correlation\":1}},"
                               "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"gemm\",\"pid\":0,"
                               "\"tid\":7,\"ts\":20,\"dur\":50,"
                               "\"args\":{\"device\":0,\"stream\":7,\"correlation\":1}},"
                               "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::mm\",\"pid\":"
                               "5000,\"tid\":1,\"ts\":80,\"dur\":5,"
                               "\"args\":{\"Input Dims\":[[32,64],[64,10],[]]}},"
                               "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::mm\",\"pid\":"
                               "5000,\"tid\":1,\"ts\":90,\"dur\":7,"
                               "\"args\":{\"Input Dims\":[[8, 64], [64, 10], []]}},"
                               "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::empty\",\"pid\":"
                               "5000,\"tid\":1,\"ts\":99,\"dur\":3}]}";
    struct answer a;
    answer_begin(&a);
    answer_read(&a, &stk_ops_by_shape, file_of((const uint8_t *)json, sizeof json - 1));
    answer_analyse(&a, &stk_ops_by_shape);
    CHECK_EQ(a.doc.tables[0].row_count, 3);
    CHECK_EQ(host_us(&a, "aten::mm [[32,64],[64,10],[]]"), 15);
    CHECK_EQ(host_us(&a, "aten::mm [[8,64],[64,10],[]]"), 7);
    CHECK_EQ(cell_of(&a, "aten::mm [[32,64],[64,10],[]]", "device_ns"), 50 * US);
    CHECK_EQ(PERCENT(answer_figure(&a, "host_told_share")), 88); // 22 of 25 us
    answer_end(&a);
}

// Of TensorFlow, a device's row says type and shapes itself.
static void test_recorded_shapes(void)
{
    struct pb space = {0}, plane = pb_plane("/device:GPU:0"), line = pb_line(1, "Stream #1", 0);
    pb_named(&plane, 5, 1, "tf_op");
    pb_named(&plane, 5, 2, "shape");
    pb_named(&plane, 4, 1, "gemm");
    for (int i = 0; i < 3; i++) {
        struct pb event = pb_event(1, (int64_t)i * 20 * 1000000, 10 * 1000000);
        pb_stat_str(&event, 4, 1, i ? "model/dense/MatMul:MatMul" : "model/out/MatMul:MatMul");
        pb_stat_str(&event, 4, 2, i < 2 ? "(half[4,8];half[8,2])" : "(half[4,8];half[8,9])");
        pb_msg(&line, 4, &event);
    }
    pb_msg(&plane, 3, &line);
    pb_msg(&space, 1, &plane);
    struct answer a;
    answer_begin(&a);
    answer_read(&a, &stk_ops_by_shape, file_of(space.p, space.n));
    free(space.p);
    answer_analyse(&a, &stk_ops_by_shape);
    CHECK_EQ(a.doc.tables[0].row_count, 2);
    CHECK_EQ(cell_of(&a, "MatMul half[4,8];half[8,2]", "device_ns"), 20 * US);
    CHECK_EQ(cell_of(&a, "MatMul half[4,8];half[8,9]", "device_ns"), 10 * US);
    answer_end(&a);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    CHECK_RUN(test_tensorflow_phases);
    CHECK_RUN(test_pytorch_phases);
    CHECK_RUN(test_no_phases);
    CHECK_RUN(test_scopes);
    CHECK_RUN(test_ranges);
    CHECK_RUN(test_recorded_paths);
    CHECK_RUN(test_shapes_found);
    CHECK_RUN(test_shapes);
    CHECK_RUN(test_recorded_shapes);
    CHECK_RUN(test_modules);
    CHECK_RUN(test_stacks);
    CHECK_RUN(test_no_python);
    return check_done("unit.stats_ops_by");
}
