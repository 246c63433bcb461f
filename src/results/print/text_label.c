// SPDX-License-Identifier: Apache-2.0
// The label at the left edge of a line for people.
#include "results/print/text_parts.h"

void stk_text_label(struct stk_term *t, const char *label)
{
    stk_term_to_column(t, STK_TEXT_INDENT);
    stk_term_styled(t, STK_STYLE_DIM, label);
    while (t->column < STK_TEXT_BODY) {
        stk_term_text(t, " ");
    }
}
