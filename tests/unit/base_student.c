// SPDX-License-Identifier: Apache-2.0
// Quantiles against published tables.
#include "base/student.h"

#include <math.h>

#include "check.h"

#define IS_NEAR(got, want, most)                                                                   \
    CHECK_SAY(fabs((got) - (want)) <= (most), "%s is %.9g, not %.9g", #got, (double)(got),         \
              (double)(want))

static void student(void)
{
    // Published two-sided critical values.
    static const struct {
        int degrees;
        double outside, t;
    } rows[] = {{1, 0.05, 12.70620}, {2, 0.05, 4.30265},  {3, 0.05, 3.18245},  {3, 0.01, 5.84091},
                {4, 0.05, 2.77645},  {5, 0.001, 6.86883}, {7, 0.01, 3.49948},  {10, 0.05, 2.22814},
                {11, 0.05, 2.20099}, {30, 0.01, 2.75000}, {100, 0.05, 1.98397}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        IS_NEAR(stk_student_quantile(rows[i].degrees, rows[i].outside), rows[i].t, 2e-5);
    }
    IS_NEAR(stk_student_quantile(1000, 0.05), 1.96234, 2e-5);
    IS_NEAR(stk_student_quantile(201, 0.01), stk_student_quantile(200, 0.01), 2e-4);
    CHECK(stk_student_quantile(0.3, 0.05) == stk_student_quantile(1, 0.05));
    CHECK(stk_student_quantile(5.9, 0.05) == stk_student_quantile(5, 0.05)); // rounded down
    IS_NEAR(stk_student_quantile(1e9, 0.05), 1.959964, 1e-5);
    IS_NEAR(stk_normal_quantile(0.05), 1.959964, 1e-5);
    IS_NEAR(stk_normal_quantile(0.3173105), 1, 1e-5);
    IS_NEAR(stk_normal_quantile(1), 0, 1e-9);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    CHECK_RUN(student);
    return check_done("unit.base_student");
}
