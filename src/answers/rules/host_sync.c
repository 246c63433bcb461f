// SPDX-License-Identifier: Apache-2.0
// The host waits for the device, and the device then waits for the host. Only the idle time that
// follows counts: a host that waits while the device works costs nothing.
#include "evidence_says.h"
#include "fixes_data.h"
#include "pages_data.h"
#include "answers/rules/torch_signs.h"

enum { DEVICE = STK_FROM_DEVICE, HOST = STK_FROM_HOST };
static const struct stk_threshold thresholds[] = {
    [DEVICE] = {"idle after a blocking call, device", "share of the step", 0.02,
                "reading one value per step costs about a launch; more is worth a look"},
    [HOST] = {"blocking calls, CPU step", "share of the step", 0.15,
              "on a CPU, waiting for workers is part of the work"},
    {0},
};

enum {
    FIX_ITEM,
    FIX_SHAPE,
    FIX_TORCH_SYNC,
    FIX_TORCH_COPY,
    FIX_TORCH_FIND,
    FIX_TF,
    FIX_JAX,
    FIX_JAX_FIND,
    FIX_CUDA,
    FIX_FREE
};
static const struct stk_rep_fix fixes[] = {
    [FIX_ITEM] = STK_FIX(host_sync_item),
    [FIX_SHAPE] = STK_FIX(host_sync_shape),
    [FIX_TORCH_SYNC] = STK_FIX(host_sync_torch_sync),
    [FIX_TORCH_COPY] = STK_FIX(host_sync_torch_copy),
    [FIX_TORCH_FIND] = STK_FIX(host_sync_torch_find),
    [FIX_TF] = STK_FIX(host_sync_tf),
    [FIX_JAX] = STK_FIX(host_sync_jax),
    [FIX_JAX_FIND] = STK_FIX(host_sync_jax_find),
    [FIX_CUDA] = STK_FIX(host_sync_cuda),
    [FIX_FREE] = STK_FIX(host_sync_free),
    {0},
};

static bool host_sync_is_named(const struct stk_rule_ctx *ctx, const char *const *words)
{
    return stk_rule_cause_names_any(ctx, STK_PART_SYNC, words);
}

static void host_sync_choose_fixes(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f)
{
    static const char *const item[] = {"item", "_local_scalar_dense", "is_nonzero", "print", NULL};
    static const char *const shape[] = {"nonzero", "masked_select", "unique", "aten::index", NULL};
    static const char *const device[] = {"DeviceSynchronize", "CtxSynchronize",
                                         "torch.cuda.synchronize", NULL};
    static const char *const copy[] = {"memcpy", "aten::to", "aten::copy_", "_to_copy", NULL};
    static const char *const release[] = {"cudaFree", "hipFree", "cuMemFree", NULL};
    if (host_sync_is_named(ctx, item)) {
        stk_finding_fix(ctx, f, &fixes[FIX_ITEM]);
    }
    if (host_sync_is_named(ctx, shape)) {
        stk_finding_fix(ctx, f, &fixes[FIX_SHAPE]);
    }
    if (host_sync_is_named(ctx, device)) {
        stk_finding_fix(ctx, f, &fixes[FIX_TORCH_SYNC]);
    }
    if (host_sync_is_named(ctx, copy)) {
        stk_finding_fix(ctx, f, &fixes[FIX_TORCH_COPY]);
    }
    if (host_sync_is_named(ctx, release)) {
        stk_finding_fix(ctx, f, &fixes[FIX_FREE]);
    }
    for (int i = FIX_TORCH_FIND; i < FIX_FREE; i++) {
        stk_finding_fix(ctx, f, &fixes[i]);
    }
}

static enum stk_rule_state host_sync_check(const struct stk_rule_ctx *ctx,
                                           struct stk_rep_finding *f, const char **why)
{
    const struct stk_facts *facts = &ctx->pass.run->facts;
    enum stk_rule_state state = stk_rule_check_share(ctx, f, 1u << STK_PART_SYNC, thresholds, why);
    if (state != STK_RULE_FIRED) {
        return state;
    }
    stk_finding_cause(ctx, f, STK_PART_SYNC);
    if (facts->sync_calls > 0) {
        stk_say_blocking_calls(ctx, f, facts->sync_calls, facts->sync_call_ns);
    }
    stk_torch_signs_choose(ctx, f);
    host_sync_choose_fixes(ctx, f);
    return STK_RULE_FIRED;
}

const struct stk_rule stk_rule_host_sync = {
    .page = STK_PAGE(host_sync),
    .whatif = "no-sync",
    .needs = STK_NEED_BREAKDOWN,
    .verdicts = 1u << STK_VERDICT_SYNC,
    .thresholds = thresholds,
    .fixes = fixes,
    .check = host_sync_check,
};
