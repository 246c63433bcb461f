// SPDX-License-Identifier: Apache-2.0
// A place in the job's code, as a link if the terminal supports links.
#pragma once

#include "results/print/term.h"

// `text` names the place for the reader; the link leads to source->file at source->line.
void stk_term_place(struct stk_term *t, const struct stk_rep_source *source, const char *text);
