// SPDX-License-Identifier: Apache-2.0
// Batches that the training loop makes itself: in its own body, before it passes them to the
// framework, or after the step's work for the next step. Times in microseconds.
#include "synth.h"

#include "profile/model/threads/feed_words.h"
#include "profile/model/threads/python_frame.h"

#define MAIN 1
#define STEPS 6
#define STEP_US 10000
#define TENSOR "<built-in method tensor of type object at 0x7f8c84ecea40>"
#define FROM_NUMPY "<built-in method from_numpy of type object at 0x7f8c84ecea40>"
#define FLIP "numpy/lib/_function_base_impl.py(280): flip"

static int64_t part_us(const struct stk_rank_sum *r, enum stk_part part)
{
    int64_t ns = 0;
    for (uint32_t i = 0; i < r->step_count; i++) {
        ns += r->steps[i].excluded ? 0 : r->steps[i].parts[part];
    }
    return ns / 1000;
}

// The loop's function computes with NumPy for `before_us`, `call` takes `call_us` and holds an
// operation, and the model runs. Within the first part `other` takes 1 ms, where it is given.
static struct stk_rank_sum *loop(struct synth *s, double before_us, const char *call,
                                 double call_us, const char *other)
{
    synth_begin(s);
    synth_host(s, MAIN, 0, STEPS * STEP_US, "train.py(3): one_epoch", STK_KIND_PYTHON);
    for (int i = 0; i < STEPS; i++) {
        double t = i * STEP_US, at = t + before_us;
        synth_step(s, MAIN, t, STEP_US, i);
        synth_host(s, MAIN, t + 10, 300, FLIP, STK_KIND_PYTHON);
        if (other) {
            synth_host(s, MAIN, t + 400, 1000, other, STK_KIND_PYTHON);
        }
        synth_host(s, MAIN, at, call_us, call, STK_KIND_PYTHON);
        synth_host(s, MAIN, at + call_us - 2, 1, "aten::to", STK_KIND_HOST_OP);
        for (int k = 0; k < 30; k++) {
            synth_host(s, MAIN, t + 6000 + k * 100, 90, "aten::conv2d", STK_KIND_HOST_OP);
        }
    }
    return synth_summarize(s);
}

// What is input, the operation that hands over included.
static void loop_gives(double before_us, const char *call, double call_us, const char *other,
                       double input_us)
{
    struct synth s;
    struct stk_rank_sum *r = loop(&s, before_us, call, call_us, other);
    CHECK_EQ(part_us(r, STK_PART_INPUT), (int64_t)(STEPS * input_us));
    CHECK_EQ(r->facts.own_batches, input_us > 0 ? STEPS : 0);
    CHECK_EQ(r->facts.loader_fetches, input_us > 0 ? STEPS : 0);
    synth_end(&s);
}

static void check_in_the_loop(void)
{
    loop_gives(3000, TENSOR, 200, NULL, 3200);
    loop_gives(3000, FROM_NUMPY, 200, NULL, 3200);
    loop_gives(3000, "$array_constructors.py:216 asarray", 200, NULL, 3200);
    loop_gives(1000, TENSOR, 200, NULL, 0);                      // an eighth of the step
    loop_gives(3000, "<built-in function array>", 200, NULL, 0); // NumPy's: is nobody's batch
    loop_gives(3000, TENSOR, 200, "train.py(9): log_row", 2200);
    loop_gives(3000, TENSOR, 200, "train.py(9): check_quota", 2200);
    loop_gives(3000, TENSOR, 200, "<built-in function sleep>", 2200);
}

// Plain Python before numbers are handed over is a schedule, or a metric, unless reading what it
// made takes a while: rows of numbers.
static void plain(const char *function, double call_us, double input_us)
{
    struct synth s;
    synth_begin(&s);
    for (int i = 0; i < STEPS; i++) {
        double t = i * STEP_US;
        synth_step(&s, MAIN, t, STEP_US, i);
        if (function) {
            synth_host(&s, MAIN, t, 4000, function, STK_KIND_PYTHON);
        }
        synth_host(&s, MAIN, t + 100, 3900, "<built-in function sorted>", STK_KIND_PYTHON);
        synth_host(&s, MAIN, t + 4000, call_us, TENSOR, STK_KIND_PYTHON);
        for (int k = 0; k < 30; k++) {
            synth_host(&s, MAIN, t + 6000 + k * 100, 90, "aten::conv2d", STK_KIND_HOST_OP);
        }
    }
    struct stk_rank_sum *r = synth_summarize(&s);
    CHECK_EQ(part_us(r, STK_PART_INPUT), (int64_t)(STEPS * input_us));
    synth_end(&s);
}

static void check_plain(void)
{
    plain("train.py(3): at", 100, 0);
    plain(NULL, 100, 0);
    plain("train.py(3): at", 500, 4500);
    plain(NULL, 500, 4500);
}

// The loop computes with NumPy, and gives arrays to a compiled call, which takes them inside of it.
static void compiled(const char *inside, const char *before, double input_us)
{
    struct synth s;
    synth_begin(&s);
    for (int i = 0; i < STEPS; i++) {
        double t = i * STEP_US;
        synth_step(&s, MAIN, t, STEP_US, i);
        synth_host(&s, MAIN, t + 500, 2000, "$fromnumeric.py:939 sort", STK_KIND_PYTHON);
        synth_host(&s, MAIN, t + 2500, 500, before, STK_KIND_PYTHON);
        synth_host(&s, MAIN, t + 4000, 5000, "PjitFunction(train_step)", STK_KIND_HOST_OP);
        if (inside) {
            synth_host(&s, MAIN, t + 4100, 50, inside, STK_KIND_HOST_OP);
        }
    }
    struct stk_rank_sum *r = synth_summarize(&s);
    CHECK_EQ(part_us(r, STK_PART_INPUT), (int64_t)(STEPS * input_us));
    CHECK_EQ(r->facts.own_batches, input_us > 0 ? STEPS : 0);
    synth_end(&s);
}

static void check_compiled(void)
{
    compiled("DevicePut", "$builtins len", 4000);
    compiled("ParseArguments", "$builtins len", 0); // arrays that are on the device
    compiled(NULL, "$builtins len", 0);
    compiled("DevicePut", "$array.py:300 __array__", 0); // of a result: a metric
    compiled("DevicePut", "$train.py:9 log_row", 3500);
    compiled("DevicePut", "$train.py:9 anneal", 3500); // plain Python
}

// A function makes twenty keys of random numbers, or arrays by as many operations, before the
// compiled call.
static void keyed(const char *function, const char *calls, const char *operation, bool feeds)
{
    struct synth s;
    synth_begin(&s);
    for (int i = 0; i < STEPS; i++) {
        double t = i * STEP_US;
        synth_step(&s, MAIN, t, STEP_US, i);
        synth_host(&s, MAIN, t, 4000, "$train.py:3 make_them", STK_KIND_PYTHON);
        for (int k = 0; k < 20; k++) {
            double at = t + 200 * k;
            synth_host(&s, MAIN, at, 190, function, STK_KIND_PYTHON);
            synth_host(&s, MAIN, at + 5, 3, calls, STK_KIND_PYTHON);
            synth_host(&s, MAIN, at + 10, 100, "$array_constructors.py:374 asarray",
                       STK_KIND_PYTHON);
            synth_host(&s, MAIN, at + 20, 50, "PjitFunction(convert_element_type)",
                       STK_KIND_HOST_OP);
            synth_host(&s, MAIN, at + 120, 60, operation, STK_KIND_HOST_OP);
        }
        synth_host(&s, MAIN, t + 4000, 5000, "PjitFunction(train_step)", STK_KIND_HOST_OP);
    }
    struct stk_rank_sum *r = synth_summarize(&s);
    CHECK_EQ(part_us(r, STK_PART_INPUT), feeds ? STEPS * 4000 : 0);
    synth_end(&s);
}

static void check_keyed(void)
{
    const char *type = "$prng.py:203 dtype";
    keyed("$core.py:289 fold_in", type, "PjitFunction(_threefry_fold_in)", false);
    keyed("$random.py:310 split", type, "PjitFunction(_rbg_split)", false);
    keyed("$random.py:830 normal", type, "PjitFunction(_normal)", true);
    // A job's own function of that name, in its own core.py.
    keyed("$core.py:12 split", "$builtins len", "PjitFunction(_normal)", true);
}

// The gradient is under jit, the optimizer isn't. Its operations called one by one, and its own
// function called twice a step, which takes longer to hand over, aren't part of the next batch.
static void check_optimizer_outside(void)
{
    struct synth s;
    synth_begin(&s);
    for (int i = 0; i < STEPS; i++) {
        double t = i * STEP_US;
        synth_step(&s, MAIN, t, STEP_US, i);
        synth_host(&s, MAIN, t, 300, "PjitFunction(loss_fn)", STK_KIND_HOST_OP);
        synth_host(&s, MAIN, t + 400, 9000, "$train.py:27 apply_all", STK_KIND_PYTHON);
        for (int k = 0; k < 40; k++) {
            double at = t + 400 + 200 * k;
            synth_host(&s, MAIN, at, 90, "$array_constructors.py:374 asarray", STK_KIND_PYTHON);
            synth_host(&s, MAIN, at + 100, 50, "PjitFunction(multiply)", STK_KIND_HOST_OP);
        }
        synth_host(&s, MAIN, t + 8450, 400, "PjitFunction(bias_correction)", STK_KIND_HOST_OP);
        synth_host(&s, MAIN, t + 8900, 400, "PjitFunction(bias_correction)", STK_KIND_HOST_OP);
    }
    struct stk_rank_sum *r = synth_summarize(&s);
    CHECK_EQ(part_us(r, STK_PART_INPUT), 0);
    synth_end(&s);
}

// Gradients sample by sample: a function of the job runs a compiled one twenty times, each time
// cutting the sample out before, then one call takes the results. Computing gradients doesn't make
// a batch.
static void sample_by_sample(const char *call, bool differentiates, double input_us)
{
    struct synth s;
    synth_begin(&s);
    CHECK(stk_build_program(s.build, STK_STR("jit_loss_fn"), 1));
    if (differentiates) {
        stk_build_program_differentiates(s.build);
    }
    CHECK(stk_build_program(s.build, STK_STR("jit_apply"), 2));
    for (int i = 0; i < STEPS; i++) {
        double t = i * STEP_US;
        synth_step(&s, MAIN, t, STEP_US, i);
        synth_host(&s, MAIN, t, 6000, "$train.py:3 clipped", STK_KIND_PYTHON);
        for (int k = 0; k < 20; k++) {
            double at = t + 100 + 250 * k;
            synth_host(&s, MAIN, at, 100, "$array_constructors.py:374 asarray", STK_KIND_PYTHON);
            synth_host(&s, MAIN, at + 20, 50, "PjitFunction(dynamic_slice)", STK_KIND_HOST_OP);
            synth_host(&s, MAIN, at + 110, 120, call, STK_KIND_HOST_OP);
        }
        synth_host(&s, MAIN, t + 6500, 3000, "PjitFunction(apply)", STK_KIND_HOST_OP);
    }
    struct stk_rank_sum *r = synth_summarize(&s);
    CHECK_EQ(part_us(r, STK_PART_INPUT), (int64_t)(STEPS * input_us));
    synth_end(&s);
}

static void check_gradients(void)
{
    sample_by_sample("PjitFunction(loss_fn)", true, 0);
    sample_by_sample("PjitFunction(loss_fn)", false, 6000); // crops and colors, under jit
    sample_by_sample("PjitFunction(crop)", true, 6000);     // of another program
}

// A function named after data runs a single JAX operation, whose call takes longer than that of the
// compiled function, which works asynchronously.
static void run_alone(const char *caller, double input_us)
{
    struct synth s;
    synth_begin(&s);
    for (int i = 0; i < STEPS; i++) {
        double t = i * STEP_US;
        synth_step(&s, MAIN, t, STEP_US, i);
        synth_host(&s, MAIN, t, 4000, "$train.py:3 batches", STK_KIND_PYTHON);
        synth_host(&s, MAIN, t + 3000, 900, caller, STK_KIND_PYTHON);
        synth_host(&s, MAIN, t + 3100, 10, "$core.py:9 typeof", STK_KIND_PYTHON);
        synth_host(&s, MAIN, t + 3200, 500, "PjitFunction(stage)", STK_KIND_HOST_OP);
        synth_host(&s, MAIN, t + 4100, 100, "PjitFunction(train_step)", STK_KIND_HOST_OP);
        synth_host(&s, MAIN, t + 4200, 5000, "$array.py:298 __float__", STK_KIND_PYTHON);
    }
    CHECK_EQ(part_us(synth_summarize(&s), STK_PART_INPUT), (int64_t)(STEPS * input_us));
    synth_end(&s);
}

static void check_run_alone(void)
{
    run_alone("$dispatch.py:81 apply_primitive", 4000);
    run_alone("$train.py:9 encode_them", 0); // a compiled function of the job's own
}

// The loop's function is named, and how much of it the handing over is.
static void check_handing(void)
{
    struct synth s;
    struct stk_rank_sum *r = loop(&s, 500, TENSOR, 3000, NULL);
    CHECK_STR(r->causes[STK_PART_INPUT].owners[0].name, "train.py(3): one_epoch");
    CHECK_EQ(r->facts.own_handing_ns, STEPS * INT64_C(3000000));
    CHECK_EQ(r->facts.loader_fetch_ns, STEPS * INT64_C(3500000));
    synth_end(&s);
}

// A function in front of the work of each step, whose name alone tells; without, what makes arrays
// there tells.
static void draws(const char *name, const char *calls, bool feeds)
{
    struct synth s;
    synth_begin(&s);
    for (int i = 0; i < STEPS; i++) {
        double t = i * STEP_US;
        synth_step(&s, MAIN, t, STEP_US, i);
        synth_host(&s, MAIN, t, 4000, name, STK_KIND_PYTHON);
        synth_host(&s, MAIN, t + 3500, 400, calls, STK_KIND_PYTHON);
        for (int k = 0; k < 30; k++) {
            synth_host(&s, MAIN, t + 6000 + k * 100, 90, "aten::conv2d", STK_KIND_HOST_OP);
        }
    }
    CHECK_EQ(part_us(synth_summarize(&s), STK_PART_INPUT), feeds ? STEPS * 4000 : 0);
    synth_end(&s);
}

// What is drawn may be a batch or a picture of the weights.
static void check_draws(void)
{
    draws("train.py(3): draw", TENSOR, true);
    draws("train.py(3): draw_rows", TENSOR, true);
    draws("train.py(3): plot", TENSOR, false);
    draws("train.py(3): draw", "<built-in function len>", false);
}

// A function behind the work of each step that calls another one.
static void behind(const char *name, const char *calls, bool feeds)
{
    struct synth s;
    synth_begin(&s);
    for (int i = 0; i < STEPS; i++) {
        double t = i * STEP_US;
        synth_step(&s, MAIN, t, STEP_US, i);
        synth_host(&s, MAIN, t + 500, 3000, "aten::conv2d", STK_KIND_HOST_OP);
        synth_host(&s, MAIN, t + 4000, 5000, name, STK_KIND_PYTHON);
        synth_host(&s, MAIN, t + 5000, 10, FROM_NUMPY, STK_KIND_PYTHON);
        if (calls) {
            synth_host(&s, MAIN, t + 6000, 10, calls, STK_KIND_PYTHON);
        }
    }
    struct stk_rank_sum *r = synth_summarize(&s);
    CHECK_EQ(part_us(r, STK_PART_INPUT), feeds ? STEPS * 5000 : 0);
    CHECK_EQ(r->facts.own_batches, 0);
    synth_end(&s);
}

static void check_behind(void)
{
    behind("train.py(21): cook", NULL, true);
    behind("train.py(21): cook", "<built-in method tolist of Tensor object at 0x7f>", false);
    behind("train.py(21): save_best", NULL, false);
    behind("logging/__init__.py(21): cook", NULL, false);
}

static void check_rows(void)
{
    struct stk_str called = stk_python_frame_called(STK_STR(TENSOR));
    CHECK(stk_str_eq(called, STK_STR("tensor")));
    called = stk_python_frame_called(STK_STR("<built-in function len>"));
    CHECK(stk_str_eq(called, STK_STR("len")));
    called = stk_python_frame_called(STK_STR("$numpy frombuffer"));
    CHECK(stk_str_eq(called, STK_STR("frombuffer")));
    CHECK(stk_feed_hands_over(STK_STR(TENSOR)));
    CHECK(!stk_feed_hands_over(STK_STR("$numpy asarray")));
    CHECK(!stk_feed_hands_over(STK_STR("train.py(3): tensor")));
    CHECK(stk_feed_makes_keys(STK_STR("$random.py:310 split")));
    CHECK(stk_feed_makes_keys(STK_STR("PjitFunction(_threefry_seed)")));
    CHECK(!stk_feed_makes_keys(STK_STR("PjitFunction(_normal)")));
    CHECK(!stk_feed_makes_keys(STK_STR("jobs/core.py(3): split"))); // a tracer with folders
    CHECK(stk_feed_makes_keys(STK_STR("jax/_src/random.py(3): split")));
    CHECK(stk_feed_takes(STK_STR("item")) && !stk_feed_takes(STK_STR("items")));
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    CHECK_RUN(check_in_the_loop);
    CHECK_RUN(check_plain);
    CHECK_RUN(check_compiled);
    CHECK_RUN(check_keyed);
    CHECK_RUN(check_run_alone);
    CHECK_RUN(check_optimizer_outside);
    CHECK_RUN(check_gradients);
    CHECK_RUN(check_handing);
    CHECK_RUN(check_draws);
    CHECK_RUN(check_behind);
    CHECK_RUN(check_rows);
    return check_done("unit.own_batches");
}
