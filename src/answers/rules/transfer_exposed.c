// SPDX-License-Identifier: Apache-2.0
// Copies that aren't overlapped with the device's work. Distinguishes directions, pageable memory,
// many small copies, and a TPU that waits for data in host memory. Limit: whether memory is pinned
// is unknown for ROCm and for old TensorFlow profiles.
#include "evidence_says.h"
#include "fixes_data.h"
#include "pages_data.h"
#include "answers/rules/finding.h"

enum { DEVICE = STK_FROM_DEVICE, HOST = STK_FROM_HOST, DIRECTION, PAGEABLE, MANY };
static const struct stk_threshold thresholds[] = {
    [DEVICE] = {"exposed copies, device", "share of the step", 0.02,
                "well-fed GPUs overlap copies with kernels"},
    [HOST] = {"exposed copies, CPU step", "share of the step", 0.15,
              "as for every share of a CPU step"},
    [DIRECTION] = {"one direction", "share of the exposed copies", 0.2,
                   "below it, advice for one direction misses the point"},
    [PAGEABLE] = {"pageable copies", "share of the time of copies", 0.2,
                  "many small pageable copies (a loss, a counter) take next to no time"},
    [MANY] = {"copies", "copies per step", 100,
              "each copy costs the CPU 5 to 10 us, so 100 cost a millisecond"},
    {0},
};

enum {
    FIX_TPU,
    FIX_TORCH_PIN,
    FIX_TF_AHEAD,
    FIX_JAX_AHEAD,
    FIX_CUDA_PIN,
    FIX_TORCH_BACK,
    FIX_BACK,
    FIX_MERGE,
    FIX_PEERS,
    FIX_WITHIN,
    FIX_SMALLER,
    FIX_OFFLOAD
};
static const struct stk_rep_fix fixes[] = {
    [FIX_TPU] = STK_FIX(transfer_exposed_tpu),
    [FIX_TORCH_PIN] = STK_FIX(transfer_exposed_torch_pin),
    [FIX_TF_AHEAD] = STK_FIX(transfer_exposed_tf_ahead),
    [FIX_JAX_AHEAD] = STK_FIX(transfer_exposed_jax_ahead),
    [FIX_CUDA_PIN] = STK_FIX(transfer_exposed_cuda_pin),
    [FIX_TORCH_BACK] = STK_FIX(transfer_exposed_torch_back),
    [FIX_BACK] = STK_FIX(transfer_exposed_back),
    [FIX_MERGE] = STK_FIX(transfer_exposed_merge),
    [FIX_PEERS] = STK_FIX(transfer_exposed_peers),
    [FIX_WITHIN] = STK_FIX(transfer_exposed_within),
    [FIX_SMALLER] = STK_FIX(transfer_exposed_smaller),
    [FIX_OFFLOAD] = STK_FIX(transfer_exposed_offload),
    {0},
};

static bool is_copied(const struct stk_rule_ctx *ctx, enum stk_part part)
{
    double share = stk_rule_part_share(ctx, part);
    return share > 0 &&
           share >= thresholds[DIRECTION].value * stk_rule_group_share(ctx, STK_GROUP_TRANSFER);
}

// By time, not by count.
static bool is_pageable(const struct stk_facts *f)
{
    return f->pageable_copies > 0 &&
           (double)f->pageable_copy_ns >= thresholds[PAGEABLE].value * (double)f->copy_ns;
}

static bool is_pinned(const struct stk_facts *f)
{
    return f->pinned_copies > 0 && !is_pageable(f);
}

// Copies inside of devices, or between them, take more of the step than those to and from the host.
static bool is_among_devices(const struct stk_rule_ctx *ctx)
{
    return stk_rule_part_share(ctx, STK_PART_D2D) >
           stk_rule_part_share(ctx, STK_PART_H2D) + stk_rule_part_share(ctx, STK_PART_D2H);
}

// Do copies between devices take more than those within one? If neither is known, a single device
// has none to exchange data with.
static bool is_between_devices(const struct stk_rule_ctx *ctx)
{
    int64_t between = ctx->pass.run->device_count > 1, inside = 0;
    for (uint32_t d = 0; d < ctx->pass.run->device_count; d++) {
        between += ctx->pass.run->devices[d].p2p_ns;
        inside += ctx->pass.run->devices[d].d2d_ns;
    }
    return between > inside;
}

static bool many_copies(const struct stk_rule_ctx *ctx)
{
    const struct stk_run_sum *run = ctx->pass.run;
    double steps = run->step_marks > 0 ? run->step_marks : 1;
    return (double)run->facts.copies >= thresholds[MANY].value * steps;
}

static int64_t exposed_ns(const struct stk_rule_ctx *ctx)
{
    int64_t ns = 0;
    for (uint32_t d = 0; d < ctx->pass.run->device_count; d++) {
        ns += ctx->pass.run->devices[d].transfer_exposed_ns;
    }
    return ns;
}

// Does the host take longer to lay the data out than the link to copy it?
static bool is_staged(const struct stk_rule_ctx *ctx)
{
    int64_t copies_ns = exposed_ns(ctx);
    return copies_ns > 0 && ctx->pass.run->parts[STK_PART_H2D] > 2 * copies_ns;
}

static void say_memory(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f)
{
    const struct stk_facts *facts = &ctx->pass.run->facts;
    if (is_among_devices(ctx)) {
        return; // the host's memory isn't involved
    }
    if (is_pinned(facts) && is_staged(ctx)) {
        stk_say_pinned_filled_first(ctx, f, facts->pinned_copies);
    } else if (is_pinned(facts)) {
        stk_say_copies_pinned(ctx, f, facts->pinned_copies);
    } else if (facts->pageable_copies > 0) {
        stk_say_copies_pageable(ctx, f, facts->pageable_copies, facts->copies,
                                facts->pageable_bytes, facts->pageable_copy_ns);
    }
}

static void say_overlap(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f)
{
    int64_t total = 0, exposed = exposed_ns(ctx);
    for (uint32_t d = 0; d < ctx->pass.run->device_count; d++) {
        const struct stk_device_sum *dev = &ctx->pass.run->devices[d];
        total += dev->h2d_ns + dev->d2h_ns + dev->d2d_ns + dev->p2p_ns;
    }
    if (total > 0 && exposed > 0) {
        stk_say_copies_not_hidden(ctx, f, total, exposed < total ? exposed : total);
    }
}

static void transfer_exposed_choose_fixes(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f)
{
    bool up = is_copied(ctx, STK_PART_H2D), down = is_copied(ctx, STK_PART_D2H);
    bool pinned = is_pinned(&ctx->pass.run->facts), among = is_among_devices(ctx);
    int device_fix = is_between_devices(ctx) ? FIX_PEERS : FIX_WITHIN;
    if (among) {
        stk_finding_fix(ctx, f, &fixes[device_fix]);
    }
    if (up && pinned) {
        stk_finding_fix(ctx, f, &fixes[FIX_OFFLOAD]);
    }
    if (up && !pinned) {
        stk_finding_fix(ctx, f, &fixes[FIX_TORCH_PIN]);
        stk_finding_fix(ctx, f, &fixes[FIX_CUDA_PIN]);
    }
    if (up) {
        stk_finding_fix(ctx, f, &fixes[FIX_TF_AHEAD]);
        stk_finding_fix(ctx, f, &fixes[FIX_JAX_AHEAD]);
    }
    if (down) {
        stk_finding_fix(ctx, f, &fixes[FIX_TORCH_BACK]);
    }
    if (many_copies(ctx) && !among) {
        stk_finding_fix(ctx, f, &fixes[FIX_MERGE]);
    }
    if (up) {
        stk_finding_fix(ctx, f, &fixes[FIX_SMALLER]);
    }
    if (down) {
        stk_finding_fix(ctx, f, &fixes[FIX_BACK]);
    }
    if (!among && is_copied(ctx, STK_PART_D2D)) {
        stk_finding_fix(ctx, f, &fixes[device_fix]);
    }
}

static enum stk_rule_state transfer_exposed_check(const struct stk_rule_ctx *ctx,
                                                  struct stk_rep_finding *f, const char **why)
{
    uint32_t parts = stk_rule_group_parts(STK_GROUP_TRANSFER);
    enum stk_rule_state state = stk_rule_check_share(ctx, f, parts, thresholds, why);
    if (state != STK_RULE_FIRED) {
        return state;
    }
    stk_finding_causes(ctx, f, parts);
    if (stk_rule_on_tpu(ctx)) {
        f->title = "The TPU waits for copies";
        stk_finding_fix(ctx, f, &fixes[FIX_TPU]);
        stk_finding_fix(ctx, f, &fixes[FIX_JAX_AHEAD]);
        stk_finding_fix(ctx, f, &fixes[FIX_OFFLOAD]);
        return STK_RULE_FIRED;
    }
    say_memory(ctx, f);
    say_overlap(ctx, f);
    transfer_exposed_choose_fixes(ctx, f);
    return STK_RULE_FIRED;
}

const struct stk_rule stk_rule_transfer_exposed = {
    .page = STK_PAGE(transfer_exposed),
    .whatif = "transfer-overlap",
    .needs = STK_NEED_BREAKDOWN,
    .verdicts = 1u << STK_VERDICT_TRANSFER,
    .thresholds = thresholds,
    .fixes = fixes,
    .check = transfer_exposed_check,
};
