// SPDX-License-Identifier: Apache-2.0
// Steps: where they come from, which are used, and the windows they get on a device.
#include "synth.h"

#define MAIN 1
#define WORKER 2
#define FETCH "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"

static int64_t part_us(const struct stk_step *s, enum stk_part part)
{
    return s->parts[part] / 1000;
}

// Windows follow the work: a step begins when the work launched before it is done.
static void check_windows_follow_work(void)
{
    struct synth s;
    synth_begin(&s);
    for (int i = 0; i < 4; i++) { // the host takes 100, the device 1000: a deep queue
        synth_step(&s, MAIN, i * 100, 90, 10 + i);
        synth_launch(&s, MAIN, i * 100 + 10, 5, "a", 20 + i * 1000, 1000, 7);
    }
    struct stk_rank_sum *r = synth_summarize(&s);
    CHECK_EQ(r->source, STK_STEPS_ANNOTATED);
    CHECK_EQ(r->step_count, 4);
    CHECK_EQ(r->step_marks, 4);
    for (int i = 0; i < 4; i++) {
        CHECK_EQ(r->steps[i].number, 10 + i);
        CHECK_EQ(part_us(&r->steps[i], STK_PART_COMPUTE), 1000);
        CHECK_EQ(r->steps[i].host_start_ns, i * 100 * US);
        CHECK_EQ(r->steps[i].host_dur_ns, i < 3 ? 100 * US : 90 * US);
    }
    CHECK_EQ(r->steps[1].start_ns, 1020 * US);
    CHECK_EQ(r->steps[3].start_ns + r->steps[3].dur_ns, 4020 * US);
    CHECK_EQ(r->devices[0].wall_ns, 4020 * US);
    synth_end(&s);
}

// The device was busy with work that is not recorded: no part of any step. But while the host had
// not launched anything, the step waits for the host.
static void check_leading_gap(void)
{
    struct synth s;
    synth_begin(&s);
    synth_step(&s, MAIN, 0, 5000, 1);
    synth_host(&s, MAIN, 10, 990, FETCH, STK_KIND_INPUT);
    synth_launch(&s, MAIN, 1000, 10, "a", 3000, 1000, 7);
    synth_launch(&s, MAIN, 1020, 10, "b", 4000, 1500, 7);
    struct stk_rank_sum *r = synth_summarize(&s);
    CHECK_EQ(part_us(&r->steps[0], STK_PART_INPUT), 990);
    CHECK_EQ(part_us(&r->steps[0], STK_PART_UNKNOWN), 0);
    CHECK_EQ(r->steps[0].dur_ns, (1010 + 2500) * US);
    CHECK_EQ(r->steps[0].start_ns + r->steps[0].dur_ns, 5500 * US);
    synth_end(&s);
}

// Device rows that end before the last step does were not recorded.
static void check_trailing_gap(void)
{
    struct synth s;
    synth_begin(&s);
    synth_step(&s, MAIN, 0, 5000, 1);
    synth_launch(&s, MAIN, 0, 10, "a", 10, 1000, 7);
    synth_host(&s, MAIN, 2000, 2900, "aten::add", STK_KIND_HOST_OP);
    struct stk_rank_sum *r = synth_summarize(&s);
    CHECK_EQ(part_us(&r->steps[0], STK_PART_UNKNOWN), 3990);
    CHECK_EQ(part_us(&r->steps[0], STK_PART_COMPUTE), 1000);
    synth_end(&s);
}

// Steps of the given lengths; returns how many are used, and the bits of those that are not.
static uint32_t excluded_bits(const int *lengths, int n)
{
    struct synth s;
    synth_begin(&s);
    double t = 0;
    for (int i = 0; i < n; i++) {
        synth_step(&s, MAIN, t, lengths[i], i);
        synth_launch(&s, MAIN, t + 1, 1, "a", t + 5, lengths[i] / 2.0, 7);
        t += lengths[i];
    }
    struct stk_rank_sum *r = synth_summarize(&s);
    uint32_t bits = 0;
    for (uint32_t i = 0; i < r->step_count; i++) {
        bits |= (uint32_t)(r->steps[i].excluded != NULL) << i;
    }
    synth_end(&s);
    return bits;
}

static void check_exclusion(void)
{
    CHECK_EQ(excluded_bits((int[]){250, 100, 100, 100, 100, 100}, 6), 1);
    CHECK_EQ(excluded_bits((int[]){200, 100, 100, 100, 100}, 5),
             0); // twice is not longer than twice
    CHECK_EQ(excluded_bits((int[]){100, 250, 100, 100, 100, 100}, 6), 2);
    CHECK_EQ(excluded_bits((int[]){900, 100, 100, 100}, 4), 1);           // a start, however long
    CHECK_EQ(excluded_bits((int[]){100, 100, 300, 100, 100, 100}, 6), 0); // holds over a tenth
    CHECK_EQ(excluded_bits((int[]){300, 100}, 2), 0);                     // too few to stand out
    // Every third step saves a checkpoint: that is how the job runs.
    CHECK_EQ(excluded_bits((int[]){100, 100, 250, 100, 100, 250, 100, 100, 250, 100, 100}, 11), 0);
    // Later ones together under a tenth of all time.
    int lengths[30];
    for (int i = 0; i < 30; i++) {
        lengths[i] = i == 0 || i == 20 ? 250 : 100;
    }
    CHECK_EQ(excluded_bits(lengths, 30), 1 | 1 << 20);
    // An odd pair of them holds more: they count.
    CHECK_EQ(excluded_bits((int[]){250, 100, 100, 100, 250, 100, 250, 100, 100, 100, 100, 100, 100,
                                   100, 100, 100},
                           16),
             1);
}

// Work at the head of a stream was queued before the recording if all later work has its launch
// call: it belongs to no step and isn't a lost call. If other work lacks its call, too, calls were
// lost.
static void check_queued(bool is_torn)
{
    struct synth s;
    synth_begin(&s);
    synth_device(&s, 7, 10, 150, "early", STK_KIND_KERNEL, 0, 0);
    synth_device(&s, 7, 160, 140, "early", STK_KIND_KERNEL, 0, 0); // until 300
    for (int i = 0; i < 4; i++) {
        synth_step(&s, MAIN, i * 400, 390, i);
        synth_launch(&s, MAIN, i * 400 + 300, 5, "a", i * 400 + 310, 50, 7);
    }
    if (is_torn) {
        synth_device(&s, 7, 1400, 20, "lost", STK_KIND_KERNEL, 0, 0);
    }
    struct stk_rank_sum *r = synth_summarize(&s);
    CHECK_EQ(r->facts.unlinked_ops, is_torn ? 3 : 2);
    CHECK_EQ(r->facts.queued_ops, is_torn ? 0 : 2);
    CHECK_EQ(r->steps[0].dur_ns, is_torn ? 400 * US : 100 * US); // the rest is that of its own work
    CHECK_EQ(r->steps[1].dur_ns, 400 * US);
    synth_end(&s);
}

// Markers are nested, repeated on another thread and on the device: only the outermost of the
// thread with most of them count.
static void check_marker_choice(void)
{
    struct synth s;
    synth_begin(&s);
    for (int i = 0; i < 3; i++) {
        synth_step(&s, MAIN, i * 100, 90, i);
        synth_step(&s, MAIN, i * 100 + 10, 20, 70 + i);
        synth_launch(&s, MAIN, i * 100 + 50, 5, "a", i * 100 + 60, 20, 7);
    }
    synth_step(&s, WORKER, 5, 20, 50);
    struct stk_rank_sum *r = synth_summarize(&s);
    CHECK_EQ(r->step_count, 3);
    CHECK_EQ(r->steps[2].number, 2);
    synth_end(&s);
}

static void check_framework(void)
{
    struct synth s;
    synth_begin(&s);
    for (int i = 0; i < 4; i++) {
        synth_launch(&s, MAIN, i * 1000 + 10, 5, "a", i * 1000 + 20, 800, 7);
        synth_host(&s, MAIN, i * 1000 + 900, 50, "Optimizer.step#SGD.step", STK_KIND_ANNOTATION);
    }
    struct stk_rank_sum *r = synth_summarize(&s);
    CHECK_EQ(r->source, STK_STEPS_FRAMEWORK);
    CHECK_EQ(r->step_count, 4);
    CHECK(r->steps[0].excluded != NULL);                     // where it began is not in the profile
    CHECK_EQ(r->steps[1].host_start_ns, 950 * US - 10 * US); // the trace begins at 10
    CHECK_EQ(r->steps[1].host_dur_ns, 1000 * US);
    synth_end(&s);

    synth_begin(&s);
    for (int i = 0; i < 4; i++) {
        synth_host(&s, MAIN, i * 1000, 300, FETCH, STK_KIND_INPUT);
        synth_launch(&s, MAIN, i * 1000 + 310, 5, "a", i * 1000 + 320, 600, 7);
        synth_host(&s, MAIN, i * 1000 + 900, 20, "Optimizer.step#SGD.step", STK_KIND_ANNOTATION);
        synth_host(&s, MAIN, i * 1000 + 930, 20, "Optimizer.step#Adam.step", STK_KIND_ANNOTATION);
    }
    r = synth_summarize(&s); // two optimizers a step: the loader tells the steps
    CHECK_EQ(r->step_count, 4);
    CHECK_EQ(r->steps[1].host_start_ns, 1000 * US);
    CHECK(!r->steps[0].excluded && r->steps[3].excluded);
    synth_end(&s);
}

// Without markers: eight kernels a step after a pause. The phase is that of the pause,
// and one extra kernel (logging) does not shift the steps after it.
static void check_inferred(bool linked)
{
    struct synth s;
    synth_begin(&s);
    int64_t pauses[24];
    double t = 37;
    for (int i = 0; i < 24; i++) {
        pauses[i] = (int64_t)(t - 37) * US;
        synth_host(&s, MAIN, t, 500, "waiting", STK_KIND_HOST_OP);
        t += 500;
        for (int k = 0; k < 8; k++, t += 100) {
            static const char *const names[] = {"a", "b", "c", "b", "c", "d", "e", "f"};
            if (linked) {
                synth_launch(&s, MAIN, t, 5, names[k], t + 10, 80, 7);
            } else {
                synth_device(&s, 7, t + 10, 80, names[k], STK_KIND_KERNEL, 0, 0);
            }
        }
        if (i == 5) {
            synth_launch(&s, MAIN, t, 5, "log", t + 10, 80, 7);
            t += 100;
        }
    }
    struct stk_rank_sum *r = synth_summarize(&s);
    CHECK_EQ(r->source, STK_STEPS_INFERRED);
    CHECK(r->confidence > 0.3 && r->confidence < 1);
    CHECK_EQ(r->step_count, 24);
    for (uint32_t i = 1; i + 1 < r->step_count; i++) {
        const struct stk_step *x = &r->steps[i];
        CHECK_EQ(part_us(x, STK_PART_COMPUTE), i == 5 ? 9 * 80 : 8 * 80);
        CHECK(x->dur_ns >= 1300 * US && x->dur_ns <= 1400 * US);
        CHECK_EQ(x->host_start_ns >= 0, linked);
        CHECK_EQ(x->start_ns, pauses[i] - 10 * US); // from the end of the last kernel before it
    }
    synth_end(&s);
}

static void check_no_period(void)
{
    struct synth s;
    synth_begin(&s);
    uint32_t state = 7;
    for (int i = 0; i < 400; i++) {
        char name[8];
        state = state * 1664525u + 1013904223u;
        snprintf(name, sizeof name, "k%u", state >> 28);
        synth_launch(&s, MAIN, i * 20, 5, name, i * 20 + 10, 10, 7);
    }
    struct stk_rank_sum *r = synth_summarize(&s);
    CHECK_EQ(r->source, STK_STEPS_NONE);
    CHECK_EQ(r->step_count, 0);
    CHECK_EQ(r->devices[0].wall_ns, r->devices[0].span_ns);
    synth_end(&s);
}

// A job on the CPU: fetching, computing, Python, and nothing known.
static void check_host_scope(void)
{
    struct synth s;
    synth_begin(&s);
    for (int i = 0; i < 5; i++) {
        double t = i * 10000;
        synth_step(&s, MAIN, t, 10000, i);
        synth_host(&s, MAIN, t, 6000, FETCH, STK_KIND_INPUT);
        synth_host(&s, MAIN, t + 100, 1000, "aten::stack", STK_KIND_HOST_OP); // collating
        synth_host(&s, MAIN, t + 6000, 2000, "aten::conv2d", STK_KIND_HOST_OP);
        synth_host(&s, WORKER, t + 7500, 1000, "autograd::engine::evaluate_function: Conv",
                   STK_KIND_HOST_OP);
        synth_host(&s, MAIN, t + 8500, 500, "my_metrics", STK_KIND_HOST_OP);
    }
    struct stk_rank_sum *r = synth_summarize(&s);
    CHECK(r->host_scope);
    CHECK_EQ(r->device_count, 0);
    CHECK_EQ(r->step_count, 5);
    CHECK_EQ(part_us(&r->steps[1], STK_PART_INPUT), 6000);
    CHECK_EQ(part_us(&r->steps[1], STK_PART_COMPUTE), 2500);
    CHECK_EQ(part_us(&r->steps[1], STK_PART_HOST), 500);
    CHECK_EQ(part_us(&r->steps[1], STK_PART_UNKNOWN), 1000);
    CHECK(r->facts.host_event_fill > 0.89 && r->facts.host_event_fill < 0.91);
    CHECK_EQ(r->facts.host_steps, 5);
    synth_end(&s);
}

static void derived_piece(struct synth *s, double start_us, double dur_us, const char *name)
{
    struct stk_track_key key = {
        .kind = STK_TRACK_DERIVED, .process = 1, .device = 0, .id = -559038737};
    stk_build_track_name(s->build, &key, STK_STR("Steps"));
    synth_row(s, &key, start_us, dur_us, name, STK_KIND_OTHER, NULL);
}

// The profiler's own line of steps: pieces of a step are joined, and it begins on the host, in the
// event that launched its first operation, unless that event holds far more than the step.
static void check_derived(void)
{
    struct synth s;
    synth_begin(&s);
    synth_host(&s, MAIN, 0, 10000, "main", STK_KIND_HOST_OP);
    for (int i = 0; i < 2; i++) {
        synth_host(&s, MAIN, i * 1000 + 100, 600, "ExecutorState::Process", STK_KIND_HOST_OP);
        synth_launch(&s, MAIN, i * 1000 + 150, 5, i ? "c" : "a", i * 1000 + 200, 300, 7);
        synth_launch(&s, MAIN, i * 1000 + 160, 5, i ? "d" : "b", i * 1000 + 550, 250, 7);
        derived_piece(&s, i * 1000 + 200, 300, i ? "8" : "7");
        derived_piece(&s, i * 1000 + 550, 250, i ? "8" : "7");
    }
    struct stk_rank_sum *r = synth_summarize(&s);
    CHECK_EQ(r->source, STK_STEPS_FRAMEWORK);
    CHECK_EQ(r->step_count, 2);
    CHECK_EQ(r->step_marks, 2);
    CHECK_EQ(r->steps[0].number, 7);
    CHECK_EQ(r->steps[0].start_ns, 100 * US);
    CHECK_EQ(r->steps[0].dur_ns, 1000 * US);
    CHECK_EQ(r->steps[1].number, 8);
    CHECK_EQ(r->steps[1].start_ns, 1100 * US);
    CHECK_EQ(r->steps[1].dur_ns, 700 * US);
    CHECK_EQ(part_us(&r->steps[1], STK_PART_COMPUTE), 550);
    CHECK_EQ(r->devices[0].busy_ns, 1100 * US); // a hint, never busy time
    synth_end(&s);
}

// A host that hands over work and runs ahead: what it awaits after the last step is the last
// step's.
static void check_runs_ahead(void)
{
    struct synth s;
    synth_begin(&s);
    for (int i = 0; i < 5; i++) {
        synth_host(&s, MAIN, i * 100, 60, "PjitFunction(train_step)", STK_KIND_HOST_OP);
        synth_host(&s, MAIN, i * 100 + 60, 40, "$builtins next", STK_KIND_PYTHON);
    }
    synth_host(&s, MAIN, 520, 9000, "$api.py:2479 block_until_ready", STK_KIND_PYTHON);
    struct stk_rank_sum *r = synth_summarize(&s);
    CHECK(r->host_scope);
    CHECK_EQ(r->step_count, 5);
    CHECK_EQ(r->steps[4].dur_ns, (9520 - 400) * US);
    CHECK_EQ(r->causes[STK_PART_COMPUTE].ns, 9000 * US);
    CHECK_EQ(r->causes[STK_PART_INPUT].ns, 5 * 40 * US);
    synth_end(&s);
}

static void check_selection(void)
{
    struct synth s;
    synth_begin(&s);
    for (int i = 0; i < 10; i++) {
        synth_step(&s, MAIN, i * 100, 100, i);
        synth_launch(&s, MAIN, i * 100 + 10, 5, "a", i * 100 + 20, 50, 7);
    }
    s.select.has_steps = true;
    s.select.step_first = 3;
    s.select.step_last = 5;
    struct stk_rank_sum *r = synth_summarize(&s);
    CHECK_EQ(r->causes[STK_PART_COMPUTE].ns, 150 * US);
    CHECK_EQ(r->devices[0].wall_ns, 300 * US);
    CHECK(r->steps[2].excluded && !r->steps[3].excluded && !r->steps[5].excluded);
    synth_end(&s);
}

// A job that ends within its window: its last mark holds the evaluation after the loop.
static void check_whole_steps(int64_t whole, uint32_t steps)
{
    struct synth s;
    synth_begin(&s);
    struct stk_build_facts facts = {.format = "kineto", .rank = -1, .world_size = -1};
    facts.told.numbers[STK_TOLD_WHOLE_STEPS] = whole;
    stk_build_facts(s.build, &facts);
    for (int i = 0; i < 5; i++) {
        double length = i == 4 ? 900 : 100;
        synth_step(&s, MAIN, i * 100, length, i);
        synth_host(&s, MAIN, i * 100 + 10, length - 20, "aten::addmm", STK_KIND_HOST_OP);
    }
    struct stk_rank_sum *r = synth_summarize(&s);
    CHECK_EQ(r->step_count, steps);
    CHECK_EQ(r->steps[steps - 1].dur_ns, steps == 4 ? 100 * US : 900 * US);
    synth_end(&s);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    CHECK_RUN(check_windows_follow_work);
    CHECK_RUN(check_leading_gap);
    CHECK_RUN(check_trailing_gap);
    CHECK_RUN(check_exclusion);
    CHECK_RUN(check_queued, false);
    CHECK_RUN(check_queued, true);
    CHECK_RUN(check_marker_choice);
    CHECK_RUN(check_framework);
    CHECK_RUN(check_inferred, true);
    CHECK_RUN(check_inferred, false);
    CHECK_RUN(check_no_period);
    CHECK_RUN(check_host_scope);
    CHECK_RUN(check_derived);
    CHECK_RUN(check_runs_ahead);
    CHECK_RUN(check_selection);
    CHECK_RUN(check_whole_steps, 4, 4);
    CHECK_RUN(check_whole_steps, 0, 5); // the window was over before the job
    CHECK_RUN(check_whole_steps, 9, 5);
    return check_done("unit.model_steps");
}
