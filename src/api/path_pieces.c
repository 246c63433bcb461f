// SPDX-License-Identifier: Apache-2.0
// Keeps a critical path; see path_pieces.h.
#include "api/path_pieces.h"

#include "results/whatif.h"

enum stoker_status stk_path_pieces_keep(const struct stk_replay_path *from, struct stk_arena *arena,
                                        struct stk_path_pieces *out, struct stoker_err *err)
{
    size_t count = from->path ? from->path->events.count : 0;
    const struct stk_whatif_path_event *e = count ? from->path->events.items : NULL;
    *out = (struct stk_path_pieces){.v = stk_arena_array(arena, count + 1, sizeof *out->v),
                                    .step = from->step,
                                    .events = from->events,
                                    .event_count = from->event_count,
                                    .why_not = from->why_not};
    for (; out->v && out->count < count; out->count++, e++) {
        out->v[out->count] =
            (struct stk_path_piece){e->t_ns - from->base_ns,   e->dur_ns, e->kind,
                                    *e->name ? e->name : NULL, e->where,  e->event};
    }
    return out->v ? STOKER_OK : stk_err_nomem(err);
}

struct stk_path_pieces stk_path_pieces_shown(const struct stk_path_pieces *kept, bool redact)
{
    for (size_t i = 0; redact && i < kept->count; i++) {
        kept->v[i].name = NULL;
    }
    return *kept;
}
