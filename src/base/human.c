// SPDX-License-Identifier: Apache-2.0
// Numbers for people.
#include "base/human.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

// Three significant digits of value (at least 0, below 1000 after scaling).
static char *three_digits(double value, const char *sign, const char *unit, char *buf)
{
    int decimals = value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
    stk_text_printf(buf, STK_HUMAN_MAX, "%s%.*f %s", sign, decimals, value, unit);
    return buf;
}

char *stk_human_ns(int64_t ns, char buf[STK_HUMAN_MAX])
{
    static const struct {
        double scale;
        const char *unit;
    } units[] = {{86400e9, "d"}, {3600e9, "h"}, {60e9, "min"},
                 {1e9, "s"},     {1e6, "ms"},   {1e3, "us"}};
    const char *sign = ns < 0 ? "-" : "";
    double value = ns < 0 ? -(double)ns : (double)ns;
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (value >= units[i].scale * (units[i].scale < 60e9 ? 0.9995 : i == 2 ? 2 : 1)) {
            return three_digits(value / units[i].scale, sign, units[i].unit, buf);
        }
    }
    snprintf(buf, STK_HUMAN_MAX, "%" PRId64 " ns", ns);
    return buf;
}

char *stk_human_bytes(uint64_t bytes, char buf[STK_HUMAN_MAX])
{
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
    double value = (double)bytes;
    int unit = 0;
    while (value >= 999.5 && unit < 6) {
        value /= 1000;
        unit++;
    }
    if (unit == 0) {
        snprintf(buf, STK_HUMAN_MAX, "%" PRIu64 " B", bytes);
    } else {
        three_digits(value, "", units[unit], buf);
    }
    return buf;
}

char *stk_human_count(uint64_t n, char buf[STK_HUMAN_MAX])
{
    char digits[24];
    int len = snprintf(digits, sizeof digits, "%" PRIu64, n), out = 0;
    for (int i = 0; i < len; i++) {
        if (i > 0 && (len - i) % 3 == 0) {
            buf[out++] = ',';
        }
        buf[out++] = digits[i];
    }
    buf[out] = '\0';
    return buf;
}

char *stk_human_share(double share, char buf[STK_HUMAN_MAX])
{
    double percent = share * 100;
    if (percent > 0 && percent < 0.1) {
        snprintf(buf, STK_HUMAN_MAX, "<0.1%%");
    } else {
        stk_text_printf(buf, STK_HUMAN_MAX, "%.*f%%", percent < 9.95 && percent > 0 ? 1 : 0,
                        percent);
    }
    return buf;
}

const char *stk_human_name(const char *name)
{
    static const char result[] = "void ";
    return strncmp(name, result, sizeof result - 1) == 0 ? name + sizeof result - 1 : name;
}
