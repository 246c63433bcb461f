// SPDX-License-Identifier: Apache-2.0
// Python functions of tf.data that wait for replies: more calls at once, with the step that hides
// the whole wait; functions that compute: fewer of them, and no such promise.
#include "machine_world.h"
#include "whatif_job.h"

#define NEXT "IteratorGetNext::DoCompute"

// Steps of 20 ms, half of each a wait for tf.data's own threads.
static void waiting_job(struct job *j)
{
    synth_begin(&j->s);
    for (int64_t k = 0; k < STEPS; k++) {
        double at = (double)k * 20000;
        synth_step(&j->s, MAIN, at, 19999, k);
        synth_host(&j->s, MAIN, at + 1, 10000, NEXT, STK_KIND_HOST_OP);
        synth_launch(&j->s, MAIN, at + 10010, 8, SGEMM, at + 10020, 9900, STREAM);
        synth_host(&j->s, MAIN, at + 10030, 9900, "cudaDeviceSynchronize", STK_KIND_RUNTIME);
    }
    summarize(j);
}

static void python(double cpu, double queue, bool waits)
{
    struct job j;
    waiting_job(&j);
    begin(STK_SCOPE_STEPS);
    fake_part(&f, STK_PART_INPUT, 0.5, -1);
    fake_name(&f, STK_PART_INPUT, NEXT);
    f.run.facts.frameworks = 1u << STK_FW_TENSORFLOW;
    f.run.causes[STK_PART_INPUT].ns = f.run.parts[STK_PART_INPUT];
    f.run.facts.signs[STK_SIGN_PY_FUNC] =
        (struct stk_sign_sum){.count = FAKE_STEPS, .ns = f.run.parts[STK_PART_INPUT]};
    f.prices = &j.pricing;
    of_job(STK_SAMPLE_OF_JOB_CPU, cpu);
    of_job(STK_SAMPLE_OF_JOB_QUEUE, queue);
    ask();
    const struct stk_rep_finding *x = fake_finding(&f, "input-wait");
    CHECK(x != NULL);
    CHECK_EQ(advises(x, "Let more calls wait at once") == 0, waits);
    CHECK_EQ(advises(x, "private_threadpool_size = 16") == 0, waits);
    CHECK_EQ(advises(x, "one at a time under the GIL") == 0, !waits);
    const struct stk_rep_level *levels = x->levels.items;
    const struct stk_rep_level *last = x->levels.count ? &levels[x->levels.count - 1] : NULL;
    CHECK_EQ(last && last->effort == STK_EFFORT_REQUESTS, waits);
    if (waits && last) { // as many as the wait's share of the step needs, and no wait
        CHECK_EQ(last->count, 3);
        CHECK_STR(last->text, "about 3 requests at once");
        CHECK(x->saving.expected_share > 0.45 && x->saving.expected_share < 0.55);
    }
    fake_done(&f);
    end(&j);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    CHECK_RUN(python, 0.6, 0.01, true);
    CHECK_RUN(python, 1.4, 0.01, false); // the calls keep a core busy
    CHECK_RUN(python, 0.6, 0.9, false);  // or would, if there were one
    return check_done("unit.rules_input_python");
}
