// SPDX-License-Identifier: Apache-2.0
// Causes in the steps of a profile without a device, and what is reported about outliers: one
// small trace each, with the parts that follow from its construction. Times in microseconds.
#include "synth.h"

#include "profile/model/threads/feed_words.h"
#include "profile/model/verdict/verdict.h"

#define MAIN 1
#define OTHER 2
#define FETCH "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"
#define STEPS 6
#define STEP_US 10000

static int64_t part_us(const struct stk_rank_sum *r, enum stk_part part)
{
    int64_t ns = 0;
    for (uint32_t i = 0; i < r->step_count; i++) {
        ns += r->steps[i].excluded ? 0 : r->steps[i].parts[part];
    }
    return ns / 1000;
}

#define PART(r, part, us) CHECK_EQ(part_us(r, STK_PART_##part), us)

static struct stk_verdict judge(struct synth *s, struct stk_rank_sum *const *ranks, uint32_t count,
                                struct stk_run_sum **run)
{
    struct stk_verdict v;
    for (uint32_t i = 0; i < count; i++) {
        ranks[i]->facts.host_events += 1000; // enough to judge at all
    }
    CHECK_EQ(stk_model_merge(ranks, count, &s->arena, run, &s->err), STOKER_OK);
    CHECK_EQ(stk_verdict_decide(*run, &s->arena, &v, &s->err), STOKER_OK);
    return v;
}

// The driver is blocked for 6 of 10 ms in each step; another thread runs `filler` meanwhile and
// ends the block with `lets_go`.
static void blocked(const char *wait, const char *filler, const char *lets_go, enum stk_part part)
{
    struct synth s;
    synth_begin(&s);
    for (int i = 0; i < STEPS; i++) {
        double t = i * STEP_US;
        synth_step(&s, MAIN, t, STEP_US, i);
        synth_host(&s, MAIN, t + 100, 6000, wait, STK_KIND_PYTHON);
        synth_host(&s, MAIN, t + 200, 5800,
                   "<built-in method acquire of _thread.lock object at 0x7>", STK_KIND_PYTHON);
        synth_host(&s, MAIN, t + 6100, 3900, "aten::conv2d", STK_KIND_HOST_OP);
        if (filler) {
            synth_host(&s, OTHER, t, 6000, filler, STK_KIND_PYTHON);
            synth_host(&s, OTHER, t + 6010, 80, lets_go, STK_KIND_PYTHON);
        }
    }
    struct stk_rank_sum *r = synth_summarize(&s);
    CHECK_EQ(part_us(r, part), STEPS * 6000);
    PART(r, COMPUTE, STEPS * 3900);
    if (part == STK_PART_INPUT) { // a queue's filler may be called anything
        CHECK(r->facts.input_filler ? !strcmp(r->facts.input_filler, filler)
                                    : strstr(filler, "worker") != NULL);
        CHECK_EQ(r->facts.loader_fetches, STEPS); // the lock inside is no second one
        CHECK_EQ(r->facts.loader_fetch_ns, STEPS * 6000 * INT64_C(1000));
        CHECK_EQ(r->facts.input_asleep_ns, 0);
    }
    if (part == STK_PART_WAIT) { // named after what it waits in, not after the lock inside
        CHECK(strncmp(r->causes[STK_PART_WAIT].names[0].name, wait, strlen(wait)) == 0);
    }
    synth_end(&s);
}

static void check_blocked(void)
{
    blocked("queue.py(154): get", "train.py(7): load_batch", "queue.py(122): put", STK_PART_INPUT);
    blocked("$queue.py:154 get", "$train.py:7 produce", "$queue.py:122 put", STK_PART_INPUT);
    blocked("queue.py(154): get", "train.py(7): worker", "queue.py(122): put", STK_PART_INPUT);
    blocked("queue.py(154): get", "train.py(7): write_checkpoint", "queue.py(122): put",
            STK_PART_WAIT);
    blocked("queue.py(154): get", NULL, NULL, STK_PART_WAIT);
    blocked("concurrent/futures/_base.py(428): result", "train.py(7): decode_images",
            "concurrent/futures/_base.py(537): set_result", STK_PART_INPUT);
    blocked("concurrent/futures/_base.py(428): result", "train.py(7): upload",
            "concurrent/futures/_base.py(537): set_result", STK_PART_WAIT);
    blocked("threading.py(288): wait", "train.py(7): log_images", "threading.py(366): notify",
            STK_PART_WAIT);
    blocked("threading.py(1080): join", "train.py(7): load_batch", "queue.py(122): put",
            STK_PART_WAIT);
    blocked("$time sleep", "$train.py:7 load_batch", "$queue.py:122 put", STK_PART_WAIT);
    blocked("selectors.py(452): select", NULL, NULL, STK_PART_WAIT);
}

// The thread that fills the queue waits for an answer itself, for 5 of 6 ms.
static void check_asleep(void)
{
    struct synth s;
    synth_begin(&s);
    for (int i = 0; i < STEPS; i++) {
        double t = i * STEP_US;
        synth_step(&s, MAIN, t, STEP_US, i);
        synth_host(&s, MAIN, t + 100, 6000, "queue.py(154): get", STK_KIND_PYTHON);
        synth_host(&s, MAIN, t + 6100, 3900, "aten::conv2d", STK_KIND_HOST_OP);
        synth_host(&s, OTHER, t, 6000, "train.py(7): load_batch", STK_KIND_PYTHON);
        synth_host(&s, OTHER, t + 500, 5000, "<built-in function sleep>", STK_KIND_PYTHON);
        synth_host(&s, OTHER, t + 6010, 80, "queue.py(122): put", STK_KIND_PYTHON);
    }
    const struct stk_rank_sum *r = synth_summarize(&s);
    CHECK_EQ(r->facts.input_asleep_ns, STEPS * 5000 * INT64_C(1000));
    CHECK_EQ(r->facts.loader_fetches, STEPS);
    synth_end(&s);
}

// What a pool of processes gives back is handed over by a thread of the pool.
static void check_process_pool(void)
{
    static const char *const around[] = {"concurrent/futures/process.py(441): process_result_item",
                                         "concurrent/futures/thread.py(53): run"};
    for (size_t n = 0; n < 2; n++) {
        struct synth s;
        synth_begin(&s);
        for (int i = 0; i < STEPS; i++) {
            double t = i * STEP_US;
            synth_step(&s, MAIN, t, STEP_US, i);
            synth_host(&s, MAIN, t + 100, 6000, "concurrent/futures/_base.py(428): result",
                       STK_KIND_PYTHON);
            synth_host(&s, OTHER, t + 6000, 100, around[n], STK_KIND_PYTHON);
            synth_host(&s, OTHER, t + 6010, 80, "concurrent/futures/_base.py(537): set_result",
                       STK_KIND_PYTHON);
            synth_host(&s, MAIN, t + 6100, 3900, "aten::conv2d", STK_KIND_HOST_OP);
        }
        PART(synth_summarize(&s), INPUT, n == 0 ? STEPS * 6000 : 0);
        synth_end(&s);
    }
}

// dict.get and str.join are no waits, nor is a user's own get.
static void check_not_blocked(void)
{
    struct synth s;
    synth_begin(&s);
    for (int i = 0; i < STEPS; i++) {
        synth_step(&s, MAIN, i * STEP_US, STEP_US, i);
        synth_host(&s, MAIN, i * STEP_US + 100, 3000,
                   "<built-in method get of dict object at 0x7f00>", STK_KIND_PYTHON);
        synth_host(&s, MAIN, i * STEP_US + 3100, 3000, "train.py(3): join", STK_KIND_PYTHON);
        synth_host(&s, MAIN, i * STEP_US + 6100, 3900, "aten::conv2d", STK_KIND_HOST_OP);
    }
    struct stk_rank_sum *r = synth_summarize(&s);
    PART(r, WAIT, 0);
    PART(r, HOST, STEPS * 6000 + STEPS * 100); // and the piece before
    PART(r, INPUT, 0);
    synth_end(&s);
}

// On a device the thread that launches is blocked between the kernels.
static void check_blocked_on_device(void)
{
    struct synth s;
    synth_begin(&s);
    synth_launch(&s, MAIN, 0, 10, "a", 20, 1000, 7);
    synth_host(&s, MAIN, 1100, 5000, "$time sleep", STK_KIND_PYTHON);
    synth_launch(&s, MAIN, 6110, 10, "a", 6125, 1000, 7);
    struct stk_rank_sum *r = synth_summarize(&s);
    CHECK_EQ(r->devices[0].parts[STK_PART_WAIT], 5000 * US);
    synth_end(&s);
}

// A function is traced again in each step, inside an operation of the model too, and on another
// thread: compilation that returns, the host's, and no start.
static void check_tracing(void)
{
    struct synth s;
    struct stk_run_sum *run;
    synth_begin(&s);
    for (int i = 0; i < STEPS; i++) {
        double t = i * STEP_US;
        synth_step(&s, MAIN, t, STEP_US, i);
        synth_host(&s, MAIN, t + 100, 9800, "train_step", STK_KIND_HOST_OP);
        synth_host(&s, MAIN, t + 200, 5000, "tf.function-graph_building", STK_KIND_HOST_OP);
        synth_host(&s, MAIN, t + 300, 4000, "mul:Mul", STK_KIND_HOST_OP);
        synth_host(&s, MAIN, t + 5200, 4700, "conv:Conv2D", STK_KIND_HOST_OP);
        synth_host(&s, OTHER, t + 6000, 3000, "autograd::engine::evaluate_function: F",
                   STK_KIND_HOST_OP);
        synth_host(&s, OTHER, t + 6500, 2000, "inductor_compile (dynamo_timed)", STK_KIND_HOST_OP);
    }
    struct stk_rank_sum *r = synth_summarize(&s);
    PART(r, COMPILE, STEPS * 7000);
    PART(r, COMPUTE, STEPS * 2700);
    CHECK_STR(r->facts.recompiled[0].name, "train_step");
    CHECK_EQ(r->facts.recompiled[0].count, STEPS);
    CHECK_EQ(r->facts.recompiled[0].later, STEPS - 2);
    CHECK_EQ(r->facts.recompiled[0].ns, STEPS * 5000 * US);
    r->cold_ns = 0; // the profile has no time but these steps
    struct stk_verdict v = judge(&s, &r, 1, &run);
    CHECK_EQ(v.kind, STK_VERDICT_HOST);
    CHECK(strstr(v.sentence, "compilation that recurs") != NULL);
    CHECK(strstr(v.sentence, "launches, Python") == NULL);
    synth_end(&s);
}

// Python's own library prepares nobody's data; what prepares must feed the step.
static void names(const char *prep, double at_us, enum stk_part part)
{
    struct synth s;
    synth_begin(&s);
    for (int i = 0; i < STEPS; i++) {
        double t = i * STEP_US;
        synth_step(&s, MAIN, t, STEP_US, i);
        synth_host(&s, MAIN, t, 1000, FETCH, STK_KIND_INPUT);
        synth_host(&s, MAIN, t + 2000, 3000, "aten::conv2d", STK_KIND_HOST_OP);
        bool is_caller = strstr(prep, "log_") != NULL;
        if (is_caller) {
            synth_host(&s, MAIN, t + at_us, 900, prep, STK_KIND_PYTHON);
        }
        synth_host(&s, MAIN, t + at_us, 800, is_caller ? "train.py(9): make_samples" : prep,
                   STK_KIND_PYTHON);
    }
    struct stk_rank_sum *r = synth_summarize(&s);
    CHECK_EQ(part_us(r, STK_PART_INPUT), STEPS * (1000 + (part == STK_PART_INPUT ? 800 : 0)));
    synth_end(&s);
}

static void check_prep_names(void)
{
    names("train.py(3): preprocess", 1000, STK_PART_INPUT);
    names("torchvision/io/video.py(3): read_video", 1000, STK_PART_INPUT);
    names("logging/__init__.py(1557): makeRecord", 1000, STK_PART_HOST);
    names("torch/optim/lr_scheduler.py(3): get_batch", 1000, STK_PART_HOST);
    names("train.py(3): make_samples", 8000, STK_PART_HOST); // after the model
    names("train.py(3): log_images", 1000, STK_PART_HOST);
    CHECK_EQ(stk_feed_of(STK_STR("loadBatch")), STK_FEED_DATA);
    CHECK_EQ(stk_feed_of(STK_STR("save_batch")), STK_FEED_OTHER);
    CHECK_EQ(stk_feed_of(STK_STR("catalog")), STK_FEED_UNKNOWN);
}

// Where every step prepares at its end and none at its beginning, that feeds the next one.
static void check_prepared_ahead(void)
{
    struct synth s;
    synth_begin(&s);
    for (int i = 0; i < STEPS; i++) {
        double t = i * STEP_US;
        synth_step(&s, MAIN, t, STEP_US, i);
        synth_host(&s, MAIN, t, 3000, "aten::conv2d", STK_KIND_HOST_OP);
        synth_host(&s, MAIN, t + 4000, 6000, "train.py(3): load_batch", STK_KIND_PYTHON);
    }
    struct stk_rank_sum *r = synth_summarize(&s);
    PART(r, INPUT, STEPS * 6000);
    synth_end(&s);
}

// A user's function that reads before the model, in each step, and no fetch is recorded.
static void leading(const char *name, double at_us, bool feeds)
{
    struct synth s;
    synth_begin(&s);
    for (int i = 0; i < STEPS; i++) {
        double t = i * STEP_US;
        synth_step(&s, MAIN, t, STEP_US, i);
        synth_host(&s, MAIN, t + at_us, 3000, name, STK_KIND_PYTHON);
        synth_host(&s, MAIN, t + 4000, 3000, "aten::conv2d", STK_KIND_HOST_OP);
    }
    struct stk_rank_sum *r = synth_summarize(&s);
    PART(r, INPUT, feeds ? STEPS * 3000 : 0);
    CHECK_EQ(r->facts.has_fetches, feeds);
    synth_end(&s);
}

static void check_leading(void)
{
    leading("train.py(3): read_tiles", 500, true);
    leading("$train.py:3 read_tiles", 500, true);
    leading("train.py(3): read_tiles", 7000, false); // after the model
    leading("train.py(3): update_metrics", 500, false);
    leading("queue.py(3): read_tiles", 500, false); // Python's own library
}

// A function whose name says nothing is known by what it calls; a next() inside of one that
// prepares is no fetch of the step's, unless it is most of it.
static void leading_calls(const char *name, const char *calls, double calls_us, int64_t input_us)
{
    struct synth s;
    synth_begin(&s);
    for (int i = 0; i < STEPS; i++) {
        double t = i * STEP_US;
        synth_step(&s, MAIN, t, STEP_US, i);
        synth_host(&s, MAIN, t + 500, 3000, name, STK_KIND_PYTHON);
        synth_host(&s, MAIN, t + 600, calls_us, calls, STK_KIND_PYTHON);
        synth_host(&s, MAIN, t + 4000, 3000, "aten::conv2d", STK_KIND_HOST_OP);
    }
    struct stk_rank_sum *r = synth_summarize(&s);
    PART(r, INPUT, STEPS * input_us);
    CHECK_EQ(r->facts.loader_fetches, input_us ? STEPS : 0);
    synth_end(&s);
}

// A function makes a batch by operations of JAX, on its own thread and on another, whose operation
// begins `began_us` before its first call. One that runs before it may be the step's.
static void jax_batch(double began_us, int64_t computes_us)
{
    struct synth s;
    synth_begin(&s);
    for (int i = 0; i < STEPS; i++) {
        double t = i * STEP_US;
        synth_step(&s, MAIN, t, STEP_US, i);
        synth_host(&s, MAIN, t + 100, 5900, "$train.py:3 augment_batch", STK_KIND_PYTHON);
        synth_host(&s, MAIN, t + 1000, 100, "PjitFunction(_where)", STK_KIND_HOST_OP);
        synth_host(&s, OTHER, t + 1000 - began_us, 3000, "ThunkExecutor::Execute",
                   STK_KIND_HOST_OP);
        for (int k = 0; k < 8; k++) {
            synth_host(&s, MAIN, t + 6000 + k * 400, 390, "PjitFunction(train_step)",
                       STK_KIND_HOST_OP);
        }
    }
    struct stk_rank_sum *r = synth_summarize(&s);
    CHECK_EQ(part_us(r, STK_PART_INPUT), STEPS * (5900 - computes_us));
    synth_end(&s);
}

static void check_jax_batch(void)
{
    jax_batch(-500, 0);
    jax_batch(500, 3000);
}

// A loader's fetches behind the step's optimizer are of an evaluation, where the step's own came
// before: measured apart.
static void fetched_behind(bool leads)
{
    struct synth s;
    synth_begin(&s);
    for (int i = 0; i < STEPS; i++) {
        double t = i * STEP_US;
        const char *next = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__";
        synth_step(&s, MAIN, t, STEP_US, i);
        if (leads) {
            synth_host(&s, MAIN, t + 100, 1000, next, STK_KIND_INPUT);
        }
        synth_host(&s, MAIN, t + 1200, 3000, "aten::conv2d", STK_KIND_HOST_OP);
        synth_host(&s, MAIN, t + 4300, 700, "Optimizer.step#SGD.step", STK_KIND_ANNOTATION);
        synth_host(&s, MAIN, t + 5100, 2000, next, STK_KIND_INPUT);
        synth_host(&s, MAIN, t + 7200, 1000, "aten::conv2d", STK_KIND_HOST_OP);
    }
    struct stk_rank_sum *r = synth_summarize(&s);
    CHECK_EQ(part_us(r, STK_PART_INPUT), STEPS * (leads ? 3000 : 2000));
    CHECK_EQ(r->facts.evaluated_fetch_ns, leads ? STEPS * INT64_C(2000000) : 0);
    synth_end(&s);
}

static void check_fetched_behind(void)
{
    fetched_behind(true);
    fetched_behind(false); // the batch of the next step
}

static void check_leading_calls(void)
{
    leading_calls("train.py(3): open_shard", "numpy/lib/npyio.py(302): load", 500, 3000);
    leading_calls("$train.py:3 open_shard", "$numpy frombuffer", 500, 3000);
    leading_calls("train.py(3): keep_metric", "numpy/lib/npyio.py(302): load", 500, 0);
    leading_calls("train.py(3): load_table", "<built-in function next>", 500, 3000);
    leading_calls("train.py(3): load_table", "<built-in function next>", 2500, 2500);
}

// A function whose name says nothing: it must take a good part of the step, rule nothing, call next
// to nothing of the framework's, and something that shows data: `calls`, for a tenth of its time.
static void silent_calls(const char *name, double dur_us, double work_us, const char *calls,
                         bool feeds)
{
    struct synth s;
    synth_begin(&s);
    for (int i = 0; i < STEPS; i++) {
        double t = i * STEP_US;
        synth_step(&s, MAIN, t, STEP_US, i);
        synth_host(&s, MAIN, t + 100, dur_us, name, STK_KIND_PYTHON);
        if (calls) {
            synth_host(&s, MAIN, t + 101, dur_us / 10 - 2, calls, STK_KIND_PYTHON);
        }
        if (work_us > 0) {
            synth_host(&s, MAIN, t + 600, work_us, "aten::mm", STK_KIND_HOST_OP);
        }
        for (int k = 0; k < 40; k++) {
            synth_host(&s, MAIN, t + 5000 + k * 100, 90, "aten::conv2d", STK_KIND_HOST_OP);
        }
    }
    struct stk_rank_sum *r = synth_summarize(&s);
    PART(r, INPUT, feeds ? STEPS * (int64_t)dur_us : 0); // what it calls runs for it
    synth_end(&s);
}

static void silent(const char *name, double dur_us, double work_us, bool feeds)
{
    silent_calls(name, dur_us, work_us, "numpy/lib/_function_base_impl.py(280): flip", feeds);
}

static void check_silent(void)
{
    silent_calls("train.py(3): at", 3000, 0, NULL, false); // plain Python: a schedule
    silent_calls("train.py(3): at", 3000, 0, "<built-in function exp>", false);
    silent_calls("$train.py:3 at", 3000, 0, "$builtins sorted", false);
    silent_calls("$train.py:3 at", 3000, 0, "$numpy asarray", true);
    silent_calls("train.py(3): at", 3000, 0,
                 "<built-in method sort of numpy.ndarray object at 0x7f>", true);
    silent("train.py(3): jitter", 3000, 0, true);
    silent("$train.py:3 jitter", 3000, 0, true);
    silent("train.py(3): jitter", 3000, 300, true); // makes tensors
    silent("train.py(3): jitter", 3000, 2000, false);
    silent("train.py(3): jitter", 1000, 0, false); // a tenth of the step
    silent("train.py(3): throttle", 3000, 0, false);
    silent("train.py(3): on_step_begin", 3000, 0, false);
    silent("train.py(3): write_row", 3000, 0, false);
    silent("logging/__init__.py(3): jitter", 3000, 0, false); // Python's own
}

// A step calls its function for 2 ms, an iterator of tf.data is made, and another function may be
// called with what it gives, and ends. `iterator_us`: when that is.
static void evaluated(double iterator_us, const char *other, int64_t input_us)
{
    struct synth s;
    synth_begin(&s);
    for (int i = 0; i < STEPS; i++) {
        double t = i * STEP_US;
        synth_step(&s, MAIN, t, STEP_US, i);
        synth_host(&s, MAIN, t + iterator_us, 1500, "EagerLocalExecute: MakeIterator",
                   STK_KIND_HOST_OP);
        synth_host(&s, MAIN, t + 2000, 2000, "EagerLocalExecute: __inference_train_723",
                   STK_KIND_HOST_OP);
        if (other) {
            synth_host(&s, MAIN, t + 7000, 1000, other, STK_KIND_HOST_OP);
            synth_host(&s, MAIN, t + 8500, 500, "EagerLocalExecute: IteratorGetNext",
                       STK_KIND_HOST_OP);
        }
    }
    PART(synth_summarize(&s), INPUT, STEPS * input_us);
    synth_end(&s);
}

static void check_evaluated(void)
{
    evaluated(4500, "EagerLocalExecute: __inference_predict_88", 0);
    evaluated(4500, "EagerLocalExecute: __inference_train_723", 2000);
    evaluated(100, "EagerLocalExecute: __inference_predict_88", 2000); // it feeds the step, too
    evaluated(4500, NULL, 1500);                                       // the next step's
}

// The result of a function without telling words, made on a thread of a pool: input where the step
// waits for it before its work.
static void check_pool_result(void)
{
    for (int n = 0; n < 2; n++) {
        struct synth s;
        synth_begin(&s);
        for (int i = 0; i < STEPS; i++) {
            double t = i * STEP_US, at = n == 0 ? 100 : 4100;
            synth_step(&s, MAIN, t, STEP_US, i);
            synth_host(&s, MAIN, t + at, 4000, "concurrent/futures/_base.py(428): result",
                       STK_KIND_PYTHON);
            synth_host(&s, OTHER, t + at, 3900, "train.py(7): build_tiles", STK_KIND_PYTHON);
            synth_host(&s, OTHER, t + at + 3910, 80, "concurrent/futures/_base.py(537): set_result",
                       STK_KIND_PYTHON);
            synth_host(&s, MAIN, t + (n == 0 ? 4100 : 0), 4000, "aten::conv2d", STK_KIND_HOST_OP);
        }
        struct stk_rank_sum *r = synth_summarize(&s);
        PART(r, INPUT, n == 0 ? STEPS * 4000 : 0);
        PART(r, WAIT, n == 0 ? 0 : STEPS * 4000);
        if (n == 0) {
            CHECK_STR(r->facts.input_filler, "train.py(7): build_tiles");
        }
        synth_end(&s);
    }
}

// Coroutines that read are run by an event loop, which waits for what they asked: all of it is
// input, of the first coroutine that the loop ran. A with statement's next() is no fetch.
static void check_coroutines(void)
{
    static const char *const readers[] = {"train.py(3): read_one", "train.py(3): load_data"};
    for (size_t n = 0; n < 2; n++) { // the second is known by its name alone
        struct synth s;
        synth_begin(&s);
        for (int i = 0; i < STEPS; i++) {
            double t = i * STEP_US;
            synth_step(&s, MAIN, t, STEP_US, i);
            synth_host(&s, MAIN, t, 5000, "asyncio/runners.py(160): run", STK_KIND_PYTHON);
            synth_host(&s, MAIN, t + 50, 4900, "asyncio/base_events.py(617): run_until_complete",
                       STK_KIND_PYTHON);
            synth_host(&s, MAIN, t + 100, 100, "train.py(8): gather_all", STK_KIND_PYTHON);
            synth_host(&s, MAIN, t + 300, 100, readers[n], STK_KIND_PYTHON);
            synth_host(&s, MAIN, t + 1000, 3500, "selectors.py(452): select", STK_KIND_PYTHON);
            synth_host(&s, MAIN, t + 5000, 100, "contextlib.py(137): __enter__", STK_KIND_PYTHON);
            synth_host(&s, MAIN, t + 5020, 50, "<built-in function next>", STK_KIND_PYTHON);
            synth_host(&s, MAIN, t + 5100, 4900, "aten::conv2d", STK_KIND_HOST_OP);
        }
        struct stk_rank_sum *r = synth_summarize(&s);
        PART(r, INPUT, STEPS * 5000);
        PART(r, WAIT, 0);
        CHECK_STR(r->causes[STK_PART_INPUT].owners[0].name, "train.py(8): gather_all");
        CHECK_EQ(r->causes[STK_PART_INPUT].owners[0].count, STEPS);
        synth_end(&s);
    }
}

// An event loop that a function runs which is named otherwise fetches nothing: what saves asks for
// the next of its own lists.
static void loop_of(const char *function, int64_t input_us)
{
    struct synth s;
    synth_begin(&s);
    for (int i = 0; i < STEPS; i++) {
        double t = i * STEP_US;
        synth_step(&s, MAIN, t, STEP_US, i);
        synth_host(&s, MAIN, t + 10, 2000, "aten::conv2d", STK_KIND_HOST_OP);
        synth_host(&s, MAIN, t + 2100, 6000, function, STK_KIND_PYTHON);
        synth_host(&s, MAIN, t + 2200, 5000, "asyncio/base_events.py(617): run_until_complete",
                   STK_KIND_PYTHON);
        synth_host(&s, MAIN, t + 2400, 100, "<built-in function next>", STK_KIND_PYTHON);
        synth_host(&s, MAIN, t + 9000, 900, "aten::conv2d", STK_KIND_HOST_OP);
    }
    PART(synth_summarize(&s), INPUT, STEPS * input_us);
    synth_end(&s);
}

// next() of a TensorFlow dataset: the call from Python around the operation, a piece without events
// after it, and the deletion of the previous batch's tensors; longer pieces are the loop's.
static void next_called(double silent_us, int64_t input_us)
{
    struct synth s;
    synth_begin(&s);
    for (int i = 0; i < STEPS; i++) {
        double t = i * STEP_US;
        synth_step(&s, MAIN, t, STEP_US, i);
        synth_host(&s, MAIN, t + 50, 2100, "TFE_Py_FastPathExecute_C", STK_KIND_HOST_OP);
        synth_host(&s, MAIN, t + 90, 2050, "EagerExecute", STK_KIND_HOST_OP);
        synth_host(&s, MAIN, t + 100, 2000, "EagerLocalExecute: IteratorGetNext", STK_KIND_INPUT);
        synth_host(&s, MAIN, t + 2150 + silent_us, 60, "TFE_DeleteTensorHandle", STK_KIND_HOST_OP);
        synth_host(&s, MAIN, t + 2250 + silent_us, 10, "TFE_DeleteTensorHandle", STK_KIND_HOST_OP);
        synth_host(&s, MAIN, t + 2300 + silent_us, 7000 - silent_us, "train_step",
                   STK_KIND_HOST_OP);
    }
    PART(synth_summarize(&s), INPUT, STEPS * input_us);
    synth_end(&s);
}

static void check_next_called(void)
{
    next_called(120, 2100 + 120 + 150);
    next_called(300, 2100);
}

// Pictures that TensorFlow encodes and writes are no work of the model's.
static void check_writing(void)
{
    struct synth s;
    synth_begin(&s);
    for (int i = 0; i < STEPS; i++) {
        double t = i * STEP_US;
        synth_step(&s, MAIN, t, STEP_US, i);
        synth_host(&s, MAIN, t, 4000, "step/MatMul:MatMul", STK_KIND_HOST_OP);
        synth_host(&s, MAIN, t + 4000, 5000, "EagerLocalExecute: EncodePng", STK_KIND_HOST_OP);
        synth_host(&s, MAIN, t + 4100, 4800, "EncodePng:EncodePng", STK_KIND_HOST_OP);
        synth_host(&s, MAIN, t + 9000, 1000, "EagerLocalExecute: WriteFile", STK_KIND_HOST_OP);
    }
    struct stk_rank_sum *r = synth_summarize(&s);
    PART(r, COMPUTE, STEPS * 4000);
    PART(r, HOST, STEPS * 6000);
    synth_end(&s);
}

// Python that a compiled step calls is no work of the model's.
static void check_python_in_graph(void)
{
    struct synth s;
    synth_begin(&s);
    for (int i = 0; i < STEPS; i++) {
        double t = i * STEP_US;
        synth_step(&s, MAIN, t, STEP_US, i);
        synth_host(&s, OTHER, t, 3000, "conv:Conv2D", STK_KIND_HOST_OP);
        synth_host(&s, OTHER, t + 3000, 7000, "rank/PyFunc:PyFunc", STK_KIND_HOST_OP);
    }
    struct stk_rank_sum *r = synth_summarize(&s);
    PART(r, COMPUTE, STEPS * 3000);
    PART(r, HOST, STEPS * 7000);
    synth_end(&s);
}

// What TensorFlow's driver does in a function's call is to wait for the model; an eager operation's
// call is work of its own.
static void check_function_call(void)
{
    struct synth s;
    synth_begin(&s);
    for (int i = 0; i < STEPS; i++) {
        double t = i * STEP_US;
        synth_step(&s, MAIN, t, STEP_US, i);
        synth_host(&s, MAIN, t, 4000, "FunctionRun", STK_KIND_HOST_OP);
        synth_host(&s, OTHER, t + 1000, 1000, "conv:Conv2D", STK_KIND_HOST_OP);
        synth_host(&s, MAIN, t + 5000, 2000, "EagerExecute", STK_KIND_HOST_OP);
    }
    struct stk_rank_sum *r = synth_summarize(&s);
    PART(r, COMPUTE, STEPS * 4000);
    PART(r, HOST, STEPS * 2000);
    synth_end(&s);
}

// A TensorFlow loop without marks or tf.data: the function that returns, in all its traces.
static void check_functions(void)
{
    struct synth s;
    char name[80];
    synth_begin(&s);
    for (int i = 0; i < STEPS; i++) {
        double t = i * STEP_US;
        snprintf(name, sizeof name, "EagerLocalExecute: __inference_train_step_%d", 100 + i / 2);
        synth_host(&s, MAIN, t, 5000, name, STK_KIND_HOST_OP);
        // What comes before the first run of a trace makes it ready.
        double ready_us = i % 2 ? 0 : 2000;
        synth_host(&s, MAIN, t + ready_us, 4900 - ready_us, "FunctionRun", STK_KIND_HOST_OP);
        synth_host(&s, MAIN, t + 2200, 2000, "conv:Conv2D", STK_KIND_HOST_OP);
        synth_host(&s, MAIN, t + 6000, 300, "EagerLocalExecute: __inference_metric_7",
                   STK_KIND_HOST_OP);
    }
    struct stk_rank_sum *r = synth_summarize(&s);
    CHECK_EQ(r->source, STK_STEPS_FRAMEWORK);
    CHECK_EQ(r->step_count, STEPS);
    CHECK_EQ(r->steps[1].start_ns, STEP_US * US);
    CHECK_EQ(r->steps[1].dur_ns, STEP_US * US);
    PART(r, COMPILE, STEPS / 2 * 2000);
    synth_end(&s);
}

// Three ranks all-reduce on the CPU; the last one comes `late_us` later than the others. Of what
// they do before, all is recorded, or little.
static void gloo(double late_us, bool recorded, enum stk_verdict_kind kind)
{
    struct synth s[3];
    struct stk_rank_sum *ranks[3];
    struct stk_run_sum *run;
    for (int r = 0; r < 3; r++) {
        synth_begin(&s[r]);
        for (int i = 0; i < STEPS; i++) {
            double t = i * STEP_US, enters = t + 2000 + (r == 2 ? late_us : 0);
            synth_step(&s[r], MAIN, t, STEP_US, i);
            synth_host(&s[r], MAIN, t, recorded ? enters - t : 100, "aten::conv2d",
                       STK_KIND_HOST_OP);
            synth_host(&s[r], MAIN, enters, 20, "c10d::allreduce_", STK_KIND_HOST_OP);
            synth_host(&s[r], OTHER, enters + 10, t + 9990 - enters, "gloo:all_reduce",
                       STK_KIND_HOST_OP);
        }
        ranks[r] = synth_summarize(&s[r]);
        ranks[r]->rank = r;
        for (uint32_t i = 0; i < ranks[r]->step_count; i++) {
            ranks[r]->steps[i].rank = r;
        }
        CHECK_EQ(ranks[r]->host_collective_count, STEPS);
    }
    struct stk_verdict v = judge(&s[0], ranks, 3, &run);
    CHECK_EQ(v.kind, kind);
    CHECK(kind != STK_VERDICT_STRAGGLER || (v.confidence == STK_LEVEL_LOW) == !recorded);
    CHECK_EQ(run->straggler.matched, STEPS);
    CHECK_EQ(run->straggler.fired, late_us > 0);
    CHECK_EQ(run->parts[STK_PART_COLLECTIVE_WAIT], (int64_t)(2 * STEPS * late_us) * US);
    if (late_us > 0) {
        CHECK_EQ(run->straggler.rank, 2);
    }
    if (kind == STK_VERDICT_STRAGGLER) {
        // The share in the sentence is the bar's.
        char share[40];
        snprintf(share, sizeof share, "wait in collectives %d%% of the time",
                 (int)(run->parts[STK_PART_COLLECTIVE_WAIT] * 100.0 / (double)run->wall_ns + 0.5));
        CHECK(strstr(v.sentence, share) != NULL);
    }
    for (int r = 0; r < 3; r++) {
        synth_end(&s[r]);
    }
}

// Of two ranks now one is late, now the other: that one of them holds two thirds is chance.
static void check_two_ranks(void)
{
    struct synth s[2];
    struct stk_rank_sum *ranks[2];
    struct stk_run_sum *run;
    for (int r = 0; r < 2; r++) {
        synth_begin(&s[r]);
        for (int i = 0; i < STEPS; i++) {
            double t = i * STEP_US, enters = t + (r == (i % 3 != 0) ? 5000 : 2000);
            synth_step(&s[r], MAIN, t, STEP_US, i);
            synth_host(&s[r], MAIN, t, enters - t, "aten::conv2d", STK_KIND_HOST_OP);
            synth_host(&s[r], OTHER, enters, t + 9990 - enters, "gloo:all_reduce",
                       STK_KIND_HOST_OP);
        }
        ranks[r] = synth_summarize(&s[r]);
        ranks[r]->rank = r;
        for (uint32_t i = 0; i < ranks[r]->step_count; i++) {
            ranks[r]->steps[i].rank = r;
        }
    }
    CHECK_EQ(judge(&s[0], ranks, 2, &run).kind, STK_VERDICT_COMMUNICATION);
    CHECK(run->straggler.held_share > 0.6 && !run->straggler.fired);
    synth_end(&s[0]);
    synth_end(&s[1]);
}

static void check_host_collectives(void)
{
    gloo(6000, true, STK_VERDICT_STRAGGLER);
    gloo(5000, false, STK_VERDICT_STRAGGLER);
    // The ranks wait for a fifth of the time, and the collectives take half of it.
    gloo(3000, true, STK_VERDICT_COMMUNICATION);
    gloo(0, true, STK_VERDICT_COMMUNICATION); // all ranks are there, nothing more to record
}

// Steps of the given lengths in ms, all of them computing but the first 4 ms.
static struct stk_rank_sum *lengths(struct synth *s, const int *ms, int n, const char *extra)
{
    double t = 0;
    synth_begin(s);
    for (int i = 0; i < n; i++) {
        synth_step(s, MAIN, t, ms[i] * 1000, i);
        synth_host(s, MAIN, t, 4000, "aten::conv2d", STK_KIND_HOST_OP);
        if (ms[i] > 8) {
            synth_host(s, MAIN, t + 4000, ms[i] * 1000 - 5000, extra, STK_KIND_HOST_OP);
        }
        t += ms[i] * 1000;
    }
    return synth_summarize(s);
}

static void check_periodic(void)
{
    static const int ms[] = {5, 5, 5, 5, 5, 20, 5, 5, 5, 5, 5, 20, 5, 5, 5, 5, 5, 20};
    struct synth s;
    struct stk_rank_sum *r = lengths(&s, ms, 18, "run_evaluation");
    CHECK_EQ(r->facts.long_period, 6);
    CHECK_STR(r->facts.long_what, "run_evaluation");
    CHECK(!r->facts.long_what_is_usual);
    CHECK_EQ(r->steps[5].excluded == NULL, true);
    CHECK_STR(r->steps[11].long_why, "evaluation or checkpoint");
    CHECK(r->steps[4].long_why == NULL);
    synth_end(&s);
    // The second step is one of them, and a step that stands out less is not.
    static const int early[] = {5, 20, 5, 11, 5, 5, 5, 20, 5, 5, 5, 5, 5, 20, 5, 5, 5, 5};
    r = lengths(&s, early, 18, "run_evaluation");
    CHECK_EQ(r->facts.long_period, 6);
    CHECK(r->steps[1].long_why && !r->steps[1].excluded);
    CHECK(!r->steps[3].long_why && !r->steps[3].excluded);
    synth_end(&s);
    // All that stand out return, however long each of them is.
    static const int uneven[] = {5, 5, 5, 5, 34, 5, 5, 5, 5, 18, 5, 5, 5, 5, 20, 5, 5, 5};
    r = lengths(&s, uneven, 18, "run_evaluation");
    CHECK_EQ(r->facts.long_period, 5);
    CHECK(r->steps[9].long_why && r->steps[14].long_why);
    synth_end(&s);
}

// XLA on a CPU: its operations have the names that end in "end: NAME", on the thread that launched
// them too. Launching is no compute.
static void check_xla_ops(void)
{
    struct synth s;
    synth_begin(&s);
    for (int i = 0; i < STEPS; i++) {
        double t = i * STEP_US;
        synth_step(&s, MAIN, t, STEP_US, i);
        synth_host(&s, MAIN, t, 5000, "PjitFunction(matmul)", STK_KIND_HOST_OP);
        synth_host(&s, MAIN, t + 1000, 4000, "CommonPjRtLoadedExecutable::ExecuteHelper",
                   STK_KIND_HOST_OP);
        synth_host(&s, MAIN, t + 2000, 1000, "transpose_copy_fusion", STK_KIND_HOST_OP);
        synth_host(&s, MAIN, t + 3000, 1, "end: transpose_copy_fusion", STK_KIND_HOST_OP);
        synth_host(&s, MAIN, t + 5000, 5000, "np.asarray(jax.Array)", STK_KIND_HOST_OP);
        synth_host(&s, OTHER, t + 5000, 4000, "dot.2", STK_KIND_HOST_OP);
        synth_host(&s, OTHER, t + 9000, 1, "end: dot.2", STK_KIND_HOST_OP);
    }
    struct stk_rank_sum *r = synth_summarize(&s);
    PART(r, COMPUTE, STEPS * 5000);
    synth_end(&s);
}

// Long steps that hold under a tenth are left out; so is a long first step, which is no long step.
static void check_left_out(void)
{
    int ms[60];
    struct synth s;
    for (int i = 0; i < 60; i++) {
        ms[i] = i == 0 ? 40 : i == 30 ? 20 : 5;
    }
    struct stk_rank_sum *r = lengths(&s, ms, 60, "extra");
    CHECK(r->steps[0].excluded && r->steps[0].is_warm_up);
    CHECK(r->steps[30].excluded && !r->steps[30].is_warm_up);
    CHECK_EQ(r->facts.long_period, 0);
    synth_end(&s);
}

// The first fetch waits for workers that start: most of the time, and nothing of the steady state.
// making_us: before it, without an event, its processes are made.
static void check_one_off(double making_us, double first_us, enum stk_verdict_kind kind)
{
    static const char first[] = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__";
    struct synth s;
    struct stk_run_sum *run;
    double t = 0;
    synth_begin(&s);
    for (int i = 0; i < STEPS; i++) {
        double fetch_us = i == 0 ? first_us : 200, own_us = i == 0 ? making_us : 0;
        synth_step(&s, MAIN, t, fetch_us + 9000, i);
        synth_host(&s, MAIN, t + own_us, fetch_us - own_us, i == 0 ? first : FETCH, STK_KIND_INPUT);
        synth_host(&s, MAIN, t + fetch_us, 9000, "aten::conv2d", STK_KIND_HOST_OP);
        t += fetch_us + 9000;
    }
    struct stk_rank_sum *r = synth_summarize(&s);
    struct stk_verdict v = judge(&s, &r, 1, &run);
    CHECK_EQ(v.kind, kind);
    if (kind == STK_VERDICT_COLD) {
        CHECK_EQ(v.one_off, STK_GROUP_INPUT);
        CHECK_EQ(v.steady_kind, STK_VERDICT_COMPUTE);
        const char *what = making_us > 0 ? "workers that start" : NULL;
        CHECK(what ? r->facts.warm_up_what != NULL : r->facts.warm_up_what == NULL);
        CHECK_EQ(strstr(v.sentence, "workers that start") != NULL, what != NULL);
    }
    synth_end(&s);
}

static void check_one_offs(void)
{
    check_one_off(1000, 90000, STK_VERDICT_COLD);
    check_one_off(0, 90000, STK_VERDICT_COLD);       // they run already: nobody knows why it waits
    check_one_off(1000, 11000, STK_VERDICT_COMPUTE); // long, but no 40% of all time
}

// Half of each step has no events. If the fetches are recorded it is the program's own code;
// otherwise it may be the input.
static void unseen(bool fetches, enum stk_verdict_kind kind, const char *says)
{
    struct synth s;
    struct stk_run_sum *run;
    synth_begin(&s);
    for (int i = 0; i < STEPS; i++) {
        double t = i * STEP_US;
        synth_step(&s, MAIN, t, STEP_US, i);
        if (fetches) {
            synth_host(&s, MAIN, t, 500, FETCH, STK_KIND_INPUT);
        }
        synth_host(&s, MAIN, t + 500, 4500, "aten::conv2d", STK_KIND_HOST_OP);
    }
    struct stk_rank_sum *r = synth_summarize(&s);
    CHECK_EQ(r->facts.has_fetches, fetches);
    struct stk_verdict v = judge(&s, &r, 1, &run);
    CHECK_EQ(v.kind, kind);
    CHECK_EQ(v.confidence, STK_LEVEL_LOW);
    CHECK(strstr(v.sentence, says) != NULL);
    synth_end(&s);
}

static void check_unseen(void)
{
    unseen(true, STK_VERDICT_HOST, "code outside the framework that wasn't recorded");
    unseen(false, STK_VERDICT_CANNOT_TELL, "It may be");
}

// Idle time of unknown cause lies before the kernel that ends it, not in it.
static void check_before_kernel(void)
{
    struct synth s;
    synth_begin(&s);
    synth_launch(&s, MAIN, 0, 10, "a", 20, 100, 7);
    synth_launch(&s, MAIN, 130, 10, "gemm", 5000, 100, 7); // waits for what is not recorded
    struct stk_rank_sum *r = synth_summarize(&s);
    CHECK_STR(r->causes[STK_PART_UNKNOWN].names[0].name, "before gemm");
    CHECK_STR(r->causes[STK_PART_UNKNOWN].examples[0].name, "before gemm");
    synth_end(&s);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    CHECK_RUN(check_blocked);
    CHECK_RUN(check_asleep);
    CHECK_RUN(check_process_pool);
    CHECK_RUN(check_not_blocked);
    CHECK_RUN(check_blocked_on_device);
    CHECK_RUN(check_tracing);
    CHECK_RUN(check_prep_names);
    CHECK_RUN(check_prepared_ahead);
    CHECK_RUN(check_leading);
    CHECK_RUN(check_leading_calls);
    CHECK_RUN(check_jax_batch);
    CHECK_RUN(check_fetched_behind);
    CHECK_RUN(check_silent);
    CHECK_RUN(check_next_called);
    CHECK_RUN(check_writing);
    CHECK_RUN(check_evaluated);
    CHECK_RUN(check_pool_result);
    CHECK_RUN(check_coroutines);
    CHECK_RUN(loop_of, "train.py(9): save_state", 100);
    CHECK_RUN(loop_of, "train.py(9): gather_all", 5000);
    CHECK_RUN(check_python_in_graph);
    CHECK_RUN(check_function_call);
    CHECK_RUN(check_functions);
    CHECK_RUN(check_host_collectives);
    CHECK_RUN(check_two_ranks);
    CHECK_RUN(check_periodic);
    CHECK_RUN(check_xla_ops);
    CHECK_RUN(check_left_out);
    CHECK_RUN(check_one_offs);
    CHECK_RUN(check_unseen);
    CHECK_RUN(check_before_kernel);
    return check_done("unit.host_causes");
}
