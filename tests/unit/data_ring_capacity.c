// SPDX-License-Identifier: Apache-2.0
// The capacity of a ring that AUTOTUNE sizes: when it grows, when it shrinks, and how long it is
// kept.
#include "check.h"
#include "engine/run/ring_capacity.h"

static int chosen(struct stk_ring_capacity *s, int capacity, uint32_t low, bool is_drained)
{
    struct stk_ring_marks m = {capacity, low, is_drained};
    return stk_ring_capacity_choose(s, &m, true);
}

// Looks with nothing but ready pieces, until the room falls.
static int looks_until_less(struct stk_ring_capacity *s, int capacity)
{
    int n = 1;
    while (n < 10000 && chosen(s, capacity, (uint32_t)capacity, false) == capacity) {
        n++;
    }
    return n;
}

static void growing(void)
{
    struct stk_ring_capacity s = {0};
    CHECK_EQ(chosen(&s, 8, 0, false), 8); // empty, but no wait since it was full
    CHECK_EQ(chosen(&s, 8, 0, true), 16);
    CHECK_EQ(chosen(&s, 40, 0, true), 64);
    CHECK_EQ(chosen(&s, 64, 0, true), 64);
    CHECK_EQ(s.growths, 2);
    struct stk_ring_marks m = {8, 0, true};
    CHECK_EQ(stk_ring_capacity_choose(&s, &m, false), 8); // no memory
    CHECK_EQ(s.growths, 2);
}

static void falling(void)
{
    struct stk_ring_capacity s = {0};
    int capacity = 64, steps = 0;
    while (capacity > 8 && steps < 100) {
        CHECK_EQ(looks_until_less(&s, capacity), 20);
        capacity = capacity * 3 / 4 > 8 ? capacity * 3 / 4 : 8;
        steps++;
    }
    CHECK_EQ(steps, 7); // 48 36 27 20 15 11 8
    CHECK_EQ(looks_until_less(&s, 8), 10000);
}

static void needing(void)
{
    struct stk_ring_capacity s = {0};
    for (int i = 0; i < 100; i++) {
        CHECK_EQ(chosen(&s, 16, i % 10 ? 12 : 8, false), 16); // half of it is needed now and then
    }
}

// After each growth it is kept for longer, but not for ever.
static void keeping(void)
{
    struct stk_ring_capacity s = {0};
    static const int looks[] = {20, 40, 80, 160, 320, 640, 1280, 1280};
    for (size_t i = 0; i < sizeof looks / sizeof looks[0]; i++) {
        CHECK_EQ(chosen(&s, 8, 0, true), 16);
        CHECK_EQ(looks_until_less(&s, 16), looks[i]);
    }
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    CHECK_RUN(growing);
    CHECK_RUN(falling);
    CHECK_RUN(needing);
    CHECK_RUN(keeping);
    return check_done("unit.data_ring_capacity");
}
