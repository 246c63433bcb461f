// SPDX-License-Identifier: Apache-2.0
// The rare shapes of numbers: exponents, many digits, integers in quotes.
#include "profile/readers/trace_event/chrome_number.h"

#include "base/str.h"

struct decimal {
    bool negative;
    uint64_t digits; // the first 19 significant ones
    int64_t exponent;
};

static bool read_exponent(const char *p, size_t n, int64_t *exponent)
{
    bool negative = n > 0 && *p == '-';
    if (n > 0 && (*p == '-' || *p == '+')) {
        p++;
        n--;
    }
    if (n == 0) {
        return false;
    }
    int64_t e = 0;
    for (size_t i = 0; i < n; i++) {
        if (p[i] < '0' || p[i] > '9') {
            return false;
        }
        if (e < 100000) {
            e = e * 10 + (p[i] - '0');
        }
    }
    *exponent += negative ? -e : e;
    return true;
}

static bool read_decimal(const char *p, size_t n, struct decimal *d)
{
    size_t i = 0;
    bool any = false, fraction = false;
    *d = (struct decimal){.negative = n > 0 && p[0] == '-'};
    for (i = d->negative; i < n; i++) {
        if (p[i] == '.' && !fraction) {
            fraction = true;
        } else if (p[i] >= '0' && p[i] <= '9') {
            any = true;
            if (d->digits < UINT64_C(1000000000000000000)) {
                d->digits = d->digits * 10 + (uint64_t)(p[i] - '0');
                d->exponent -= fraction;
            } else {
                d->exponent += !fraction;
            }
        } else {
            break;
        }
    }
    if (!any) {
        return false;
    }
    if (i < n && (p[i] | 32) == 'e') {
        return read_exponent(p + i + 1, n - i - 1, &d->exponent);
    }
    return i == n;
}

// digits * 10^exponent, cut to an integer; false if it exceeds `max`.
static bool scale_decimal(const struct decimal *d, int64_t exponent, uint64_t max, uint64_t *out)
{
    uint64_t v = d->digits;
    for (; exponent > 0 && v > 0; exponent--) {
        if (__builtin_mul_overflow(v, 10, &v) || v > max) {
            return false;
        }
    }
    for (; exponent < 0 && v > 0; exponent++) {
        v /= 10;
    }
    *out = v;
    return v <= max;
}

int stk_chrome_time_slow(const char *p, size_t n, struct stk_chrome_time *t)
{
    struct decimal d;
    uint64_t ns, ps;
    if (!read_decimal(p, n, &d)) {
        return 0;
    }
    if (!scale_decimal(&d, d.exponent + 3, STK_CHROME_TIME_MAX_NS, &ns)) {
        return -1;
    }
    t->ns = (int64_t)ns;
    t->ps = 0;
    if (scale_decimal(&d, d.exponent + 6, UINT64_MAX, &ps)) {
        t->ps = (int32_t)(ps % 1000);
    }
    if (d.negative) {
        t->ns = -t->ns - (t->ps > 0);
        t->ps = t->ps > 0 ? 1000 - t->ps : 0;
    }
    return 1;
}

bool stk_chrome_integer(const char *p, size_t n, int64_t *value)
{
    struct stk_str s = {p, n};
    uint64_t u;
    if (stk_str_to_i64(s, value)) {
        return true;
    }
    if (stk_str_to_u64(s, &u)) {
        *value = (int64_t)u;
        return true;
    }
    struct decimal d;
    if (!read_decimal(p, n, &d) || !scale_decimal(&d, d.exponent, INT64_MAX, &u)) {
        return false;
    }
    *value = d.negative ? -(int64_t)u : (int64_t)u;
    return true;
}
