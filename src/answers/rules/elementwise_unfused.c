// SPDX-License-Identifier: Apache-2.0
// Consecutive elementwise kernels on a stream: each reads the previous one's result from memory,
// while a single compiled kernel would keep it in registers.
#include "fixes_data.h"
#include "pages_data.h"
#include "answers/rules/kernel_rules.h"

enum { FROM };
static const struct stk_threshold thresholds[] = {
    [FROM] = {"elementwise kernels in chains", "share of the kernels' time", 0.15,
              "a compiler may leave as much"},
    {0},
};

enum { FIX_TORCH, FIX_TORCH_TRAIN, FIX_TORCH_COMPILED, FIX_TF, FIX_JAX, FIX_CUDA };
static const struct stk_rep_fix fixes[] = {
    [FIX_TORCH] = STK_FIX(elementwise_unfused_torch),
    [FIX_TORCH_TRAIN] = STK_FIX(elementwise_unfused_torch_train),
    [FIX_TORCH_COMPILED] = STK_FIX(elementwise_unfused_torch_compiled),
    [FIX_TF] = STK_FIX(elementwise_unfused_tf),
    [FIX_JAX] = STK_FIX(elementwise_unfused_jax),
    [FIX_CUDA] = STK_FIX(elementwise_unfused_cuda),
    {0},
};

// In a compiled model the chains are outside the compiled graphs; a fused optimizer helps if an
// optimizer was seen.
static int fix_of_torch(const struct stk_facts *facts)
{
    bool trains = facts->sees_training || !facts->sees_operators;
    return facts->signs[STK_SIGN_COMPILED].count > 0 ? FIX_TORCH_COMPILED
           : trains                                  ? FIX_TORCH_TRAIN
                                                     : FIX_TORCH;
}

static enum stk_rule_state elementwise_unfused_check(const struct stk_rule_ctx *ctx,
                                                     struct stk_rep_finding *f, const char **why)
{
    enum stk_rule_state state =
        stk_rule_check_kernels(ctx, f, STK_KERNEL_CHAINED, &thresholds[FROM], 1,
                               "is elementwise kernels that run in a row", why);
    if (state == STK_RULE_FIRED) {
        stk_finding_fix(ctx, f, &fixes[fix_of_torch(&ctx->pass.run->facts)]);
        for (int i = FIX_TF; i <= FIX_CUDA; i++) {
            stk_finding_fix(ctx, f, &fixes[i]);
        }
    }
    return state;
}

const struct stk_rule stk_rule_elementwise_unfused = {
    .page = STK_PAGE(elementwise_unfused),
    .whatif = "fuse",
    .needs_saving = true,
    .needs = STK_NEED_BREAKDOWN | STK_NEED_DEVICE,
    .thresholds = thresholds,
    .fixes = fixes,
    .check = elementwise_unfused_check,
};
