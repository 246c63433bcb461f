// SPDX-License-Identifier: Apache-2.0
// The rules about the recording, the verdicts without a loss, and how findings are ordered.
#include "rules_run.h"

#include "base/alloc.h"

static struct fake f;

// A healthy run of several steps: nothing but good news.
static void healthy(void)
{
    fake_init(&f, 1, STK_SCOPE_STEPS);
    fake_part(&f, STK_PART_LAUNCH, 0.01, -1);
    fake_ask(&f);
    CHECK_EQ(f.report.findings.count, 1);
    const struct stk_rep_finding *x = fake_finding(&f, "compute-bound");
    CHECK_EQ(x->severity, STK_LEVEL_INFO);
    CHECK_STR(x->saving.basis, "none");
    CHECK(says(x, "500 kernels") && says(x, "1.0% of the time is"));
    CHECK(advises(x, "stoker stats kernels") == 0 && advises(x, "autocast") == 1);
    CHECK_EQ(f.report.rules.count, stk_rule_count);
    fake_done(&f);

    fake_init(&f, 1, STK_SCOPE_STEPS);
    fake_name(&f, STK_PART_COMPUTE, "ampere_bf16_s16816gemm_bf16_128x64_ldg8_f2f_nn");
    fake_ask(&f);
    CHECK(advises(fake_finding(&f, "compute-bound"), "autocast") < 0);
    CHECK_EQ(advises(fake_finding(&f, "compute-bound"), "torch.compile"), 1);
    f.run.facts.signs[STK_SIGN_COMPILED].count = 6;
    fake_ask(&f);
    CHECK(advises(fake_finding(&f, "compute-bound"), "torch.compile") < 0); // it is already
    fake_done(&f);

    fake_init(&f, 1, STK_SCOPE_HOST);
    fake_ask(&f);
    x = fake_finding(&f, "compute-bound");
    CHECK_STR(x->title, "The model's own work fills the CPU's step");
    CHECK(says(x, "the model's own operations"));
    CHECK(advises(x, "stoker stats ops") == 0);
    CHECK_EQ(f.report.findings.count, 1); // a job on the CPU has no kernels, and need not
    CHECK_STR(fake_state(&f, "capture-no-device"), "not_applicable");
    fake_done(&f);
}

// "Little is left" is absent where the sentence names a loss of a tenth.
static void left_over(void)
{
    fake_init(&f, 1, STK_SCOPE_STEPS);
    fake_part(&f, STK_PART_HOST, 0.15, -1);
    fake_ask(&f);
    CHECK_EQ(f.verdict.kind, STK_VERDICT_COMPUTE);
    CHECK(strstr(f.verdict.sentence, "The GPU is busy 85% of each step; 15% goes to "));
    CHECK_STR(fake_finding(&f, "compute-bound")->title, "The device is busy computing");
    fake_done(&f);
    fake_init(&f, 1, STK_SCOPE_STEPS);
    fake_part(&f, STK_PART_HOST, 0.09, -1);
    fake_ask(&f);
    CHECK(strstr(f.verdict.sentence, "only faster kernels will help now"));
    fake_done(&f);
}

// Of a start that is not cut into steps, other losses are information: they may not come again.
static void of_a_start(enum stk_step_source source, enum stk_level severity)
{
    fake_init(&f, 1, STK_SCOPE_SPAN);
    fake_part(&f, STK_PART_COMPILE, 0.6, -1);
    fake_part(&f, STK_PART_HOST, 0.3, -1);
    f.run.source = source;
    f.force_verdict = true;
    f.verdict.kind = STK_VERDICT_COLD;
    fake_ask(&f);
    const struct stk_rep_finding *x = fake_finding(&f, "host-bound");
    bool is_start = source == STK_STEPS_NONE;
    CHECK_EQ(x->severity, severity);
    CHECK_EQ(says(x, "This is part of the job's start"), is_start);
    CHECK_EQ(strcmp(x->saving.basis, "none") == 0, is_start);
    CHECK(fake_finding(&f, "cold-start")->saving.high_share > 0.5);
    fake_done(&f);
}

static void dropped(void)
{
    static const struct {
        enum stk_issue_id id;
        uint64_t count, lost;
        const char *state;
    } cases[] = {
        {STK_ISSUE_TRUNCATED, 1, 0, "fired"},         {STK_ISSUE_EVENTS_DROPPED, 1, 0, "fired"},
        {STK_ISSUE_JSON_SKIPPED, 3, 3, "passed"}, // of 10 000
        {STK_ISSUE_JSON_SKIPPED, 101, 101, "fired"},  {STK_ISSUE_DURATION_ABSURD, 2, 2, "passed"},
        {STK_ISSUE_JSON_REPAIRED, 5000, 0, "passed"}, {STK_ISSUE_FIELD_INVALID, 5000, 0, "passed"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        fake_init(&f, 1, STK_SCOPE_STEPS);
        f.input.issues[cases[i].id] =
            (struct stk_issue){.count = cases[i].count, .events_lost = cases[i].lost};
        fake_ask(&f);
        CHECK_STR(fake_state(&f, "capture-dropped"), cases[i].state);
        if (strcmp(cases[i].state, "fired") == 0) {
            CHECK(says(fake_finding(&f, "capture-dropped"), stk_issue_info(cases[i].id)->key));
        }
        fake_done(&f);
    }
    for (int orphans = 49; orphans <= 60; orphans += 11) {
        fake_init(&f, 1, STK_SCOPE_STEPS);
        f.run.facts.launches_without_work = (uint64_t)orphans;
        fake_ask(&f);
        CHECK_STR(fake_state(&f, "capture-dropped"), orphans < 50 ? "passed" : "fired");
        fake_done(&f);
    }
}

static void no_device(void)
{
    fake_init(&f, 1, STK_SCOPE_SPAN); // the runtime is called, but no kernel was recorded
    f.devices[0] = (struct stk_device_sum){0};
    f.run.device_count = f.rank[0].device_count = f.run.step_count = f.run.steps_used = 0;
    f.run.facts.has_device_rows = false;
    f.run.facts.device_ops = 0;
    f.run.median_step = STK_NONE;
    fake_total(&f);
    fake_ask(&f);
    CHECK_STR(stk_reason_key(f.verdict.reason), "kernels-not-recorded");
    CHECK(says(fake_finding(&f, "capture-no-device"), "600 launch calls but no kernels"));
    const struct stk_rep_finding *x = fake_finding(&f, "cannot-tell");
    CHECK_STR(((const struct stk_rep_finding *)f.report.findings.items)[0].id, "cannot-tell");
    CHECK_STR(x->title, "Recording the GPU failed");
    CHECK(advises(x, "profiler_metrics") == 0 && advises(x, "ProfilerActivity.CUDA") >= 0);
    CHECK(advises(x, "CUPTI") > 0);
    CHECK_STR(fake_state(&f, "input-wait"), "skipped");
    CHECK_STR(fake_state(&f, "capture-few-steps"), "skipped");
    fake_done(&f);

    fake_init(&f, 4, STK_SCOPE_STEPS);
    f.devices[3].kernels = 0;
    fake_ask(&f);
    CHECK(says(fake_finding(&f, "capture-no-device"), "1 of 4 ranks"));
    fake_done(&f);
}

// Three causes of missing kernels, three texts; recording did not fail where nothing was launched.
static void no_kernels(void)
{
    fake_init(&f, 1, STK_SCOPE_HOST);
    f.run.facts.launches = 6;
    f.run.facts.runtime_calls = 40;
    f.force_verdict = true;
    f.verdict.kind = STK_VERDICT_COMPUTE;
    fake_ask(&f);
    const struct stk_rep_finding *x = fake_finding(&f, "capture-no-device");
    CHECK_STR(x->title, "Kernels were launched, but none was recorded");
    CHECK(says(x, "6 launch calls but no kernels") && advises(x, "Another profiler may") > 0);
    f.run.facts.launches = 0;
    fake_ask(&f);
    x = fake_finding(&f, "capture-no-device");
    CHECK_STR(x->title, "Nothing was launched on the GPU");
    CHECK(says(x, "None of 40 GPU runtime calls launches work"));
    CHECK(advises(x, "Another profiler may") < 0 && advises(x, "on the GPU at all") >= 0);
    f.run.facts.runtime_calls = 0;
    f.run.facts.has_device_rows = true;
    f.run.facts.device_ops = 12;
    fake_ask(&f);
    x = fake_finding(&f, "capture-no-device");
    CHECK(says(x, "None of the device's 12 operations is a kernel") && advises(x, "CUPTI") < 0);
    fake_done(&f);

    // Too few steps of a job on the CPU: nothing about CUPTI.
    fake_init(&f, 1, STK_SCOPE_HOST);
    f.run.steps_used = 1;
    fake_ask(&f);
    x = fake_finding(&f, "cannot-tell");
    CHECK_STR(stk_reason_key(f.verdict.reason), "no-device-events");
    CHECK(advises(x, "supported_activities") == 0 && advises(x, "CUPTI") < 0);
    fake_done(&f);
}

static void few_steps(void)
{
    for (uint32_t used = 0; used <= 3; used++) {
        fake_init(&f, 1, STK_SCOPE_STEPS);
        f.run.steps_used = f.run.step_marks = used;
        if (used == 0) {
            f.run.source = STK_STEPS_NONE;
        }
        fake_ask(&f);
        CHECK_STR(fake_state(&f, "capture-few-steps"), used < 3 ? "fired" : "passed");
        fake_done(&f);
    }
    fake_init(&f, 1, STK_SCOPE_STEPS);
    f.run.source = STK_STEPS_INFERRED;
    f.run.confidence = 0.4;
    fake_ask(&f);
    CHECK_STR(fake_finding(&f, "capture-few-steps")->title, "The steps were guessed");
    fake_done(&f);

    fake_init(&f, 1, STK_SCOPE_SPAN); // a program in C: no snippet in Python
    f.input.format = "nsys";
    f.run.source = STK_STEPS_NONE;
    f.run.steps_used = f.run.step_marks = 0;
    f.run.facts.frameworks = 1u << STK_FW_CUDA;
    fake_ask(&f);
    const struct stk_rep_finding *x = fake_finding(&f, "capture-few-steps");
    CHECK(advises(x, "nvtxRangePushA") == 0 && advises(x, "torch.cuda.nvtx") < 0);
    f.run.facts.frameworks = 1u << STK_FW_CUDA | 1u << STK_FW_PYTORCH;
    fake_ask(&f);
    x = fake_finding(&f, "capture-few-steps");
    CHECK(advises(x, "torch.cuda.nvtx") == 0 && advises(x, "nvtxRangePushA(name)") < 0);
    fake_done(&f);
}

// Operators on the host take the time, the runtime is there, and nothing was launched.
static void on_the_host(double share, uint64_t runtime_calls, uint64_t launches, bool fires)
{
    fake_init(&f, 1, STK_SCOPE_HOST);
    int64_t recorded = FAKE_STEPS * FAKE_STEP_NS;
    f.run.facts.runtime_calls = runtime_calls;
    f.run.facts.launches = launches;
    f.run.facts.signs[STK_SIGN_ATEN] =
        (struct stk_sign_sum){.count = 900, .ns = (int64_t)(share * (double)recorded)};
    fake_ask(&f);
    CHECK_STR(fake_state(&f, "device-unused"), fires      ? "fired"
                                               : launches ? "passed"
                                                          : "not_applicable");
    if (fires) {
        const struct stk_rep_finding *x = fake_finding(&f, "device-unused");
        CHECK(says(x, "CPU operators take 60% of the time"));
        CHECK(advises(x, "model.to('cuda')") == 0 && strcmp(x->saving.basis, "none") == 0);
        CHECK_STR(fake_state(&f, "capture-no-device"), "passed"); // said once
    }
    fake_done(&f);
}

static void unused(void)
{
    on_the_host(0.6, 4, 0, true);
    on_the_host(0.29, 4, 0, false); // the recording may have missed the steps
    on_the_host(0.6, 0, 0, false);  // nothing speaks of a device
    on_the_host(0.6, 40, 6, false); // it was launched on
}

static void serialized(void)
{
    fake_init(&f, 1, STK_SCOPE_STEPS);
    f.run.facts.serialized_launches = 299;
    fake_ask(&f);
    CHECK_STR(fake_state(&f, "capture-serialized"), "passed");
    f.run.facts.serialized_launches = 300;
    fake_ask(&f);
    CHECK_STR(fake_state(&f, "capture-serialized"), "fired");
    CHECK(advises(fake_finding(&f, "capture-serialized"), "CUDA_LAUNCH_BLOCKING") >= 0);
    f.run.facts.launches = f.run.facts.serialized_launches = 0;
    fake_ask(&f);
    CHECK_STR(fake_state(&f, "capture-serialized"), "skipped");
    f.run.facts.launches = f.run.facts.serialized_launches = 19;
    fake_ask(&f);
    CHECK_STR(fake_state(&f, "capture-serialized"), "passed");
    fake_done(&f);
}

static void clocks(void)
{
    fake_init(&f, 1, STK_SCOPE_STEPS);
    f.run.facts.negative_delays = 500;
    f.run.facts.worst_negative_ns = 19000; // many, but tiny
    fake_ask(&f);
    CHECK_STR(fake_state(&f, "capture-clock"), "passed");
    f.run.facts.worst_negative_ns = 21000;
    fake_ask(&f);
    CHECK_STR(fake_state(&f, "capture-clock"), "fired");
    f.run.facts.negative_delays = 5; // large, but an outlier
    fake_ask(&f);
    CHECK_STR(fake_state(&f, "capture-clock"), "passed");
    fake_done(&f);

    fake_init(&f, 2, STK_SCOPE_STEPS);
    f.run.straggler = (struct stk_straggler){.matched = 9, .clocks_agree = false};
    fake_ask(&f);
    CHECK_STR(fake_finding(&f, "capture-clock")->title, "The ranks' clocks disagree");
    fake_done(&f);
}

static void unlinked(void)
{
    fake_init(&f, 1, STK_SCOPE_STEPS);
    f.run.facts.unlinked_ops = 29;
    fake_ask(&f);
    CHECK_STR(fake_state(&f, "capture-unlinked"), "passed");
    f.run.facts.unlinked_ops = 31;
    fake_ask(&f);
    CHECK_EQ(fake_finding(&f, "capture-unlinked")->severity, STK_LEVEL_LOW);
    f.run.facts.queued_ops = 20; // before the recording: no call is lost
    fake_ask(&f);
    CHECK_STR(fake_state(&f, "capture-unlinked"), "passed");
    f.run.facts.queued_ops = 0;
    f.run.facts.unlinked_ops = 151;
    fake_ask(&f);
    CHECK_EQ(fake_finding(&f, "capture-unlinked")->severity, STK_LEVEL_MEDIUM);
    CHECK(advises(fake_finding(&f, "capture-unlinked"), "CPU activity") < 0); // it was recorded
    CHECK(advises(fake_finding(&f, "capture-unlinked"), "Don't filter rows") >= 0);
    f.run.facts.has_launch_rows = false;
    fake_ask(&f);
    CHECK_EQ(advises(fake_finding(&f, "capture-unlinked"), "CPU activity"), 0);
    fake_done(&f);
}

static void overhead(void)
{
    fake_init(&f, 1, STK_SCOPE_STEPS);
    f.run.facts.profiler_overhead_ns = 29000000; // of 600 ms
    fake_ask(&f);
    CHECK_STR(fake_state(&f, "capture-overhead"), "passed");
    f.run.facts.profiler_overhead_ns = 31000000;
    fake_ask(&f);
    CHECK_EQ(fake_finding(&f, "capture-overhead")->severity, STK_LEVEL_LOW);
    f.run.facts.profiler_overhead_ns = 500000000; // much, but beside the device's work
    fake_ask(&f);
    CHECK_EQ(fake_finding(&f, "capture-overhead")->severity, STK_LEVEL_LOW);
    fake_part(&f, STK_PART_OVERHEAD, 0.16, -1);
    fake_ask(&f);
    CHECK_EQ(fake_finding(&f, "capture-overhead")->severity, STK_LEVEL_MEDIUM);
    fake_done(&f);

    // What recording is estimated to add to a step of the host.
    struct stk_pricing prices = {.gate = {.ok = true, .profiler = 0.14, .profiler_most = 0.65}};
    fake_init(&f, 1, STK_SCOPE_STEPS);
    f.prices = &prices;
    fake_ask(&f);
    CHECK_STR(fake_state(&f, "capture-overhead"), "passed");
    prices.gate.profiler = 0.25;
    fake_ask(&f);
    const struct stk_rep_finding *slowed = fake_finding(&f, "capture-overhead");
    CHECK_EQ(slowed->severity, STK_LEVEL_LOW);
    CHECK(says(slowed, "adds about 25% (10–65%)"));
    CHECK(advises(slowed, "stoker run --level 0") == 0);
    prices.gate.ok = false;
    fake_ask(&f);
    CHECK_STR(fake_state(&f, "capture-overhead"), "passed");
    fake_done(&f);

    // A Python tracer records no cost of its own; what it recorded tells it.
    fake_init(&f, 1, STK_SCOPE_HOST);
    f.run.facts.python_events = 42000; // of 600 ms
    fake_ask(&f);
    CHECK_STR(fake_state(&f, "capture-overhead"), "passed");
    f.run.facts.python_events = 43000;
    fake_ask(&f);
    CHECK_EQ(fake_finding(&f, "capture-overhead")->severity, STK_LEVEL_LOW);
    f.run.facts.python_events = 400000;
    fake_ask(&f);
    const struct stk_rep_finding *x = fake_finding(&f, "capture-overhead");
    CHECK_EQ(x->severity, STK_LEVEL_MEDIUM);
    CHECK_STR(x->title, "Recording Python slows the job down");
    CHECK(says(x, "400,000 calls, 66,666 per step"));
    fake_done(&f);
}

static void mixed(void)
{
    fake_init(&f, 1, STK_SCOPE_STEPS);
    fake_part(&f, STK_PART_INPUT, 0.20, -1);
    fake_part(&f, STK_PART_H2D, 0.19, -1);
    fake_ask(&f);
    CHECK(f.verdict.kind == STK_VERDICT_MIXED);
    const struct stk_rep_finding *all = f.report.findings.items;
    CHECK_EQ(f.report.findings.count, 2); // the larger loss first; the sentence isn't repeated
    CHECK_STR(all[0].id, "input-wait");
    CHECK_STR(all[1].id, "transfer-exposed");
    CHECK_STR(fake_state(&f, "mixed"), "passed");
    fake_done(&f);
}

// What one finding advises is not printed again by the next.
static void said_once(void)
{
    fake_init(&f, 1, STK_SCOPE_STEPS);
    fake_part(&f, STK_PART_COMPILE, 0.3, -1);
    f.run.steps_used = 2;
    fake_ask(&f);
    const struct stk_rep_finding *first = f.report.findings.items;
    int found = 0;
    for (size_t i = 0; i < f.report.findings.count; i++) {
        found += advises(&first[i], "schedule(wait=5") >= 0;
        CHECK(first[i].fix.count > 0);
    }
    CHECK_STR(fake_state(&f, "cold-start"), "fired");
    CHECK_STR(fake_state(&f, "capture-few-steps"), "fired");
    CHECK_EQ(found, 1);
    fake_done(&f);
}

static void unknown_idle(void)
{
    fake_init(&f, 1, STK_SCOPE_STEPS);
    fake_part(&f, STK_PART_UNKNOWN, 0.7, -1);
    fake_ask(&f);
    const struct stk_rep_finding *x = fake_finding(&f, "cannot-tell");
    CHECK_STR(stk_reason_key(f.verdict.reason), "unknown-idle");
    CHECK(says(x, "What it waited for wasn't recorded") && advises(x, "whole recording") >= 0);
    CHECK_STR(fake_state(&f, "input-wait"), "passed"); // shares mean something here
    fake_done(&f);
}

// Without a framework all advice is given, plain CUDA first; a profile of nsys keeps CUDA's beside.
static void frameworks(void)
{
    fake_init(&f, 1, STK_SCOPE_STEPS);
    fake_part(&f, STK_PART_LAUNCH, 0.4, -1);
    f.run.facts.frameworks = 0;
    fake_ask(&f);
    const struct stk_rep_finding *x = fake_finding(&f, "host-bound");
    CHECK_EQ(advises(x, "cudaGraphLaunch"), 0);
    CHECK(advises(x, "reduce-overhead") > 0 && advises(x, "lax.scan") > 0);
    f.run.facts.frameworks = 1u << STK_FW_CUDA; // known to be plain CUDA
    fake_ask(&f);
    x = fake_finding(&f, "host-bound");
    CHECK_EQ(advises(x, "cudaGraphLaunch"), 0);
    CHECK(advises(x, "reduce-overhead") < 0);
    f.run.facts.frameworks = 1u << STK_FW_PYTORCH | 1u << STK_FW_CUDA;
    fake_ask(&f);
    x = fake_finding(&f, "host-bound");
    CHECK(advises(x, "cudaGraphLaunch") < 0 && advises(x, "lax.scan") < 0);
    f.input.format = "nsys";
    fake_ask(&f);
    x = fake_finding(&f, "host-bound");
    CHECK(advises(x, "cudaGraphLaunch") > advises(x, "reduce-overhead"));
    fake_done(&f);
}

// Long names, of several bytes a character, are cut at a border.
static void long_names(void)
{
    char name[400];
    for (int i = 0; i + 2 < 398; i += 2) {
        memcpy(name + i, "\xc3\xa9", 3);
    }
    fake_init(&f, 1, STK_SCOPE_STEPS);
    fake_part(&f, STK_PART_INPUT, 0.4, -1);
    fake_name(&f, STK_PART_INPUT, name);
    fake_ask(&f);
    const struct stk_rep_evidence *e = fake_finding(&f, "input-wait")->evidence.items;
    const char *cut = strstr(e[1].text, "...");
    CHECK(cut && (unsigned char)cut[-1] == 0xa9);
    fake_done(&f);
}

// When memory runs out anywhere, the rules say so or leave a line out; they do not crash.
static void torture(void)
{
    for (uint64_t n = 1; n < 60; n++) {
        fake_init(&f, 4, STK_SCOPE_STEPS);
        fake_part(&f, STK_PART_INPUT, 0.3, -1);
        fake_part(&f, STK_PART_H2D, 0.3, -1);
        fake_ask(&f);
        struct stk_arena small;
        stk_arena_init(&small, 0);
        f.ctx.pass.arena = &small;
        struct stoker_err err;
        stk_err_init(&err);
        stk_alloc_fail_at(n, 1);
        enum stoker_status status = stk_rules_run(&f.ctx, &f.report, &err);
        stk_alloc_fail_at(0, 0);
        CHECK(status == STOKER_OK || status == STOKER_ENOMEM);
        stk_arena_deinit(&small);
        fake_done(&f);
    }
}

// Where Python was not recorded: most of the silence follows fetches from workers, or does not.
static void python_unseen(const char *name, bool follows)
{
    fake_init(&f, 1, STK_SCOPE_HOST);
    fake_part(&f, STK_PART_UNKNOWN, 0.4, -1);
    f.run.facts.has_fetches = true;
    fake_name(&f, STK_PART_UNKNOWN, name);
    f.run.causes[STK_PART_UNKNOWN].ns = 9000000; // of which the name holds 5 ms
    fake_ask(&f);
    const struct stk_rep_finding *x = fake_finding(&f, "python-not-recorded");
    CHECK_EQ(x->severity, STK_LEVEL_HIGH);
    CHECK_EQ(says(x, "freeing the last batch"), follows);
    CHECK_EQ(says(x, "this is your loop"), !follows);
    CHECK(advises(x, "with_stack=True") >= 0);
    CHECK_EQ(advises(x, "give_back") > 0, follows);
    CHECK(!x->has_source);
    f.run.facts.told[STK_TOLD_LINE] = "Net.forward (net.py:51)";
    f.run.facts.told_permille[STK_TOLD_LINE] = 380;
    fake_ask(&f);
    x = fake_finding(&f, "python-not-recorded");
    CHECK_EQ(x->has_source, !follows); // its advice is about these lines
    CHECK(follows || x->source.line == 51);
    fake_done(&f);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    CHECK_RUN(healthy);
    CHECK_RUN(left_over);
    CHECK_RUN(of_a_start, STK_STEPS_NONE, STK_LEVEL_INFO);
    CHECK_RUN(of_a_start, STK_STEPS_ANNOTATED, STK_LEVEL_HIGH);
    CHECK_RUN(dropped);
    CHECK_RUN(no_device);
    CHECK_RUN(no_kernels);
    CHECK_RUN(few_steps);
    CHECK_RUN(unused);
    CHECK_RUN(serialized);
    CHECK_RUN(clocks);
    unlinked();
    CHECK_RUN(overhead);
    CHECK_RUN(mixed);
    CHECK_RUN(said_once);
    CHECK_RUN(unknown_idle);
    CHECK_RUN(frameworks);
    CHECK_RUN(long_names);
    CHECK_RUN(python_unseen,
              "unrecorded time after enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__",
              true);
    CHECK_RUN(python_unseen,
              "unrecorded time after enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__",
              false);
    CHECK_RUN(torture);
    return check_done("unit.rules_capture");
}
