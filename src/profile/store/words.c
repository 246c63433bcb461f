// SPDX-License-Identifier: Apache-2.0
// Words between modules.
#include "profile/store/words.h"

#include <string.h>
#include "base/assert.h"

static const char *const collectives[STK_COLLECTIVE_COUNT] = {
#define C(id, word) [STK_COLLECTIVE_##id] = word,
#include "profile/store/collectives.def"
#undef C
};

const char *stk_collective_word(enum stk_collective_kind kind)
{
    STK_ASSERT((unsigned)kind < STK_COLLECTIVE_COUNT);
    return collectives[kind];
}

const char *stk_chrome_own_cat(enum stk_chrome_own_cat cat)
{
    STK_ASSERT((unsigned)cat < STK_CHROME_OWN_COUNT);
    static const char *const cats[STK_CHROME_OWN_COUNT] = {
#define C(id, category, what) [STK_CHROME_OWN_##id] = category,
#include "profile/store/chrome_cats.def"
#undef C
    };
    return cats[cat];
}

const char *stk_perfetto_note_name(enum stk_perfetto_note note)
{
    STK_ASSERT(note > STK_PERFETTO_NONE && note < STK_PERFETTO_NOTES);
    static const char *const names[STK_PERFETTO_NOTES] = {
#define N(id, name, what) [STK_PERFETTO_##id] = name,
#include "profile/store/perfetto_facts.def"
#undef N
    };
    return names[note];
}
