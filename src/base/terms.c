// SPDX-License-Identifier: Apache-2.0
// The name tables generated from the lists of terms.h.
#include "base/terms.h"

#include <stddef.h>

#include "base/assert.h"

const char *stk_level_key(enum stk_level level)
{
    static const char *const names[STK_LEVEL_NONE + 1] = {STK_SEVERITIES(STK_WORD_NAME) NULL};
    STK_ASSERT((unsigned)level <= STK_LEVEL_NONE);
    return names[level];
}

const char *stk_severity_key(enum stk_severity severity)
{
    static const char *const names[] = {STK_ISSUE_SEVERITIES(STK_WORD_NAME)};
    STK_ASSERT((unsigned)severity < STK_SEVERITY_COUNT);
    return names[severity];
}

const char *stk_verdict_key(enum stk_verdict_kind kind)
{
    static const char *const names[] = {STK_VERDICTS(STK_WORD_NAME)};
    STK_ASSERT((unsigned)kind < STK_VERDICT_COUNT);
    return names[kind];
}

static const char *const frameworks[] = {STK_FIX_FRAMEWORKS(STK_WORD_NAME)};

const char *stk_framework_key(enum stk_framework framework)
{
    STK_ASSERT((unsigned)framework <= STK_FW_ANY);
    return frameworks[framework];
}

const char *stk_framework_title(enum stk_framework framework)
{
#define TITLE(id, name, title) title,
    static const char *const titles[] = {STK_FRAMEWORKS(TITLE)};
#undef TITLE
    STK_ASSERT((unsigned)framework < STK_FW_COUNT);
    return titles[framework];
}

enum stk_framework stk_framework_find(struct stk_str name)
{
    enum stk_framework f = 0;
    while (f < STK_FW_COUNT && !stk_str_eq(name, stk_str_from(frameworks[f]))) {
        f++;
    }
    return f;
}
