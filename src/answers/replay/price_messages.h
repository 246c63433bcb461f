// SPDX-License-Identifier: Apache-2.0
// The time of a collective: a fixed part plus one for its bytes, fitted to the profile.
#pragma once

#include "answers/replay/price_row.h"

struct stk_message_fit {
    double fixed_ns, byte_ns;
};
// At a level: the optimistic end assumes a large fixed part, the pessimistic one a small one.
struct stk_message_fit stk_message_fit(const struct stk_graph *g, enum stk_price_level level);
static inline double stk_message_ns(const struct stk_message_fit *f, double bytes)
{
    return f->fixed_ns + f->byte_ns * bytes;
}
// The part of a collective's time that no faster link or device shortens, at a level of a fix: the
// fixed part of the fit. If the profile doesn't show it: at least some tens of microseconds, at
// most nearly all of a short one. The shortest collective is an upper bound for all.
struct stk_message_floor {
    bool is_told;
    double fixed_ns; // if recorded
    double shortest_ns;
};
struct stk_message_floor stk_message_floor(const struct stk_graph *g, enum stk_price_level level);
int64_t stk_message_fixed(const struct stk_message_floor *f, int64_t dur_ns,
                          enum stk_price_level level);
// Why the collectives' bytes are unknown; NULL: known.
const char *stk_message_refuse(const struct stk_graph *g);
