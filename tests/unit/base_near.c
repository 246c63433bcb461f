// SPDX-License-Identifier: Apache-2.0
// "Did you mean": distances, and which slips are recognized.
#include "base/near.h"

#include "check.h"

static void names_near(void)
{
    CHECK_EQ(stk_near_distance("", ""), 0);
    CHECK_EQ(stk_near_distance("kitten", "sitting"), 3);
    CHECK_EQ(stk_near_distance("wyh", "why"), 1); // neighbors swapped
    CHECK_EQ(stk_near_distance("json", "jsn"), 1);
    CHECK_EQ(stk_near_distance("", "abc"), 3);
    char longest[80];
    memset(longest, 'a', sizeof longest - 1);
    longest[sizeof longest - 1] = 0;
    CHECK_EQ(stk_near_distance(longest, longest), 99);
    CHECK(stk_near_slip("wyh", "why"));
    CHECK(stk_near_slip("expl", "explain"));
    CHECK(stk_near_slip("input-wiat", "input-wait"));
    CHECK(!stk_near_slip("diff", "why"));
    CHECK(!stk_near_slip("x", "why"));
    CHECK(stk_near_best("wyh", NULL, "diff") == NULL);
    CHECK_STR(stk_near_best("wyh", NULL, "why"), "why");
    CHECK_STR(stk_near_best("whyy", "whey", "why"), "whey"); // as near: the first stays
    CHECK_STR(stk_near_best("statz", "start", "stats"), "stats");
    CHECK_STR(stk_near_best("statz", "stats", "start"), "stats");
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    CHECK_RUN(names_near);
    return check_done("unit.base_near");
}
