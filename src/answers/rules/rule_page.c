// SPDX-License-Identifier: Apache-2.0
// A rule's page with its figures: {name} becomes the value of the threshold with that name.
#include <string.h>

#include "base/assert.h"
#include "base/text.h"
#include "answers/rules/rule.h"

static double value_of(const struct stk_rule *rule, const char *name, size_t n)
{
    const struct stk_rule_figure *f = rule->page.figures;
    while (f->name && (strncmp(f->name, name, n) != 0 || f->name[n])) {
        f++;
    }
    STK_ASSERT(f->name); // cmake/rule_pages.cmake lists those of the text
    return f->is_verdict ? stk_threshold_value((enum stk_threshold_id)f->row)
                         : rule->thresholds[f->row].value;
}

void stk_rule_fill(const struct stk_rule *rule, const char *text, char *to, size_t size)
{
    size_t at = 0;
    to[0] = 0;
    while (*text && at < size) {
        size_t plain = strcspn(text, "{"), n = strcspn(text, "}");
        at += (size_t)stk_text_printf(to + at, size - at, "%.*s", (int)plain, text);
        text += plain;
        if (*text && at < size) {
            bool is_share = strncmp(text + n - plain, "}%", 2) == 0;
            double value = value_of(rule, text + 1, n - plain - 1);
            at +=
                (size_t)stk_text_printf(to + at, size - at, "%.6g", is_share ? value * 100 : value);
            text += n - plain + 1;
        }
    }
    STK_ASSERT(at < size);
}
