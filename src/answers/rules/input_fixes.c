// SPDX-License-Identifier: Apache-2.0
// Advice for a step that waits for its input, by evidence: the kind of loader, whether it has
// workers, the limiting stage (model's slow_stage), and whether Python makes the elements. A
// parallel pipeline isn't advised to be parallel, nor one with a buffer to add one. stoker.data
// reports itself what limits it (pipeline_limit.c).
#include <string.h>

#include "base/assert.h"
#include "profile/model/input/input_kinds.h"
#include "answers/rules/input_fixes.h"
#include "answers/rules/input_makers.h"
#include "evidence_says.h"

static void fix(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f, int which)
{
    STK_ASSERT(which >= 0);
    stk_finding_fix(ctx, f, &stk_input_fixes[which]);
}

// tf.data's batching stages; tf.data merges map and batch into MapAndBatch.
static bool makes_batches(const char *stage)
{
    return strstr(stk_input_stage_itself(stage), "Batch") &&
           !strstr(stk_input_stage_itself(stage), "Unbatch");
}

static double share_of(int64_t ns, int64_t all_ns)
{
    return all_ns > 0 ? (double)ns / (double)all_ns : 0;
}

static void say_workers(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f)
{
    const struct stk_worker_sum *w = &ctx->pass.run->workers;
    stk_say_workers_at_work(ctx, f, w->workers, share_of(w->batch_ns, w->wall_ns));
    if (w->items > 0) {
        stk_say_worker_makes_item(ctx, f, w->item_ns / (int64_t)w->items,
                                  w->item ? stk_rule_owner(ctx, w->item) : NULL,
                                  share_of(w->item_ns, w->batch_ns));
    }
    if (w->collate_ns > 0 && w->batches > 0) {
        stk_say_worker_collates(ctx, f, w->collate_ns / (int64_t)w->batches,
                                share_of(w->collate_ns, w->batch_ns));
    }
}

static int worker_fix(const struct stk_rule_ctx *ctx)
{
    const struct stk_worker_sum *w = &ctx->pass.run->workers;
    if (w->workers == 0) {
        return STK_INPUT_FIX_TRACE_WORKERS;
    }
    if (share_of(w->batch_ns, w->wall_ns) < stk_input_thresholds[STK_INPUT_FROM_BUSY].value) {
        return STK_INPUT_FIX_HAND_OVER;
    }
    bool collates =
        share_of(w->collate_ns, w->batch_ns) >= stk_input_thresholds[STK_INPUT_FROM_COLLATE].value;
    return collates ? STK_INPUT_FIX_COLLATE : STK_INPUT_FIX_ITEM;
}

bool stk_input_is_handing(const struct stk_rule_ctx *ctx)
{
    const struct stk_facts *facts = &ctx->pass.run->facts;
    return facts->own_batches > 0 && share_of(facts->own_handing_ns, facts->loader_fetch_ns) >=
                                         stk_input_thresholds[STK_INPUT_FROM_HANDING].value;
}

// A batch's calls, if they are many, and why workers wouldn't pay off.
static void say_calls(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f)
{
    const struct stk_facts *facts = &ctx->pass.run->facts;
    if (stk_input_many_calls(ctx)) {
        stk_say_batch_of_many_calls(ctx, f, facts->fetch_ops / facts->loader_fetches,
                                    share_of(facts->fetch_fine_ns, facts->loader_fetch_ns));
    }
    if (!stk_input_workers_pay(ctx)) {
        uint64_t n = facts->fetch_stacks / facts->loader_fetches;
        stk_say_workers_would_hand_over(
            ctx, f, (int64_t)stk_input_thresholds[STK_INPUT_FROM_TENSOR].value * 1000,
            n > 1 ? n : (uint64_t)STK_NOT_KNOWN);
    }
}

// Most of the fetches' time is the sampler's, which no worker takes over.
static void choose_sampler(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f)
{
    const struct stk_facts *facts = &ctx->pass.run->facts;
    stk_say_sampler_draws(ctx, f, share_of(facts->fetch_draw_ns, facts->loader_fetch_ns));
    fix(ctx, f, STK_INPUT_FIX_SAMPLER);
}

// The loader is fast, but the job's own work on a batch before the step isn't.
static void choose_own_torch(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f)
{
    const struct stk_facts *facts = &ctx->pass.run->facts;
    double steps = ctx->pass.run->step_marks > 0 ? ctx->pass.run->step_marks : 1;
    if ((double)facts->prep_ops >= stk_input_thresholds[STK_INPUT_FROM_OPS].value * steps) {
        stk_say_operators_before_model(ctx, f, (uint64_t)((double)facts->prep_ops / steps));
        fix(ctx, f, STK_INPUT_FIX_TORCH_OWN_SAMPLES);
    }
    fix(ctx, f, STK_INPUT_FIX_OWN_CODE);
}

static void choose_torch(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f, bool even)
{
    const struct stk_facts *facts = &ctx->pass.run->facts;
    bool has_workers = stk_input_has_workers(ctx), is_alone = stk_input_is_alone(ctx);
    bool many = stk_input_many_calls(ctx);
    if (stk_input_makes_loader_iterators(ctx)) {
        stk_say_loader_iterators(ctx, f, facts->signs[STK_SIGN_LOADER_ITERATOR].count);
        fix(ctx, f, STK_INPUT_FIX_TORCH_ITERATOR);
        return;
    }
    if (stk_input_is_drawing(ctx)) {
        choose_sampler(ctx, f);
        return;
    }
    if (stk_input_is_beside_loader(ctx)) {
        choose_own_torch(ctx, f);
        return;
    }
    if (is_alone) {
        stk_say_loader_without_workers(ctx, f);
    } else if (has_workers && facts->own_batches > 0) {
        stk_say_workers_keep_up(ctx, f);
    } else if (has_workers && ctx->pass.run->workers.workers == 0) {
        stk_say_workers_do_not_keep_up(ctx, f);
    } else if (has_workers) {
        say_workers(ctx, f);
    }
    bool whole = is_alone && (many || !stk_input_workers_pay(ctx));
    if (whole) {
        say_calls(ctx, f);
    }
    if (has_workers && facts->own_batches > 0) {
        fix(ctx, f, STK_INPUT_FIX_OWN_LOOP);
    } else if (has_workers) {
        if (stk_input_owns_fetch(ctx)) {
            fix(ctx, f, STK_INPUT_FIX_OWN_SAMPLER);
        }
        fix(ctx, f, even ? worker_fix(ctx) : STK_INPUT_FIX_TORCH_EVEN);
    } else {
        if (is_alone && stk_input_waits_for_answer(ctx)) {
            fix(ctx, f, STK_INPUT_FIX_TORCH_AT_ONCE);
        }
        if (whole) {
            fix(ctx, f, many ? STK_INPUT_FIX_WHOLE_BATCH : STK_INPUT_FIX_SHORT_BATCH);
        }
        if (!is_alone || stk_input_workers_pay(ctx)) {
            fix(ctx, f,
                is_alone ? STK_INPUT_FIX_NO_WORKERS
                : even   ? STK_INPUT_FIX_LOADER
                         : STK_INPUT_FIX_TORCH_EVEN);
            if (facts->signs[STK_SIGN_HELD_OPEN].count > 0) {
                fix(ctx, f, STK_INPUT_FIX_HELD_OPEN);
            }
        }
        if (is_alone && !whole) {
            fix(ctx, f, STK_INPUT_FIX_ITERABLE);
        }
    }
    if (facts->runtime_calls > 0 || facts->has_device_rows) {
        fix(ctx, f, STK_INPUT_FIX_PIN);
    }
}

// A stage after the limiting map discards its results.
static bool is_followed(const struct stk_slow_stage *s, const char *stage)
{
    return s->stage && strcmp(s->kind, "preprocess") == 0 && strstr(s->stage, stage);
}

static bool is_thrown_away(const struct stk_slow_stage *s)
{
    return is_followed(s, "::Shard::") || is_followed(s, "::Filter::");
}

// Functions that tf.data called per batch; 0: few, or each takes long, or works on what arrives one
// by one. If most elements are discarded, that is why there are many.
static uint64_t small_elements(const struct stk_rule_ctx *ctx, int64_t *each_ns)
{
    const struct stk_run_sum *run = ctx->pass.run;
    const struct stk_facts *facts = &run->facts;
    uint64_t calls = facts->signs[STK_SIGN_CAPTURED].count, batches = facts->loader_fetches;
    int64_t threads = run->slow_stage.parallelism > 1 ? run->slow_stage.parallelism : 1;
    if (batches == 0 || is_thrown_away(&run->slow_stage) ||
        facts->signs[STK_SIGN_PICTURE].count >= calls / 2 ||
        (double)calls < stk_input_thresholds[STK_INPUT_FROM_MANY].value * (double)batches) {
        return 0;
    }
    if (calls > INT64_MAX ||
        __builtin_mul_overflow(facts->loader_fetch_ns / (int64_t)calls, threads, each_ns)) {
        return 0;
    }
    return (double)*each_ns < stk_input_thresholds[STK_INPUT_FROM_SMALL].value * 1e3
               ? calls / batches
               : 0;
}

// Rows of Python functions are in the evidence with the user's own (stk_finding_cause).
void stk_input_fixes_say(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f)
{
    const struct stk_slow_stage *s = &ctx->pass.run->slow_stage;
    if (!s->stage || s->is_fetch || !s->is_pipeline) {
        return;
    }
    int64_t each_ns = s->elements > 0 ? s->self_ns / s->elements : STK_NOT_KNOWN;
    bool batches = makes_batches(s->stage);
    stk_say_stage_limits(ctx, f, stk_rule_name(ctx, s->stage), s->share,
                         batches ? each_ns : STK_NOT_KNOWN, batches ? STK_NOT_KNOWN : each_ns,
                         (uint64_t)(s->parallelism > 0 ? s->parallelism : 1));
    uint64_t small = stk_input_makes_iterators(ctx) || stk_input_python_limits(ctx)
                         ? 0
                         : small_elements(ctx, &each_ns);
    if (small) {
        stk_say_tfdata_calls_functions(ctx, f, small, each_ns);
    }
    if (s->next) {
        const char *next = stk_rule_name(ctx, s->next);
        if (s->next_is_beside) {
            stk_say_stage_works_beside(ctx, f, next);
        } else {
            stk_say_stage_takes_turns(ctx, f, next);
        }
    }
}

static int tf_fix(const struct stk_rule_ctx *ctx)
{
    const struct stk_slow_stage *s = &ctx->pass.run->slow_stage;
    if (stk_input_python_limits(ctx)) {
        return stk_input_python_waits(ctx) ? STK_INPUT_FIX_TF_PYTHON_WAITS
                                           : STK_INPUT_FIX_TF_PYTHON;
    }
    if (!s->stage || !s->is_pipeline) {
        return STK_INPUT_FIX_TFDATA;
    }
    if (s->is_windowed) {
        return STK_INPUT_FIX_TF_WINDOWS;
    }
    if (strcmp(s->kind, "read") == 0 && !stk_input_is_in_memory(s->stage)) {
        return STK_INPUT_FIX_TF_READ;
    }
    if (s->is_taken_apart && strcmp(s->kind, "preprocess") != 0) {
        return STK_INPUT_FIX_TF_APART;
    }
    if (strcmp(s->kind, "batch") == 0) {
        return strncmp(stk_input_stage_itself(s->stage), "GroupByWindow", 13) == 0
                   ? STK_INPUT_FIX_TF_GROUP
                   : STK_INPUT_FIX_TF_BATCH;
    }
    if (strcmp(s->kind, "cache") != 0 && strstr(s->stage, "Cache")) { // one around it
        return STK_INPUT_FIX_TF_CACHED;
    }
    if (strcmp(s->kind, "preprocess") == 0 || strcmp(s->kind, "decode") == 0) {
        int64_t each_ns;
        bool parallel = s->parallelism > 1 || strstr(stk_input_stage_itself(s->stage), "Parallel");
        return small_elements(ctx, &each_ns) ? STK_INPUT_FIX_TF_SMALL
               : parallel                    ? STK_INPUT_FIX_TF_PARALLEL
                                             : STK_INPUT_FIX_TF_MAP;
    }
    return STK_INPUT_FIX_TFDATA;
}

bool stk_input_tf_adds_makers(const struct stk_rule_ctx *ctx)
{
    int which = tf_fix(ctx);
    return which == STK_INPUT_FIX_TF_MAP || which == STK_INPUT_FIX_TF_BATCH ||
           which == STK_INPUT_FIX_TF_READ;
}

static void choose_tf(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f, bool even)
{
    const struct stk_slow_stage *s = &ctx->pass.run->slow_stage;
    if (stk_input_makes_iterators(ctx)) {
        fix(ctx, f, STK_INPUT_FIX_TF_ITERATOR);
        return;
    }
    if (!even) {
        fix(ctx, f, STK_INPUT_FIX_TF_EVEN);
    }
    if (s->stage && strstr(s->stage, "::Filter::")) {
        fix(ctx, f, STK_INPUT_FIX_TF_FILTER);
    }
    if (is_followed(s, "::Shard::")) {
        fix(ctx, f, STK_INPUT_FIX_TF_SHARD);
    }
    int which = tf_fix(ctx);
    bool map_beside = s->next && s->next_is_beside && strcmp(s->next_kind, "preprocess") == 0;
    if (map_beside || which == STK_INPUT_FIX_TF_PARALLEL) {
        fix(ctx, f, STK_INPUT_FIX_TF_PARALLEL);
        fix(ctx, f, STK_INPUT_FIX_TF_AUGMENT);
    }
    if (which != STK_INPUT_FIX_TF_PARALLEL) {
        fix(ctx, f, which);
    }
    if (s->next && strcmp(s->next_kind, "read") == 0 && strcmp(s->kind, "read") != 0 &&
        !s->is_windowed && !stk_input_is_in_memory(s->next)) {
        fix(ctx, f, STK_INPUT_FIX_TF_READ);
    }
    if (stk_input_python_limits(ctx) && ctx->pass.run->facts.signs[STK_SIGN_KERAS].count > 0) {
        fix(ctx, f,
            stk_input_shares_lock(ctx) ? STK_INPUT_FIX_KERAS_PROCESSES
                                       : STK_INPUT_FIX_KERAS_WORKERS);
    }
    if (s->stage && s->is_pipeline && !s->is_buffered) {
        fix(ctx, f, STK_INPUT_FIX_TF_PREFETCH);
    }
    if (s->stage && s->is_pipeline && strcmp(s->kind, "preprocess") == 0 &&
        ctx->pass.run->facts.has_device_rows && !stk_input_python_limits(ctx)) {
        fix(ctx, f, STK_INPUT_FIX_TF_DEVICE);
    }
}

// grain.DataLoader has a separate interface; without Python frames, nothing shows which one it is.
static void choose_grain(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f)
{
    const struct stk_facts *facts = &ctx->pass.run->facts;
    if (facts->signs[STK_SIGN_GRAIN_MERGE].count > 0 &&
        facts->signs[STK_SIGN_GRAIN_READ].count == 0) {
        fix(ctx, f, STK_INPUT_FIX_GRAIN_WORKERS);
        return;
    }
    bool is_loader = facts->signs[STK_SIGN_GRAIN_LOADER].count > 0 ||
                     stk_rule_cause_names(ctx, STK_PART_INPUT, "grain.DataLoaderIterator");
    if (is_loader) {
        fix(ctx, f, STK_INPUT_FIX_GRAIN_LOADER);
    }
    fix(ctx, f, STK_INPUT_FIX_GRAIN);
    if (!is_loader && !facts->has_python) {
        fix(ctx, f, STK_INPUT_FIX_GRAIN_LOADER);
    }
}

// The code that prepares batches calls JAX operations.
static bool calls_jax(const struct stk_rule_ctx *ctx)
{
    const struct stk_run_sum *run = ctx->pass.run;
    double steps = run->step_marks > 0 ? run->step_marks : 1;
    return (double)run->facts.signs[STK_SIGN_JAX_CALL].count >=
           stk_input_thresholds[STK_INPUT_FROM_JAX_CALLS].value * steps;
}

// Most of the time to make a batch is JAX going through lists, element by element.
static bool hands_lists(const struct stk_rule_ctx *ctx)
{
    const struct stk_run_sum *run = ctx->pass.run;
    return run->facts.list_handing_ns > 0 &&
           share_of(run->facts.list_handing_ns, run->causes[STK_PART_INPUT].ns) >=
               stk_input_thresholds[STK_INPUT_FROM_HANDING].value;
}

// A JAX loop whose batches tf.data makes: its fetches are at least half of the wait.
static bool fetches_tfdata(const struct stk_rule_ctx *ctx)
{
    const struct stk_run_sum *run = ctx->pass.run;
    const struct stk_sign_sum *next = &run->facts.signs[STK_SIGN_TFDATA_NEXT];
    return next->count > 0 && 2 * next->ns >= run->causes[STK_PART_INPUT].ns;
}

void stk_input_fixes_choose(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f, bool even)
{
    static const char *const loaders[] = {"DataLoader", "DataPipe", "Iterator", "get_next", NULL};
    const struct stk_run_sum *run = ctx->pass.run;
    const struct stk_cause *cause = &run->causes[STK_PART_INPUT];
    bool has_grain = run->facts.signs[STK_SIGN_GRAIN].count > 0;
    if (fetches_tfdata(ctx)) {
        fix(ctx, f, STK_INPUT_FIX_JAX_TFDATA);
    } else if ((cause->name_count > 0 || cause->owner_count > 0) && !has_grain &&
               !stk_rule_cause_names_any(ctx, STK_PART_INPUT, loaders)) {
        if (stk_input_waits_for_answer(ctx)) {
            fix(ctx, f, STK_INPUT_FIX_AT_ONCE);
        }
        if (calls_jax(ctx) && !stk_input_is_handed_over(ctx)) {
            fix(ctx, f, STK_INPUT_FIX_JAX_JIT);
        }
        if (stk_input_is_handing(ctx)) {
            fix(ctx, f, STK_INPUT_FIX_HANDING);
        }
        if (hands_lists(ctx)) {
            fix(ctx, f, STK_INPUT_FIX_JAX_LISTS);
        }
        fix(ctx, f,
            stk_input_is_handed_over(ctx) ? STK_INPUT_FIX_OWN_THREAD
            : run->facts.own_batches > 0  ? STK_INPUT_FIX_OWN_LOOP
                                          : STK_INPUT_FIX_OWN_CODE);
    }
    if (!even && !stk_input_is_drawing(ctx)) {
        fix(ctx, f, STK_INPUT_FIX_EVEN);
    }
    choose_torch(ctx, f, even);
    choose_tf(ctx, f, even);
    if (has_grain) {
        choose_grain(ctx, f);
    } else if (!fetches_tfdata(ctx) && !stk_input_is_handed_over(ctx)) {
        fix(ctx, f, STK_INPUT_FIX_JAX_THREAD);
        fix(ctx, f, STK_INPUT_FIX_JAX_PROCESSES);
    }
    fix(ctx, f, STK_INPUT_FIX_PROOF);
}
