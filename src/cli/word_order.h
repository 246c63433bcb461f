// SPDX-License-Identifier: Apache-2.0
// A command's leading word (an analysis, a format, a pattern, SQL) and its profiles may come in any
// unambiguous order: a word that names a file is taken as a profile.
#pragma once

#include "cli/cli.h"

// Moves the only word that isn't a file and that `is_lead` accepts (NULL: any) to the front; the
// others keep their order. Without such a word, or with several, nothing moves.
void stk_words_lead(struct stk_args *args, bool (*is_lead)(const char *word));
// Is it an SQL statement? Judged by the first word.
bool stk_words_is_sql(const char *word);
