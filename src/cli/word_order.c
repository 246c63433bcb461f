// SPDX-License-Identifier: Apache-2.0
// See word_order.h. A word is a file if the file system has it; "-" is standard input.
#include "cli/word_order.h"

#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/assert.h"

static bool is_profile(const char *word)
{
    return strcmp(word, "-") == 0 || access(word, F_OK) == 0;
}

void stk_words_lead(struct stk_args *args, bool (*is_lead)(const char *word))
{
    STK_ASSERT(args->word_count >= 0);
    int at = -1, found = 0;
    for (int i = 0; i < args->word_count; i++) {
        const char *word = args->words[i];
        if (!is_profile(word) && (!is_lead || is_lead(word))) {
            at = i;
            found++;
        }
    }
    if (found == 1 && at > 0) {
        const char *lead = args->words[at];
        memmove(args->words + 1, args->words, (size_t)at * sizeof *args->words);
        args->words[0] = lead;
    }
}

bool stk_words_is_sql(const char *word)
{
    static const char *const begins[] = {"select", "with", "values", "explain"};
    word += strspn(word, " \t\n(");
    size_t n = strcspn(word, " \t\n(");
    for (size_t i = 0; i < sizeof begins / sizeof begins[0]; i++) {
        if (n == strlen(begins[i]) && word[n] && strncasecmp(word, begins[i], n) == 0) {
            return true;
        }
    }
    return false;
}
