// SPDX-License-Identifier: Apache-2.0
// Words that one module writes into a trace or a file and another one reads, each defined once:
// kinds of collectives (collectives.def), categories of Chrome traces (chrome_cats.def), and what
// the Perfetto export (perfetto_facts.def) and the XSpace export add for stoker's own readers.
#pragma once

#include <stddef.h>

enum stk_collective_kind {
    STK_COLLECTIVE_NONE, // not known, no word
#define C(id, word) STK_COLLECTIVE_##id,
#include "profile/store/collectives.def"
#undef C
    STK_COLLECTIVE_COUNT
};
const char *stk_collective_word(enum stk_collective_kind kind); // NULL: STK_COLLECTIVE_NONE

enum stk_chrome_own_cat {
#define C(id, category, what) STK_CHROME_OWN_##id,
#include "profile/store/chrome_cats.def"
#undef C
    STK_CHROME_OWN_COUNT
};
const char *stk_chrome_own_cat(enum stk_chrome_own_cat cat);

// Annotations of the Perfetto export, and the category of its rows for facts that the format's
// descriptors can't hold: "trace", "process", "device", "track", "counter", "issue".
enum stk_perfetto_note {
    STK_PERFETTO_NONE,
#define N(id, name, what) STK_PERFETTO_##id,
#include "profile/store/perfetto_facts.def"
#undef N
    STK_PERFETTO_NOTES
};
const char *stk_perfetto_note_name(enum stk_perfetto_note note);
#define STK_PERFETTO_FACTS "stoker_facts"
#define STK_PERFETTO_UNSTORED "no events: " // before a kind whose records don't become events
#define STK_PERFETTO_DETAIL "detail: " // before the key of a detail (profile/store/details.def)

#define STK_XSPACE_OWN_PLANE "/custom:stoker"   // skipped when read
#define STK_XSPACE_TOLD_PLANE "/custom:stoker " // followed by the hooks' record, as JSON
#define STK_XSPACE_BESIDE "/custom:beside " // planes of rows that are neither streams nor threads
#define STK_XSPACE_COUNTERS "_counters_"    // a line of counters, as XLA names it
#define STK_XSPACE_OWN_KIND "stoker_kind"   // stat of an event: its kind in the store
