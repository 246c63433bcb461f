// SPDX-License-Identifier: Apache-2.0
// Graphs of some steps, for callers that didn't ask for prices: a diagnosis estimates its findings,
// and a timeline shows the critical path.
//
// Method: no graph is built if the steps lose too little for a what-if, or if the gate will
// certainly stay closed. A graph costs as much as the whole model, and a closed gate makes it
// useless. The counts here are lower bounds of what the gate sees (gate.c, price.c), so a graph
// that would open it is always built. Limit: a recording without host steps is one long step, which
// the cap on events doesn't shorten.
#include "base/alloc.h"
#include "profile/model/device/stream_heads.h"
#include "profile/model/thresholds.h"
#include "answers/replay/gate.h"
#include "results/whatif.h"

#define WORTH 0.02   // of the steps' time: parts that have what-ifs
#define SPAN_STEPS 2 // times the gate's limit: a longer span isn't a step

static bool runs_eagerly(const struct stk_rank_sum *sum)
{
    double ops = (double)sum->facts.signs[STK_SIGN_EAGER_OP].count;
    return sum->step_marks > 0 && ops / sum->step_marks >= stk_threshold_value(STK_T_EAGER_OPS);
}

// Is a part that a what-if removes large enough?
static bool is_worth(const struct stk_rank_sum *sum)
{
    const struct stk_sign_sum *signs = sum->facts.signs;
    bool loops = sum->host_scope && signs[STK_SIGN_FUSED_UPDATE].count == 0;
    int64_t lost_ns = loops ? signs[STK_SIGN_UPDATE].ns : 0, all_ns = 0; // the optimizer's
    // A step that TensorFlow runs operation by operation: running it as one graph removes Python.
    bool is_eager = sum->host_scope && runs_eagerly(sum);
    for (uint32_t i = 0; i < sum->step_count; i++) {
        const int64_t *parts = sum->steps[i].parts;
        lost_ns += is_eager ? parts[STK_PART_HOST] + parts[STK_PART_UNKNOWN] : 0;
        lost_ns += parts[STK_PART_INPUT] + parts[STK_PART_SYNC] + parts[STK_PART_H2D] +
                   parts[STK_PART_D2H] + parts[STK_PART_COMMUNICATION] + parts[STK_PART_LAUNCH];
        all_ns += sum->steps[i].dur_ns;
    }
    return (double)lost_ns >= WORTH * (double)all_ns && all_ns > 0;
}

// A span of many steps that were found on the device. Prices need a step as long as the reported
// ones.
static bool holds_many_steps(const struct stk_graph_build *b)
{
    const struct stk_rank_sum *sum = b->a->sum;
    int64_t longest_ns = 0;
    for (uint32_t i = 0; i < sum->step_count; i++) {
        longest_ns = sum->steps[i].dur_ns > longest_ns ? sum->steps[i].dur_ns : longest_ns;
    }
    return b->g->is_span && sum->step_count > 1 &&
           (double)(b->to_ns - b->from_ns) > SPAN_STEPS * STK_STEP_APART * (double)longest_ns;
}

struct linked {
    uint64_t ops, unlinked;
};

// Operations of a device that certainly belong to the graph, and those of them without a launch
// call.
static void count_line(const struct stk_graph_build *b, const struct stk_device_line *line,
                       const struct stk_stream_head *heads, struct linked *n)
{
    const struct stk_trace *t = b->a->t;
    for (uint32_t i = 0; i < line->op_count; i++) {
        uint32_t launch = stk_launch_of(b->a, line->ops[i].event);
        bool has_call = launch != STK_NONE;
        int64_t at_ns = has_call ? t->start_ns[launch] : line->ops[i].start_ns;
        if (at_ns < b->from_ns || at_ns >= b->to_ns) {
            continue;
        }
        // The head of a stream may be left out of the graph (graph_device.c).
        n->unlinked += !has_call && at_ns >= heads[stk_stream_of(t, line->ops[i].event)].behind_ns;
        n->ops++;
    }
}

// Does so much of the device's work lack a launch call that the gate will be closed? Out of memory:
// no.
static bool lacks_launches(const struct stk_graph_build *b)
{
    const struct stk_analysis *a = b->a;
    struct stk_stream_head *heads = stk_alloc_zero((size_t)a->t->track_count + 1, sizeof *heads);
    struct linked n = {0, 0};
    for (uint32_t l = 0; heads && l < a->sum->device_count; l++) {
        if (stk_view_has_device(a, l)) {
            stk_stream_heads_find(a, &a->lines[l], heads);
            count_line(b, &a->lines[l], heads, &n);
        }
    }
    stk_free(heads);
    return stk_gate_is_unlinked(n.unlinked, n.ops);
}

static const char *refuse(const struct stk_graph_build *b)
{
    return holds_many_steps(b) ? "the replayed steps aren't as long as the reported ones"
           : lacks_launches(b) ? "much of the GPU's work isn't linked to its launch call"
                               : NULL;
}

static enum stoker_status see_brief(const struct stk_analysis *a, struct stk_arena *arena,
                                    void **partial, struct stoker_err *err)
{
    const struct stk_graph_wish wish = {.max_events = STK_GRAPH_BRIEF_EVENTS, .refuse = refuse};
    return is_worth(a->sum) ? stk_graph_make(a, &wish, arena, partial, err) : STOKER_OK;
}

enum stoker_status stk_replay_path(const struct stk_analysis *a, struct stk_arena *arena,
                                   struct stk_replay_path *out, struct stoker_err *err)
{
    void *made = NULL;
    const struct stk_graph_wish wish = {.max_events = STK_GRAPH_BRIEF_EVENTS, .wants_path = true};
    enum stoker_status status = stk_graph_make(a, &wish, arena, &made, err);
    const struct stk_graph *g = made;
    *out = (struct stk_replay_path){.priced = is_worth(a->sum) ? made : NULL};
    if (status == STOKER_OK && g->critical) {
        out->path = g->critical;
        out->base_ns = g->base_ns;
        out->step = g->steps[g->critical->step].number;
        out->events = g->on_path;
        out->event_count = g->on_path_count;
    } else if (status == STOKER_OK) {
        out->why_not =
            g->why_not ? g->why_not : "its threads and streams wait for each other in a circle";
    }
    return status;
}

const struct stk_view_hook stk_replay_brief_hook = {.see = see_brief,
                                                    .diagnoses = true,
                                                    .wants = STK_WANT_INPUT | STK_WANT_GRIDS |
                                                             STK_WANT_MESSAGES};
