// SPDX-License-Identifier: Apache-2.0
// Trees of iterators as text; see iter_dump.h.
#include "engine/run/iter_dump.h"

#include <inttypes.h>

#define DEPTH_MAX 200

static void dump(const struct stk_iter *it, FILE *to, int depth)
{
    const struct stk_stage_stats *s = &it->stats;
    fprintf(to, "%*s%s%s %p gave %" PRIu64 " in %" PRIu64 " blocks, %" PRIu64 " failed; %" PRIu32,
            2 * depth, "", it->kind->name, it->is_aggregate ? " (aggregate)" : "", (const void *)it,
            s->elements, s->blocks, s->errors, s->threads);
    fprintf(to, " threads, %" PRIu32 " of %" PRIu32 " ready%s%s\n", s->fill, s->capacity,
            it->pending != STOKER_OK ? ", an error comes next" : "",
            stk_run_is_cancelled(it->run) ? ", canceled" : "");
    for (int i = 0; i < it->n_in && depth < DEPTH_MAX; i++) {
        if (it->in[i]) {
            dump(it->in[i], to, depth + 1);
        }
    }
}

void stk_iter_dump(const struct stk_iter *it, FILE *to)
{
    dump(it, to ? to : stderr, 0);
}
