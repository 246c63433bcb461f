// SPDX-License-Identifier: Apache-2.0
// Collectives that compute doesn't overlap, and waiting in them for peers. If one rank causes the
// waiting, the finding straggler reports it, and only the rest counts here. Limit: from a single
// rank, a slow network and a late peer look the same.
#include "base/str.h"
#include "evidence_says.h"
#include "fixes_data.h"
#include "pages_data.h"
#include "answers/rules/all_reduce_rate.h"
#include "answers/rules/pack_signs.h"

enum { DEVICE = STK_FROM_DEVICE, HOST = STK_FROM_HOST, WAITING, MANY, BRIEF, BRIEF_HOST, PACKS };
static const struct stk_threshold thresholds[] = {
    [DEVICE] = {"exposed communication, device", "share of the step", 0.03,
                "the last gradient bucket is always exposed"},
    [HOST] = {"communication, CPU step", "share of the step", 0.15,
              "on a CPU, communication is part of the work"},
    [WAITING] = {"waiting for other ranks", "share of the exposed communication", 0.5,
                 "from half on, the other ranks' pace matters, not the link"},
    [MANY] = {"collectives", "a step", 16, "with buckets of the usual size there are fewer"},
    [BRIEF] = {"a collective, on average, at most", "us", 300,
               "from here, starting it takes longer than sending"},
    [BRIEF_HOST] = {"mean gloo collective, at most", "us", 1000,
                    "starting it takes some hundreds of microseconds"},
    [PACKS] = STK_THRESHOLD_PACK_SIGNS,
    {0},
};

enum {
    FIX_ENGINE,
    FIX_TORCH_MERGE,
    FIX_TF_MERGE,
    FIX_DDP,
    FIX_DDP_HOST,
    FIX_NO_SYNC,
    FIX_FSDP,
    FIX_OWN_CALL,
    FIX_ROOT,
    FIX_TF,
    FIX_TF_CROSS,
    FIX_TF_PACKS,
    FIX_JAX,
    FIX_CUDA,
    FIX_RANKS,
    FIX_BALANCE,
    FIX_EXCHANGE,
    FIX_MPI,
    FIX_LINK,
    FIX_LINK_HOST
};
static const struct stk_rep_fix fixes[] = {
    [FIX_ENGINE] = STK_FIX(communication_exposed_engine),
    [FIX_TORCH_MERGE] = STK_FIX(communication_merge_pytorch),
    [FIX_TF_MERGE] = STK_FIX(communication_merge_tensorflow),
    [FIX_DDP] = STK_FIX(communication_exposed_ddp),
    [FIX_DDP_HOST] = STK_FIX(communication_exposed_ddp_host),
    [FIX_NO_SYNC] = STK_FIX(communication_exposed_no_sync),
    [FIX_FSDP] = STK_FIX(communication_exposed_fsdp),
    [FIX_OWN_CALL] = STK_FIX(communication_exposed_own_call),
    [FIX_ROOT] = STK_FIX(communication_exposed_root),
    [FIX_TF] = STK_FIX(communication_exposed_tf),
    [FIX_TF_CROSS] = STK_FIX(communication_exposed_tf_cross),
    [FIX_TF_PACKS] = STK_FIX(tensorflow_replica_packs),
    [FIX_JAX] = STK_FIX(jax_xla_latency_hiding_scheduler),
    [FIX_CUDA] = STK_FIX(communication_exposed_cuda),
    [FIX_RANKS] = STK_FIX(communication_exposed_ranks),
    [FIX_BALANCE] = STK_FIX(communication_exposed_balance),
    [FIX_EXCHANGE] = STK_FIX(communication_exposed_exchange),
    [FIX_MPI] = STK_FIX(communication_exposed_mpi),
    [FIX_LINK] = STK_FIX(communication_exposed_link),
    [FIX_LINK_HOST] = STK_FIX(communication_exposed_link_host),
    {0},
};

static void say_hidden(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f)
{
    int64_t total = 0, exposed = 0;
    for (uint32_t d = 0; d < ctx->pass.run->device_count; d++) {
        total += ctx->pass.run->devices[d].communication_ns;
        exposed += ctx->pass.run->devices[d].communication_exposed_ns;
    }
    if (total > 0 && exposed <= total) {
        stk_say_collectives_hidden(ctx, f, total, 1 - (double)exposed / (double)total);
    }
}

// Do ranks mostly wait for each other, a different one each time?
static bool are_uneven(const struct stk_rule_ctx *ctx)
{
    const struct stk_run_sum *run = ctx->pass.run;
    return run->rank_count > 1 && !run->straggler.fired &&
           stk_rule_part_share(ctx, STK_PART_COLLECTIVE_WAIT) >=
               thresholds[WAITING].value * stk_rule_group_share(ctx, STK_GROUP_COMMUNICATION);
}

static bool is_mostly(const struct stk_rule_ctx *ctx, const char *const *words)
{
    const struct stk_cause *c = &ctx->pass.run->causes[STK_PART_COMMUNICATION];
    if (c->name_count == 0) {
        c = &ctx->pass.run->causes[STK_PART_COLLECTIVE_WAIT];
    }
    struct stk_str first = stk_str_from(c->name_count ? c->names[0].name : NULL);
    for (; *words; words++) {
        if (stk_str_contains_nocase(first, stk_str_from(*words))) {
            return true;
        }
    }
    return false;
}

// Hundreds of short collectives per step: smaller buckets would only add to them.
static bool are_tiny(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f)
{
    const struct stk_run_sum *run = ctx->pass.run;
    const struct stk_cause *cause = &run->causes[STK_PART_COMMUNICATION];
    double steps = run->step_marks > 0 ? run->step_marks : 1, count = 0, ns = 0;
    for (uint32_t r = 0; r < run->rank_count; r++) {
        const struct stk_rank_sum *rank = run->ranks[r];
        bool on_host = rank->collective_count == 0;
        const struct stk_collective *list = on_host ? rank->host_collectives : rank->collectives;
        uint32_t n = on_host ? rank->host_collective_count : rank->collective_count;
        for (uint32_t i = 0; i < n; i++) {
            ns += (double)list[i].dur_ns;
        }
        count += n;
    }
    count = count > 0 ? count / run->rank_count : cause->intervals / (double)run->rank_count;
    ns = (ns > 0 ? ns : (double)cause->ns) / run->rank_count;
    if (count < thresholds[MANY].value * steps ||
        ns > thresholds[stk_rule_on_host(ctx) ? BRIEF_HOST : BRIEF].value * 1e3 * count) {
        return false;
    }
    stk_say_collectives_are_short(ctx, f, (uint64_t)(count / steps), (int64_t)(ns / count));
    return true;
}

// If late ranks cause the rest, the network doesn't: other buckets would change nothing.
static void choose_torch(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f, bool shards)
{
    bool on_host = stk_rule_on_host(ctx);
    if (!ctx->pass.run->straggler.fired && !are_uneven(ctx)) {
        stk_finding_fix(ctx, f, &fixes[on_host ? FIX_DDP_HOST : FIX_DDP]);
    }
    stk_finding_fix(ctx, f, &fixes[FIX_NO_SYNC]);
    if (!shards && (!on_host || ctx->pass.run->facts.signs[STK_SIGN_FSDP].count > 0)) {
        stk_finding_fix(ctx, f, &fixes[FIX_FSDP]);
    }
}

// At its link's rate, a collective can't get shorter without fewer bytes.
static bool say_bound(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f,
                      const struct stk_all_reduce_rate *r)
{
    if (stk_all_reduce_is_at_bound(r)) {
        stk_say_all_reduce_at_bound(ctx, f, r->rate, r->link, r->link_bytes > 0);
    }
    return stk_all_reduce_say_way(ctx, f, r);
}

// Chooses by the collective that takes most of the time, and by what issues it. Advice of
// all-reduce-slow isn't repeated.
static void comm_exposed_choose_fixes(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f,
                                      bool are_small)
{
    static const char *const exchange[] = {"SendRecv", "AllToAll", "all_to_all", "all-to-all",
                                           NULL};
    static const char *const shards[] = {
        "AllGather",      "all_gather",     "all-gather", "ReduceScatter",
        "reduce_scatter", "reduce-scatter", NULL};
    static const char *const mpi[] = {"MPI_", NULL};
    static const char *const root[] = {":broadcast", ":reduce", NULL};
    const struct stk_sign_sum *signs = ctx->pass.run->facts.signs;
    bool shard = is_mostly(ctx, shards);
    bool to_one = !shard && stk_rule_on_host(ctx) && is_mostly(ctx, root) &&
                  signs[STK_SIGN_DDP].count == 0 && signs[STK_SIGN_FSDP].count == 0;
    bool is_own = shard && stk_rule_on_host(ctx) && signs[STK_SIGN_FSDP].count == 0;
    if (is_mostly(ctx, mpi)) {
        stk_finding_fix(ctx, f, &fixes[FIX_MPI]);
    } else if (is_mostly(ctx, exchange)) {
        stk_finding_fix(ctx, f, &fixes[FIX_EXCHANGE]);
    } else if (shard) {
        stk_finding_fix(ctx, f, &fixes[is_own ? FIX_OWN_CALL : FIX_FSDP]);
    }
    if (signs[STK_SIGN_ENGINE].count > 0) {
        stk_finding_fix(ctx, f, &fixes[FIX_ENGINE]);
        return;
    }
    if (to_one) {
        stk_finding_fix(ctx, f, &fixes[FIX_ROOT]);
    } else if (!shard && are_small) {
        stk_finding_fix(ctx, f, &fixes[FIX_NO_SYNC]);
    } else if (!shard && are_tiny(ctx, f)) {
        stk_finding_fix(ctx, f, &fixes[FIX_TORCH_MERGE]);
        stk_finding_fix(ctx, f, &fixes[FIX_TF_MERGE]);
    } else if (!is_own) { // otherwise DDP isn't the cause
        choose_torch(ctx, f, shard);
        if (!ctx->pass.run->straggler.fired && !are_uneven(ctx)) {
            stk_finding_fix(ctx, f, &fixes[FIX_TF]);
        }
    }
    stk_finding_fix(ctx, f, &fixes[FIX_JAX]);
    stk_finding_fix(ctx, f, &fixes[FIX_CUDA]);
}

// MirroredStrategy and the like: one process drives several devices.
static bool has_several_devices(const struct stk_rule_ctx *ctx)
{
    const struct stk_run_sum *run = ctx->pass.run;
    for (uint32_t r = 0; r < run->rank_count; r++) {
        uint32_t busy = 0;
        for (uint32_t d = 0; d < run->ranks[r]->device_count; d++) {
            busy += run->ranks[r]->devices[d].communication_ns > 0;
        }
        if (busy > 1) {
            return true;
        }
    }
    return false;
}

static enum stk_rule_state comm_exposed_check(const struct stk_rule_ctx *ctx,
                                              struct stk_rep_finding *f, const char **why)
{
    const struct stk_run_sum *run = ctx->pass.run;
    uint32_t parts = stk_rule_group_parts(STK_GROUP_COMMUNICATION);
    if (run->straggler.fired) {
        parts &= ~(1u << STK_PART_COLLECTIVE_WAIT);
    }
    enum stk_rule_state state = stk_rule_check_share(ctx, f, parts, thresholds, why);
    if (state != STK_RULE_FIRED) {
        return state;
    }
    struct stk_all_reduce_rate rate;
    stk_all_reduce_rate_find(ctx, &rate);
    bool is_slow = stk_all_reduce_is_slow(ctx, &rate);
    stk_finding_causes(ctx, f, parts);
    say_hidden(ctx, f);
    bool goes_another_way = !is_slow && say_bound(ctx, f, &rate);
    if (!stk_rule_on_host(ctx) && run->rank_count < 2) {
        stk_say_peers_not_recorded(ctx, f);
    }
    if (are_uneven(ctx)) {
        f->title = "Ranks wait for each other in collectives";
        stk_finding_fix(ctx, f, &fixes[FIX_BALANCE]);
    }
    if (stk_pack_signs_say(ctx, f, &thresholds[PACKS])) {
        stk_finding_fix(ctx, f, &fixes[FIX_TF_PACKS]);
    }
    if (has_several_devices(ctx)) {
        stk_finding_fix(ctx, f, &fixes[FIX_TF_CROSS]);
    }
    comm_exposed_choose_fixes(ctx, f, is_slow && stk_all_reduce_is_small(&rate));
    if (run->rank_count < 2) {
        stk_finding_fix(ctx, f, &fixes[FIX_RANKS]);
    } else if (!are_uneven(ctx) && !is_slow && !stk_all_reduce_is_at_bound(&rate)) {
        stk_finding_fix(ctx, f, &fixes[stk_rule_on_host(ctx) ? FIX_LINK_HOST : FIX_LINK]);
    }
    if (goes_another_way && (run->rank_count < 2 || stk_all_reduce_is_at_bound(&rate))) {
        stk_finding_fix(ctx, f, &fixes[FIX_LINK]);
    }
    return STK_RULE_FIRED;
}

const struct stk_rule stk_rule_comm_exposed = {
    .page = STK_PAGE(comm_exposed),
    .needs = STK_NEED_BREAKDOWN,
    .verdicts = 1u << STK_VERDICT_COMMUNICATION,
    .thresholds = thresholds,
    .fixes = fixes,
    .check = comm_exposed_check,
};
