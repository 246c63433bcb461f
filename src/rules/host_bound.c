// SPDX-License-Identifier: Apache-2.0
// The device idles because the host is late: launch calls, Python and framework code, the
// allocator. Which of them leads decides title and advice. A profiler stretches host time, Python
// tracing most of all, so near the threshold part of it is the profiler's doing.
#include "base/human.h"
#include "rules/finding.h"

enum { DEVICE = STK_FROM_DEVICE, HOST = STK_FROM_HOST, LEADS, ALLOC, BRIEF, UNLINKED };
static const struct stk_threshold thresholds[] = {
    [DEVICE] = {"host time, device", "share of the step", 0.05,
                "the gaps between kernels of a well-fed device add up to a few percent"},
    [HOST] = {"other host work, host step", "share of the step", 0.15,
              "on a CPU callbacks and logging take their share in healthy jobs too"},
    [LEADS] = {"part that leads", "share of the host's loss", 0.5,
               "half of the loss decides which advice comes first"},
    [ALLOC] = {"allocation", "share of the step", 0.05,
               "a caching allocator takes next to nothing in a steady step"},
    [BRIEF] =
        {"kernels under 10 us", "share of kernels", 0.5,
         "a launch takes 5 to 10 us of the host, so shorter kernels cannot keep the device busy"},
    [UNLINKED] = {"idle of unknown cause between unlinked kernels", "share of the step", 0.10,
                  "as for any loss that names a verdict"},
    {0},
};

enum {
    FIX_TORCH_ALLOC,
    FIX_TF_ALLOC,
    FIX_JAX_ALLOC,
    FIX_CUDA_ALLOC,
    FIX_TORCH_LAUNCH,
    FIX_TORCH_OPT,
    FIX_TF_LAUNCH,
    FIX_TF_THREADS,
    FIX_JAX_LAUNCH,
    FIX_CUDA_LAUNCH,
    FIX_TORCH_PYTHON,
    FIX_TF_PYTHON,
    FIX_JAX_PYTHON,
    FIX_DDP,
    FIX_BATCH,
    FIX_PYTHON,
    FIX_WAIT,
    FIX_RECORD
};
static const struct stk_rep_fix fixes[] = {
    [FIX_TORCH_ALLOC] = {"pytorch",
                         "Let the caching allocator work: leave caching on, and call neither "
                         "torch.cuda.empty_cache() nor gc.collect() in the loop; against "
                         "fragmentation use segments "
                         "that can grow.",
                         "unset PYTORCH_NO_CUDA_MEMORY_CACHING PYTORCH_NO_HIP_MEMORY_CACHING\n"
                         "export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True"},
    [FIX_TF_ALLOC] = {"tensorflow",
                      "Let TensorFlow keep the memory it has, or use CUDA's own pool.",
                      "export TF_GPU_ALLOCATOR=cuda_malloc_async"},
    [FIX_JAX_ALLOC] = {"jax",
                       "Use JAX's own pool: the platform allocator asks the driver each time.",
                       "unset XLA_PYTHON_CLIENT_ALLOCATOR XLA_PYTHON_CLIENT_PREALLOCATE"},
    [FIX_CUDA_ALLOC] =
        {"cuda", "Allocate from a pool that keeps its memory; cudaFree waits for the device.",
         "cudaMemPool_t pool; uint64_t keep = UINT64_MAX;\n"
         "cudaDeviceGetDefaultMemPool(&pool, device);\n"
         "cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep);\n"
         "cudaMallocAsync(&p, bytes, stream); /* ... */ cudaFreeAsync(p, stream);"},
    [FIX_TORCH_LAUNCH] =
        {"pytorch", "Launch less: compile the model, with CUDA graphs where shapes are fixed.",
         "model = torch.compile(model, mode='reduce-overhead')"},
    [FIX_TORCH_OPT] =
        {"pytorch", "Let the optimizer update all parameters in a few kernels.",
         "optimizer = torch.optim.AdamW(model.parameters(), fused=True)  # or foreach=True"},
    [FIX_TF_LAUNCH] = {"tensorflow", "Run several steps per call, and let XLA fuse.",
                       "model.compile(optimizer, loss, jit_compile=True, steps_per_execution=16)"},
    [FIX_TF_THREADS] = {"tensorflow",
                        "The input pipeline may take the cores that launch kernels: give launching "
                        "threads of its own.",
                        "export TF_GPU_THREAD_MODE=gpu_private"},
    [FIX_JAX_LAUNCH] = {"jax", "Put the whole step under one jit, and several steps into a scan.",
                        "@functools.partial(jax.jit, donate_argnums=0)\n"
                        "def train(state, batches):\n"
                        "    return jax.lax.scan(train_step, state, batches)"},
    [FIX_CUDA_LAUNCH] = {"cuda", "Capture the repeated launches in a CUDA graph, and launch that.",
                         "cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);\n"
                         "launch_step(stream);\n"
                         "cudaStreamEndCapture(stream, &graph);\n"
                         "cudaGraphInstantiate(&exec, graph, 0);\n"
                         "cudaGraphLaunch(exec, stream); /* every step */"},
    [FIX_TORCH_PYTHON] =
        {"pytorch",
         "Take work out of the loop's Python: log every hundred steps, avoid loops over "
         "samples or parameters, and compile the model.",
         "model = torch.compile(model)\n"
         "if step % 100 == 0: log(loss.detach())"},
    [FIX_TF_PYTHON] = {"tensorflow",
                       "Run the step as a graph, not eagerly, and call back less often.",
                       "@tf.function(jit_compile=True)\n"
                       "def train_step(batch): ...\n"
                       "model.compile(optimizer, loss, run_eagerly=False, steps_per_execution=16)"},
    [FIX_JAX_PYTHON] =
        {"jax",
         "Keep Python out of the step: one jit around all of it, no operations between calls.",
         "train_step = jax.jit(train_step, donate_argnums=0)"},
    [FIX_DDP] =
        {"pytorch",
         "DataParallel drives all devices from one Python process: use one process per device.",
         "model = torch.nn.parallel.DistributedDataParallel(model, device_ids=[local_rank])"},
    [FIX_BATCH] = {"any",
                   "A larger batch gives each kernel more to do for the same number of launches, "
                   "if memory and "
                   "convergence allow.",
                   NULL},
    [FIX_PYTHON] = {"any", "See which functions run in the loop, without tracing each call.",
                    "py-spy record --native -o loop.svg --pid PID"},
    [FIX_WAIT] = {"any",
                  "The thread is blocked, not busy. Let what it waits for run without it: a queue "
                  "with room, a lock held for less, a result asked for later, no sleep.",
                  NULL},
    [FIX_RECORD] =
        {"any",
         "Record the step with its framework's profiler, and read that: it shows whether "
         "the device is at work in this time.",
         "stoker why PROFILE"},
    {0},
};

static bool leads(const struct stk_rule_ctx *ctx, enum stk_part part)
{
    double share = stk_rule_part_share(ctx, part);
    return share > 0 &&
           share >= thresholds[LEADS].value * stk_rule_group_share(ctx, STK_GROUP_HOST);
}

static bool allocates(const struct stk_rule_ctx *ctx)
{
    return leads(ctx, STK_PART_ALLOC) ||
           stk_rule_part_share(ctx, STK_PART_ALLOC) >= thresholds[ALLOC].value;
}

static bool many_brief(const struct stk_rule_ctx *ctx)
{
    uint64_t kernels, brief;
    stk_rule_count_kernels(ctx, &kernels, &brief);
    return kernels > 0 && (double)brief >= thresholds[BRIEF].value * (double)kernels;
}

// Python and the framework lead, and it is not for the launches that short kernels need.
static bool code_leads(const struct stk_rule_ctx *ctx)
{
    double host = stk_rule_part_share(ctx, STK_PART_HOST);
    double launch = stk_rule_part_share(ctx, STK_PART_LAUNCH);
    return leads(ctx, STK_PART_HOST) &&
           (!many_brief(ctx) || launch < thresholds[LEADS].value * host);
}

static void say_launches(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f)
{
    const struct stk_facts *facts = &ctx->pass.run->facts;
    char a[STK_HUMAN_MAX], b[STK_HUMAN_MAX];
    uint64_t kernels, brief;
    stk_rule_count_kernels(ctx, &kernels, &brief);
    if (many_brief(ctx)) {
        stk_finding_say(ctx, f, "%s of %s kernels are shorter than 10 us",
                        stk_human_count(brief, a), stk_human_count(kernels, b));
        stk_finding_raise(f, 1);
    }
    if (facts->launches > 0 && facts->launch_call_median_ns > 0) {
        stk_finding_say(ctx, f, "%s launch calls, %s each (median)",
                        stk_human_count(facts->launches, a),
                        stk_human_ns(facts->launch_call_median_ns, b));
    }
    if (facts->graph_launches > 0) {
        stk_finding_say(ctx, f, "%s of the launches are device graphs already",
                        stk_human_count(facts->graph_launches, a));
    }
    if (allocates(ctx) && facts->alloc_calls > 0) {
        stk_finding_say(ctx, f, "%s calls that allocate or free take %s",
                        stk_human_count(facts->alloc_calls, a),
                        stk_human_ns(facts->alloc_call_ns, b));
    }
    if (facts->python_events > 0) {
        stk_finding_say(
            ctx, f,
            "Python calls were traced, which slows Python more than the device: record once "
            "without to be sure");
    }
}

static void choose_launch(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f)
{
    static const char *const optimizers[] = {"_single_tensor_", "Optimizer.step",
                                             "Optimizer.zero_grad", NULL};
    stk_finding_fix(ctx, f, &fixes[FIX_TORCH_LAUNCH]);
    if (stk_rule_cause_names_any(ctx, STK_PART_LAUNCH, optimizers) ||
        stk_rule_cause_names_any(ctx, STK_PART_HOST, optimizers)) {
        stk_finding_fix(ctx, f, &fixes[FIX_TORCH_OPT]);
    }
    stk_finding_fix(ctx, f, &fixes[FIX_TF_LAUNCH]);
    if (ctx->pass.run->facts.has_iterators) {
        stk_finding_fix(ctx, f, &fixes[FIX_TF_THREADS]);
    }
    stk_finding_fix(ctx, f, &fixes[FIX_JAX_LAUNCH]);
    stk_finding_fix(ctx, f, &fixes[FIX_CUDA_LAUNCH]);
    stk_finding_fix(ctx, f, &fixes[FIX_BATCH]);
}

static void host_bound_choose_fixes(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f)
{
    if (stk_rule_cause_names(ctx, STK_PART_HOST, "DataParallel.forward") &&
        !stk_rule_cause_names(ctx, STK_PART_HOST, "DistributedDataParallel.forward")) {
        stk_finding_fix(ctx, f, &fixes[FIX_DDP]);
    }
    if (allocates(ctx)) {
        for (int i = FIX_TORCH_ALLOC; i <= FIX_CUDA_ALLOC; i++) {
            stk_finding_fix(ctx, f, &fixes[i]);
        }
        if (leads(ctx, STK_PART_ALLOC)) {
            return;
        }
    }
    if (leads(ctx, STK_PART_WAIT)) {
        stk_finding_fix(ctx, f, &fixes[FIX_WAIT]);
        return;
    }
    if (code_leads(ctx)) {
        for (int i = FIX_TORCH_PYTHON; i <= FIX_JAX_PYTHON; i++) {
            stk_finding_fix(ctx, f, &fixes[i]);
        }
        stk_finding_fix(ctx, f, &fixes[FIX_PYTHON]);
        return;
    }
    choose_launch(ctx, f);
}

// The verdict blames the host although little is measured: unlinked device work, mostly short
// kernels.
static enum stk_rule_state check_unlinked(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f,
                                          const char **why)
{
    double share = stk_rule_part_share(ctx, STK_PART_UNKNOWN);
    char percent[STK_HUMAN_MAX];
    if (ctx->pass.verdict->kind != STK_VERDICT_HOST || share < thresholds[UNLINKED].value ||
        !many_brief(ctx)) {
        return STK_RULE_PASSED;
    }
    f->title = "The device idles between short kernels";
    f->severity = stk_rule_severity(ctx, share);
    f->confidence = "low";
    f->steps_affected = stk_rule_spread(ctx, 1u << STK_PART_UNKNOWN).most_affected;
    stk_finding_bound(f, share);
    *why = stk_rule_text(ctx, "%s idle between unlinked, mostly short kernels",
                         stk_human_share(share, percent));
    stk_finding_say(
        ctx, f,
        "%s of the time is idle; the launch calls are not in the profile, so that the host is "
        "likely late but not proven so",
        percent);
    say_launches(ctx, f);
    choose_launch(ctx, f);
    return STK_RULE_FIRED;
}

// What the consumer of stoker.data does between two batches is its own affair, and most often the
// training itself: no loss that the record could tell of.
static void state_own_time(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f,
                           uint32_t parts)
{
    struct stk_rule_steps s = stk_rule_spread(ctx, parts);
    char mean[STK_HUMAN_MAX], share[STK_HUMAN_MAX];
    f->title = "The step's own time, between two batches";
    f->severity = "info";
    f->saving.has_low = f->saving.has_high = false;
    f->saving.basis = "none";
    stk_finding_say(
        ctx, f,
        "%s a step on average, %s of the time: the training, on a device or not, and all "
        "else that the loop does, which stoker.data does not record",
        stk_human_ns(s.used ? s.total_ns / s.used : 0, mean),
        stk_human_share(stk_rule_parts_share(ctx, parts), share));
    stk_finding_fix(ctx, f, &fixes[FIX_RECORD]);
}

static enum stk_rule_state host_bound_check(const struct stk_rule_ctx *ctx,
                                            struct stk_rep_finding *f, const char **why)
{
    uint32_t parts = stk_rule_group_parts(STK_GROUP_HOST);
    enum stk_rule_state state = stk_rule_check_share(ctx, f, parts, thresholds, why);
    if (state == STK_RULE_PASSED) {
        return check_unlinked(ctx, f, why);
    }
    if (leads(ctx, STK_PART_WAIT)) {
        f->title = stk_rule_on_host(ctx) ? "The host's step is blocked, by no input"
                                         : "The device waits while the host is blocked";
    } else if (stk_rule_on_host(ctx)) {
        f->title = "The host's step is busy outside of the model";
    } else if (leads(ctx, STK_PART_ALLOC)) {
        f->title = "The device waits for memory to be allocated or freed";
    } else if (code_leads(ctx)) {
        f->title = "The device waits for Python and the framework";
    } else if (leads(ctx, STK_PART_LAUNCH)) {
        f->title = "The device waits for launches";
    }
    if (stk_rule_on_pipeline(ctx)) {
        state_own_time(ctx, f, parts);
        return STK_RULE_FIRED;
    }
    stk_finding_causes(ctx, f, parts);
    if (!stk_rule_on_host(ctx)) {
        say_launches(ctx, f);
    }
    host_bound_choose_fixes(ctx, f);
    return STK_RULE_FIRED;
}

const struct stk_rule stk_rule_host_bound = {
    .id = "host-bound",
    .title = "The device waits for the host",
    .fires = "The device idles for 5 % of the time because launches, Python, the framework or the "
             "memory allocator "
             "are late (a host step: 15 % goes to anything but the model).",
    .matters = "A faster device would only wait longer. Many short kernels, an allocator without a "
               "cache or code "
               "between the steps leave the device without work.",
    .priced = "At most the whole idle time of these causes: a replay without launches would "
              "shorten the step by less "
              "if the device's work becomes the limit.",
    .quiet = "Long launch calls while the device is busy are back-pressure of a full queue, and "
             "cost nothing. In a record of stoker.data the time between two batches is stated, not "
             "blamed: it is the training's own.",
    .source = "XProf reports kernel launch from 3 % and highly from 15 %; launch cost of 5 to 10 "
              "us as in NVIDIA's "
              "CUDA graphs documentation; PyTorch, TensorFlow and JAX performance guides.",
    .needs = STK_NEED_BREAKDOWN,
    .verdicts = 1u << STK_VERDICT_HOST,
    .thresholds = thresholds,
    .fixes = fixes,
    .check = host_bound_check,
};
