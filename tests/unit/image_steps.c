// SPDX-License-Identifier: Apache-2.0
// Chains of arithmetic over rows: the vector code gives the bits of the plain code, which are those
// of one operation after another. Divisions matter most, because products replace them.
#include "check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/image/image_steps.h"

enum { ROW = 48 * 70 + 7 }; // more than is done at a time

static uint64_t state = 88172645463325252u;

static uint32_t bits(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 16);
}

static float any_float(void)
{
    uint32_t b = bits();
    float f;
    memcpy(&f, &b, sizeof f);
    return f;
}

static float tame_float(void)
{
    float f = (float)(bits() % 2000001) / 1000 - 1000;
    return bits() % 16 ? f : 0;
}

static void one_by_one(const struct stk_image_steps *s, float *v, size_t n)
{
    for (int k = 0; k < s->count; k++) {
        for (size_t i = 0; i < n; i++) {
            volatile float x = v[i], c = s->step[k].value[i % STK_IMAGE_STEP_PATTERN], r;
            switch (s->step[k].kind) {
            case STK_IMAGE_STEP_ADD:
                r = x + c;
                break;
            case STK_IMAGE_STEP_SUBTRACT:
                r = x - c;
                break;
            case STK_IMAGE_STEP_SUBTRACT_FROM:
                r = c - x;
                break;
            case STK_IMAGE_STEP_MULTIPLY:
                r = x * c;
                break;
            case STK_IMAGE_STEP_AT_MOST:
                r = x > c ? c : x;
                break;
            case STK_IMAGE_STEP_AT_LEAST:
                r = x < c ? c : x;
                break;
            default:
                r = x / c;
            }
            v[i] = r;
        }
    }
}

// Bits, but any NaN is as good as another.
static bool same(const float *a, const float *b, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (memcmp(&a[i], &b[i], sizeof *a) != 0 && !(isnan(a[i]) && isnan(b[i]))) {
            return false;
        }
    }
    return true;
}

static void compare(const struct stk_image_steps *s, const float *in, size_t n)
{
    float fast[ROW], plain[ROW], want[ROW];
    memcpy(fast, in, n * sizeof *in);
    memcpy(plain, in, n * sizeof *in);
    memcpy(want, in, n * sizeof *in);
    stk_image_steps_run(s, fast, n);
    stk_image_steps_run_plain(s, plain, n);
    one_by_one(s, want, n);
    CHECK(same(fast, want, n));
    CHECK(same(plain, want, n));
}

static void test_chains(void)
{
    float in[ROW];
    for (int round = 0; round < 3000; round++) {
        struct stk_image_steps s = {0};
        bool is_wild = round % 3 == 0;
        int count = 1 + (int)(bits() % 6);
        for (int k = 0; k < count; k++) {
            float c[STK_IMAGE_STEP_CHANNELS];
            for (int i = 0; i < STK_IMAGE_STEP_CHANNELS; i++) {
                c[i] = is_wild && bits() % 4 == 0 ? any_float() : tame_float();
            }
            CHECK(stk_image_steps_add(&s, (enum stk_image_step_kind)(bits() % STK_IMAGE_STEP_KINDS),
                                      c, 1 + (int)(bits() % STK_IMAGE_STEP_CHANNELS)));
        }
        if (bits() % 4 == 0) {
            stk_image_steps_set(&s, (int)(bits() % (uint32_t)count), tame_float());
        }
        size_t n = bits() % 5 ? ROW : bits() % ROW;
        for (size_t i = 0; i < n; i++) {
            in[i] = is_wild && bits() % 8 == 0 ? any_float() : tame_float();
        }
        compare(&s, in, n);
    }
}

// Divisions of every significand by some, and of any number of the range by any.
static void test_divisions(void)
{
    static const float by[] = {255,           0.229f,        3,     7,   0.3081f,
                               0x1.fffffep0f, 0x1.000002p0f, 1e-9f, 1e9f};
    float in[ROW];
    for (size_t d = 0; d < sizeof by / sizeof by[0]; d++) {
        struct stk_image_steps s = {0};
        CHECK(stk_image_steps_add(&s, STK_IMAGE_STEP_DIVIDE, &by[d], 1));
        for (uint32_t from = 0; from < 1u << 23; from += ROW * (d < 3 ? 1 : 16)) {
            for (uint32_t i = 0; i < ROW; i++) {
                uint32_t b = 0x3f800000u | ((from + i) & 0x7fffff);
                memcpy(&in[i], &b, sizeof in[i]);
            }
            compare(&s, in, ROW);
        }
    }
    for (int round = 0; round < 2000; round++) {
        struct stk_image_steps s = {0};
        float c = any_float();
        CHECK(stk_image_steps_add(&s, STK_IMAGE_STEP_DIVIDE, &c, 1));
        for (size_t i = 0; i < ROW; i++) {
            in[i] = any_float();
        }
        compare(&s, in, ROW);
    }
}

static void test_limits(void)
{
    struct stk_image_steps s = {0};
    float c[5] = {1, 2, 3, 4, 5};
    CHECK(!stk_image_steps_add(&s, STK_IMAGE_STEP_ADD, c, 0));
    CHECK(!stk_image_steps_add(&s, STK_IMAGE_STEP_ADD, c, 5));
    for (int k = 0; k < STK_IMAGE_STEPS_MAX; k++) {
        CHECK(stk_image_steps_add(&s, STK_IMAGE_STEP_ADD, c, 1));
    }
    CHECK(!stk_image_steps_add(&s, STK_IMAGE_STEP_ADD, c, 1));
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    CHECK_RUN(test_chains);
    CHECK_RUN(test_divisions);
    CHECK_RUN(test_limits);
    return check_done("unit.image_steps");
}
