// SPDX-License-Identifier: Apache-2.0
// One stacked bar of a step with its labels beneath.
#pragma once

#include "results/print/term.h"

// `parts`: struct stk_rep_part in order. Parts of 0 are left out.
void stk_bar_draw(struct stk_term *t, int indent, const struct stk_list *parts);
// The bar alone, this wide.
void stk_bar_fill(struct stk_term *t, int columns, const struct stk_list *parts);
void stk_bar_solid(struct stk_term *t, int columns);
// The fill of a group of parts, one column of it.
void stk_bar_key(struct stk_term *t, const char *group);
