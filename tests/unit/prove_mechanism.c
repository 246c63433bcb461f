// SPDX-License-Identifier: Apache-2.0
// What two profiles show about a proof: a cause that shrank by the gain, one that didn't, one that
// grew; predictions and results.
#include "job/prove/mechanism.h"

#include "check.h"

static char text[STK_MECHANISM_TEXT];

static struct stk_mechanism of(int64_t expected_ns, int64_t gone_ns)
{
    return (struct stk_mechanism){.is_checked = true,
                                  .part = "input_wait",
                                  .expected_ns = expected_ns,
                                  .gone_ns = gone_ns,
                                  .moved = "compute",
                                  .moved_ns = expected_ns};
}

static void explains(void)
{
    static const struct {
        int64_t expected_ns, gone_ns;
        bool is_it;
    } cases[] = {{10000000, 10000000, true},   {10000000, 5000000, true},
                 {10000000, 4999999, false},   {10000000, 40000000, true},
                 {10000000, -10000000, false}, {-10000000, -9000000, true},
                 {-10000000, 9000000, false},  {0, 0, false}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct stk_mechanism m = of(cases[i].expected_ns, cases[i].gone_ns);
        CHECK_EQ(stk_mechanism_explains(&m), cases[i].is_it);
        m.is_checked = false;
        CHECK(!stk_mechanism_explains(&m));
    }
}

static void sentences(void)
{
    struct stk_mechanism m = of(10000000, 9000000);
    stk_mechanism_sentence(&m, text);
    CHECK_STR(text,
              "input_wait shrank by 9.00 ms per step in one profile of each side; 10.0 ms per step "
              "was gained");
    m = of(-10000000, -9000000);
    stk_mechanism_sentence(&m, text);
    CHECK_STR(text, "input_wait grew by 9.00 ms per step in one profile of each side; 10.0 ms per "
                    "step was lost");
    m = of(10000000, 1000000);
    stk_mechanism_sentence(&m, text);
    CHECK_STR(text,
              "A's largest loss, input_wait, shrank by only 1.00 ms per step, but 10.0 ms was "
              "gained. Something else changed it (compute shrank by 10.0 ms), or chance did");
    m = (struct stk_mechanism){.why = "no window of A was recorded"};
    stk_mechanism_sentence(&m, text);
    CHECK_STR(text,
              "the profiles don't show whether the cause shrank: no window of A was recorded");
}

static void predictions(void)
{
    struct stk_mechanism m = {
        .predicted = {.is_known = true, .low = 0.5, .estimate = 0.6, .high = 0.7}};
    stk_mechanism_prediction(&m, "input-free", 0.65, text);
    CHECK_STR(text,
              "stoker whatif --fix input-free estimated 40% saved [30, 50]: the measured gain is "
              "within it");
    stk_mechanism_prediction(&m, "input-free", 0.75, text);
    CHECK(strstr(text, ": less was gained") != NULL);
    stk_mechanism_prediction(&m, "input-free", 0.45, text);
    CHECK(strstr(text, ": more was gained") != NULL);
}

// One profile on both sides: its largest loss is the cause, and nothing of it is gone.
static void profiles(void)
{
    static const char path[] = "examples/profiles/jax_cpu_input.xplane.pb.gz";
    struct stk_mechanism m = {0};
    struct stoker_err err;
    stk_mechanism_check(path, path, 1000000, &m);
    CHECK(m.is_checked && m.gone_ns == 0 && m.a_ns == m.b_ns && m.a_ns > 0 && !m.moved[0]);
    CHECK_STR(m.part, "input_wait");
    CHECK(strlen(m.profile) == 16 && !stk_mechanism_explains(&m));
    CHECK_EQ(stk_mechanism_predict(path, "input-free", &m, &err), STOKER_OK);
    CHECK(m.predicted.is_known
              ? m.predicted.low <= m.predicted.estimate &&
                    m.predicted.estimate <= m.predicted.high && m.predicted.estimate < 1
              : m.unpredicted[0] != 0);
    CHECK_EQ(stk_mechanism_predict(path, "input-fre", &m, &err), STOKER_EUSAGE);
    m = (struct stk_mechanism){0};
    stk_mechanism_check("/none/a", "/none/b", 1000000, &m);
    CHECK(!m.is_checked && m.why[0]);
}

// A job whose loader held it up, and the same with its loader fixed.
static void a_fix(void)
{
    struct stk_mechanism m = {0};
    stk_mechanism_check("examples/profiles/torch_cpu_input.pt.trace.json.gz",
                        "examples/profiles/torch_cpu_fixed.pt.trace.json.gz", 1000000, &m);
    CHECK(m.is_checked && m.gone_ns > 0 && m.moved_ns >= m.gone_ns);
    CHECK_STR(m.part, "input_wait");
    CHECK(stk_mechanism_explains(&m) == (m.gone_ns >= 500000));
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    CHECK_RUN(explains);
    CHECK_RUN(sentences);
    CHECK_RUN(predictions);
    CHECK_RUN(profiles);
    CHECK_RUN(a_fix);
    return check_done("unit.prove_mechanism");
}
