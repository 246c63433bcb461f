// SPDX-License-Identifier: Apache-2.0
// A command's leading word (an analysis, a format, a pattern, SQL) and its profiles, in any order
// where that is unambiguous: a word that names a file is a profile first.
#pragma once

#include "cli/cli.h"

// The only word that is no file and that `is_lead` takes (NULL: any) moves to the front, the others
// keep their order. Nothing moves where there is no such word, or more than one.
void stk_words_lead(struct stk_args *args, bool (*is_lead)(const char *word));
// A statement of SQL, by its first word.
bool stk_words_is_sql(const char *word);
