// SPDX-License-Identifier: Apache-2.0
// The step waits for its next batch. Tells apart a loader without workers, one whose workers do not
// keep up, tf.data, a function of the user's own, and one long fetch that carries the wait.
// stoker.data says itself which of its stages limits, and where that is written (pipeline_limit.c).
// Limit: user code that prepares data is known by its name only, and only with Python rows.
#include "base/human.h"
#include "rules/finding.h"
#include "rules/pipeline_limit.h"

enum { DEVICE = STK_FROM_DEVICE, HOST = STK_FROM_HOST, ONE_FETCH, ONE_STEPS };
static const struct stk_threshold thresholds[] = {
    [DEVICE] = {"input wait, device", "share of the step", 0.03,
                "moderate from here; healthy pipelines hide their fetch almost fully"},
    [HOST] = {"input wait, host step", "share of the step", 0.15,
              "on a CPU work is done in turn, and reading takes its share in healthy jobs too"},
    [ONE_FETCH] = {"one step's wait", "share of all waiting", 0.5,
                   "when one step holds most of the wait, rate is not the problem, evenness is"},
    [ONE_STEPS] = {"steps needed to call a wait uneven", "steps", 4,
                   "with fewer, one step holds much by chance"},
    {0},
};

enum {
    FIX_NO_WORKERS,
    FIX_MORE_WORKERS,
    FIX_LOADER,
    FIX_TORCH_EVEN,
    FIX_TFDATA,
    FIX_TF_PYTHON,
    FIX_TF_EVEN,
    FIX_GRAIN,
    FIX_JAX_THREAD,
    FIX_OWN_CODE,
    FIX_EVEN,
    FIX_PROOF
};
static const struct stk_rep_fix fixes[] = {
    [FIX_NO_WORKERS] =
        {"pytorch",
         "The training process prepares each batch itself (num_workers=0): let worker "
         "processes do it ahead of time.",
         "DataLoader(dataset, batch_size=batch_size, num_workers=8,\n"
         "           persistent_workers=True, prefetch_factor=4, pin_memory=True)"},
    [FIX_MORE_WORKERS] =
        {"pytorch",
         "The workers do not keep up: use more, up to the cores of the machine, and make "
         "an item cheaper (decode at the size needed, copy uint8 and normalise on the GPU, store "
         "fewer and larger files).",
         "DataLoader(dataset, batch_size=batch_size, num_workers=os.cpu_count(),\n"
         "           persistent_workers=True, prefetch_factor=4, pin_memory=True)"},
    [FIX_LOADER] = {"pytorch", "Prepare batches in worker processes, ahead of time.",
                    "DataLoader(dataset, batch_size=batch_size, num_workers=8,\n"
                    "           persistent_workers=True, prefetch_factor=4, pin_memory=True)"},
    [FIX_TORCH_EVEN] =
        {"pytorch", "Hold more batches ready, and keep the workers between epochs.",
         "DataLoader(..., num_workers=8, persistent_workers=True, prefetch_factor=8)"},
    [FIX_TFDATA] =
        {"tensorflow",
         "Run the stages of the input pipeline in parallel, and end it with prefetch.",
         "ds = (tf.data.Dataset.list_files(pattern)\n"
         "      .interleave(tf.data.TFRecordDataset, num_parallel_calls=tf.data.AUTOTUNE)\n"
         "      .map(parse, num_parallel_calls=tf.data.AUTOTUNE)\n"
         "      .batch(batch_size, num_parallel_calls=tf.data.AUTOTUNE)\n"
         "      .prefetch(tf.data.AUTOTUNE))"},
    [FIX_TF_PYTHON] =
        {"tensorflow",
         "A generator or py_function runs one element at a time under Python's lock: use "
         "TensorFlow operations in map, or write TFRecords beforehand.",
         "ds = tf.data.TFRecordDataset(files).map(parse, num_parallel_calls=tf.data.AUTOTUNE)"},
    [FIX_TF_EVEN] = {"tensorflow", "Fill a smaller shuffle buffer, and hold more batches ready.",
                     "ds = ds.shuffle(1000).batch(batch_size).prefetch(16)"},
    [FIX_GRAIN] =
        {"jax", "With Grain, read with more threads and prepare in worker processes.",
         "ds = ds.to_iter_dataset(grain.ReadOptions(num_threads=32, prefetch_buffer_size=1000))\n"
         "ds = ds.mp_prefetch(grain.MultiprocessingOptions(num_workers=8))"},
    [FIX_JAX_THREAD] =
        {"jax",
         "Prepare and send the next batch while the device works: a thread with a small queue "
         "is enough, device_put returns at once.",
         "def ahead(batches, size=2):\n"
         "    q = collections.deque()\n"
         "    for b in batches:\n"
         "        q.append(jax.device_put(b))\n"
         "        if len(q) > size: yield q.popleft()\n"
         "    yield from q"},
    [FIX_OWN_CODE] =
        {"any",
         "Take the functions named above out of the training loop: run them in the loader's "
         "workers, or once, beforehand.",
         NULL},
    [FIX_EVEN] = {"any",
                  "Look at what the long fetch did: a shuffle buffer that fills, a new epoch or "
                  "file, a slow "
                  "disk. A deeper prefetch hides it if the mean rate suffices.",
                  NULL},
    [FIX_PROOF] = {"any",
                   "To see what the input costs in all, train on one constant batch and compare "
                   "the step time.",
                   NULL},
    {0},
};

static bool input_wait_is_named(const struct stk_rule_ctx *ctx, const char *word)
{
    return stk_rule_cause_names(ctx, STK_PART_INPUT, word);
}

static bool say_uneven(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f)
{
    struct stk_rule_steps s = stk_rule_spread(ctx, 1u << STK_PART_INPUT);
    char mean[STK_HUMAN_MAX], median[STK_HUMAN_MAX], most[STK_HUMAN_MAX], share[STK_HUMAN_MAX];
    if (s.used < thresholds[ONE_STEPS].value ||
        (double)s.largest_ns < thresholds[ONE_FETCH].value * (double)s.total_ns) {
        return false;
    }
    int64_t median_ns = stk_rule_median_ns(ctx, 1u << STK_PART_INPUT);
    if (median_ns < 0) {
        return false;
    }
    f->title = "One long fetch holds most of the input wait";
    stk_finding_say(
        ctx, f, "step %lld alone waits %s, %s of all waiting; the mean is %s a step, the median %s",
        (long long)s.largest_step, stk_human_ns(s.largest_ns, most),
        stk_human_share((double)s.largest_ns / (double)s.total_ns, share),
        stk_human_ns(s.total_ns / s.used, mean), stk_human_ns(median_ns, median));
    stk_finding_raise(f, 1);
    return true;
}

static void choose_torch(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f, bool even)
{
    if (input_wait_is_named(ctx, "SingleProcessDataLoaderIter")) {
        stk_finding_say(ctx, f,
                        "_SingleProcessDataLoaderIter: the loader has no workers (num_workers=0)");
        stk_finding_fix(ctx, f, &fixes[FIX_NO_WORKERS]);
    } else if (input_wait_is_named(ctx, "MultiProcessingDataLoaderIter")) {
        stk_finding_say(ctx, f,
                        "_MultiProcessingDataLoaderIter: workers exist, but do not keep up");
        stk_finding_fix(ctx, f, &fixes[even ? FIX_MORE_WORKERS : FIX_TORCH_EVEN]);
    } else {
        stk_finding_fix(ctx, f, &fixes[even ? FIX_LOADER : FIX_TORCH_EVEN]);
    }
}

static void choose_tf(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f, bool even)
{
    static const char *const python[] = {"Generator", "PyFunc", "py_func", NULL};
    if (!even) {
        stk_finding_fix(ctx, f, &fixes[FIX_TF_EVEN]);
    }
    if (stk_rule_cause_names_any(ctx, STK_PART_INPUT, python)) {
        stk_finding_fix(ctx, f, &fixes[FIX_TF_PYTHON]);
    }
    stk_finding_fix(ctx, f, &fixes[FIX_TFDATA]);
}

static void input_wait_choose_fixes(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f,
                                    bool even)
{
    static const char *const loaders[] = {"DataLoader", "DataPipe", "Iterator", "get_next", NULL};
    bool own = ctx->pass.run->causes[STK_PART_INPUT].name_count > 0 &&
               !stk_rule_cause_names_any(ctx, STK_PART_INPUT, loaders);
    if (own) {
        stk_finding_fix(ctx, f, &fixes[FIX_OWN_CODE]);
    }
    if (!even) {
        stk_finding_fix(ctx, f, &fixes[FIX_EVEN]);
    }
    choose_torch(ctx, f, even);
    choose_tf(ctx, f, even);
    stk_finding_fix(ctx, f,
                    &fixes[input_wait_is_named(ctx, "Prefetch") || input_wait_is_named(ctx, "grain")
                               ? FIX_GRAIN
                               : FIX_JAX_THREAD]);
    stk_finding_fix(ctx, f, &fixes[FIX_PROOF]);
}

static enum stk_rule_state input_wait_check(const struct stk_rule_ctx *ctx,
                                            struct stk_rep_finding *f, const char **why)
{
    const struct stk_facts *facts = &ctx->pass.run->facts;
    char count[STK_HUMAN_MAX], time[STK_HUMAN_MAX];
    enum stk_rule_state state = stk_rule_check_share(ctx, f, 1u << STK_PART_INPUT, thresholds, why);
    if (state != STK_RULE_FIRED) {
        return state;
    }
    stk_finding_cause(ctx, f, STK_PART_INPUT);
    bool uneven = say_uneven(ctx, f);
    if (facts->input_filler) {
        stk_finding_say(ctx, f, "another thread makes what the step waits for: %s",
                        stk_rule_name(ctx, facts->input_filler));
        stk_finding_raise(f, 1);
    }
    if (facts->loader_fetches > 0) {
        stk_finding_say(
            ctx, f, "%s fetches in the profile, %s each on average",
            stk_human_count(facts->loader_fetches, count),
            stk_human_ns(facts->loader_fetch_ns / (int64_t)facts->loader_fetches, time));
    }
    if (stk_pipeline_limit_say(ctx, f)) {
        stk_finding_raise(f, 1);
        stk_pipeline_limit_fix(ctx, f);
    } else {
        input_wait_choose_fixes(ctx, f, !uneven);
    }
    return STK_RULE_FIRED;
}

const struct stk_rule stk_rule_input_wait = {
    .id = "input-wait",
    .title = "The step waits for its input",
    .fires = "The device idles for 3 % of the time (a host step: 15 %) while the step fetches its "
             "next batch, or a "
             "function that prepares data runs before the first launch.",
    .matters = "The device is paid for while files are read and decoded; a faster device would not "
               "train faster.",
    .priced = "At most the whole wait: input that is ready in time removes it, unless something "
              "else then waits.",
    .quiet = "Fetches that the device's work hides cost nothing, and what the workers of a loader "
             "or of tf.data do while the step runs is no wait.",
    .source = "XProf calls a job moderately input-bound from 5 % and highly from 20 %, the PyTorch "
              "TensorBoard plugin "
              "warned from 5 %; PyTorch and TensorFlow documentation of DataLoader and tf.data.",
    .needs = STK_NEED_BREAKDOWN,
    .verdicts = 1u << STK_VERDICT_INPUT,
    .thresholds = thresholds,
    .fixes = fixes,
    .check = input_wait_check,
};
