// SPDX-License-Identifier: Apache-2.0
// Kernels of fewer blocks than the device has multiprocessors: some have nothing to do while they
// run. Where launches' grids and the number of multiprocessors are recorded.
#include "base/human.h"
#include "rules/kernel_rules.h"

enum { FROM, KNOWN };
static const struct stk_threshold thresholds[] = {
    [FROM] = {"multiprocessors without a block", "share of the kernels' time", 0.15,
              "the last blocks of any grid leave some idle"},
    [KNOWN] = {"kernels whose grid is recorded", "share of the kernels' time", 0.5,
               "of the others nothing is known"},
    {0},
};

static const struct stk_rep_fix fixes[] = {
    {"any",
     "Give the device more at a time: a larger batch, longer sequences, or layers of the same "
     "shape in one batched product.",
     NULL},
    {"pytorch", "Let a compiler choose and fuse kernels for these shapes.",
     "model = torch.compile(model, mode='max-autotune')"},
    {"tensorflow", "Larger batches, at the same rate for each sample.",
     "ds = ds.unbatch().batch(4 * batch_size, drop_remainder=True)"},
    {"jax", "Several samples or models at a time.",
     "outputs = jax.vmap(model, in_axes=(None, 0))(parameters, batches)"},
    {"cuda", "Run independent small kernels side by side, on streams of their own.",
     "cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);"},
    {0},
};

static enum stk_rule_state small_grid_check(const struct stk_rule_ctx *ctx,
                                            struct stk_rep_finding *f, const char **why)
{
    const struct stk_kernel_work *k = &ctx->pass.run->facts.kernels;
    char unfilled[STK_HUMAN_MAX];
    if (k->all_ns <= 0 ||
        (double)k->of_known_grid_ns < thresholds[KNOWN].value * (double)k->all_ns) {
        *why = "the profile does not record grids, or not how many multiprocessors there are";
        return STK_RULE_NOT_APPLICABLE;
    }
    double idle = (double)k->unfilled_ns / (double)k->all_ns;
    stk_human_share(idle, unfilled);
    *why = stk_rule_text(ctx, "%s of the multiprocessors' time without a block", unfilled);
    if (idle < thresholds[FROM].value) {
        return STK_RULE_PASSED;
    }
    const char *ignored;
    double of_them = (double)k->unfilled_ns / (double)k->kind_ns[STK_KERNEL_SMALL];
    enum stk_rule_state state =
        stk_rule_check_kernels(ctx, f, STK_KERNEL_SMALL, &thresholds[FROM], of_them,
                               "is in kernels of fewer blocks than multiprocessors", &ignored);
    if (state == STK_RULE_FIRED) {
        stk_finding_say(ctx, f, "while kernels run, %s of the multiprocessors have no block",
                        unfilled);
        stk_finding_raise(f, 0);
    }
    return state;
}

const struct stk_rule stk_rule_small_grid = {
    .id = "small-grid",
    .title = "Kernels are too small to fill the device",
    .fires = "Over the kernels' time, 15 % of the multiprocessors have no block: grids are smaller "
             "than the device.",
    .matters = "Such a kernel takes as long with several times the work: a larger batch costs "
               "little more.",
    .priced = "At most the time of kernels, by the share of multiprocessors that have no block.",
    .quiet = "Profiles that do not record grids; what a kernel's blocks do is not seen.",
    .source = "NVIDIA, CUDA best practices guide: the number of blocks should be larger than that "
              "of multiprocessors.",
    .needs = STK_NEED_BREAKDOWN | STK_NEED_DEVICE,
    .thresholds = thresholds,
    .fixes = fixes,
    .check = small_grid_check,
};
