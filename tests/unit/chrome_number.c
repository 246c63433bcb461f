// SPDX-License-Identifier: Apache-2.0
// Times and integers of the Chrome reader: random values written in many ways are read back
// exactly.
#include "check.h"
#include "profile/readers/trace_event/chrome_number.h"

static uint64_t seed = 7;
static uint64_t random_below(uint64_t n)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (seed >> 16) % n;
}

static bool read_time(const char *digits, struct stk_chrome_time *fast,
                      struct stk_chrome_time *slow)
{
    static char text[256];
    memset(text, ' ', sizeof text);
    memcpy(text, digits, strlen(digits));
    const char *end = stk_chrome_time_fast(text, fast);
    return end == text + strlen(digits) && stk_chrome_time_slow(text, strlen(digits), slow) == 1;
}

static void test_times(void)
{
    size_t wrong = 0;
    for (int i = 0; i < 200000; i++) {
        int64_t ps_total = (int64_t)random_below(UINT64_C(1) << random_below(63));
        int64_t us = ps_total / 1000000, ps = ps_total % 1000000;
        char text[64];
        int n = snprintf(text, sizeof text, "%" PRId64 ".%06" PRId64, us, ps);
        for (int64_t left = ps; left % 10 == 0 && text[n - 1] == '0' && random_below(2);
             left /= 10) {
            text[--n] = 0;
        }
        if (text[n - 1] == '.') {
            text[n - 1] = 0;
        }
        struct stk_chrome_time fast, slow;
        bool read = read_time(text, &fast, &slow);
        wrong += !read || fast.ns != ps_total / 1000 || fast.ps != ps_total % 1000 ||
                 slow.ns != fast.ns || slow.ps != fast.ps;
    }
    CHECK_EQ(wrong, 0);
}

static void test_epoch(void)
{
    static const struct {
        const char *text;
        int64_t ns;
        int32_t ps;
    } rows[] = {
        {"1712195495519689.047", 1712195495519689047, 0},
        {"4599999999999999.999", 4599999999999999999, 0},
        {"-0.0005", -1, 500},
        {"-1.5", -1500, 0},
        {"00012", 12000, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct stk_chrome_time fast, slow;
        CHECK(read_time(rows[i].text, &fast, &slow));
        CHECK_EQ(fast.ns, rows[i].ns);
        CHECK_EQ(fast.ps, rows[i].ps);
        CHECK_EQ(slow.ns, rows[i].ns);
        CHECK_EQ(slow.ps, rows[i].ps);
    }
}

static void test_slow_times(void)
{
    static const struct {
        const char *text;
        int result;
        int64_t ns;
    } rows[] = {
        {"1e3", 1, 1000000},
        {"1.7121954955196892E15", 1, 1712195495519689200},
        {"12E-3", 1, 12},
        {"0e999999999", 1, 0},
        {"1e-999999999", 1, 0},
        {"4600000000000001", -1, 0},
        {"1e99", -1, 0},
        {"99999999999999999999", -1, 0},
        {"", 0, 0},
        {"-", 0, 0},
        {".", 0, 0},
        {"1e", 0, 0},
        {"1x", 0, 0},
        {"NaN", 0, 0},
        {"1.2.3", 0, 0},
        {"0x10", 0, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct stk_chrome_time t = {0, 0};
        CHECK_EQ(stk_chrome_time_slow(rows[i].text, strlen(rows[i].text), &t), rows[i].result);
        if (rows[i].result == 1) {
            CHECK_EQ(t.ns, rows[i].ns);
        }
    }
}

static void test_integers(void)
{
    static const struct {
        const char *text;
        bool good;
        int64_t value;
    } rows[] = {
        {"0", true, 0},
        {"-9223372036854775808", true, INT64_MIN},
        {"9223372036854775807", true, INT64_MAX},
        {"18446744073709551615", true, -1}, // ids without sign stay distinct
        {"18446744073709551616", false, 0},
        {"12.9", true, 12},
        {"-3.5", true, -3},
        {"1e3", true, 1000},
        {"1e30", false, 0},
        {"", false, 0},
        {"stream 7", false, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int64_t value = 0;
        CHECK_EQ(stk_chrome_integer(rows[i].text, strlen(rows[i].text), &value), rows[i].good);
        if (rows[i].good) {
            CHECK_EQ(value, rows[i].value);
        }
    }
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    CHECK_RUN(test_times);
    CHECK_RUN(test_epoch);
    CHECK_RUN(test_slow_times);
    CHECK_RUN(test_integers);
    return check_done("unit.chrome_number");
}
