// SPDX-License-Identifier: Apache-2.0
// Where each phase of the training steps is on the host's threads: forward, loss, backward and
// optimizer, from operation names (profile/model/phase_names.h). On a thread the
// outermost event with a phase counts, including everything inside it. A model operation without a
// phase is forward, if the rank has any backward pass or optimizer. Events of one phase form a
// stretch if no other phase and no input fetch is between them. A stretch doesn't cross the start
// of a step or, without steps, a pause longer than itself. Limits: those of `stoker stats ops --by
// phase`, which counts the same names.
#include <stdlib.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/sort.h"
#include "profile/model/phase_names.h"
#include "profile/store/names.h"
#include "profile/timeline/timeline.h"
#include "results/print/document.h"

#define STRETCHES_MOST 20000
#define KNOWN 0x80u // the name was examined: the bits below are its phases

struct stretch {
    int64_t start_ns, end_ns; // of the run
    uint32_t step;            // index in the rank's, STK_NONE
    int32_t rank;
    uint32_t count;
    uint8_t phase;
};

struct finder {
    const struct stk_tl_trace *x;
    uint8_t *memo;     // of each string
    uint32_t *classes; // of each string
    bool trains;
    struct stk_vec pieces; // struct stretch
};

static enum stk_phase phase_of(struct finder *f, uint32_t event)
{
    STK_ASSERT(event < f->x->t->count);
    const struct stk_trace *t = f->x->t;
    uint8_t *memo = &f->memo[t->name[event]];
    struct stk_str name = stk_name_of(t, event);
    if (*memo == 0) {
        *memo = (uint8_t)(KNOWN | stk_phases_of_name(name));
    }
    enum stk_phase phase = stk_phase_first((uint8_t)(*memo & ~KNOWN));
    uint32_t classes = f->classes[t->name[event]];
    bool is_other = classes & (STK_NAME_FETCH | STK_NAME_ITERATOR | STK_NAME_PREP |
                               STK_NAME_HOST_COLL | STK_NAME_XLA_RUN);
    if (phase == STK_PHASE_NOT_TOLD && (classes & STK_NAME_MODEL_OP) && !is_other &&
        !stk_phase_is_eager(name)) {
        return STK_PHASE_FORWARD;
    }
    return phase;
}

static bool is_fetch(const struct finder *f, uint32_t event)
{
    const struct stk_trace *t = f->x->t;
    return t->kind[event] == STK_KIND_INPUT ||
           (f->classes[t->name[event]] & (STK_NAME_FETCH | STK_NAME_ITERATOR));
}

static bool take_thread(struct finder *f, uint32_t k)
{
    const struct stk_tl_trace *x = f->x;
    const struct stk_trace *t = x->t;
    const struct stk_query_track *known = &x->x->tracks[k];
    int64_t covered = INT64_MIN;
    size_t before = f->pieces.count;
    bool tells = false;
    for (uint32_t e = t->tracks[k].first; e < t->tracks[k].first + t->tracks[k].count; e++) {
        if (t->start_ns[e] < covered) {
            continue;
        }
        // Operations inside a fetch prepare data, and the phase before it ends there.
        bool fetches = is_fetch(f, e);
        enum stk_phase phase = fetches ? STK_PHASE_NOT_TOLD : phase_of(f, e);
        if (!fetches && phase < STK_PHASE_OPTIMIZER) {
            continue;
        }
        struct stretch *piece = stk_vec_push_raw(&f->pieces);
        if (!piece) {
            return false;
        }
        covered = stk_end_ns(t, e);
        tells |= !fetches;
        f->trains |= phase == STK_PHASE_BACKWARD || phase == STK_PHASE_OPTIMIZER;
        *piece = (struct stretch){stk_tl_start(x, e),
                                  stk_tl_end(x, e),
                                  stk_query_step_at(known->steps, t->start_ns[e]),
                                  known->rank,
                                  1,
                                  (uint8_t)phase};
    }
    if (!tells) {
        f->pieces.count = before; // a thread of loaders cuts no phase
    }
    return true;
}

STK_ORDER(compare_stretches, struct stretch, STK_UP(rank) STK_UP(start_ns) STK_UP(phase))

static bool goes_on(const struct stretch *a, const struct stretch *b)
{
    if (a->phase != b->phase || a->rank != b->rank || a->step != b->step) {
        return false;
    }
    return a->step != STK_NONE || b->start_ns - a->end_ns <= a->end_ns - a->start_ns;
}

// Pieces become stretches in place. Forward ones are dropped if nothing trains.
static void join(struct finder *f)
{
    struct stretch *v = f->pieces.items;
    size_t kept = 0;
    bool cut = false; // a fetch is in between
    stk_sort(v, f->pieces.count, sizeof *v, compare_stretches);
    for (size_t i = 0; i < f->pieces.count; i++) {
        if (v[i].phase == STK_PHASE_FORWARD && !f->trains) {
            continue;
        }
        cut |= v[i].phase == STK_PHASE_NOT_TOLD;
        if (v[i].phase == STK_PHASE_NOT_TOLD) {
            continue;
        }
        if (kept && !cut && goes_on(&v[kept - 1], &v[i])) {
            v[kept - 1].count++;
            v[kept - 1].end_ns =
                v[i].end_ns > v[kept - 1].end_ns ? v[i].end_ns : v[kept - 1].end_ns;
        } else {
            v[kept++] = v[i];
        }
        cut = false;
    }
    f->pieces.count = kept;
}

static bool find_stretches(struct finder *f)
{
    const struct stk_trace *t = f->x->t;
    f->memo = stk_alloc_zero((size_t)t->strings.count + 1, 1);
    f->classes = stk_names_classify(t);
    bool ok = f->memo && f->classes;
    for (uint32_t k = 0; k < t->track_count && ok; k++) {
        if (t->tracks[k].kind == STK_TRACK_THREAD && f->x->x->tracks[k].taken &&
            !stk_phase_is_input_thread(t, k)) {
            ok = take_thread(f, k);
        }
    }
    if (ok) {
        join(f);
    }
    stk_free(f->memo);
    stk_free(f->classes);
    return ok;
}

// Appends to `rows`; false: no memory.
static bool keep_stretches(const struct finder *f, uint64_t *count, struct stk_vec *rows)
{
    const struct stretch *v = f->pieces.items;
    for (size_t i = 0; i < f->pieces.count; i++) {
        if (++*count > STRETCHES_MOST) {
            continue;
        }
        struct stk_view_phase *row = stk_vec_push(rows);
        if (!row) {
            return false;
        }
        *row = (struct stk_view_phase){.phase = stk_phase_key((enum stk_phase)v[i].phase),
                                       .has_rank = v[i].rank >= 0,
                                       .rank = v[i].rank,
                                       .start_ns = v[i].start_ns,
                                       .dur_ns = v[i].end_ns - v[i].start_ns,
                                       .events = v[i].count};
    }
    return true;
}

enum stoker_status stk_tl_phases_json(const struct stk_timeline *t, struct stk_sink *to,
                                      struct stoker_err *err)
{
    uint64_t count = 0;
    bool ok = true;
    struct stk_vec rows;
    stk_vec_init(&rows, sizeof(struct stk_view_phase), STRETCHES_MOST);
    for (uint32_t i = 0; i < t->trace_count && ok; i++) {
        struct finder f = {.x = &t->traces[i]};
        stk_vec_init(&f.pieces, sizeof(struct stretch), UINT32_MAX);
        ok = find_stretches(&f) && keep_stretches(&f, &count, &rows);
        stk_vec_deinit(&f.pieces);
    }
    if (ok) {
        const struct stk_view_phases doc = {.phases = {.items = rows.items, .count = rows.count},
                                            .left_out = count - rows.count};
        stk_json_document(&stk_view_phases_info, &doc, false, to);
    }
    stk_vec_deinit(&rows);
    return ok ? STOKER_OK : stk_err_nomem(err);
}
