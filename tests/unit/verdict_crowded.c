// SPDX-License-Identifier: Apache-2.0
// Verdicts of steps that were recorded while other programs held the cores: tiny operators that
// lost their core stay calls, a model on several threads isn't blamed alone, and free cores change
// nothing.
#include "profile/model/machine/machine.h"
#include "profile/model/verdict/crowded.h"
#include "rules_run.h"

#define SECOND INT64_C(1000000000)

static struct fake f;
static struct stk_machine_series series[6];
static struct stk_machine machine;
static int64_t time_ns[6];
static double value[6];

// One look at the machine: a job that may use two cores.
static void put_machine(double cpu, double queue, double busy)
{
    const struct {
        enum stk_sampled sample;
        double value;
    } all[6] = {{STK_SAMPLE_OF_TICK, (double)SECOND}, {STK_SAMPLE_OF_SCAN, (double)SECOND},
                {STK_SAMPLE_OF_JOB_PROCESSORS, 2},    {STK_SAMPLE_OF_JOB_CPU, cpu},
                {STK_SAMPLE_OF_JOB_QUEUE, queue},     {STK_SAMPLE_OF_MACHINE_CPU, busy}};
    for (uint32_t i = 0; i < 6; i++) {
        series[i] = (struct stk_machine_series){.sample = all[i].sample,
                                                .info = stk_sample_info(all[i].sample),
                                                .name = "",
                                                .first = i,
                                                .count = 1};
        time_ns[i] = SECOND;
        value[i] = all[i].value;
    }
    machine = (struct stk_machine){.first_ns = SECOND,
                                   .last_ns = SECOND,
                                   .series = series,
                                   .series_count = 6,
                                   .sample_count = 6,
                                   .time_ns = time_ns,
                                   .value = value,
                                   .looks = &series[0],
                                   .scans = &series[1]};
    f.run.machine = stk_machine_look(&machine, SECOND, SECOND, &f.arena);
    CHECK(f.run.machine != NULL);
}

// A step of 100 ms has 1000 operators that take 4 us each. Ten of them take 8 ms in the recording.
static void put_calls(void)
{
    fake_part(&f, STK_PART_HOST, 0.05, -1);
    f.run.facts.signs[STK_SIGN_ATEN] =
        (struct stk_sign_sum){.count = 1000 * FAKE_STEPS,
                              .outer = 500 * FAKE_STEPS,
                              .ns = 84 * FAKE_STEPS * 1000000ll,
                              .work_ns = 80 * FAKE_STEPS * 1000000ll,
                              .slice_ns = 80 * FAKE_STEPS * 1000000ll};
}

// What those ten took is time that other programs held the cores.
static void calls_stay_calls(double cpu, double queue, int64_t usual_ns, enum stk_verdict_kind kind)
{
    fake_init(&f, 1, STK_SCOPE_HOST);
    put_calls();
    put_machine(cpu, queue, 0.99);
    f.run.facts.told_numbers[STK_TOLD_STEP_NS] = usual_ns;
    fake_ask(&f);
    CHECK_STR(stk_verdict_key(f.verdict.kind), stk_verdict_key(kind));
    if (kind == STK_VERDICT_HOST) {
        CHECK_EQ(f.verdict.confidence, STK_LEVEL_LOW);
        CHECK(strstr(f.verdict.sentence, "Without its waits for a core, the step spends"));
        CHECK(f.verdict.held_share > 0.7 && f.verdict.tiny_share <= 1);
        const struct stk_rep_finding *x = fake_finding(&f, "host-bound");
        CHECK(x && x->saving.high_share <= 1 - f.verdict.held_share);
    }
    fake_done(&f);
}

static void held_time(void)
{
    fake_init(&f, 1, STK_SCOPE_HOST);
    put_calls();
    CHECK_EQ(stk_held_ns(&f.run), 0); // no record of the machine
    put_machine(0.2, 0.8, 0.99);
    CHECK(stk_held_ns(&f.run) == 80 * FAKE_STEPS * 1000000ll); // all of the long ones'
    f.run.facts.signs[STK_SIGN_ATEN].slice_ns *= 2;
    int64_t lost_ns = stk_held_ns(&f.run); // at most what free cores would save
    CHECK(lost_ns > 79 * FAKE_STEPS * 1000000ll && lost_ns < 81 * FAKE_STEPS * 1000000ll);
    f.run.facts.told_numbers[STK_TOLD_STEP_NS] = 10 * 1000000ll; // the usual step says more
    CHECK_EQ(stk_held_ns(&f.run), 90 * FAKE_STEPS * 1000000ll);
    f.run.facts.told_numbers[STK_TOLD_STEP_NS] = 100 * 1000000ll; // as slow before
    put_machine(0.4, 1.6, 0.99);                                  // two threads wait for two cores
    f.run.facts.signs[STK_SIGN_ATEN].slice_ns = 90 * FAKE_STEPS * 1000000ll;
    int64_t left_ns = 90 * FAKE_STEPS * 1000000ll - stk_held_ns(&f.run);
    CHECK(left_ns > 3 * FAKE_STEPS * 1000000ll && left_ns < 4 * FAKE_STEPS * 1000000ll); // a 25th
    put_machine(0.2, 0.8, 0.5); // cores are free
    CHECK_EQ(stk_held_ns(&f.run), 0);
    fake_done(&f);
}

// A model on two threads waits for two cores, what prepares its input for one.
static void stretched(double cpu, double queue, double input, enum stk_verdict_kind kind)
{
    fake_init(&f, 1, STK_SCOPE_HOST);
    fake_part(&f, STK_PART_INPUT, input, -1);
    put_machine(cpu, queue, 0.99);
    fake_ask(&f);
    CHECK_STR(stk_verdict_key(f.verdict.kind), stk_verdict_key(kind));
    bool is_other = strstr(f.verdict.sentence, "Other programs held the cores") != NULL;
    CHECK_EQ(is_other, kind == STK_VERDICT_MIXED);
    CHECK_EQ(f.verdict.median_kind, kind);
    fake_done(&f);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    CHECK_RUN(held_time);
    CHECK_RUN(calls_stay_calls, 0.2, 0.8, 0, STK_VERDICT_HOST);
    CHECK_RUN(calls_stay_calls, 0.5, 0.55, 10 * 1000000ll, STK_VERDICT_HOST);
    CHECK_RUN(calls_stay_calls, 0.9, 0.1, 0, STK_VERDICT_COMPUTE); // it had its core
    CHECK_RUN(stretched, 0.4, 1.5, 0.11, STK_VERDICT_MIXED);
    CHECK_RUN(stretched, 0.4, 1.5, 0.03, STK_VERDICT_COMPUTE); // even five times as much is little
    CHECK_RUN(stretched, 0.2, 0.8, 0.11, STK_VERDICT_COMPUTE); // one thread
    CHECK_RUN(stretched, 1.8, 0.1, 0.11, STK_VERDICT_COMPUTE); // the cores were free
    return check_done("unit.verdict_crowded");
}
