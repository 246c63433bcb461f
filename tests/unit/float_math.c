// SPDX-License-Identifier: Apache-2.0
// exp, log, tanh and sigmoid of float32: units in the last place from the C library's double
// results, over floats spread over all bit patterns (with --all: over all of them); wide vectors
// and narrow ones alike, bit for bit.
#include <math.h>
#include <string.h>
#include <time.h>

#include "check.h"
#include "engine/ops/float_math.h"

#define AT_ONCE 4096

static double sigmoid(double x)
{
    return 1 / (1 + exp(-x));
}

// Distance in units of the exact value's last place; those of subnormals are the smallest normal's.
static double ulps(float have, double want)
{
    int e;
    if (isnan(want) || isinf((float)want) || want == 0) {
        bool same = isnan(want) ? isnan(have) : have == (float)want;
        // Just short of infinity, either is within the bound.
        return same ? 0 : isinf((float)want) && !isinf(want) && fabsf(have) > 3.4028e38f ? 1 : 1e9;
    }
    if (isinf(have)) {
        return fabs(want) > 3.4028234e38 ? 1 : 1e9;
    }
    (void)frexp(want, &e);
    e = e < -125 ? -125 : e;
    return fabs((double)have - want) / ldexp(1, e - 24);
}

struct function {
    const char *name;
    stk_float_fn *fast, *plain;
    double (*exact)(double x);
    double most; // ulps
};

static void compare(const struct function *f, uint32_t step)
{
    static float in[AT_ONCE], out[AT_ONCE], plain[AT_ONCE];
    double worst = 0;
    float where = 0;
    uint64_t at = 0, differ = 0;
    while (at < UINT64_C(1) << 32) {
        int n = 0;
        for (; n < AT_ONCE && at < UINT64_C(1) << 32; n++, at += step) {
            uint32_t u = (uint32_t)at;
            memcpy(&in[n], &u, sizeof u);
        }
        f->fast(out, in, n);
        f->plain(plain, in, n);
        for (int i = 0; i < n; i++) {
            differ += memcmp(&out[i], &plain[i], sizeof out[i]) != 0 && !isnan(out[i]);
            double d = ulps(out[i], f->exact(in[i]));
            if (d > worst) {
                worst = d;
                where = in[i];
            }
        }
    }
    printf("%s: at most %.3f ulp (at %a)\n", f->name, worst, (double)where);
    CHECK(worst <= f->most);
    CHECK_EQ(differ, 0);
}

static void known(const struct function *f)
{
    float in[] = {0,       -0.0f,   INFINITY, -INFINITY, NAN,       1,        -1,
                  1e-45f,  -1e-45f, 3.4e38f,  -3.4e38f,  88.72283f, 88.7229f, -87.3f,
                  -103.9f, -104.1f, 0.625f,   -0.625f,   0.9999999f};
    int n = sizeof in / sizeof in[0];
    float out[sizeof in / sizeof in[0]];
    f->fast(out, in, n);
    for (int i = 0; i < n; i++) {
        CHECK(ulps(out[i], f->exact(in[i])) <= f->most);
    }
    // Any length, in place.
    for (int k = 0; k < n; k++) {
        float some[sizeof in / sizeof in[0]];
        memcpy(some, in, sizeof some);
        f->fast(some, some, k);
        for (int i = 0; i < n; i++) {
            CHECK(memcmp(&some[i], i < k ? &out[i] : &in[i], sizeof some[i]) == 0 || isnan(in[i]) ||
                  isnan(out[i]));
        }
    }
}

// Angles of a few turns either way, quarters and their neighbors among them.
static void circle(void)
{
    static float turns[AT_ONCE], cosine[AT_ONCE], sine[AT_ONCE], plain_cos[AT_ONCE],
        plain_sin[AT_ONCE];
    double worst = 0;
    for (int k = -3; k < 3; k++) {
        for (int i = 0; i < AT_ONCE; i++) {
            turns[i] = (float)k + (float)i / AT_ONCE;
        }
        turns[1] = nextafterf(turns[0], 9);
        turns[3] = nextafterf(turns[AT_ONCE / 4], -9);
        stk_float_circle(cosine, sine, turns, AT_ONCE);
        stk_float_circle_plain(plain_cos, plain_sin, turns, AT_ONCE);
        CHECK(memcmp(cosine, plain_cos, sizeof cosine) == 0);
        CHECK(memcmp(sine, plain_sin, sizeof sine) == 0);
        for (int i = 0; i < AT_ONCE; i++) {
            double angle = 6.283185307179586 * (double)turns[i];
            worst = fmax(worst, fabs((double)cosine[i] - cos(angle)));
            worst = fmax(worst, fabs((double)sine[i] - sin(angle)));
        }
    }
    printf("circle: within %.2g\n", worst);
    CHECK(worst <= 2e-7);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    static const struct function functions[] = {
        {"exp", stk_float_exp, stk_float_exp_plain, exp, 2},
        {"log", stk_float_log, stk_float_log_plain, log, 2},
        {"tanh", stk_float_tanh, stk_float_tanh_plain, tanh, 3},
        {"sigmoid", stk_float_sigmoid, stk_float_sigmoid_plain, sigmoid, 4}};
    uint32_t step = argc > 1 && strcmp(argv[1], "--all") == 0 ? 1 : 3989;
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        CHECK_RUN(known, &functions[i]);
        CHECK_RUN(compare, &functions[i], step);
    }
    CHECK_RUN(circle);
    return check_done("unit.float_math");
}
