// SPDX-License-Identifier: Apache-2.0
// The sentence of an evidence row: values in their units, words by number, optional parts, and
// values that aren't numbers.
#include "check.h"
#include "results/evidence.h"

#include <math.h>
#include <stdlib.h>

static struct stk_evidence_row row_of(const char *sentence, enum stk_unit a, enum stk_unit b)
{
    return (struct stk_evidence_row){"row", sentence, 0, 2, {{"a", a}, {"b", b}}};
}

// The sentence with these amounts; its length is known before it is written.
static void writes(const struct stk_evidence_row *row, union stk_amount a, union stk_amount b,
                   const char *wanted)
{
    const union stk_amount amounts[] = {a, b};
    size_t n = stk_evidence_write(row, amounts, NULL);
    char *text = malloc(n + 1); // a byte too many is seen by the sanitizer
    CHECK(text);
    CHECK_EQ(stk_evidence_write(row, amounts, text), n);
    CHECK_STR(text, wanted);
    free(text);
}

static union stk_amount real(double value)
{
    return (union stk_amount){.real = value};
}

static union stk_amount whole(int64_t value)
{
    return (union stk_amount){.whole = value};
}

static union stk_amount text(const char *value)
{
    return (union stk_amount){.text = value};
}

static void units(void)
{
    struct stk_evidence_row r = row_of("{a}; {b}", STK_UNIT_NS, STK_UNIT_BYTES);
    writes(&r, whole(12345678), whole(1900000000), "12.3 ms; 1.90 GB");
    r = row_of("{a}; {b}", STK_UNIT_SHARE, STK_UNIT_PERCENT);
    writes(&r, real(0.0312), real(0.0361), "3.1%; 4%");
    r = row_of("{a}–{b}", STK_UNIT_SHARE, STK_UNIT_SHARE);
    writes(&r, real(0.34), real(0.43), "34–43%");
    r = row_of("{a}; {b}", STK_UNIT_COUNT, STK_UNIT_NUMBER);
    writes(&r, whole(1234567), whole(-1234567), "1,234,567; -1234567");
    r = row_of("{a}; {b}", STK_UNIT_ROUND, STK_UNIT_RATIO);
    writes(&r, real(1234.6), real(1.2345), "1235; 1.23");
    r = row_of("{a}; {b}", STK_UNIT_BYTES_PER_S, STK_UNIT_TEXT);
    writes(&r, real(12.4e9), text("gemm {a} [%s]"), "12.4 GB/s; gemm {a} [%s]");
}

// What a file may hold where a number is expected.
static void extremes(void)
{
    struct stk_evidence_row r = row_of("{a} {b}", STK_UNIT_BYTES_PER_S, STK_UNIT_BYTES_PER_S);
    writes(&r, real(-5), real(1e300), "0 B/s 1.00 EB/s");
    writes(&r, real(NAN), real(INFINITY), "0 B/s 1.00 EB/s");
    r = row_of("{a} {b}", STK_UNIT_PERCENT, STK_UNIT_PERCENT);
    writes(&r, real(-1e300), real(1e300), "0% 100000000%");
    CHECK(!stk_amount_known(STK_UNIT_SHARE, real(NAN)));
    CHECK(!stk_amount_known(STK_UNIT_RATIO, real(INFINITY)));
    CHECK(!stk_amount_known(STK_UNIT_SHARE, real((double)STK_NOT_KNOWN)));
    CHECK(!stk_amount_known(STK_UNIT_COUNT, (union stk_amount){.count = (uint64_t)STK_NOT_KNOWN}));
    CHECK(stk_amount_known(STK_UNIT_COUNT, (union stk_amount){.count = UINT64_MAX}));
}

static void words(void)
{
    struct stk_evidence_row r =
        row_of("{a} step{a| was|s were} of {b} call{b||s}", STK_UNIT_NUMBER, STK_UNIT_COUNT);
    writes(&r, whole(1), whole(2), "1 step was of 2 calls");
    writes(&r, whole(0), whole(1), "0 steps were of 1 call");
}

static void parts(void)
{
    struct stk_evidence_row r =
        row_of("longest[ in step {a}][: {b}], end", STK_UNIT_NUMBER, STK_UNIT_TEXT);
    writes(&r, whole(3), text("x"), "longest in step 3: x, end");
    writes(&r, whole(STK_NOT_KNOWN), text("x"), "longest: x, end");
    writes(&r, whole(STK_NOT_KNOWN), text(NULL), "longest, end");
    r = row_of("[{a}{b} piece{b||s}|about {b}|none]", STK_UNIT_FLAG, STK_UNIT_COUNT);
    writes(&r, (union stk_amount){.flag = true}, whole(1), "1 piece");
    writes(&r, (union stk_amount){.flag = false}, whole(1), "about 1");
    writes(&r, (union stk_amount){.flag = true}, whole(STK_NOT_KNOWN), "none");
}

int main(void)
{
    CHECK_RUN(units);
    CHECK_RUN(extremes);
    CHECK_RUN(words);
    CHECK_RUN(parts);
    return check_done("unit.evidence");
}
