// SPDX-License-Identifier: Apache-2.0
// Blocks of the text output (internal to it).
#ifndef STK_OUT_TEXT_PARTS_H
#define STK_OUT_TEXT_PARTS_H

#include "results/print/term.h"

#define STK_TEXT_INDENT 2 // of every line
#define STK_TEXT_BODY 9   // where text after a label begins

// "  label  " and then the body column.
void stk_text_label(struct stk_term *t, const char *label);
void stk_text_findings(struct stk_term *t, const struct stk_report *r);
void stk_text_rules(struct stk_term *t, const struct stk_report *r);

#endif
