// SPDX-License-Identifier: Apache-2.0
// The words of answers: each enum has a name for each value, and is found by it. A contract's
// choices are those names in the enum's order, and values beyond them are absent.
#include "check.h"

#include "base/terms.h"
#include "results/diff.h"
#include "results/field.h"

// The choices name the values in order, and no more.
static void check_choices(const char *choices, const char *(*key)(unsigned), unsigned count)
{
    const struct stk_field f = {.type = STK_TYPE_WORD, .choices = choices};
    char word[STK_FIELD_WORD_MAX];
    for (unsigned i = 0; i < count; i++) {
        CHECK(stk_field_word(&f, i, word) > 0);
        CHECK_STR(word, key(i));
    }
    CHECK_EQ(stk_field_word(&f, count, word), 0);
}

#define KEY_OF(what)                                                                               \
    static const char *what##_key(unsigned i)                                                      \
    {                                                                                              \
        return stk_##what##_key(i);                                                                \
    }
KEY_OF(level)
KEY_OF(severity)
KEY_OF(verdict)
KEY_OF(framework)

static void frameworks(void)
{
    for (enum stk_framework f = 0; f < STK_FW_COUNT; f++) {
        CHECK_EQ(stk_framework_find(stk_str_from(stk_framework_key(f))), f);
        CHECK(stk_framework_title(f)[0] &&
              strcmp(stk_framework_title(f), stk_framework_key(f)) != 0);
    }
    CHECK_EQ(stk_framework_find(STK_STR("any")), STK_FW_COUNT); // of fixes alone
    CHECK_EQ(stk_framework_find(STK_STR("PyTorch")), STK_FW_COUNT);
    CHECK_EQ(stk_framework_find(STK_STR("")), STK_FW_COUNT);
    CHECK_STR(stk_framework_key(STK_FW_ANY), "any");
}

// Of a slowdown it is one of three words, else absent.
static void absent_words(void)
{
    struct stk_diff_verdict v = {.severity = STK_LEVEL_HIGH};
    const struct stk_struct_info *info = NULL;
    for (const struct stk_field *f = stk_diff_info.fields(); f->key; f++) {
        info = strcmp(f->key, "verdict") == 0 ? f->sub : info;
    }
    const struct stk_field *f = info->fields();
    while (strcmp(f->key, "severity") != 0) {
        f++;
    }
    for (enum stk_level level = 0; level <= STK_LEVEL_NONE; level++) {
        v.severity = level;
        CHECK_EQ(stk_field_known(f, &v), level <= STK_LEVEL_LOW);
    }
    CHECK(!stk_level_key(STK_LEVEL_NONE));
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    check_choices(STK_CHOICES(STK_LEVELS), level_key, STK_LEVEL_INFO);
    check_choices(STK_CHOICES(STK_SEVERITIES), level_key, STK_LEVEL_NONE);
    check_choices(STK_CHOICES(STK_ISSUE_SEVERITIES), severity_key, STK_SEVERITY_COUNT);
    check_choices(STK_CHOICES(STK_VERDICTS), verdict_key, STK_VERDICT_COUNT);
    check_choices(STK_CHOICES(STK_FIX_FRAMEWORKS), framework_key, STK_FW_COUNT + 1);
    CHECK_STR(STK_CHOICES(STK_SEVERITIES), "high|medium|low|info");
    frameworks();
    absent_words();
    return check_done("unit.base_terms");
}
