// SPDX-License-Identifier: Apache-2.0
// Matrix products and convolutions in fp32 while tensor cores are idle, recognized by kernel names
// (profile/model/device/kernel_names.c); unclear names don't count. If other products of the job
// compute in 16 bits, mixed precision is on, and these fell back from it.
#include "evidence_says.h"
#include "fixes_data.h"
#include "pages_data.h"
#include "profile/model/device/device_rates.h"
#include "answers/rules/kernel_rules.h"

enum { FROM, MIXED };
static const struct stk_threshold thresholds[] = {
    [FROM] = {"products that don't use tensor cores", "share of the kernels' time", 0.10,
              "less isn't worth another precision"},
    [MIXED] = {"products in 16 bits or fewer", "share of the kernels' time", 0.05,
               "from here, mixed precision is on, and these products are left out of it"},
    {0},
};

enum { FIX_FIRST, FIX_LAST = FIX_FIRST + 3, FIX_MIXED, FIX_MIXED_LAST = FIX_MIXED + 3 };
static const struct stk_rep_fix fixes[] = {
    STK_FIX(tensor_cores_unused_torch),
    STK_FIX(tensor_cores_unused_tf),
    STK_FIX(tensor_cores_unused_jax),
    STK_FIX(tensor_cores_unused_cublas),
    STK_FIX(tensor_cores_unused_torch_left_out),
    STK_FIX(tensor_cores_unused_tf_left_out),
    STK_FIX(tensor_cores_unused_jax_left_out),
    STK_FIX(tensor_cores_unused_look),
    {0},
};

// Reports if most of the possible work already computes in 16 bits.
static bool say_mixed(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f)
{
    const struct stk_kernel_work *k = &ctx->pass.run->facts.kernels;
    double low = (double)k->kind_ns[STK_KERNEL_LOW] / (double)k->all_ns;
    if (low < thresholds[MIXED].value) {
        return false;
    }
    f->title = "Some matrix products fall back to fp32";
    stk_say_products_of_16_bits(ctx, f, low);
    return true;
}

// How many times faster the products could be, by the peaks of the fastest device; 0: not known.
static double times_faster(const struct stk_rule_ctx *ctx)
{
    static const struct stk_device_limits unknown;
    double best = 0;
    for (uint32_t d = 0; d < ctx->pass.run->device_count; d++) {
        const char *name = ctx->pass.run->devices[d].name;
        struct stk_device_rates r = stk_device_rates_of(stk_str_from(name ? name : ""), &unknown);
        double matrix = r.bf16 > r.fp16 ? r.bf16 : r.fp16;
        matrix = r.tf32 > matrix ? r.tf32 : matrix;
        double times = r.fp32 > 0 ? matrix / r.fp32 : 0;
        best = times > best ? times : best;
    }
    return best;
}

static enum stk_rule_state tensor_cores_unused_check(const struct stk_rule_ctx *ctx,
                                                     struct stk_rep_finding *f, const char **why)
{
    double times = times_faster(ctx);
    if (times <= 0) {
        *why = "the GPU's rates aren't known";
        return STK_RULE_NOT_APPLICABLE;
    }
    if (times < 2) {
        *why = "the GPU has no units that compute products faster in lower precision";
        return STK_RULE_NOT_APPLICABLE;
    }
    enum stk_rule_state state =
        stk_rule_check_kernels(ctx, f, STK_KERNEL_PLAIN, &thresholds[FROM], 1 - 1 / times,
                               "is in fp32 products that could run on tensor cores", why);
    if (state == STK_RULE_FIRED) {
        bool mixed = say_mixed(ctx, f);
        for (int i = mixed ? FIX_MIXED : FIX_FIRST; i <= (mixed ? FIX_MIXED_LAST : FIX_LAST); i++) {
            stk_finding_fix(ctx, f, &fixes[i]);
        }
    }
    return state;
}

const struct stk_rule stk_rule_tensor_cores_unused = {
    .page = STK_PAGE(tensor_cores_unused),
    .whatif = "precision=bf16",
    .needs_saving = true,
    .needs = STK_NEED_BREAKDOWN | STK_NEED_DEVICE,
    .thresholds = thresholds,
    .fixes = fixes,
    .check = tensor_cores_unused_check,
};
