// SPDX-License-Identifier: Apache-2.0
// Words that one module writes and another reads: each leads back to its row, and no two are equal.
#include "profile/store/words.h"

#include "check.h"
#include "profile/model/verdict/verdict.h"
#include "wire/limits.h"

static void limits(void)
{
    for (int i = 0; i < STK_WIRE_LIMIT_COUNT; i++) {
        const char *word = stk_wire_limit_word((enum stk_wire_limit)i);
        char text[64];
        snprintf(text, sizeof text, "%s|file.py:3|Map|93", word);
        CHECK_EQ(stk_wire_limit_find(text, strcspn(text, "|")), i);
    }
    CHECK_EQ(stk_wire_limit_find("of a later version", 18), STK_WIRE_LIMIT_OTHER);
    CHECK_EQ(stk_wire_limit_find("decode-parallel", 6), STK_WIRE_LIMIT_DECODE);
}

static void collectives(void)
{
    for (int i = 1; i < STK_COLLECTIVE_COUNT; i++) {
        const char *word = stk_collective_word((enum stk_collective_kind)i);
        CHECK(word && *word);
        for (int k = 1; word && k < i; k++) {
            CHECK(strcmp(word, stk_collective_word((enum stk_collective_kind)k)) != 0);
        }
    }
    CHECK(stk_collective_word(STK_COLLECTIVE_NONE) == NULL);
}

static void reasons(void)
{
    CHECK(stk_reason_key(STK_REASON_NONE) == NULL);
    for (int i = 1; i < STK_REASON_COUNT; i++) {
        const char *key = stk_reason_key((enum stk_reason)i);
        CHECK(key && *key);
        for (int k = 1; key && k < i; k++) {
            CHECK(strcmp(key, stk_reason_key((enum stk_reason)k)) != 0);
        }
    }
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    CHECK_RUN(limits);
    CHECK_RUN(collectives);
    CHECK_RUN(reasons);
    return check_done("unit.words");
}
