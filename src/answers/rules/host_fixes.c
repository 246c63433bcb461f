// SPDX-License-Identifier: Apache-2.0
// Advice for a device or step that waits for the host, by evidence (profile/model/signs.def):
// tf.function for eager operations, more work per call for short functions, kept tensors for
// constants made in each step, rarer or asynchronous checkpoints. Compiled code isn't advised to
// compile, and XLA is suggested only to be measured: it can be slower.
#include <string.h>

#include "base/assert.h"
#include "profile/model/device/device_rates.h"
#include "answers/rules/host_fixes.h"
#include "answers/rules/optimizer_loop.h"
#include "answers/rules/torch_signs.h"
#include "profile/store/names.h"
#include "profile/store/tf_name.h"
#include "evidence_says.h"

const struct stk_threshold stk_host_thresholds[] = {
    [STK_FROM_DEVICE] = {"CPU time, device", "share of the step", 0.05,
                         "the gaps between kernels of a well-fed GPU add up to a few percent"},
    [STK_FROM_HOST] = {"other CPU work, CPU step", "share of the step", 0.15,
                       "on a CPU, callbacks and logging take their share in healthy jobs, too"},
    [STK_HOST_FROM_LEADS] = {"part that leads", "share of the CPU's loss", 0.5,
                             "from half of the loss on, its advice comes first"},
    [STK_HOST_FROM_ALLOC] = {"allocation", "share of the step", 0.05,
                             "in a steady step, a caching allocator takes next to nothing"},
    [STK_HOST_FROM_BRIEF] =
        {"kernels under 10 us", "share of kernels", 0.5,
         "a launch costs the CPU 5 to 10 us, so it can't keep the GPU busy with shorter kernels"},
    [STK_HOST_FROM_UNLINKED] = {"idle time of unknown cause between unlinked kernels",
                                "share of the step", 0.10,
                                "as for any loss that decides a verdict"},
    [STK_HOST_FROM_EAGER] =
        {"TensorFlow or JAX operations run one by one, loops, concatenations, loss scaling checks",
         "a step", 20, "a loop that calls one compiled function has a few"},
    [STK_HOST_FROM_SHORT] = {"mean call of a tf.function, at most", "ms", 5,
                             "calling it costs some tenths of a millisecond"},
    [STK_HOST_FROM_CALLS] = {"calls of a tf.function, at 0.3 ms each", "share of the CPU's loss",
                             0.2, "less isn't what keeps the CPU busy"},
    [STK_HOST_FROM_SIGN] = {"constants, checkpoints", "share of the CPU's loss", 0.1,
                            "less isn't what the GPU waits for"},
    [STK_HOST_FROM_ROUND] = {"operations per loop iteration that are worth a tf.function",
                             "a round", 20,
                             "a call costs 0.2 to 0.3 ms, an operation about 15 us; five of them "
                             "got 1.7 times slower in a function of their own"},
    [STK_HOST_FROM_INSIDE] = {"JAX calls within one call of a jitted function, on average",
                              "a call", 10, "a compiled function calls none"},
    [STK_HOST_FROM_PLACED] =
        {"mean TensorFlow operation on the CPU", "us", 200,
         "an operation that only launches returns within some tens of microseconds"},
    {0},
};

#define CALL_NS 300e3 // approximate cost of calling a tf.function

static void fix(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f, int which)
{
    STK_ASSERT(which >= 0);
    stk_finding_fix(ctx, f, &stk_host_fixes[which]);
}

static const struct stk_sign_sum *sign(const struct stk_rule_ctx *ctx, enum stk_sign which)
{
    STK_ASSERT((unsigned)which < STK_SIGN_COUNT);
    return &ctx->pass.run->facts.signs[which];
}

// A fix that removes no more than the time of a sign.
static void fix_sign(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f, int which,
                     enum stk_sign of)
{
    const struct stk_run_sum *run = ctx->pass.run;
    struct stk_rep_fix advice = stk_host_fixes[which];
    if (stk_rule_on_host(ctx) && run->steps_used > 0 && run->step_marks > 0 && run->wall_ns > 0) {
        double step_ns = (double)run->wall_ns / run->steps_used;
        advice.most = (double)sign(ctx, of)->ns / run->step_marks / step_ns;
    }
    stk_finding_fix(ctx, f, &advice);
}

// Does it take a large part of the host's loss?
static bool takes(const struct stk_rule_ctx *ctx, enum stk_sign which)
{
    const struct stk_run_sum *run = ctx->pass.run;
    return sign(ctx, which)->count > 0 &&
           (double)sign(ctx, which)->ns >=
               stk_host_thresholds[STK_HOST_FROM_SIGN].value * (double)run->parts[STK_PART_HOST];
}

static bool is_often(const struct stk_rule_ctx *ctx, enum stk_sign which)
{
    double steps = ctx->pass.run->step_marks > 0 ? ctx->pass.run->step_marks : 1;
    return (double)sign(ctx, which)->count >=
           stk_host_thresholds[STK_HOST_FROM_EAGER].value * steps;
}

static bool is_in_each_step(const struct stk_rule_ctx *ctx, enum stk_sign which)
{
    uint64_t steps = ctx->pass.run->step_marks > 0 ? ctx->pass.run->step_marks : 1;
    return sign(ctx, which)->count >= steps;
}

static bool is_eager(const struct stk_rule_ctx *ctx)
{
    return is_often(ctx, STK_SIGN_EAGER_OP);
}

static void say_tf(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f)
{
    const struct stk_sign_sum *runs = sign(ctx, STK_SIGN_FUNCTION);
    if (is_eager(ctx)) {
        stk_say_operations_run_eagerly(ctx, f, sign(ctx, STK_SIGN_EAGER_OP)->count);
    } else if (runs->count > 0) {
        stk_say_tf_function_calls(ctx, f, runs->count, runs->ns / (int64_t)runs->count);
    }
}

// Short calls, so many that calling them is a large part of the host's loss.
static bool runs_briefly(const struct stk_rule_ctx *ctx)
{
    const struct stk_sign_sum *runs = sign(ctx, STK_SIGN_FUNCTION);
    double lost_ns = (double)ctx->pass.run->parts[STK_PART_HOST];
    return runs->count > 0 &&
           CALL_NS * (double)runs->count >=
               stk_host_thresholds[STK_HOST_FROM_CALLS].value * lost_ns &&
           (double)runs->ns <
               stk_host_thresholds[STK_HOST_FROM_SHORT].value * 1e6 * (double)runs->count;
}

// "path:Type", of TensorFlow's executor, that is neither a transfer nor a function's call.
static bool is_tf_op(const char *name)
{
    struct stk_str s = stk_str_from(name), type = stk_tf_name_parse(s).type;
    uint32_t classes = stk_name_classify(s, STK_KIND_HOST_OP);
    return type.n && type.p[0] >= 'A' && type.p[0] <= 'Z' && (classes & STK_NAME_MODEL_OP) &&
           !(classes & (STK_NAME_WAIT_HOST | STK_NAME_XLA_RUN | STK_NAME_EVAL));
}

// Operations that ran on the host while the device waited: they take longer than a launch.
static bool say_placed(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f)
{
    const struct stk_cause *c = &ctx->pass.run->causes[STK_PART_HOST];
    if (stk_rule_on_host(ctx)) {
        return false;
    }
    for (int i = 0; i < c->name_count; i++) {
        const struct stk_cause_name *n = &c->names[i];
        if (n->count == 0 || !is_tf_op(n->name) ||
            (double)n->ns < stk_host_thresholds[STK_HOST_FROM_SIGN].value * (double)c->ns ||
            (double)n->ns <
                stk_host_thresholds[STK_HOST_FROM_PLACED].value * 1e3 * (double)n->count) {
            continue;
        }
        stk_say_operation_on_host(ctx, f, stk_rule_name(ctx, n->name), n->ns, n->ns / n->count);
        return true;
    }
    return false;
}

// A loop over training steps was advised itself: it fetches a batch each time.
static bool loops_over_steps(const struct stk_rule_ctx *ctx)
{
    const struct stk_run_sum *run = ctx->pass.run;
    return sign(ctx, STK_SIGN_KERAS)->count > 0 || run->facts.loader_fetches > 2 * run->step_marks;
}

// A device of the run computes half precision, and no bfloat16.
static bool lacks_bfloat16(const struct stk_rule_ctx *ctx)
{
    const struct stk_device_limits none = {0};
    for (uint32_t d = 0; d < ctx->pass.run->device_count; d++) {
        const char *name = ctx->pass.run->devices[d].name;
        struct stk_device_rates r = stk_device_rates_of(stk_str_from(name ? name : ""), &none);
        if (r.fp16 > 0 && r.bf16 <= 0) {
            return true;
        }
    }
    return false;
}

// Operations that occur very often in each step, if calls take most of the time.
static void choose_calls(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f)
{
    static const char *const concats[] = {":ConcatV2", ":Pack", NULL};
    double steps = ctx->pass.run->step_marks > 0 ? ctx->pass.run->step_marks : 1;
    const struct {
        enum stk_sign sign;
        int fix;
        bool holds;
        struct stk_rep_evidence *(*say)(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f,
                                        uint64_t a_step);
    } rows[] = {
        {STK_SIGN_WHILE_LOOP, STK_HOST_FIX_TF_WHILE, !loops_over_steps(ctx), stk_say_while_loops},
        {STK_SIGN_CONCAT, STK_HOST_FIX_TF_CONCAT,
         stk_rule_cause_names_any(ctx, STK_PART_HOST, concats), stk_say_tensors_put_together},
        {STK_SIGN_LOSS_SCALE,
         lacks_bfloat16(ctx) ? STK_HOST_FIX_TF_SCALE_FIXED : STK_HOST_FIX_TF_SCALE,
         !stk_rule_on_host(ctx), stk_say_loss_scaling_checks},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (rows[i].holds && is_often(ctx, rows[i].sign)) {
            rows[i].say(ctx, f, (uint64_t)((double)sign(ctx, rows[i].sign)->count / steps));
            fix(ctx, f, rows[i].fix);
        }
    }
}

// A loop around few operations, too few for a tf.function to pay off.
static bool say_rounds(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f)
{
    const struct stk_run_sum *run = ctx->pass.run;
    uint64_t rounds = run->facts.eager_rounds;
    uint64_t steps = run->step_marks > 0 ? run->step_marks : 1;
    uint64_t each = rounds ? sign(ctx, STK_SIGN_EAGER_OP)->count / rounds : 0;
    if (each == 0 || (double)each >= stk_host_thresholds[STK_HOST_FROM_ROUND].value) {
        return false;
    }
    stk_say_loop_rounds(ctx, f, rounds / steps, each);
    return true;
}

// The host's loss is the call of a tf.function itself, not its content: the call goes through all
// arguments.
static bool say_call(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f)
{
    const struct stk_cause *c = &ctx->pass.run->causes[STK_PART_HOST];
    const struct stk_sign_sum *calls = sign(ctx, STK_SIGN_FUNCTION);
    for (int i = 0; i < c->name_count; i++) {
        const struct stk_cause_name *n = &c->names[i];
        bool is_call = n->name && n->count > 0 && n->count <= calls->count &&
                       (uint64_t)n->count * 2 >= calls->count &&
                       strspn(n->name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"
                                       "0123456789") == strlen(n->name);
        if (is_call && 2 * n->ns >= c->ns && (double)n->ns >= 2 * CALL_NS * (double)n->count) {
            stk_say_call_takes(ctx, f, stk_rule_name(ctx, n->name), n->ns / n->count);
            return true;
        }
    }
    return false;
}

static void choose_eager(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f)
{
    if (is_in_each_step(ctx, STK_SIGN_SUMMARY)) {
        fix_sign(ctx, f, STK_HOST_FIX_TF_SUMMARY, STK_SIGN_SUMMARY);
    } else if (sign(ctx, STK_SIGN_KERAS)->count > 0) {
        fix(ctx, f,
            is_in_each_step(ctx, STK_SIGN_FUNCTION) ? STK_HOST_FIX_KERAS_AROUND
                                                    : STK_HOST_FIX_KERAS_FUNCTION);
    } else {
        bool around = is_in_each_step(ctx, STK_SIGN_FUNCTION);
        fix(ctx, f,
            !around              ? STK_HOST_FIX_TF_FUNCTION
            : say_rounds(ctx, f) ? STK_HOST_FIX_TF_ROUNDS
                                 : STK_HOST_FIX_TF_AROUND);
    }
}

// Keras' fit itself makes five to thirteen constants in each step, which the user can't change.
static bool are_kerass(const struct stk_rule_ctx *ctx)
{
    double steps = ctx->pass.run->step_marks > 0 ? ctx->pass.run->step_marks : 1;
    return sign(ctx, STK_SIGN_KERAS)->count > 0 &&
           (double)sign(ctx, STK_SIGN_CONSTANT)->count <
               stk_host_thresholds[STK_HOST_FROM_EAGER].value * steps;
}

static void choose_tf(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f)
{
    static const char *const python[] = {"PyFunc", NULL};
    const struct stk_run_sum *run = ctx->pass.run;
    bool keras = sign(ctx, STK_SIGN_KERAS)->count > 0;
    if (say_placed(ctx, f)) {
        fix(ctx, f, STK_HOST_FIX_TF_PLACEMENT);
    }
    choose_calls(ctx, f);
    bool eager_leads =
        is_eager(ctx) && sign(ctx, STK_SIGN_CONSTANT)->ns < sign(ctx, STK_SIGN_EAGER_OP)->ns;
    bool constants = takes(ctx, STK_SIGN_CONSTANT) && !are_kerass(ctx);
    if (constants && !eager_leads) {
        fix_sign(ctx, f, STK_HOST_FIX_TF_CONSTANT, STK_SIGN_CONSTANT);
    }
    bool python_called = stk_rule_cause_names_any(ctx, STK_PART_HOST, python);
    if (python_called) {
        fix(ctx, f, STK_HOST_FIX_TF_CALLS_PYTHON);
    }
    if (keras && is_in_each_step(ctx, STK_SIGN_ITERATOR) && takes(ctx, STK_SIGN_ITERATOR)) {
        fix(ctx, f, STK_HOST_FIX_KERAS_PREDICT);
    } else if (is_eager(ctx) && (run->facts.sees_training || !run->facts.sees_operators)) {
        choose_eager(ctx, f);
    } else if (runs_briefly(ctx)) {
        fix(ctx, f, keras ? STK_HOST_FIX_TF_STEPS : STK_HOST_FIX_TF_LOOP);
    } else if (keras && stk_rule_on_host(ctx) && is_in_each_step(ctx, STK_SIGN_FUNCTION) &&
               !python_called && !takes(ctx, STK_SIGN_CHECKPOINT)) {
        fix(ctx, f, STK_HOST_FIX_KERAS_STEPS);
    }
    if (constants && eager_leads) {
        fix_sign(ctx, f, STK_HOST_FIX_TF_CONSTANT, STK_SIGN_CONSTANT);
    }
}

bool stk_host_graphs_lead(const struct stk_rule_ctx *ctx)
{
    const struct stk_cause *c = &ctx->pass.run->causes[STK_PART_LAUNCH];
    int64_t graphs_ns = 0;
    for (int i = 0; i < c->name_count; i++) {
        bool is_graph = c->names[i].name &&
                        (stk_name_classify(stk_str_from(c->names[i].name), STK_KIND_RUNTIME) &
                         STK_NAME_GRAPH_LAUNCH);
        graphs_ns += is_graph ? c->names[i].ns : 0;
    }
    return graphs_ns > c->ns / 2;
}

static void choose_launch(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f)
{
    if (stk_host_graphs_lead(ctx)) {
        fix(ctx, f, STK_HOST_FIX_GRAPH_NODES);
        fix(ctx, f, STK_HOST_FIX_BATCH);
        return;
    }
    if (sign(ctx, STK_SIGN_ENGINE)->count > 0 && ctx->pass.run->facts.graph_launches == 0) {
        fix(ctx, f, STK_HOST_FIX_ENGINE);
    } else if (sign(ctx, STK_SIGN_COMPILED)->count == 0) {
        fix(ctx, f, STK_HOST_FIX_TORCH_COMPILE);
    } else if (ctx->pass.run->facts.graph_launches == 0) {
        fix(ctx, f, STK_HOST_FIX_TORCH_GRAPHS);
    }
    if (!stk_optimizer_choose(ctx, f, STK_PART_LAUNCH, 0)) {
        stk_optimizer_choose(ctx, f, STK_PART_HOST, 0);
    }
    choose_tf(ctx, f);
    fix(ctx, f, STK_HOST_FIX_TF_XLA);
    if (ctx->pass.run->facts.has_iterators) {
        fix(ctx, f, STK_HOST_FIX_TF_THREADS);
    }
    fix(ctx, f, STK_HOST_FIX_JAX_LAUNCH);
    fix(ctx, f, STK_HOST_FIX_CUDA_LAUNCH);
    fix(ctx, f, STK_HOST_FIX_BATCH);
}

static void choose_saves(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f)
{
    if (takes(ctx, STK_SIGN_CHECKPOINT)) {
        bool is_kerass = sign(ctx, STK_SIGN_KERAS)->count > 0;
        fix_sign(ctx, f, STK_HOST_FIX_TORCH_SAVE, STK_SIGN_CHECKPOINT);
        fix_sign(ctx, f, is_kerass ? STK_HOST_FIX_KERAS_SAVE : STK_HOST_FIX_TF_SAVE,
                 STK_SIGN_CHECKPOINT);
        fix_sign(ctx, f, STK_HOST_FIX_JAX_SAVE, STK_SIGN_CHECKPOINT);
    }
}

// A jitted function is one call, and calls no visible JAX function. Tracing does, and so does
// Python that a compiled step calls back. Each call is recorded twice, nested.
static bool is_jit_off(const struct stk_rule_ctx *ctx)
{
    const struct stk_run_sum *run = ctx->pass.run;
    const struct stk_sign_sum *calls = sign(ctx, STK_SIGN_JAX_CALL);
    return (double)calls->count >=
               2 * stk_host_thresholds[STK_HOST_FROM_INSIDE].value * (double)calls->outer &&
           sign(ctx, STK_SIGN_CALLBACK)->count == 0 &&
           run->facts.compile_recurring_ns < run->parts[STK_PART_HOST] / 10;
}

// True: jit is off, which explains the cost of the job's functions.
static bool choose_jax(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f)
{
    const struct stk_sign_sum *calls = sign(ctx, STK_SIGN_JAX_CALL);
    if (!is_often(ctx, STK_SIGN_JAX_CALL)) {
        return false;
    }
    if (is_jit_off(ctx)) {
        stk_say_jax_calls_within_jit(ctx, f, calls->count - calls->outer, calls->outer);
        fix(ctx, f, STK_HOST_FIX_JAX_NO_JIT);
        return true;
    }
    stk_say_jax_calls(ctx, f, calls->count);
    fix(ctx, f, STK_HOST_FIX_JAX_EAGER);
    return false;
}

// A step is one or two calls of jitted functions, each recorded twice: there is nothing left to put
// under jit.
static bool steps_are_calls(const struct stk_rule_ctx *ctx)
{
    uint32_t steps = ctx->pass.run->step_marks;
    uint64_t calls = sign(ctx, STK_SIGN_JAX_CALL)->count;
    return steps > 0 && calls >= steps && calls <= 4 * (uint64_t)steps;
}

static void choose_code(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f)
{
    const struct stk_run_sum *run = ctx->pass.run;
    choose_saves(ctx, f);
    if (takes(ctx, STK_SIGN_WRITING)) {
        fix_sign(ctx, f, STK_HOST_FIX_TF_WRITES, STK_SIGN_WRITING);
    }
    bool is_call =
        sign(ctx, STK_SIGN_KERAS)->count == 0 && say_call(ctx, f); // otherwise it is Keras' own
    if (is_call) {
        fix(ctx, f, STK_HOST_FIX_TF_ARGUMENTS);
    }
    choose_tf(ctx, f);
    bool is_off = choose_jax(ctx, f);
    if (takes(ctx, STK_SIGN_NNX) && sign(ctx, STK_SIGN_NNX_CACHED)->count == 0) {
        fix_sign(ctx, f, STK_HOST_FIX_JAX_NNX, STK_SIGN_NNX);
    }
    if (takes(ctx, STK_SIGN_CALLBACK)) {
        fix_sign(ctx, f, STK_HOST_FIX_JAX_CALLBACK, STK_SIGN_CALLBACK);
    }
    if (stk_rule_owners_tell(&run->causes[STK_PART_HOST]) && !is_off) {
        fix(ctx, f, STK_HOST_FIX_OWN);
    }
    // The lines are known: they show whether they log, or loop over samples.
    bool has_lines = run->facts.told[STK_TOLD_LINE] && stk_rule_on_host(ctx) &&
                     run->facts.frameworks & (1u << STK_FW_PYTORCH);
    if (!stk_torch_signs_choose(ctx, f)) {
        fix(ctx, f, has_lines ? STK_HOST_FIX_LINES : STK_HOST_FIX_TORCH_PYTHON);
    }
    if (!is_call && !is_eager(ctx)) {
        fix(ctx, f, STK_HOST_FIX_TF_PYTHON);
    }
    fix(ctx, f, steps_are_calls(ctx) ? STK_HOST_FIX_JAX_SCAN : STK_HOST_FIX_JAX_PYTHON);
    if (!run->facts.has_python) {
        fix(ctx, f, STK_HOST_FIX_PYTHON);
    }
}

static void choose_ddp(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f)
{
    if (stk_rule_cause_names(ctx, STK_PART_HOST, "DataParallel.forward") &&
        !stk_rule_cause_names(ctx, STK_PART_HOST, "DistributedDataParallel.forward")) {
        fix(ctx, f, STK_HOST_FIX_DDP);
    }
}

// One of the job's own functions waits for data from a connection.
static bool awaits_answer(const struct stk_rule_ctx *ctx)
{
    static const char *const connections[] = {"socket", "ssl", "http", "recv", NULL};
    return stk_rule_owners_tell(&ctx->pass.run->causes[STK_PART_WAIT]) &&
           stk_rule_cause_names_any(ctx, STK_PART_WAIT, connections);
}

void stk_host_fixes_choose(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f,
                           uint32_t losses)
{
    if (losses & STK_HOST_NOT_RECORDED) {
        fix(ctx, f, STK_HOST_FIX_RECORD);
        return;
    }
    choose_ddp(ctx, f);
    for (int i = STK_HOST_FIX_TORCH_ALLOC;
         i <= STK_HOST_FIX_CUDA_ALLOC && (losses & STK_HOST_ALLOCATES); i++) {
        fix(ctx, f, i);
    }
    if (losses & STK_HOST_BLOCKED) {
        if (awaits_answer(ctx)) {
            fix(ctx, f, STK_HOST_FIX_ANSWER);
        }
        choose_saves(ctx, f);
        fix(ctx, f, STK_HOST_FIX_WAIT);
    }
    if (losses & (STK_HOST_CODE | STK_HOST_LAUNCHES)) {
        say_tf(ctx, f);
    }
    if (losses & STK_HOST_CODE) {
        choose_code(ctx, f);
    }
    if (losses & STK_HOST_LAUNCHES) {
        choose_launch(ctx, f);
    }
}
