// SPDX-License-Identifier: Apache-2.0
// The cost of TensorFlow's operations, by type and shapes as recorded in profiles.
#include "check.h"

#include "profile/readers/xplane/xplane_event.h"

static const struct {
    const char *type, *shapes;
    int64_t flops, bytes; // -1: not known
} cases[] = {
    // m x k times k x n, with either side transposed.
    {"MatMul", "(half[384,1024];half[1024,4096])", 2LL * 384 * 1024 * 4096,
     2LL * (384 * 1024 + 1024 * 4096 + 384 * 4096)},
    {"MatMul", "(float[384,1024];float[4096,1024])", 2LL * 384 * 1024 * 4096,
     4LL * (384 * 1024 + 1024 * 4096 + 384 * 4096)},
    {"_FusedMatMul", "(float[64,32];float[64,16];float[16])", 2LL * 64 * 32 * 16,
     4LL * (64 * 32 + 64 * 16 + 32 * 16)},
    {"MatMul", "(float[8,8];float[8,8])", 2LL * 8 * 8 * 8, 4LL * 3 * 64},
    {"BatchMatMulV2", "(half[4,16,384,64];half[4,16,64,384])", 2LL * 64 * 384 * 64 * 384,
     2LL * 64 * (2 * 384 * 64 + 384 * 384)},
    // Two answers, no answer, other batches.
    {"MatMul", "(float[32,8];float[32,8])", -1, -1},
    {"MatMul", "(float[32,8];float[9,7])", -1, -1},
    {"BatchMatMulV2", "(half[4,2,8,8];half[1,2,8,8])", -1, -1},
    {"MatMul", "(half[384,1024];)", -1, -1},
    {"MatMul", "(half[384,?];half[1024,8])", -1, -1},
    // Elementwise: inputs and an output like the largest.
    {"Mul", "(half[4,384,1024];half[])", -1, 2LL * (2 * 4 * 384 * 1024 + 1)},
    {"Relu", "(float[10,10])", -1, 800},
    {"GreaterEqual", "(half[4,8];half[])", -1, 2LL * 33 + 32},
    {"BiasAddGrad", "(float[100,10])", -1, 4000},
    {"Relu", "(resource[])", -1, -1},
    {"Relu", "float[10]", -1, -1},
    {"Relu", "()", -1, -1},
    {"Relu", "(float[9223372036854775807,4])", -1, -1},
    {"Cast", "(float[10,10])", -1, -1},
    {"Conv2D", "(half[8,3,224,224];half[7,7,3,64])", -1, -1},
};

// What applies a gradient says its size: the largest input that is no variable.
static void updates(void)
{
    static const struct {
        const char *op, *shapes;
        int64_t elements, width;
    } rows[] = {
        {"Adam/Adam/update/ResourceApplyAdam:ResourceApplyAdam",
         "(resource[];resource[];resource[];float[];float[];float[];float[];float[];float[];"
         "float[1024,4096])",
         1024 * 4096, 4},
        {"cond/then/_0/sgd/AssignSubVariableOp:AssignSubVariableOp", "(resource[];half[8,3])", 24,
         2},
        {"bn/AssignMovingAvg/AssignSubVariableOp:AssignSubVariableOp", "(resource[];float[64])", -1,
         0},
        {"dense/MatMul:MatMul", "(float[8,8];float[8,8])", -1, 0},
        {"update/ResourceApplyAdam:ResourceApplyAdam", "", -1, 0},
        {"ResourceApplyAdam", "(float[8])", -1, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        int64_t width = 0;
        CHECK_EQ(
            stk_xp_update_elements(stk_str_from(rows[i].op), stk_str_from(rows[i].shapes), &width),
            rows[i].elements);
        CHECK_EQ(width, rows[i].width);
    }
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct stk_launch_config c = STK_LAUNCH_CONFIG_UNKNOWN;
        stk_xp_cost(stk_str_from(cases[i].type), stk_str_from(cases[i].shapes), &c);
        CHECK_EQ(c.flops, cases[i].flops);
        CHECK_EQ(c.bytes, cases[i].bytes);
        if (check_failures) {
            fprintf(stderr, "  so far up to %s %s\n", cases[i].type, cases[i].shapes);
        }
    }
    CHECK_RUN(updates);
    return check_done("unit.xplane_cost");
}
