// SPDX-License-Identifier: Apache-2.0
// Which finding's fix comes first: that of the first finding that is worth a fix, unless a later
// one is sure to save far more.
#include "rules_run.h"
#include "answers/rules/rule.h"

static const struct stk_rep_fix advice = {.id = "some-advice"};

static struct stk_rep_finding finding(const char *id, double low, double expected, double high)
{
    return (struct stk_rep_finding){.id = id,
                                    .kind = STK_TOPIC_JOB,
                                    .saving = {.has_low = true,
                                               .has_expected = expected > 0,
                                               .has_high = true,
                                               .low_share = low,
                                               .expected_share = expected,
                                               .high_share = high},
                                    .fix = {.items = &advice, .count = 1}};
}

static void first(struct stk_rep_finding a, struct stk_rep_finding b, const char *id)
{
    struct fake f;
    struct stk_rep_finding two[] = {a, b};
    fake_init(&f, 1, STK_SCOPE_STEPS);
    fake_part(&f, STK_PART_INPUT, 0.4, -1);
    fake_ask(&f);
    struct stk_report report = f.report;
    report.has_outlook = false;
    report.findings = (struct stk_list){.items = two, .count = 2};
    stk_outlook_fill(&f.ctx, &report);
    CHECK(report.has_outlook == (id != NULL));
    CHECK(!id || strcmp(report.outlook.finding, id) == 0);
    fake_done(&f);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    CHECK_RUN(first, finding("a", 0.1, 0.2, 0.3), finding("b", 0.3, 0.35, 0.4), "a");
    CHECK_RUN(first, finding("a", 0.02, 0.06, 0.1), finding("b", 0.18, 0.23, 0.28), "b");
    CHECK_RUN(first, finding("a", 0.02, 0.06, 0.1), finding("b", 0.1, 0.23, 0.28),
              "a"); // may be little
    CHECK_RUN(first, finding("a", 0, 0, 0.1), finding("b", 0.18, 0.23, 0.28),
              "a"); // a bound: unknown
    CHECK_RUN(first, finding("a", 0, 0.005, 0.009), finding("b", 0, 0.02, 0.03),
              "b"); // not worth it
    CHECK_RUN(first, finding("a", 0, 0.005, 0.009), finding("b", 0, 0.002, 0.003), NULL);
    return check_done("unit.rules_outlook");
}
