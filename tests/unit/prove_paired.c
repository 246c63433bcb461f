// SPDX-License-Identifier: Apache-2.0
// What pairs of runs show: how often a difference is falsely claimed, and how often a real one is
// found, on noise of several kinds with fixed seeds.
#include "job/prove/paired.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "check.h"

#define IS_NEAR(got, want, most)                                                                   \
    CHECK_SAY(fabs((got) - (want)) <= (most), "%s is %.9g, not %.9g", #got, (double)(got),         \
              (double)(want))

static void plans(void)
{
    struct stk_paired_plan p = stk_paired_plan(12);
    CHECK_EQ(p.count, 4);
    CHECK_EQ(p.pairs[0], 4);
    CHECK_EQ(p.pairs[1], 6);
    CHECK_EQ(p.pairs[2], 8);
    CHECK_EQ(p.pairs[3], 12);
    for (int pairs = STK_PAIRED_MIN; pairs <= STK_PAIRED_MAX; pairs++) {
        p = stk_paired_plan(pairs);
        double spent = 0;
        for (int i = 0; i < p.count; i++) {
            CHECK(p.pairs[i] >= STK_PAIRED_MIN && p.error[i] > 0);
            CHECK(i == 0 || p.pairs[i] > p.pairs[i - 1]);
            spent += p.error[i];
        }
        CHECK_EQ(p.pairs[p.count - 1], pairs);
        IS_NEAR(spent, STK_PAIRED_ERROR, 1e-9);
    }
}

static uint64_t state;
static double uniform(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return ((double)(state >> 11) + 0.5) / 9007199254740992.0;
}
static double normal(void)
{
    return sqrt(-2 * log(uniform())) * cos(2 * M_PI * uniform());
}

enum noise { WHITE, STALLS, DRIFT, MADE, RECORDED = MADE };
enum { RUNS_MOST = 2000, PAIRS = 12 };
static double recorded[RUNS_MOST];
static int recorded_count;

// What the runs of one proof have in common.
struct machine {
    enum noise noise;
    double drift;
    int at; // the next recorded run
};

// The logarithm of a run's time: made ones scatter by 2 %.
static double run(struct machine *m)
{
    if (m->noise == RECORDED) {
        return recorded[m->at++];
    }
    double log = 0.02 * normal();
    if (m->noise == STALLS && uniform() < 0.05) { // one run in twenty takes half longer
        log += 0.4;
    }
    if (m->noise == DRIFT) { // clocks and neighbors: what one run meets, the next one nearly meets
        m->drift = 0.9 * m->drift + 0.02 * normal();
        log += m->drift;
    }
    return log;
}

// A pair, A first in one and B first in the next.
static double difference(struct machine *m, int pair)
{
    double first = run(m), second = run(m);
    return pair % 2 ? first - second : second - first;
}

// Shares of proofs of at most 12 pairs, looked at as planned. Recorded runs come as they followed
// one another, from anywhere on: what the machine did to neighbors stays.
struct shares {
    double faster, slower, same;
};
static struct shares prove_many(enum noise noise, double effect, int proofs)
{
    struct stk_paired_plan plan = stk_paired_plan(PAIRS);
    struct shares s = {0};
    for (int k = 0; k < proofs; k++) {
        int last = noise == RECORDED ? recorded_count - 2 * PAIRS : 0;
        struct machine m = {.noise = noise, .at = (int)(last * uniform())};
        double logs[PAIRS];
        struct stk_paired r = {0};
        for (int i = 0, look = 0; i < PAIRS && look < plan.count; i++) {
            logs[i] = effect + difference(&m, i);
            if (i + 1 == plan.pairs[look]) {
                r = stk_paired_look(logs, i + 1, plan.error[look++]);
                CHECK(r.low <= r.estimate && r.estimate <= r.high);
                if (r.verdict != STK_PAIRED_CANNOT_TELL) {
                    break;
                }
            }
        }
        s.faster += r.verdict == STK_PAIRED_FASTER;
        s.slower += r.verdict == STK_PAIRED_SLOWER;
        s.same += r.verdict == STK_PAIRED_NO_DIFFERENCE;
    }
    return (struct shares){s.faster / proofs, s.slower / proofs, s.same / proofs};
}

// No difference: at most 5% claim one. 5% less time: found in so many.
static void check_rates(enum noise noise, int proofs, double found)
{
    state = 1 + noise;
    struct shares none = prove_many(noise, 0, proofs), less = prove_many(noise, log(0.95), proofs);
    printf("noise %d: of none %.3f claim a difference, %.3f none; 5%% are found in %.3f\n",
           (int)noise, none.faster + none.slower, none.same, less.faster);
    CHECK(none.faster + none.slower <= 0.05);
    CHECK(less.faster >= found);
    CHECK(less.slower <= 0.005);
}

static void rates(void)
{
    check_rates(WHITE, 2000, 0.95);
    check_rates(STALLS, 2000, 0.75);
    check_rates(DRIFT, 2000, 0.75);
}

// Seconds of one and the same command, as bench/prove/record wrote them.
static void real_runs(void)
{
    char line[512];
    FILE *f = fopen("tests/data/prove_same.tsv", "r");
    CHECK(f != NULL);
    while (f && recorded_count < RUNS_MOST && fgets(line, sizeof line, f)) {
        double v = line[0] == '#' ? 0 : atof(line);
        if (v > 0) {
            recorded[recorded_count++] = log(v);
        }
    }
    if (f) {
        fclose(f);
    }
    CHECK(recorded_count >= 100);
    if (recorded_count >= 100) {
        check_rates(RECORDED, 20000, 0.90); // of 200 the share varies by 1.5%
    }
}

static void verdicts(void)
{
    double near[] = {0.001, -0.002, 0.001, 0.0005, -0.001, 0.002};
    CHECK_EQ(stk_paired_look(near, 6, 0.05).verdict, STK_PAIRED_NO_DIFFERENCE);
    double same[] = {0, 0, 0, 0};
    struct stk_paired r = stk_paired_look(same, 4, 0.01);
    CHECK_EQ(r.verdict, STK_PAIRED_NO_DIFFERENCE);
    CHECK(r.estimate == 1 && r.low == 1 && r.high == 1);
    double half[] = {-0.69, -0.70, -0.69, -0.695};
    r = stk_paired_look(half, 4, 0.01);
    CHECK_EQ(r.verdict, STK_PAIRED_FASTER);
    IS_NEAR(r.estimate, 0.5, 0.01);
    double longer[] = {0.69, 0.70, 0.69, 0.695};
    CHECK_EQ(stk_paired_look(longer, 4, 0.01).verdict, STK_PAIRED_SLOWER);
    double wide[] = {0.5, -0.5, 0.4, -0.3};
    CHECK_EQ(stk_paired_look(wide, 4, 0.01).verdict, STK_PAIRED_CANNOT_TELL);
    double rising[] = {0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.07, 0.08};
    CHECK(stk_paired_look(rising, 8, 0.05).correlation > 0.3);
}

static void stalls(void)
{
    double logs[] = {-0.1, -0.11, 0.6, -0.09, -0.1, -0.105};
    bool is_stalled[6];
    CHECK_EQ(stk_paired_stalls(logs, 6, is_stalled), 1);
    CHECK(is_stalled[2] && !is_stalled[0] && !is_stalled[5]);
    double calm[] = {-0.1, -0.11, -0.12, -0.09};
    CHECK_EQ(stk_paired_stalls(calm, 4, is_stalled), 0);
    double values[] = {3, 1, 2};
    IS_NEAR(stk_paired_median(values, 3), 2, 1e-12);
    IS_NEAR(stk_paired_median(values, 2), 1.5, 1e-12); // sorted: 1, 2
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    CHECK_RUN(plans);
    CHECK_RUN(rates);
    CHECK_RUN(real_runs);
    CHECK_RUN(verdicts);
    CHECK_RUN(stalls);
    return check_done("unit.prove_paired");
}
