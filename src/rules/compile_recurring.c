// SPDX-License-Identifier: Apache-2.0
// Compilation that returns after the first two used steps: changing shapes, retraced functions,
// autotuning again and again. A cost of the steady state, unlike a start.
#include <string.h>

#include "base/human.h"
#include "rules/finding.h"

enum { DEVICE = STK_FROM_DEVICE, HOST = STK_FROM_HOST };
static const struct stk_threshold thresholds[] = {
    [DEVICE] = {"compilation after the second used step, device", "share of the step", 0.02,
                "in a steady state it should be nothing at all"},
    [HOST] = {"compilation after the second used step, host step", "share of the step", 0.05,
              "in a steady state it should be nothing at all, on a host too"},
    {0},
};

static const struct stk_rep_fix fixes[] = {
    {"pytorch",
     "See what is compiled again and why: compile a model once, outside of the loop, mark the "
     "dimension that changes, and drop the odd last batch.",
     "TORCH_LOGS=recompiles python train.py\n"
     "torch._dynamo.mark_dynamic(x, 0)  # or torch.compile(model, dynamic=True)\n"
     "DataLoader(dataset, batch_size=batch_size, drop_last=True)"},
    {"tensorflow",
     "See which argument differs from one signature to the next (profiles do not hold it). A "
     "Literal is a Python number: pass a tensor. For a shape that changes give tf.function a fixed "
     "signature, and drop the odd batch. A tf.function that is made anew, in a loop or a fold, is "
     "traced anew: make it once.",
     "@tf.function(reduce_retracing=True,\n"
     "             input_signature=[tf.TensorSpec([None, 224, 224, 3], tf.float32)])\n"
     "def train_step(images): ...\n"
     "ds = ds.batch(batch_size, drop_remainder=True)\n"
     "print(train_step.pretty_printed_concrete_signatures())  # at the end of the job"},
    {"jax",
     "See what is compiled again and why: pad inputs to few shapes, and pass changing values as "
     "arrays: each value of a static argument (static_argnames) compiles anew. jit of a function "
     "that is made anew in the loop (a lambda, functools.partial) "
     "compiles each time: jit it once, before the loop.",
     "jax.config.update('jax_log_compiles', True)\n"
     "jax.config.update('jax_explain_cache_misses', True)"},
    {"cuda",
     "Load modules and instantiate graphs once; update a graph instead of building it again.",
     "cudaGraphExecUpdate(exec, graph, &info);"},
    {"any",
     "With shapes that change in every step, benchmarking of convolution algorithms never ends: "
     "switch it off.",
     "torch.backends.cudnn.benchmark = False  # PyTorch\nexport TF_CUDNN_USE_AUTOTUNE=0  # "
     "TensorFlow"},
    {0},
};

// "train_step" of "PjitFunction(train_step)".
static const char *function_of(const struct stk_rule_ctx *ctx, const char *name)
{
    static const char call[] = "PjitFunction(";
    size_t n = strlen(name), skip = sizeof call - 1;
    return strncmp(name, call, skip) == 0 && n > skip + 1 && name[n - 1] == ')'
               ? stk_rule_text(ctx, "%.*s", (int)(n - skip - 1), name + skip)
               : name;
}

static void say_functions(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f)
{
    const struct stk_recompiled *r = ctx->pass.run->facts.recompiled;
    char time[STK_HUMAN_MAX];
    for (int i = 0; i < STK_RECOMPILED && r[i].name && r[i].later > 0; i++) {
        stk_finding_say(ctx, f,
                        "%s was traced again or compiled in %u calls after the first two steps, %u "
                        "in all: %s",
                        stk_rule_name(ctx, function_of(ctx, r[i].name)), r[i].later, r[i].count,
                        stk_human_ns(r[i].ns, time));
        stk_finding_raise(f, 1 + (size_t)i);
    }
}

// The last row is about kernels of a GPU's library.
static void choose(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f)
{
    for (int i = 0; fixes[i].text; i++) {
        if (fixes[i + 1].text || ctx->pass.run->facts.has_device_rows) {
            stk_finding_fix(ctx, f, &fixes[i]);
        }
    }
}

static enum stk_rule_state compile_recurring_check(const struct stk_rule_ctx *ctx,
                                                   struct stk_rep_finding *f, const char **why)
{
    const struct stk_run_sum *run = ctx->pass.run;
    double share = (double)run->facts.compile_recurring_ns / (double)run->wall_ns;
    struct stk_rule_steps steps = stk_rule_spread(ctx, 1u << STK_PART_COMPILE);
    char percent[STK_HUMAN_MAX], time[STK_HUMAN_MAX];
    stk_human_share(share, percent);
    *why = stk_rule_text(ctx, "%s of the time", percent);
    if (share < thresholds[stk_rule_on_host(ctx) ? HOST : DEVICE].value) {
        return STK_RULE_PASSED;
    }
    f->severity = stk_rule_severity(ctx, share);
    f->confidence = stk_level_key(ctx->pass.verdict->confidence);
    f->steps_affected = steps.most_affected;
    stk_finding_bound(f, share);
    stk_finding_say(ctx, f, "%s of compilation after the first two used steps, %s of the time",
                    stk_human_ns(run->facts.compile_recurring_ns, time), percent);
    stk_finding_cause(ctx, f, STK_PART_COMPILE);
    say_functions(ctx, f);
    choose(ctx, f);
    return STK_RULE_FIRED;
}

const struct stk_rule stk_rule_compile_recurring = {
    .id = "compile-recurring",
    .title = "Compilation returns in later steps",
    .fires = "2 % of the time goes to compilation, autotuning or module loading after the first "
             "two used steps.",
    .matters =
        "It looks like a start but never ends: each new shape or retraced function compiles again.",
    .priced = "At most the time of this compilation.",
    .quiet = "The first two used steps may compile. Steps left out of the breakdown do not count. "
             "Which argument changed is not said: TensorFlow's profiles hold no signatures, and of "
             "JAX's, which hold the programs with the shapes of their parameters, stoker reads the "
             "names alone.",
    .source = "Documentation of torch.compile (recompilation), tf.function (retracing) and JAX "
              "(jax_log_compiles).",
    .needs = STK_NEED_BREAKDOWN | STK_NEED_STEPS,
    .verdicts = 1u << STK_VERDICT_HOST,
    .thresholds = thresholds,
    .fixes = fixes,
    .check = compile_recurring_check,
};
